// Implementation of pattern_finder.hpp.
#include "tracer/plan/pattern_finder.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <string_view>

#include <fmt/format.h>

#include "base/collective_progress.hpp"
#include "base/contexts.hpp"
#include "collectives/selection/combined_choice.hpp"
#include "tracer/analysis/whole_pass.hpp"

namespace poe::trace {
namespace {

using collectives::PhaseDecision;
using collectives::PhasedMessage;
using collectives::PhaseMethod;
using collectives::PlannedCall;

// Groups from here on are communicators of MPI (tracer/FORMAT.md).
constexpr std::uint32_t kCommunicator = 1u << 30;

// A collective call of one task.
struct TaskCall {
    std::uint32_t region = 0;
    std::uint32_t site = Definitions::kNoSite;
    std::uint32_t root = kNobody;
    std::string_view planned;  // its name in a plan; empty: not a blocking irregular call
    Bytes bytes = 0;
    std::map<TaskId, Bytes> sent;  // by destination; of calls whose lengths are planned
    bool told_blocks = false;      // `sent` is what its kBlock records say
    bool by_plan = false;          // the traced run had a plan, so its messages are not the blocks
};

std::string lower(std::string text) {
    for (char& c : text)
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + ('a' - 'A'));
    return text;
}

// Returns the name that the plan has for the blocking form of an irregular index; empty for other
// calls. Alltoallw has the name of alltoallv, because the library makes both alike.
// An mpc_indexv is recorded as mpc_index, whose blocks have no common length.
std::string_view planned_name(const std::string& call, Bytes bytes) {
    const std::string name = lower(call);
    if (name == "mpi_alltoallv" || name == "mpi_alltoallw") return "alltoallv";
    if (name == "mpc_index" && bytes == 0) return "indexv";
    return "";
}

// False for MPI_Comm_split and other calls that only look like collective ones in a trace.
bool moves_data(const std::string& call) {
    constexpr std::array<std::string_view, 13> kWords{
        "bcast",   "reduce", "gather", "scatter", "alltoall", "scan", "barrier",
        "combine", "prefix", "concat", "index",   "shift",    "sync"};
    const std::string name = lower(call);
    return std::any_of(kWords.begin(), kWords.end(),
                       [&](std::string_view word) { return name.find(word) != std::string::npos; });
}

bool has_own_lengths(const std::string& call) {
    const std::string name = lower(call);
    const bool other_form = name.ends_with("gatherv") || name.ends_with("scatterv") ||
                            name.ends_with("alltoallv") || name.ends_with("alltoallw");
    return other_form && name.starts_with("mpi_") && !name.ends_with("allgatherv");
}

class Finder : public Listener {
  public:
    Finder(const TraceSource& source, const Definitions& definitions, const Replay& replay,
           const collectives::Tuning& tuning)
        : source_(source), definitions_(definitions), replay_(replay), tuning_(tuning) {}

    void on_event(const Event& event, TaskId task) override {
        if (task < 0) return;
        if (event.record.kind == Kind::kCollective) begin_call(event, task);
        if (event.record.kind == Kind::kSend) note_send(event, task);
        if (event.record.kind == Kind::kBlock) note_block(event, task);
        if (event.record.kind == Kind::kLeave) note_bytes(event, task);
    }
    void on_interval(const Interval& interval) override {
        if (!interval.outer_call) return;
        if (TaskCall* call = open_call(interval.task); call != nullptr)
            call->by_plan =
                interval.frame.path != 0 && definitions_.region(interval.frame.path).name ==
                                                collective_path_name(CollectivePath::kPlan);
        open_.erase(interval.task);
    }

    FoundPlan take(Symbols& symbols) {
        FoundPlan plan;
        plan.facts = source_.facts();
        plan.has_collectives = !groups_.empty();
        for (const auto& [group, calls] : groups_) add_group(plan, group, calls, symbols);
        for (const auto& [site, sent] : messages_) add_messages(plan, site, sent, symbols);
        return plan;
    }

  private:
    using CallsOfTasks = std::map<TaskId, std::vector<TaskCall>>;

