// Implementation of summary.hpp.
#include "tracer/analysis/summary.hpp"

#include <algorithm>
#include <map>
#include <unordered_map>

#include "tracer/analysis/whole_pass.hpp"

namespace poe::trace {

class SummaryMaker::Sums : public Listener {
  public:
    explicit Sums(const Definitions& definitions) : definitions_(definitions) {}

    void on_interval(const Interval& interval) override {
        const std::uint32_t region = interval.frame.region;
        if (calls.size() <= region) calls.resize(definitions_.regions().size());
        CallSum& sum = calls[region];
        ++sum.calls;
        sum.time += interval.self();
        sum.bytes += interval.frame.bytes;
        sum.longest = std::max(sum.longest, interval.to - interval.frame.since);
        if (interval.frame.path == 0) return;
        PathSum& carried_out = paths[{region, interval.frame.path}];
        ++carried_out.calls;
        carried_out.rounds = std::max(carried_out.rounds, interval.frame.rounds);
        carried_out.time += interval.to - interval.frame.since;
        carried_out.bytes += interval.frame.bytes;
    }
    void on_computing(TaskId, std::uint32_t region, Time from, Time to) override {
        if (regions.size() <= region) regions.resize(definitions_.regions().size());
        regions[region] += to - from;
    }
    void on_message(const Message& message) override {
        if (message.context != kUserMessages) {
            inner_bytes += message.bytes;
            return;
        }
        PairSum& sum = pairs[pair(static_cast<std::uint32_t>(message.from),
                                  static_cast<std::uint32_t>(message.to))];
        sum.from = message.from;
        sum.to = message.to;
        ++sum.count;
        sum.bytes += message.bytes;
    }
    void on_wait(const Wait& wait) override {
        add(all[static_cast<std::size_t>(wait.why)], wait);
        add(blame[{
                pair(static_cast<std::uint32_t>(wait.task), static_cast<std::uint32_t>(wait.whom)),
                wait.why}],
            wait);
        const auto longer = [](const Wait& a, const Wait& b) {
            return a.to - a.from > b.to - b.from;
        };
        if (stalls.size() == Summary::kTop && !longer(wait, stalls.back())) return;
        stalls.insert(std::upper_bound(stalls.begin(), stalls.end(), wait, longer), wait);
        if (stalls.size() > Summary::kTop) stalls.pop_back();
    }

    std::vector<CallSum> calls;                                        // by region
    std::map<std::pair<std::uint32_t, std::uint32_t>, PathSum> paths;  // by region and path
    std::vector<Time> regions;  // by region; 0: computing in none
    std::unordered_map<std::uint64_t, PairSum> pairs;
    std::array<WaitSum, Wait::kWhys> all;
    std::map<std::pair<std::uint64_t, Wait::Why>, WaitSum> blame;
    std::vector<Wait> stalls;
    Bytes inner_bytes = 0;  // of messages within collective calls

  private:
    static void add(WaitSum& sum, const Wait& wait) {
        ++sum.count;
        sum.time += wait.to - wait.from;
    }

