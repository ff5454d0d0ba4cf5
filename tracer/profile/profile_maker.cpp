// Implementation of profile_maker.hpp.
#include "tracer/profile/profile_maker.hpp"

#include <algorithm>

#include "tracer/probe/sample_origin.hpp"

namespace poe::trace {
namespace {

constexpr std::size_t kMostSamples = std::size_t{16} << 20;

bool is_counter(Metric metric) {
    return metric >= Metric::kCycles && metric <= Metric::kContextSwitches;
}

}  // namespace

ProfileMaker::ProfileMaker(const TraceSource& source, const Replay& replay)
    : source_(source), replay_(replay) {
    profile_.paths.emplace_back();
}

void ProfileMaker::on_event(const Event& event, TaskId task) {
    if (task >= 0) return;
    const Record& record = event.record;
    if (record.kind == Kind::kSample)
        add_sample(event);
    else if (record.kind == Kind::kDefine && static_cast<Defined>(record.detail) == Defined::kPath)
        define_path(event);
    else if (record.kind == Kind::kSampling)
        add_fact(record);
    else if (record.kind == Kind::kSystem && is_counter(static_cast<Metric>(record.detail)))
        add_reading(event);
}

// A path whose caller is not known, because its record was lost, becomes an outermost one.
void ProfileMaker::define_path(const Event& event) {
    const auto caller = path_ids_.find(pair(event.stream, high(event.record.b)));
    const CallPath path{caller == path_ids_.end() ? 0 : caller->second,
                        replay_.definitions().site(event.stream, low(event.record.b))};
    const auto [known, is_new] = path_numbers_.try_emplace(
        pair(path.caller, path.site), static_cast<std::uint32_t>(profile_.paths.size()));
    if (is_new) profile_.paths.push_back(path);
    path_ids_[pair(event.stream, event.record.a)] = known->second;
}

void ProfileMaker::add_sample(const Event& event) {
    const Record& record = event.record;
    const std::vector<TaskTimeline>& tasks = replay_.state().tasks;
    if (record.a >= tasks.size()) return;
    if (profile_.samples.size() >= kMostSamples) {
        ++profile_.left_out;
        return;
    }
    const TaskTimeline& task = tasks[record.a];
    StackSample sample;
    sample.at = event.time;
    sample.task = static_cast<TaskId>(record.a);
    sample.thread = low(record.b);
    const auto path = path_ids_.find(pair(event.stream, high(record.b)));
    sample.path = path == path_ids_.end() ? 0 : path->second;
    sample.flags = record.detail;
    sample.count = std::max<std::uint16_t>(record.extra, 1);
    sample.state = task.seen ? task.state : State::kComputing;
    if (!task.frames.empty()) {
        const std::uint32_t region = task.frames.front().region;
        if (replay_.definitions().region(region).of_user) sample.phase = region;
    }
    profile_.samples.push_back(sample);
}

void ProfileMaker::add_fact(const Record& record) {
    switch (static_cast<SamplingFact>(record.detail)) {
        case SamplingFact::kPeriod:
            profile_.period = Time(static_cast<std::int64_t>(
                std::min<std::uint64_t>(record.b, std::uint64_t{3600} * 1'000'000'000)));
            if (static_cast<SampleOrigin>(record.extra) == SampleOrigin::kTimerSignals)
                profile_.by_signals = true;
            break;
        case SamplingFact::kLost:
            profile_.lost += record.b;
            break;
        case SamplingFact::kCost:
            profile_.cost += Time(static_cast<std::int64_t>(record.b & kTimeMask));
            break;
        case SamplingFact::kNoKernel:
            profile_.without_kernel = true;
            break;
        case SamplingFact::kNoSleepers:
            profile_.without_sleepers = true;
            break;
        case SamplingFact::kNoCounters:
            profile_.without_counters = true;
            break;
    }
}

// What was counted since the last reading is divided among the states that the task was in, by
// their times.
void ProfileMaker::add_reading(const Event& event) {
    const Record& record = event.record;
    const std::vector<TaskTimeline>& tasks = replay_.state().tasks;
    if (record.a >= tasks.size()) return;
    const auto metric = static_cast<Metric>(record.detail);
    const auto spent = tasks[record.a].spent_until(std::max(event.time, replay_.state().now));
    Reading& last = readings_[{record.a, metric}];
    CounterSums& sums = profile_.counters[metric];
    Time all{0};
    std::array<Time, kStates> times{};
    for (std::size_t state = 0; state < kStates; ++state) {
        times[state] = std::max(spent[state] - last.spent[state], Time{0});
        all += times[state];
    }
    const auto counted = static_cast<double>(record.b - std::min(record.b, last.value));
    for (std::size_t state = 0; state < kStates; ++state) {
        sums.times[state] += times[state];
        if (all > Time{0})
            sums.counts[state] += counted * (seconds_of(times[state]) / seconds_of(all));
    }
    if (all <= Time{0})
        sums.counts[static_cast<std::size_t>(tasks[record.a].seen ? tasks[record.a].state
                                                                  : State::kComputing)] += counted;
    last = {record.b, spent};
}

void ProfileMaker::add_call(const CallFrame& frame, Time to) {
    calls_[{frame.region, frame.site}] += to - frame.since;
}

void ProfileMaker::on_interval(const Interval& interval) {
    if (interval.outer_call) add_call(interval.frame, interval.to);
}

void ProfileMaker::on_open(TaskId task, std::size_t, const CallFrame& frame, Time to) {
    const CallFrame* call =
        replay_.state().tasks[static_cast<std::size_t>(task)].call(replay_.definitions());
    if (call != nullptr && call->since == frame.since && call->region == frame.region)
        add_call(frame, to);
}

StackProfile ProfileMaker::take() {
    const Definitions& definitions = replay_.definitions();
    profile_.sites = definitions.sites();
    for (const Region& region : definitions.regions()) profile_.regions.push_back(region.name);
    for (const auto& [where, time] : calls_)
        profile_.calls.push_back(
            {definitions.region(where.first).state, where.first, where.second, time});
    std::stable_sort(profile_.calls.begin(), profile_.calls.end(),
                     [](const CallTime& a, const CallTime& b) { return a.time > b.time; });
    const Time end = std::max(source_.end(), replay_.state().now);
    for (const TaskTimeline& task : replay_.state().tasks) {
        const auto spent = task.spent_until(end);
        for (std::size_t state = 0; state < kStates; ++state) profile_.spent[state] += spent[state];
    }
    return std::move(profile_);
}

}  // namespace poe::trace