    void begin_call(const Event& event, TaskId task) {
        const auto how = phase_of_collective(event.record.detail);
        const auto& frames = replay_.state().tasks[static_cast<std::size_t>(task)].frames;
        if (how == Phase::kEnds || frames.empty()) return;
        std::vector<TaskCall>& calls = groups_[high(event.record.b)][task];
        calls.push_back({.region = frames.back().region,
                         .site = frames.front().site,
                         .root = event.record.a,
                         .planned = {},
                         .bytes = source_.bytes_of(event),
                         .sent = {},
                         .told_blocks = false,
                         .by_plan = false});
        TaskCall& call = calls.back();
        if (how == Phase::kWhole)
            call.planned = planned_name(definitions_.region(call.region).name, call.bytes);
        if (how == Phase::kWhole) open_[task] = {high(event.record.b), calls.size() - 1};
    }

    // A call of MPI knows its length at its end.
    void note_bytes(const Event& event, TaskId task) {
        const auto& frames = replay_.state().tasks[static_cast<std::size_t>(task)].frames;
        if (TaskCall* call = open_call(task); call != nullptr && frames.size() == 1)
            call->bytes = std::max(call->bytes, event.record.b);
    }

    // The blocking collective call that the task is in; null if it is in none.
    TaskCall* open_call(TaskId task) {
        const auto open = open_.find(task);
        return open == open_.end() ? nullptr
                                   : &groups_[open->second.first][task][open->second.second];
    }

    // Messages of such a call belong to its preparation.
    void note_block(const Event& event, TaskId task) {
        TaskCall* call = open_call(task);
        if (call == nullptr || call->planned.empty()) return;
        if (!call->told_blocks) call->sent.clear();
        call->told_blocks = true;
        const auto to = static_cast<TaskId>(event.record.a);
        if (to != task && event.record.b > 0) call->sent[to] += event.record.b;
    }

    void note_send(const Event& event, TaskId task) {
        const Record& record = event.record;
        const auto to = static_cast<TaskId>(record.a);
        if (class_of_message(record.detail) != kUserMessages) {
            TaskCall* call = open_call(task);
            const Bytes bytes = source_.bytes_of(event);
            if (call == nullptr || call->told_blocks || to == task || bytes == 0) return;
            if (!call->planned.empty()) call->sent[to] += bytes;
            return;
        }
        const CallFrame* call =
            replay_.state().tasks[static_cast<std::size_t>(task)].call(definitions_);
        if (call != nullptr && call->site != Definitions::kNoSite)
            messages_[call->site][task].push_back({to, source_.bytes_of(event)});
    }

    std::string words_of(std::uint32_t site, Symbols& symbols) const {
        return site == Definitions::kNoSite ? "" : symbols.words_of(definitions_.site(site));
    }

