// See observed_waits.hpp.
#include "partition_manager/status/observed_waits.hpp"

#include <algorithm>
#include <map>
#include <optional>

#include "base/contexts.hpp"

namespace poe::pm {
namespace {

using Kind = ObservedNeed::Kind;
using States = std::map<TaskId, const TaskState*>;

std::uint32_t count_of(const std::vector<LineCount>& lines, std::uint32_t context, TaskId peer,
                       std::int32_t tag) {
    for (const LineCount& line : lines)
        if (line.context == context && line.peer == peer && line.tag == tag) return line.count;
    return 0;
}

// Returns how many messages of a line other receives have taken, or will take before the receive
// for message `number` (0: a receive that is not counted yet). If several threads receive, the
// order of their receives is not known, so only messages whose receive has ended count.
std::uint32_t taken_of(const ObservedEvidence& receiver, const LineCount& line, TaskId sender,
                       std::uint32_t number) {
    if (receiver.many_threads) return count_of(receiver.ended, line.context, sender, line.tag);
    if (number != 0) return number - 1;
    return count_of(receiver.receives, line.context, sender, line.tag);
}

// True if one of the task's waits has a need for which `fits` is true.
template <typename Fits>
bool any_need(const ObservedEvidence& evidence, Fits fits) {
    return std::any_of(evidence.waits.begin(), evidence.waits.end(), [&](const ThreadWait& wait) {
        return std::any_of(wait.needs.begin(), wait.needs.end(), fits);
    });
}

// True if `sender` has sent `receiver` a message that fits and that no receive has taken.
bool has_sent(const TaskState& sender, const TaskState& receiver, const ObservedNeed& need) {
    for (const LineCount& line : sender.evidence.sends) {
        if (line.context != need.context || line.peer != receiver.task ||
            (need.tag >= 0 && line.tag != need.tag))
            continue;
        if (line.count > taken_of(receiver.evidence, line, sender.task, need.number)) return true;
    }
    return false;
}

// Returns what a task waits for because of one need; empty if the need is met, or if that is not
// known.
std::optional<Awaited> missing_message(const TaskState& task, const ObservedNeed& need,
                                       const States& states) {
    for (const auto& [id, other] : states) {
        if (need.peer >= 0 && id != need.peer) continue;
        if (has_sent(*other, task, need)) return std::nullopt;
    }
    return Awaited{Awaited::Kind::kMessage, need.peer, need.tag, need.context};
}

std::optional<Awaited> missing_receive(const TaskState& task, const ObservedNeed& need,
                                       const States& states) {
    const auto found = states.find(need.peer);
    if (need.number == 0 || found == states.end()) return std::nullopt;
    const ObservedEvidence& peer = found->second->evidence;
    const bool waits_for_any = any_need(peer, [](const ObservedNeed& its) {
        return its.kind == Kind::kMessage && (its.peer < 0 || its.tag < 0);
    });
    // The receive of the call that the peer is in has not been counted.
    const bool waits_for_this = any_need(peer, [&](const ObservedNeed& its) {
        return its.kind == Kind::kMessage && its.number == 0 && its.context == need.context &&
               its.peer == task.task && its.tag == need.tag;
    });
    if (peer.wildcards != 0 || waits_for_any || waits_for_this ||
        count_of(peer.receives, need.context, task.task, need.tag) >= need.number)
        return std::nullopt;
    return Awaited{Awaited::Kind::kRoom, need.peer, need.tag, need.context};
}

std::optional<Awaited> missing_member(const ObservedNeed& need, const States& states) {
    for (const auto& [id, other] : states)
        for (const CommCount& comm : other->evidence.comms)
            if (comm.context == need.context && comm.operations <= need.number)
                return Awaited{Awaited::Kind::kMessage, id, -1, kCclContext};
    return std::nullopt;
}

// Messages that were sent to the task and that no receive has taken.
UnexpectedView untaken(const TaskState& task, const States& states) {
    UnexpectedView view;
    for (const auto& [id, other] : states)
        for (const LineCount& line : other->evidence.sends) {
            if (line.peer != task.task || line.tag == ObservedNeed::kWindowOpens ||
                line.tag == ObservedNeed::kAccessEnds ||
                line.count <= count_of(task.evidence.receives, line.context, id, line.tag))
                continue;
            ++view.count;
            if (view.noted < UnexpectedView::kMost)
                view.notes[view.noted++] = {id, line.tag, kUnknownLength, line.context};
        }
    return view;
}

std::optional<Awaited> missing_one(const TaskState& task, const ObservedNeed& need,
                                   const States& states) {
    switch (need.kind) {
        case Kind::kUnknown:
            break;
        case Kind::kMessage:
            return missing_message(task, need, states);
        case Kind::kReceive:
            return missing_receive(task, need, states);
        case Kind::kOperation:
        case Kind::kFileOperation:
            return missing_member(need, states);
        case Kind::kAll:
            return Awaited{Awaited::Kind::kAll, Awaited::kAnybody, -1, 0};
    }
    return std::nullopt;
}

// Returns the first need of a wait that is not met; if one need suffices, all needs, none of which
// is met. Empty if the wait can end or if too little is known.
std::vector<Awaited> missing(const TaskState& task, const ThreadWait& wait, const States& states) {
    std::vector<Awaited> all;
    for (const ObservedNeed& need : wait.needs) {
        const auto awaited = missing_one(task, need, states);
        if (!awaited && wait.one_suffices) return {};
        if (!awaited) continue;
        all.push_back(*awaited);
        if (!wait.one_suffices) return all;
    }
    return all;
}

// The same for each thread. Empty if one thread can continue, because it may then act for the
// others, too. If a thread calls MPI_Finalize while others are in calls, which MPI does not allow,
// nothing is known of the task.
std::vector<std::vector<Awaited>> missing(const TaskState& task, const States& states) {
    std::vector<std::vector<Awaited>> all;
    for (const ThreadWait& wait : task.evidence.waits) {
        all.push_back(missing(task, wait, states));
        const bool for_all = !all.back().empty() && all.back().front().kind == Awaited::Kind::kAll;
        if (all.back().empty() || (for_all && task.evidence.waits.size() > 1)) return {};
    }
    return all;
}

std::vector<TaskId> peers_of(const std::vector<Awaited>& awaited) {
    std::vector<TaskId> peers;
    for (const Awaited& each : awaited) peers.push_back(each.peer);
    return peers;
}

// `all`: of missing(), not empty.
void set_waits(const std::vector<std::vector<Awaited>>& all, TaskState& state) {
    state.awaited = all.front().front();
    if (all.front().size() > 1) state.alternatives = peers_of(all.front());
    if (all.size() == 1) return;
    for (std::size_t i = 0; i < all.size(); ++i) {
        ThreadWait& wait = state.evidence.waits[i];
        wait.awaited = all[i].front();
        if (all[i].size() > 1) wait.alternatives = peers_of(all[i]);
        for (const Awaited& each : all[i]) state.awaited_by_threads.push_back(each.peer);
    }
}

}  // namespace

void resolve_observed_waits(std::vector<TaskState>& states) {
    const bool any = std::any_of(states.begin(), states.end(),
                                 [](const TaskState& state) { return state.observed; });
    if (!any) return;
    States known;
    for (const TaskState& state : states)
        if (state.observed && state.evidence.known) known[state.task] = &state;
    std::vector<std::vector<std::vector<Awaited>>> awaited;  // by task and thread
    for (const TaskState& state : states)
        awaited.push_back(state.observed && state.evidence.known
                              ? missing(state, known)
                              : std::vector<std::vector<Awaited>>());
    for (std::size_t i = 0; i < states.size(); ++i) {
        if (!states[i].observed || states[i].life == TaskState::Life::kEnded) continue;
        states[i].measured = states[i].measured && !awaited[i].empty();
        if (awaited[i].empty()) continue;
        states[i].unexpected = untaken(states[i], known);
        set_waits(awaited[i], states[i]);
    }
}

}  // namespace poe::pm
