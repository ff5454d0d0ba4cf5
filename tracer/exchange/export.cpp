// Implementation of export.hpp.
#include "tracer/exchange/export.hpp"

#include <algorithm>
#include <bit>
#include <unordered_map>

#include "tracer/analysis/trace_words.hpp"
#include "tracer/read/event_merge.hpp"

namespace poe::trace {
namespace {

constexpr std::uint64_t kBetweenProgress = 1 << 17;

class Walk : public Listener {
  public:
    Walk(const TraceSource& source, Definitions& definitions, const ExportRange& range,
         ExportSink& sink)
        : source_(source),
          definitions_(definitions),
          range_(range),
          sink_(sink),
          now_(range.stretch.from) {}

    // Call paths are defined before they are used, perhaps before the range.
    void learn(const Event& event) {
        const Record& record = event.record;
        const bool is_path =
            record.kind == Kind::kDefine && static_cast<Defined>(record.detail) == Defined::kPath;
        const bool is_period = record.kind == Kind::kSampling &&
                               static_cast<SamplingFact>(record.detail) == SamplingFact::kPeriod;
        if (is_path) define_path(event);
        if (is_period) sink_.sample_period(Time(static_cast<std::int64_t>(record.b & kTimeMask)));
    }
    void on_event(const Event& event, TaskId task) override {
        learn(event);
        // In damaged streams times may go backwards; the replay takes such an event as one of its
        // present moment.
        now_ = std::max(now_, event.time);
        if (event.record.kind == Kind::kSystem) return system(event, task);
        if (event.record.kind == Kind::kSample) return sample(event);
        if (!range_.has(task)) return;
        const Record& record = event.record;
        switch (record.kind) {
            case Kind::kEnter:
                sink_.enter(task, now_,
                            definitions_.region(definitions_.region(event.stream, record.a)),
                            definitions_.site(definitions_.site(event.stream, record.extra)));
                break;
            case Kind::kSend:
            case Kind::kReceive:
                sink_.message_end(task, now_, event, source_.bytes_of(event));
                break;
            case Kind::kCollective:
                sink_.collective(task, now_, event, source_.bytes_of(event));
                break;
            case Kind::kMarker:
                sink_.marker(task, now_,
                             source_.text_of(event, std::min<std::size_t>(record.a, kMarkerBytes)));
                break;
            case Kind::kCounter:
                sink_.counter(
                    task, now_, definitions_.counter(definitions_.counter(event.stream, record.a)),
                    record.detail == 0 ? std::bit_cast<double>(record.b)
                                       : static_cast<double>(static_cast<std::int64_t>(record.b)));
                break;
            default:
                break;
        }
    }
    void on_interval(const Interval& interval) override {
        if (range_.has(interval.task) && interval.to >= range_.stretch.from)
            sink_.leave(interval, definitions_.region(interval.frame.region));
    }
    void on_message(const Message& message) override {
        if (range_.has(message.from) && range_.has(message.to) && range_.has(message.sent) &&
            range_.has(message.received))
            sink_.message(message, ++messages_);
    }

  private:
    // Statistics of a task, recorded by its node's daemon, become counters of the task: sums since
    // its start. Statistics of a node belong to no task and cannot be expressed in these formats.
    void system(const Event& event, TaskId task) {
        const Record& record = event.record;
        if (task < 0 && record.a < static_cast<std::uint32_t>(source_.facts().tasks))
            task = static_cast<TaskId>(record.a);
        const bool known = record.detail > 0 && record.detail < kMetrics;
        if (!known || !range_.has(task)) return;
        const auto metric = static_cast<Metric>(record.detail);
        const bool is_time = metric == Metric::kCpuUser || metric == Metric::kCpuSystem ||
                             metric == Metric::kTaskClock;
        const std::string name(metric_word(record.detail));
        sink_.counter(task, now_, is_time ? name + " (s)" : name,
                      static_cast<double>(record.b) / (is_time ? 1e9 : 1));
    }

    // Nodes number their paths themselves; equal ones become one.
    void define_path(const Event& event) {
        const auto caller = path_ids_.find(pair(event.stream, high(event.record.b)));
        const std::uint32_t above = caller == path_ids_.end() ? 0 : caller->second;
        const std::uint32_t site = definitions_.site(event.stream, low(event.record.b));
        const auto [known, is_new] =
            paths_.try_emplace(pair(above, site), static_cast<std::uint32_t>(paths_.size() + 1));
        if (is_new) sink_.call_path(known->second, above, definitions_.site(site));
        path_ids_[pair(event.stream, event.record.a)] = known->second;
    }
    void sample(const Event& event) {
        const Record& record = event.record;
        const auto task = static_cast<TaskId>(record.a);
        if (record.a >= static_cast<std::uint32_t>(source_.facts().tasks) || !range_.has(task))
            return;
        const auto path = path_ids_.find(pair(event.stream, high(record.b)));
        sink_.sample(task, now_,
                     {.thread = low(record.b),
                      .path = path == path_ids_.end() ? 0 : path->second,
                      .count = std::max<std::uint16_t>(record.extra, 1),
                      .slept = (record.detail & kSampleWaiting) != 0});
    }

    const TraceSource& source_;
    Definitions& definitions_;
    const ExportRange& range_;
    ExportSink& sink_;
    Time now_;  // of the replay, within the range
    std::uint64_t messages_ = 0;
    std::unordered_map<std::uint64_t, std::uint32_t> paths_;  // by pair(caller, site)
    std::unordered_map<std::uint64_t, std::uint32_t>
        path_ids_;  // by pair(stream, its number there)
};

// Calls that are open at a border of the range begin, or end, there.
void at_border(const Replay& replay, const ExportRange& range, bool first, ExportSink& sink) {
    const std::vector<TaskTimeline>& tasks = replay.state().tasks;
    for (std::size_t id = 0; id < tasks.size(); ++id) {
        const auto task = static_cast<TaskId>(id);
        if (!range.has(task)) continue;
        const std::vector<CallFrame>& frames = tasks[id].frames;
        if (first) {
            for (const CallFrame& frame : frames)
                sink.enter(task, range.stretch.from, replay.definitions().region(frame.region),
                           replay.definitions().site(frame.site));
            continue;
        }
        for (std::size_t depth = frames.size(); depth-- > 0;)
            sink.leave(
                {.task = task, .frame = frames[depth], .to = range.stretch.to, .depth = depth},
                replay.definitions().region(frames[depth].region));
    }
}

}  // namespace

void export_trace(const TraceSource& source, const ExportRange& range, ExportSink& sink,
                  const std::function<void(double)>& progress) {
    Definitions definitions;
    Replay replay(source, definitions);
    Walk walk(source, definitions, range, sink);
    EventMerge merge(source);
    sink.begin(source, range);
    const auto all = static_cast<double>(std::max<std::uint64_t>(source.records(), 1));
    std::uint64_t count = 0;
    bool inside = false;
    Event event;
    while (merge.next_time() <= range.stretch.to && merge.next(event)) {
        if (!inside && event.time >= range.stretch.from) {
            inside = true;
            at_border(replay, range, true, sink);
            replay.tell(&walk);
        }
        if (!inside) walk.learn(event);
        replay.apply(event);
        if (++count % kBetweenProgress != 0) continue;
        progress(static_cast<double>(count) / all);
        source.forget();
    }
    if (inside) at_border(replay, range, false, sink);
    sink.end();
}

}  // namespace poe::trace