    // The calls of one group: the n-th calls of all members belong together.
    void add_group(FoundPlan& plan, std::uint32_t group, const CallsOfTasks& calls,
                   Symbols& symbols) const {
        std::size_t common = calls.begin()->second.size();
        std::vector<TaskId> tasks;
        for (const auto& [task, own] : calls) {
            tasks.push_back(task);
            common = std::min(common, own.size());
        }
        if (tasks.size() < 2) return;
        PlannedCall blank;
        blank.group = static_cast<int>(
            group >= kCommunicator ? (group & ~kCommunicator) - kFirstMpiContext : group);
        blank.tasks = tasks;
        // By place and name, in the order of the first calls: the numbers of the calls in the
        // group, and those among the irregular calls.
        struct Place {
            std::vector<std::size_t> calls;
            std::vector<std::uint64_t> ordinals;
        };
        std::vector<std::pair<std::uint32_t, std::uint32_t>> order;
        std::map<std::pair<std::uint32_t, std::uint32_t>, Place> places;
        std::uint64_t irregular = 0;
        const std::vector<TaskCall>& first = calls.begin()->second;
        for (std::size_t i = 0; i < common; ++i) {
            const auto key = std::pair(first[i].site, first[i].region);
            if (!places.contains(key)) order.push_back(key);
            Place& place = places[key];
            place.calls.push_back(i);
            if (!first[i].planned.empty()) place.ordinals.push_back(irregular++);
        }
        // If the calls of several places follow each other without a rule, they can share a line
        // that combines blocks, because that does not need their lengths.
        Place together;
        bool without_rule = false;
        for (const auto& key : order) {
            const Place& place = places.at(key);
            if (place.ordinals.empty()) continue;
            together.calls.insert(together.calls.end(), place.calls.begin(), place.calls.end());
            without_rule = without_rule || !at_regular_distance(place.ordinals);
            if (blank.site.empty()) blank.site = words_of(key.first, symbols) + " and other places";
        }
        bool shared = false;
        if (without_rule) {
            std::sort(together.calls.begin(), together.calls.end());
            together.ordinals.resize(together.calls.size());
            std::iota(together.ordinals.begin(), together.ordinals.end(), 0U);
            blank.calls = together.calls.size();
            FoundPattern line = irregular_call(blank, calls, together.calls, together.ordinals);
            shared = line.planned && line.call.schedule == PhaseMethod::kCombined;
            if (shared) plan.patterns.push_back(std::move(line));
        }
        for (const auto& key : order) {
            const Place& place = places.at(key);
            if (!moves_data(definitions_.region(key.second).name) ||
                (shared && !place.ordinals.empty()))
                continue;
            PlannedCall call = blank;
            call.site = words_of(key.first, symbols);
            call.calls = place.calls.size();
            plan.patterns.push_back(place.ordinals.size() == place.calls.size()
                                        ? irregular_call(call, calls, place.calls, place.ordinals)
                                        : other_call(call, first, place.calls));
        }
    }

    // True if each number follows the previous one at the same distance.
    static bool at_regular_distance(const std::vector<std::uint64_t>& ordinals) {
        for (std::size_t i = 2; i < ordinals.size(); ++i)
            if (ordinals[i] - ordinals[i - 1] != ordinals[1] - ordinals[0]) return false;
        return true;
    }

    static FoundPattern comment(const PlannedCall& call, const std::string& name,
                                const std::string& why) {
        return {.planned = false,
                .call = {},
                .words = fmt::format("{} group={} tasks={} calls={}{}", name, call.group,
                                     collectives::tasks_text(call.tasks), call.calls,
                                     call.site.empty() ? "" : " at " + call.site),
                .why = why};
    }

    // A call whose lengths each member knows of its own blocks only.
    FoundPattern irregular_call(PlannedCall call, const CallsOfTasks& calls,
                                const std::vector<std::size_t>& numbers,
                                const std::vector<std::uint64_t>& ordinals) const {
        const std::string name =
            definitions_.region(calls.begin()->second[numbers.front()].region).name;
        call.operation = calls.begin()->second[numbers.front()].planned;
        call.first = ordinals.front();
        call.every = ordinals.size() > 1 ? ordinals[1] - ordinals[0] : 1;
        if (!at_regular_distance(ordinals))
            return comment(call, name,
                           "not planned: other such calls come in between, irregularly");
        for (const std::size_t number : numbers)
            if (calls.at(call.tasks.front())[number].by_plan)
                return comment(call, name,
                               "not planned: the traced run followed a plan itself; trace a run "
                               "without one");
        const auto lengths_of = [&](std::size_t number) {
            std::vector<Bytes> lengths;
            for (const TaskId from : call.tasks) {
                const std::map<TaskId, Bytes>& sent = calls.at(from)[number].sent;
                for (const TaskId to : call.tasks)
                    lengths.push_back(sent.contains(to) ? sent.at(to) : 0);
            }
            return lengths;
        };
        call.lengths = lengths_of(numbers.back());
        bool same = true;
        std::string changing;
        std::vector<Bytes> sums(call.lengths.size());
        Bytes longest = 0;
        for (const std::size_t number : numbers) {
            const std::vector<Bytes> lengths = lengths_of(number);
            same = same && lengths == call.lengths;
            for (std::size_t i = 0; i < lengths.size(); ++i) {
                sums[i] += lengths[i];
                longest = std::max(longest, lengths[i]);
                if (changing.empty() && !collectives::fits_plan(call.lengths[i], lengths[i]))
                    changing = fmt::format(
                        "lengths change from call to call; task {} sends {} bytes to task {} in "
                        "call {} and {} in the last call",
                        call.tasks[i / call.tasks.size()], lengths[i],
                        call.tasks[i % call.tasks.size()], number, call.lengths[i]);
            }
        }
        std::vector<Bytes> means;
        for (const Bytes each : sums) means.push_back((each + numbers.size() / 2) / numbers.size());
        const Combined combined = combine(call, means, longest);
        if (combined.pays) {
            if (!changing.empty()) call.lengths = std::move(means);
            call.schedule = PhaseMethod::kCombined;
            call.radix = combined.decision.radix;
            call.limit = combined.limit;
            return {.planned = true,
                    .call = std::move(call),
                    .words = "",
                    .why = fmt::format("{}; {}",
                                       same               ? "the same lengths in all calls"
                                       : changing.empty() ? "lengths that change by less than a "
                                                            "factor of 2"
                                                          : "mean lengths, because they change",
                                       combined.why)};
        }
        if (!changing.empty())
            return comment(call, name, "not planned: " + changing + "; " + combined.why);
        return decided(std::move(call), same, combined.why);
    }

