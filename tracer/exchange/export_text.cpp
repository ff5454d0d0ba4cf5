// Text exports: CSV, and the JSON of Chrome's trace viewer and compatible programs.
#include <ostream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "tracer/exchange/export.hpp"

namespace poe::trace {
namespace {

// Distinguishes messages within collective calls from those of the program.
const char* what(const Message& message) {
    return message.context == kUserMessages ? "message" : "collective message";
}

std::string quoted_csv(const std::string& text) {
    if (text.find_first_of(",\"\n\r") == std::string::npos) return text;
    std::string out = "\"";
    for (const char c : text) {
        if (c == '"') out += '"';
        out += c;
    }
    return out + "\"";
}

class Csv : public ExportSink {
  public:
    explicit Csv(std::ostream& out) : out_(out) {}

    void begin(const TraceSource&, const ExportRange& range) override {
        range_ = range.stretch;
        out_ << "what,task,peer,begin,end,name,type,bytes,value\n";
    }
    void enter(TaskId, Time, const Region&, const Site&) override {}
    void leave(const Interval& interval, const Region& region) override {
        const CallFrame& frame = interval.frame;
        out_ << fmt::format("{},{},{},{:.9f},{:.9f},{},,,\n", region.of_user ? "region" : "call",
                            interval.task, frame.peer == kNobody ? "" : std::to_string(frame.peer),
                            seconds_of(std::max(frame.since, range_.from)), seconds_of(interval.to),
                            quoted_csv(region.name));
    }
    void message(const Message& message, std::uint64_t) override {
        out_ << fmt::format("{},{},{},{:.9f},{:.9f},,{},{},\n", what(message), message.from,
                            message.to, seconds_of(message.sent), seconds_of(message.received),
                            message.type, message.bytes);
    }
    void marker(TaskId task, Time at, const std::string& text) override {
        out_ << fmt::format("marker,{},,{:.9f},,{},,,\n", task, seconds_of(at), quoted_csv(text));
    }
    void counter(TaskId task, Time at, const std::string& name, double value) override {
        out_ << fmt::format("counter,{},,{:.9f},,{},,,{}\n", task, seconds_of(at), quoted_csv(name),
                            value);
    }

  private:
    std::ostream& out_;
    Stretch range_;
};

class Chrome : public ExportSink {
  public:
    explicit Chrome(std::ostream& out) : out_(out) {}

    void begin(const TraceSource& source, const ExportRange& range) override {
        out_ << "{\"traceEvents\":[\n";
        const TraceFacts& facts = source.facts();
        for (std::size_t node = 0; node < facts.nodes.size(); ++node)
            write({{"ph", "M"},
                   {"name", "process_name"},
                   {"pid", node},
                   {"args", {{"name", facts.nodes[node]}}}});
        node_of_ = facts.node_of;
        for (TaskId task = 0; task < facts.tasks; ++task)
            if (range.has(task))
                write({{"ph", "M"},
                       {"name", "thread_name"},
                       {"pid", node(task)},
                       {"tid", task},
                       {"args", {{"name", facts.task_name(task)}}}});
    }
    void enter(TaskId task, Time at, const Region& region, const Site&) override {
        write({{"ph", "B"},
               {"name", region.name},
               {"cat", region.of_user ? "user" : "call"},
               {"pid", node(task)},
               {"tid", task},
               {"ts", microseconds(at)}});
    }
    void leave(const Interval& interval, const Region&) override {
        write({{"ph", "E"},
               {"pid", node(interval.task)},
               {"tid", interval.task},
               {"ts", microseconds(interval.to)}});
    }
    void message(const Message& message, std::uint64_t number) override {
        const nlohmann::json arguments{{"bytes", message.bytes}, {"type", message.type}};
        write({{"ph", "s"},
               {"name", what(message)},
               {"cat", what(message)},
               {"id", number},
               {"pid", node(message.from)},
               {"tid", message.from},
               {"ts", microseconds(message.sent)},
               {"args", arguments}});
        write({{"ph", "f"},
               {"bp", "e"},
               {"name", what(message)},
               {"cat", what(message)},
               {"id", number},
               {"pid", node(message.to)},
               {"tid", message.to},
               {"ts", microseconds(message.received)}});
    }
    void marker(TaskId task, Time at, const std::string& text) override {
        write({{"ph", "i"},
               {"s", "t"},
               {"name", text},
               {"cat", "marker"},
               {"pid", node(task)},
               {"tid", task},
               {"ts", microseconds(at)}});
    }
    void counter(TaskId task, Time at, const std::string& name, double value) override {
        write({{"ph", "C"},
               {"name", fmt::format("{} of task {}", name, task)},
               {"pid", node(task)},
               {"ts", microseconds(at)},
               {"args", {{"value", value}}}});
    }
    void end() override { out_ << "\n]}\n"; }

  private:
    static double microseconds(Time time) { return static_cast<double>(time.count()) / 1000; }
    NodeIndex node(TaskId task) const { return node_of_[static_cast<std::size_t>(task)]; }
    void write(const nlohmann::json& event) {
        if (!first_) out_ << ",\n";
        first_ = false;
        out_ << event.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
    }

    std::ostream& out_;
    std::vector<NodeIndex> node_of_;
    bool first_ = true;
};

}  // namespace

std::unique_ptr<ExportSink> csv_sink(std::ostream& out) {
    return std::make_unique<Csv>(out);
}

std::unique_ptr<ExportSink> chrome_sink(std::ostream& out) {
    return std::make_unique<Chrome>(out);
}

}  // namespace poe::trace
