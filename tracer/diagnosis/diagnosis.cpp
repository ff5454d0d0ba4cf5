// Implementation of diagnosis.hpp.
#include "tracer/diagnosis/diagnosis.hpp"

#include <algorithm>
#include <unordered_map>

#include <fmt/format.h>

#include "base/contexts.hpp"
#include "tracer/analysis/whole_pass.hpp"
#include "tracer/diagnosis/history_maker.hpp"
#include "tracer/diagnosis/ideal_replay.hpp"
#include "tracer/profile/profile_maker.hpp"

namespace poe::trace {
namespace {

class Namer {
  public:
    Namer(const History& history, const Definitions& definitions, Symbols& symbols)
        : definitions_(definitions), symbols_(symbols) {
        for (const LongVector<Activity>& all : history.tasks)
            for (const Activity& activity : all)
                if (activity.is_call && activity.site != 0) note_call(activity);
    }

    std::string region(std::uint32_t region) const {
        return region == 0 ? std::string() : definitions_.region(region).name;
    }
    std::string communicator(std::uint32_t communicator) const {
        if (communicator == kNoCommunicator) return "no communicator";
        if ((communicator & kMplGroup) != 0)
            return fmt::format("group {}", communicator & ~kMplGroup);
        const std::string name = definitions_.name_of_context(communicator);
        if (!name.empty()) return name;
        if (communicator == kFirstMpiContext) return "MPI_COMM_WORLD";
        return fmt::format("communicator {}", communicator - kFirstMpiContext);
    }
    std::string line(std::uint32_t site) { return symbols_.words_of(definitions_.site(site)); }

    // `what` has the members of Activity that tell what a task did.
    template <typename What>
    NamedActivity activity(const What& what) {
        NamedActivity named{.task = what.task,
                            .state = what.state,
                            .what = std::string(state_word(what.state)),
                            .region = region(what.region),
                            .line = line(what.site),
                            .phase = region(what.phase),
                            .next_call = ""};
        const auto call = calls_.find(what.site);
        if (what.state == State::kComputing && call != calls_.end() && call->second != 0)
            named.next_call = region(call->second);
        if (!named.region.empty())
            named.what =
                what.state == State::kComputing ? "computing in " + named.region : named.region;
        return named;
    }
    template <typename Key>
    std::vector<NamedWaits> rows(const std::map<Key, WaitTotal>& sums, auto name_of) {
        std::vector<NamedWaits> named;
        for (const auto& [key, sum] : sums) {
            named.emplace_back().sum = sum;
            name_of(named.back(), key);
        }
        std::stable_sort(named.begin(), named.end(), [](const NamedWaits& a, const NamedWaits& b) {
            return a.sum.time > b.sum.time;
        });
        return named;
    }

  private:
    void note_call(const Activity& call) {
        const auto [known, is_new] = calls_.emplace(call.site, call.region);
        if (!is_new && known->second != call.region) known->second = 0;
    }