    // Whether the blocks of a call should travel in combined messages.
    struct Combined {
        bool pays = false;
        Bytes limit = 0;
        collectives::CombinedDecision decision;
        std::string why;
    };
    Combined combine(const PlannedCall& call, const std::vector<Bytes>& means,
                     Bytes longest) const {
        // Room for blocks that are longer in a later run.
        constexpr Bytes kRoom = 2;
        constexpr Bytes kStep = 64;
        Combined found;
        std::vector<std::uint32_t> nodes;
        std::map<NodeIndex, std::uint32_t> known;
        for (const TaskId task : call.tasks) {
            const NodeIndex node = source_.facts().node_of.at(static_cast<std::size_t>(task));
            nodes.push_back(
                known.emplace(node, static_cast<std::uint32_t>(known.size())).first->second);
        }
        if (known.size() < 2) {
            found.why = "not combined, because all members are on one node";
            return found;
        }
        if (longest == 0 || longest > collectives::kMostCombined) {
            found.why = longest == 0 ? "not combined, because nothing is sent"
                                     : fmt::format(
                                           "not combined, because there are blocks over "
                                           "{} KB",
                                           collectives::kMostCombined >> 10);
            return found;
        }
        found.limit =
            std::min((kRoom * longest + kStep - 1) / kStep * kStep, collectives::kMostCombined);
        found.decision = collectives::decide_combined(tuning_, nodes, means);
        found.pays = found.decision.radix != 0;
        found.why = fmt::format(
            "{}, because {} messages of a member, predicted to take {:.0f} us, can {}be replaced "
            "by {}, predicted to take {:.0f} us",
            found.pays ? "combined" : "not combined", found.decision.direct_messages,
            found.decision.direct, found.pays ? "" : "only ", found.decision.combined_messages,
            found.decision.combined);
        return found;
    }

    // Phases were slower than messages without phases in all measurements so far
    // (docs/decisions/056-plan-orders-messages.md), so the plan only says where they may be tried.
    static FoundPattern decided(PlannedCall call, bool same, const std::string& not_combined) {
        const auto n = static_cast<std::uint32_t>(call.tasks.size());
        const std::vector<PhasedMessage> messages = collectives::messages_of(call);
        const PhaseDecision decision =
            collectives::decide_phases(n, messages, PhaseMethod::kAutomatic);
        std::string why = same ? "the same lengths in all calls; simple, because "
                               : "lengths that change by less than a factor of 2; simple, because ";
        if (decision.method == PhaseMethod::kSimple) {
            why += fmt::format("at most {} messages over {} KB arrive at one task",
                               decision.long_senders, collectives::kLongBlock >> 10);
        } else if (collectives::calls_to_reach_all(n, messages) == 0) {
            why += fmt::format(
                "messages of {} KB and more do not connect all members, which could therefore not "
                "leave phases in the same call",
                collectives::kShortBlock >> 10);
        } else {
            why += fmt::format(
                "phases were slower when measured; if the network loses data when {} messages over "
                "{} KB arrive at one task, try {}, which has {} phases",
                decision.long_senders, collectives::kLongBlock >> 10, name_of(decision.method),
                decision.phases.size());
        }
        why += "; " + not_combined;
        return {.planned = true, .call = std::move(call), .words = "", .why = std::move(why)};
    }

