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

// True if `sender` has sent `receiver` a message that fits and that no receive has taken.
bool has_sent(const TaskState& sender, const TaskState& receiver, const ObservedNeed& need) {
    for (const LineCount& line : sender.evidence.sends) {
        if (line.context != need.context || line.peer != receiver.task ||
            (need.tag >= 0 && line.tag != need.tag))
            continue;
        const std::uint32_t taken =
            need.number != 0
                ? need.number - 1
                : count_of(receiver.evidence.receives, line.context, sender.task, line.tag);
        if (line.count > taken) return true;
    }
    return false;
}

// What a task waits for because of one need; empty if nothing is missing, or if that is not known.
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
    const bool waits_for_any =
        std::any_of(peer.needs.begin(), peer.needs.end(), [](const ObservedNeed& its) {
            return its.kind == Kind::kMessage && (its.peer < 0 || its.tag < 0);
        });
    // The receive of the call that the peer is in has not been counted.
    const bool waits_for_this =
        std::any_of(peer.needs.begin(), peer.needs.end(), [&](const ObservedNeed& its) {
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
            if (line.peer != task.task ||
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
            return missing_member(need, states);
        case Kind::kAll:
            return Awaited{Awaited::Kind::kAll, Awaited::kAnybody, -1, 0};
    }
    return std::nullopt;
}

// What the task waits for: the first need that is not met; if one need suffices, none must be met. Empty if the task
// can continue or if too little is known.
std::vector<Awaited> missing(const TaskState& task, const States& states) {
    std::vector<Awaited> all;
    for (const ObservedNeed& need : task.evidence.needs) {
        const auto awaited = missing_one(task, need, states);
        if (!awaited && task.evidence.one_suffices) return {};
        if (!awaited) continue;
        all.push_back(*awaited);
        if (!task.evidence.one_suffices) return all;
    }
    return all;
}

}  // namespace

void resolve_observed_waits(std::vector<TaskState>& states) {
    const bool any = std::any_of(states.begin(), states.end(),
                                 [](const TaskState& state) { return state.observed; });
    if (!any) return;
    States known;
    for (const TaskState& state : states)
        if (state.observed && state.evidence.known) known[state.task] = &state;
    std::vector<std::vector<Awaited>> awaited;
    for (const TaskState& state : states)
        awaited.push_back(state.observed && state.evidence.known ? missing(state, known)
                                                                 : std::vector<Awaited>());
    for (std::size_t i = 0; i < states.size(); ++i) {
        if (!states[i].observed || states[i].life == TaskState::Life::kEnded) continue;
        states[i].measured = states[i].measured && !awaited[i].empty();
        if (awaited[i].empty()) continue;
        states[i].awaited = awaited[i].front();
        states[i].unexpected = untaken(states[i], known);
        if (awaited[i].size() > 1)
            for (const Awaited& each : awaited[i]) states[i].alternatives.push_back(each.peer);
    }
}

}  // namespace poe::pm