    const Definitions& definitions_;
    Symbols& symbols_;
    // By site: the region of its calls; 0: they differ, as on a line with several calls.
    std::unordered_map<std::uint32_t, std::uint32_t> calls_;
};

std::vector<WaitState> named_waits(const WaitSums& sums, Namer& namer) {
    std::vector<WaitState> states;
    for (std::size_t i = 0; i < sums.size(); ++i) {
        const PatternSums& sum = sums[i];
        if (sum.all.count == 0) continue;
        WaitState state;
        state.pattern = static_cast<WaitPattern>(i);
        state.all = sum.all;
        state.by_task = namer.rows(sum.by_task, [](NamedWaits& row, TaskId task) {
            row.task = task;
            row.name = fmt::format("task {}", task);
        });
        state.by_site = namer.rows(sum.by_site, [&namer](NamedWaits& row, const CallSite& at) {
            row.name = namer.region(at.region);
            row.line = namer.line(at.site);
        });
        state.by_communicator =
            namer.rows(sum.by_communicator, [&](NamedWaits& row, std::uint32_t communicator) {
                row.name = namer.communicator(communicator);
            });
        state.by_phase = namer.rows(sum.by_phase, [&namer](NamedWaits& row, std::uint32_t phase) {
            row.name = namer.region(phase);
        });
        const auto& [most, total] = *std::max_element(
            sum.by_place.begin(), sum.by_place.end(),
            [](const auto& a, const auto& b) { return a.second.time < b.second.time; });
        state.most = {.task = most.task,
                      .call = namer.region(most.site.region),
                      .line = namer.line(most.site.site),
                      .communicator = namer.communicator(most.communicator),
                      .phase = namer.region(most.phase)};
        states.push_back(std::move(state));
    }
    std::stable_sort(states.begin(), states.end(), [](const WaitState& a, const WaitState& b) {
        return a.all.time > b.all.time;
    });
    return states;
}

Time traced_time(const History& history) {
    Time sum{0};
    for (const LongVector<Activity>& all : history.tasks)
        for (std::size_t at = 0; at + 1 < all.size(); ++at)
            if (all[at].state != State::kOff) sum += all[at + 1].from - all[at].from;
    return sum;
}

}  // namespace

Time Diagnosis::waited() const {
    Time sum{0};
    for (const WaitState& state : waits) sum += state.all.time;
    return sum;
}

Time Diagnosis::path_length() const {
    Time sum{0};
    for (const PathPart& part : path) sum += part.to - part.from;
    return sum;
}

Diagnosis diagnose(const History& history, const Definitions& definitions, Symbols& symbols) {
    Diagnosis found;
    found.too_long = history.too_long;
    if (history.too_long) return found;
    found.traced = traced_time(history);
    Namer namer(history, definitions, symbols);
    found.waits = named_waits(sum_waits(history), namer);
    for (Cause& cause : find_root_causes(history, &found.causes_cut)) {
        NamedActivity activity = namer.activity(cause);
        found.causes.push_back({std::move(activity), std::move(cause)});
    }
    CriticalPath path = find_critical_path(history);
    found.path = std::move(path.parts);
    found.path_by_task = std::move(path.by_task);
    for (const PathShare& share : path.shares) {
        found.path_by_state[static_cast<std::size_t>(share.state)] += share.time;
        found.path_shares.push_back({namer.activity(share), share.time});
    }
    for (const PathImbalance& row : path.imbalances) {
        std::string what(state_word(row.state));
        if (row.region != 0)
            what = row.state == State::kComputing ? "computing in " + namer.region(row.region)
                                                  : namer.region(row.region);
        found.imbalances.push_back({std::move(what), row});
    }
    const Efficiencies efficiencies = find_efficiencies(history, replay_ideally(history));
    found.job.efficiency = efficiencies.job;
    for (const Efficiency& phase : efficiencies.phases)
        found.phases.push_back({namer.region(phase.phase), phase});
    return found;
}

Analysis analyse(const TraceSource& source, Symbols& symbols,
                 const std::function<void(double)>& progress,
                 std::optional<std::size_t> most_bytes) {
    Definitions definitions;
    Replay replay(source, definitions);
    SummaryMaker summary(source, definitions);
    HistoryMaker history(source, replay, most_bytes ? *most_bytes : HistoryMaker::most_bytes());
    ProfileMaker profile(source, replay);
    Listeners all({&summary.listener(), &history, &profile});
    replay.tell(&all);
    EventMerge merge(source);
    replay_whole(source, merge, replay, progress);
    Analysis found;
    found.summary = summary.take(replay, merge, symbols);
    found.profile = profile.take();
    found.profile_sums = sum_profile(found.profile, symbols);
    found.diagnosis = diagnose(history.take(), definitions, symbols);
    return found;
}

}  // namespace poe::trace
