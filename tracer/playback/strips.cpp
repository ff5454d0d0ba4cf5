// Implementation of strips.hpp.
#include "tracer/playback/strips.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>

#include <fmt/format.h>

#include "tracer/analysis/trace_words.hpp"

namespace poe::trace {
namespace {

constexpr Time kShortestSample = std::chrono::milliseconds(100);

bool is_cpu(std::size_t metric) {
    return metric == static_cast<std::size_t>(Metric::kCpuUser) ||
           metric == static_cast<std::size_t>(Metric::kCpuSystem) ||
           metric == static_cast<std::size_t>(Metric::kTaskClock);
}

std::string value_words(std::size_t metric, double value) {
    switch (static_cast<Metric>(metric)) {
        case Metric::kCpuUser:
        case Metric::kCpuSystem:
        case Metric::kTaskClock:
            return percent_words(value / 1e9);
        case Metric::kMemory:
            return bytes_words(static_cast<Bytes>(value));
        case Metric::kDiskRead:
        case Metric::kDiskWritten:
        case Metric::kNetworkIn:
        case Metric::kNetworkOut:
            return bytes_words(static_cast<Bytes>(value)) + "/s";
        default:
            return amount_words(value) + "/s";
    }
}

template <typename Value>
using Samples = std::vector<std::pair<Time, Value>>;
using SystemKey = std::pair<Subject, std::uint8_t>;          // by subject and Metric
using CounterKey = std::pair<std::uint32_t, std::uint32_t>;  // by stream and counter

class SampleListener : public Listener {
  public:
    explicit SampleListener(Session& session) : session_(session) {}

    void on_event(const Event& event, TaskId task) override {
        const Record& record = event.record;
        if (record.kind == Kind::kCounter) {
            const double value = record.detail == 0
                                     ? std::bit_cast<double>(record.b)
                                     : static_cast<double>(static_cast<std::int64_t>(record.b));
            counters[{event.stream, session_.counter_number(event.stream, record.a)}].emplace_back(
                event.time, value);
        } else if (record.kind == Kind::kSystem) {
            const bool of_node = task < 0 && record.a == kNobody;
            const Subject subject = of_node    ? -1 - session_.source().streams()[event.stream].node
                                    : task < 0 ? static_cast<Subject>(record.a)
                                               : task;
            note(subject, record.detail, event.time, record.b);
        }
    }
    // Adds the known values at a moment, as if all were recorded then.
    void take(const JobState& state, Time time) {
        for (const auto& [key, value] : state.counters) counters[key].emplace_back(time, value);
        for (const auto& [key, value] : state.system) note(key.first, key.second, time, value);
    }

    std::map<CounterKey, Samples<double>> counters;
    std::map<SystemKey, Samples<std::uint64_t>> system;

  private:
    void note(Subject subject, std::uint8_t metric, Time time, std::uint64_t value) {
        if (metric != 0 && metric < kMetrics) system[{subject, metric}].emplace_back(time, value);
    }

    Session& session_;
};

struct Columns {
    Stretch window;
    int count;
    double place(Time time) const {
        return seconds_of(time - window.from) / std::max(seconds_of(window.length()), 1e-12) *
               count;
    }
};

// A value is valid until the next one.
template <typename Value>
std::vector<double> held(const Samples<Value>& samples, const Columns& columns) {
    std::vector<double> values(static_cast<std::size_t>(columns.count), std::nan(""));
    for (const auto& [time, value] : samples) {
        const double place = std::clamp(std::floor(columns.place(time)), -1.0, columns.count - 1.0);
        // The last value before the window is its initial value.
        values[static_cast<std::size_t>(std::max(place, 0.0))] = static_cast<double>(value);
    }
    double last = std::nan("");
    for (double& value : values) {
        if (std::isnan(value)) value = last;
        last = value;
    }
    return values;
}

// The growth of a sum, over intervals that are long enough.
struct Growth {
    Time from{0};
    Time to{0};
    std::uint64_t by = 0;
};

std::vector<Growth> growths_of(const Samples<std::uint64_t>& samples) {
    std::vector<Growth> found;
    for (std::size_t i = 1; i < samples.size(); ++i) {
        const auto& [from, before] = samples[i - 1];
        const auto& [to, after] = samples[i];
        if (to < from || after < before) continue;
        const bool begun = !found.empty() && found.back().to == from &&
                           found.back().to - found.back().from < kShortestSample;
        if (!begun) found.push_back({from, from, 0});
        found.back().to = to;
        found.back().by += after - before;
    }
    // Merges a short last interval into the previous one.
    if (found.size() > 1) {
        const Growth last = found.back();
        Growth& before = found[found.size() - 2];
        if (last.to - last.from < kShortestSample && before.to == last.from) {
            before.to = last.to;
            before.by += last.by;
            found.pop_back();
        }
    }
    return found;
}

std::vector<double> rates(const Samples<std::uint64_t>& samples, const Columns& columns) {
    std::vector<double> values(static_cast<std::size_t>(columns.count), 0);
    std::vector<double> covered(values.size(), 0);
    for (const Growth& growth : growths_of(samples)) {
        const double seconds = seconds_of(growth.to - growth.from);
        if (seconds <= 0) continue;
        const double rate = static_cast<double>(growth.by) / seconds;
        const double from = std::max(columns.place(growth.from), 0.0);
        const double to = std::min(columns.place(growth.to), static_cast<double>(columns.count));
        for (auto column = static_cast<std::size_t>(from);
             column < values.size() && static_cast<double>(column) < to; ++column) {
            const auto left = static_cast<double>(column);
            const double share = std::min(to, left + 1) - std::max(from, left);
            values[column] += rate * share;
            covered[column] += share;
        }
    }
    for (std::size_t column = 0; column < values.size(); ++column)
        values[column] = covered[column] > 0 ? values[column] / covered[column] : std::nan("");
    return values;
}

void add_to(std::vector<double>& sums, const std::vector<double>& values) {
    if (sums.empty()) sums.assign(values.size(), std::nan(""));
    for (std::size_t i = 0; i < values.size(); ++i)
        if (!std::isnan(values[i])) sums[i] = (std::isnan(sums[i]) ? 0 : sums[i]) + values[i];
}

class StripMaker {
  public:
    StripMaker(const SampleListener& samples, Session& session, Columns columns)
        : samples_(samples), session_(session), columns_(columns) {}