    const Definitions& definitions_;
};

namespace {

template <typename Sum, typename Better>
void keep_best(std::vector<Sum>& sums, Better better) {
    const std::size_t kept = std::min(sums.size(), Summary::kTop);
    std::partial_sort(sums.begin(), sums.begin() + static_cast<std::ptrdiff_t>(kept), sums.end(),
                      better);
    sums.resize(kept);
}

template <typename Sums>
void take_sums(Summary& summary, const Sums& sums, const Definitions& definitions,
               Symbols& symbols) {
    for (std::uint32_t region = 0; region < sums.calls.size(); ++region) {
        CallSum sum = sums.calls[region];
        if (sum.calls == 0) continue;
        sum.name = definitions.region(region).name;
        sum.state = definitions.region(region).state;
        sum.of_user = definitions.region(region).of_user;
        summary.calls.push_back(std::move(sum));
    }
    std::sort(summary.calls.begin(), summary.calls.end(), [](const CallSum& a, const CallSum& b) {
        return a.time != b.time ? a.time > b.time : a.name < b.name;
    });
    for (const auto& [key, sum] : sums.paths) {
        summary.paths.push_back(sum);
        summary.paths.back().call = definitions.region(key.first).name;
        summary.paths.back().path = definitions.region(key.second).name;
    }
    std::stable_sort(summary.paths.begin(), summary.paths.end(),
                     [](const PathSum& a, const PathSum& b) { return a.time > b.time; });
    for (std::uint32_t region = 1; region < sums.regions.size(); ++region)
        if (sums.regions[region] > Time{0})
            summary.regions.push_back({definitions.region(region).name, sums.regions[region]});
    std::stable_sort(summary.regions.begin(), summary.regions.end(),
                     [](const RegionSum& a, const RegionSum& b) { return a.time > b.time; });
    for (const auto& [key, sum] : sums.pairs) summary.pairs.push_back(sum);
    summary.all_pairs = sums.pairs.size();
    keep_best(summary.pairs, [](const PairSum& a, const PairSum& b) {
        return std::tuple(b.bytes, b.count, a.from, a.to) <
               std::tuple(a.bytes, a.count, b.from, b.to);
    });
    for (std::size_t why = 0; why < sums.all.size(); ++why) {
        summary.waits.push_back(sums.all[why]);
        summary.waits.back().why = static_cast<Wait::Why>(why);
        summary.waits.back().task = summary.waits.back().whom = -1;
    }
    for (const auto& [key, sum] : sums.blame) {
        summary.blame.push_back(sum);
        summary.blame.back().why = key.second;
        summary.blame.back().task = static_cast<TaskId>(high(key.first));
        summary.blame.back().whom = static_cast<TaskId>(low(key.first));
    }
    std::stable_sort(summary.blame.begin(), summary.blame.end(),
                     [](const WaitSum& a, const WaitSum& b) {
                         return a.time != b.time ? a.time > b.time : a.task < b.task;
                     });
    for (const Wait& wait : sums.stalls)
        summary.stalls.push_back({wait.why, wait.task, wait.whom, wait.from, wait.to,
                                  definitions.region(wait.region).name,
                                  symbols.words_of(definitions.site(wait.site))});
}

void take_state(Summary& summary, const JobState& state, const Definitions& definitions,
                Symbols& symbols) {
    for (std::size_t id = 0; id < state.tasks.size(); ++id) {
        const TaskTimeline& task = state.tasks[id];
        summary.tasks.push_back({task.spent_until(summary.end), task.sends, task.receives,
                                 task.collectives, task.bytes_sent, task.bytes_received});
        const CallFrame* call = task.call(definitions);
        if (call == nullptr) continue;
        summary.unfinished.push_back({static_cast<TaskId>(id),
                                      definitions.region(call->region).name,
                                      static_cast<TaskId>(call->peer), call->since,
                                      symbols.words_of(definitions.site(call->site))});
    }
    summary.messages = state.messages;
    summary.inner_messages = state.inner_messages;
    summary.backwards = state.backwards;
}

}  // namespace

std::array<Time, kStates> Summary::spent() const {
    std::array<Time, kStates> sums{};
    for (const TaskSum& task : tasks)
        for (std::size_t state = 0; state < kStates; ++state) sums[state] += task.spent[state];
    return sums;
}

TaskId Summary::busiest() const {
    constexpr auto kComputing = static_cast<std::size_t>(State::kComputing);
    const auto most =
        std::max_element(tasks.begin(), tasks.end(), [](const TaskSum& a, const TaskSum& b) {
            return a.spent[kComputing] < b.spent[kComputing];
        });
    return static_cast<TaskId>(most - tasks.begin());
}

double Summary::imbalance() const {
    constexpr auto kComputing = static_cast<std::size_t>(State::kComputing);
    const Time sum = spent()[kComputing];
    if (tasks.empty() || sum <= Time{0}) return 0;
    const Time most = tasks[static_cast<std::size_t>(busiest())].spent[kComputing];
    return seconds_of(most) * static_cast<double>(facts.computing_tasks()) / seconds_of(sum) - 1;
}

std::vector<ClockSum> clocks_of(const TraceSource& source) {
    std::vector<ClockSum> clocks;
    for (const ClockDoubt& doubt : source.clock_doubts())
        clocks.push_back({source.node_name(doubt.node), doubt.within});
    std::stable_sort(clocks.begin(), clocks.end(), [](const ClockSum& a, const ClockSum& b) {
        return a.within.value_or(kFarthest) > b.within.value_or(kFarthest);
    });
    return clocks;
}

SummaryMaker::SummaryMaker(const TraceSource& source, const Definitions& definitions)
    : source_(source), definitions_(definitions), sums_(std::make_unique<Sums>(definitions)) {}
SummaryMaker::~SummaryMaker() = default;

Listener& SummaryMaker::listener() {
    return *sums_;
}

Summary SummaryMaker::take(const Replay& replay, const EventMerge& merge, Symbols& symbols) {
    Summary summary;
    summary.facts = source_.facts();
    summary.begin = source_.begin();
    summary.end = std::max(source_.end(), replay.state().now);
    summary.records = source_.records();
    summary.holes = merge.holes();
    summary.implausible = merge.implausible();
    for (const Stream& stream : source_.streams()) summary.lost += stream.lost + stream.cut;
    const MessageMatcher& messages = replay.messages();
    summary.unmatched = messages.size() + messages.given_up();
    summary.problems = source_.problems();
    summary.clocks = clocks_of(source_);
    take_state(summary, replay.state(), definitions_, symbols);
    take_sums(summary, *sums_, definitions_, symbols);
    summary.inner_bytes = sums_->inner_bytes;
    return summary;
}

Summary summarize(const TraceSource& source, Symbols& symbols,
                  const std::function<void(double)>& progress) {
    Definitions definitions;
    Replay replay(source, definitions);
    SummaryMaker maker(source, definitions);
    replay.tell(&maker.listener());
    EventMerge merge(source);
    replay_whole(source, merge, replay, progress);
    return maker.take(replay, merge, symbols);
}

}  // namespace poe::trace