    // A call whose schedule the library keeps without a plan, or that cannot be planned.
    FoundPattern other_call(PlannedCall call, const std::vector<TaskCall>& first,
                            const std::vector<std::size_t>& numbers) const {
        const TaskCall& model = first[numbers.front()];
        const std::string name = definitions_.region(model.region).name;
        if (has_own_lengths(name))
            return comment(call, name,
                           "not planned: only blocking MPI_Alltoallv, MPI_Alltoallw and mpc_indexv "
                           "have planned schedules");
        Bytes least = model.bytes;
        Bytes most = model.bytes;
        bool one_root = true;
        for (const std::size_t number : numbers) {
            least = std::min(least, first[number].bytes);
            most = std::max(most, first[number].bytes);
            one_root = one_root && first[number].root == model.root;
        }
        if (least != most || !one_root)
            return comment(call, name,
                           one_root ? fmt::format("not constant: {} to {} bytes", least, most)
                                    : "not constant: the root changes");
        call.operation = lower(name).substr(name.find('_') + 1);
        call.bytes = model.bytes;
        return {.planned = true,
                .call = std::move(call),
                .words = "",
                .why =
                    "all members know these lengths; the library keeps the schedule of the "
                    "first call"};
    }

    void add_messages(FoundPlan& plan, std::uint32_t site, const SentFromPlace& sent,
                      Symbols& symbols) const {
        const MessageRounds found = rounds_of(sent);
        if (found.rounds == 0) return;
        plan.patterns.push_back({.planned = false,
                                 .call = {},
                                 .words = fmt::format("messages at {}: {} rounds of",
                                                      words_of(site, symbols), found.rounds),
                                 .why = collective_of(found)});
    }

    const TraceSource& source_;
    const Definitions& definitions_;
    const Replay& replay_;
    const collectives::Tuning& tuning_;
    std::map<std::uint32_t, CallsOfTasks> groups_;
    std::map<TaskId, std::pair<std::uint32_t, std::size_t>> open_;  // group and call
    std::map<std::uint32_t, SentFromPlace> messages_;               // by site
};

}  // namespace

FoundPlan find_plan(const TraceSource& source, Symbols& symbols, const collectives::Tuning& tuning,
                    const std::function<void(double)>& progress) {
    Definitions definitions;
    Replay replay(source, definitions);
    Finder finder(source, definitions, replay, tuning);
    replay.tell(&finder);
    EventMerge merge(source);
    replay_whole(source, merge, replay, progress);
    return finder.take(symbols);
}

std::string plan_text(const FoundPlan& plan, const std::string& from, const std::string& costs) {
    std::string text = fmt::format(
        "# Communication plan of {}, {} tasks, from {}, with {}.\n"
        "# A line is a place in the program and a group of tasks or a communicator; the comment\n"
        "# says what was decided. \"poe -plan FILE\" runs the program with it (poe(1), vt(1)).\n",
        plan.facts.program, plan.facts.tasks, from, costs);
    for (const FoundPattern& each : plan.patterns)
        text += each.planned ? collectives::plan_line(each.call) + "  # " + each.why + "\n"
                             : "# " + each.words + " " + each.why + "\n";
    if (!plan.has_collectives)
        text += "# The trace has no collective calls; poe -tracelevel 2, 3 or 9 records them.\n";
    return text;
}

}  // namespace poe::trace