    std::vector<StripRow> rows(TaskId selected) {
        std::map<std::uint8_t, std::map<NodeIndex, std::vector<double>>> by_node;
        std::vector<StripRow> nodes;
        std::vector<StripRow> own;
        const TraceFacts& facts = session_.source().facts();
        for (const auto& [key, samples] : samples_.system) {
            const auto [subject, metric] = key;
            if (metric == static_cast<std::uint8_t>(Metric::kProcessors)) continue;
            std::vector<double> values = metric == static_cast<std::uint8_t>(Metric::kMemory)
                                             ? held(samples, columns_)
                                             : rates(samples, columns_);
            if (subject < 0) {
                const auto node = static_cast<std::size_t>(-1 - subject);
                limit(values, metric, static_cast<NodeIndex>(node));
                const std::string name = node < facts.nodes.size() && !facts.nodes[node].empty()
                                             ? facts.nodes[node]
                                             : std::to_string(node);
                nodes.push_back(row(metric, "node " + name, values));
                continue;
            }
            if (subject == selected)
                own.push_back(row(metric, fmt::format("task {}", selected), values));
            const auto task = static_cast<std::size_t>(subject);
            if (task < facts.node_of.size()) add_to(by_node[metric][facts.node_of[task]], values);
        }
        std::vector<StripRow> rows;
        for (auto& [metric, sums] : by_node) {
            std::vector<double> all;
            for (auto& [node, values] : sums) {
                limit(values, metric, node);
                add_to(all, values);
            }
            rows.push_back(row(metric, "all", all));
        }
        rows.insert(rows.end(), nodes.begin(), nodes.end());
        rows.insert(rows.end(), own.begin(), own.end());
        // Omits strips without any activity.
        std::erase_if(rows, [](const StripRow& row) { return row.highest() <= 0; });
        for (const bool of_selected : {true, false})
            for (const auto& [key, samples] : samples_.counters) {
                if ((session_.source().task_of(key.first) == selected) != of_selected) continue;
                StripRow strip;
                strip.name = fmt::format("{} of {}", session_.definitions().counter(key.second),
                                         session_.source().streams()[key.first].name());
                strip.values = held(samples, columns_);
                strip.most = amount_words(strip.highest());
                rows.push_back(std::move(strip));
            }
        return rows;
    }

  private:
    static StripRow row(std::uint8_t metric, const std::string& whose, std::vector<double> values) {
        StripRow strip{fmt::format("{} of {}", metric_word(metric), whose), std::move(values), ""};
        strip.most = value_words(metric, strip.highest());
        return strip;
    }
    void limit(std::vector<double>& values, std::uint8_t metric, NodeIndex node) const {
        if (!is_cpu(metric)) return;
        const auto known =
            samples_.system.find({-1 - node, static_cast<std::uint8_t>(Metric::kProcessors)});
        if (known == samples_.system.end() || known->second.back().second == 0) return;
        const double most = 1e9 * static_cast<double>(known->second.back().second);
        for (double& value : values) value = std::min(value, most);  // NaN is kept
    }

    const SampleListener& samples_;
    Session& session_;
    Columns columns_;
};

}  // namespace

double StripRow::highest() const {
    double found = 0;
    for (const double value : values) found = std::max(found, std::isnan(value) ? 0 : value);
    return found;
}

std::vector<StripRow> strips_of(const ViewState& look, Session& session, int columns) {
    SampleListener samples(session);
    if (session.step_of_sums(look.window)) {
        const Index& index = session.index();
        for (int column = 0; column <= columns; ++column) {
            const Time moment = look.window.from + look.window.length() * column / columns;
            const Time time = index.time(index.before(moment));
            samples.take(session.at(time), time);
        }
    } else {
        // Rare values, such as the number of processors, may have been recorded before the window.
        samples.take(session.at(look.window.from), look.window.from);
        session.listen(look.window, samples);
    }
    return StripMaker(samples, session, {look.window, columns}).rows(look.selected);
}

}  // namespace poe::trace
