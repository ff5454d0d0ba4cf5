// Replay: which task waited for which. It is separate from replay.cpp, which converts events to
// states.
//
//   wait            from                                to
//   late sender     the receiver enters its call        the message is sent
//   late receiver   the sender is in a call that may    the receiver enters the call in which it
//                   wait for it, and has sent           receives the message
//   collective      a member enters its call            the last member before it goes on enters
//   lock            the origin enters its call          the last holder gives the lock back (window_locks.hpp)
//
// The end of a send and the receive of its message come in any order. If the receive is seen first,
// the open send keeps the time at which the receiver entered its call, and the end of the send
// decides. If the send ends first, the message keeps the call in which the sender was held up
// (Hold), and the receive decides. Therefore the sender's activities in between make no difference.
//
// A blocking send ends with its call. A nonblocking send ends when the trace says that the program
// has learned of it (kSendEnded). In traces without such records, every call that may have waited
// for the send counts, and the receive decides which of them did.
//
// The waits of one call never overlap: each begins where the previous one ended. A call that both
// sends and receives waits for its receiver only after its own message has arrived, so the end of
// the call decides. Before that it waited for its sender, or was not running on a processor.
#include <algorithm>
#include <array>

#include "tracer/analysis/replay.hpp"
#include "tracer/probe/lock_type.hpp"

namespace poe::trace {
namespace {

constexpr std::uint64_t kNumbers = 65536;  // of collective calls in a group

CallFrame* outer_call(TaskTimeline& task, const Definitions& definitions) {
    for (CallFrame& frame : task.frames)
        if (!definitions.region(frame.region).of_user) return &frame;
    return nullptr;
}

bool is_message(const OpenSend& send, const Message& message) {
    return send.to == message.to && send.number == message.number && send.type == message.type &&
           send.line == message.line && send.sent == message.sent;
}

// A wait for one message names its partner and type; any other wait may be for all messages.
bool may_wait_for(const CallFrame& call, const OpenSend& send) {
    return call.peer == kNobody ||
           (call.peer == static_cast<std::uint32_t>(send.to) && call.type == send.type);
}

}  // namespace

std::string_view why_word(Wait::Why why) {
    constexpr std::array<std::string_view, Wait::kWhys> kWords{"late sender", "late receiver",
                                                               "collective", "lock"};
    return kWords[static_cast<std::size_t>(why)];
}

InCall Replay::in_call(const TaskTimeline& task, std::uint32_t peer, bool is_send) const {
    const CallFrame* call = task.call(definitions_);
    if (call == nullptr) return {.since = state_.now};
    const bool waits = is_send || (definitions_.region(call->region).awaits_sender &&
                                   (call->peer == kNobody || call->peer == peer));
    return {.since = call->since, .region = waits ? call->region : 0, .site = call->site};
}

// Reports a wait in a call that the task is in, or in none of these.
void Replay::tell_wait(Wait wait, CallFrame* call) {
    if (call != nullptr) {
        wait.from = std::max(wait.from, call->waited_until);
        call->waited_until = std::max(call->waited_until, wait.to);
    }
    if (wait.from < wait.to && listener_ != nullptr) listener_->on_wait(wait);
}

void Replay::note_open(TaskTimeline& task, const Message& message) {
    const CallFrame* call = task.call(definitions_);
    if (call == nullptr) return;
    if (task.open_sends.size() >= TaskTimeline::kMostOpenSends)
        task.open_sends.erase(task.open_sends.begin());
    task.open_sends.push_back({.to = message.to,
                               .type = message.type,
                               .number = message.number,
                               .line = message.line,
                               .ends_later = definitions_.region(call->region).starts_only,
                               .sent = message.sent,
                               .call_since = call->since});
}

Hold Replay::hold_of(const OpenSend& send, const CallFrame& call) const {
    if (!definitions_.region(call.region).awaits_receiver) return {};
    return {.from = std::max({call.since, send.sent, call.waited_until, call.received}),
            .to = state_.now,
            .region = call.region,
            .site = call.site};
}

// The send has ended in this call.
void Replay::end_send(TaskId id, const OpenSend& send, CallFrame* call) {
    if (call == nullptr) return;
    const Hold hold = hold_of(send, *call);
    if (hold.length() <= Time{0}) return;
    if (send.received) {
        if (send.came <= hold.to)
            tell_wait({.why = Wait::Why::kLateReceiver,
                       .task = id,
                       .whom = send.to,
                       .from = hold.from,
                       .to = send.came,
                       .region = hold.region,
                       .site = hold.site,
                       .pattern = WaitPattern::kLateReceiver},
                      call);
        return;
    }
    Message* message = messages_.waiting_send({.from = id,
                                               .to = send.to,
                                               .type = send.type,
                                               .number = send.number,
                                               .line = send.line,
                                               .sent = send.sent});
    if (message != nullptr && hold.length() > message->hold.length()) message->hold = hold;
}

void Replay::send_ended(TaskId id, TaskTimeline& task, const Event& event) {
    const Record& record = event.record;
    task.notes_ends = true;
    const auto send = std::find_if(task.open_sends.begin(), task.open_sends.end(),
                                   [&record, line = source_.line_of(event)](const OpenSend& each) {
                                       return each.ends_later &&
                                              static_cast<std::uint32_t>(each.to) == record.a &&
                                              each.number == record.extra &&
                                              each.type == high(record.b) && each.line == line;
                                   });
    if (send == task.open_sends.end() || class_of_message(record.detail) != kUserMessages) return;
    end_send(id, *send, outer_call(task, definitions_));
    task.open_sends.erase(send);
}

// The task leaves its outermost call.
void Replay::end_sends(TaskId id, TaskTimeline& task) {
    CallFrame* call = outer_call(task, definitions_);
    const bool may_wait = definitions_.region(call->region).awaits_receiver;
    std::erase_if(task.open_sends, [&](const OpenSend& send) {
        const bool began_here = send.call_since == call->since;
        if (began_here && send.ends_later) return false;
        if (began_here) {
            end_send(id, send, call);
            return true;
        }
        if (may_wait && !task.notes_ends && may_wait_for(*call, send)) {
            end_send(id, send, call);
            return send.received || call->peer != kNobody;
        }
        // No later call can have waited for a receiver that entered before this call.
        return send.received && send.came <= call->since;
    });
}

bool Replay::is_of_window(const Message& message) const {
    const InCall& in = message.receive_in;
    return in.region != 0 && definitions_.region(in.region).synchronises_window;
}

// The wait state of a task that waited in this call for a message that synchronises a window.
WaitPattern Replay::pattern_of_window(std::uint32_t region) const {
    return definitions_.region(region).name == "MPI_Win_start" ? WaitPattern::kLatePost
                                                               : WaitPattern::kLateComplete;
}

// What a call about locks locks or unlocks. Nothing is known of the part of a task of another job.
std::optional<LockedPart> Replay::part_of(const CallFrame& frame) const {
    const bool all = definitions_.region(frame.region).name.ends_with("_all");
    if (!all && frame.peer == kNobody) return std::nullopt;
    return LockedPart{frame.window, all ? LockedPart::kAll : frame.peer};
}

void Replay::enter_lock_call(TaskId id, TaskTimeline& task, const Event& event) {
    CallFrame& frame = task.frames.back();
    frame.window = source_.about_of(event).context;
    const auto part = part_of(frame);
    if (part && definitions_.region(frame.region).name.starts_with("MPI_Win_unlock"))
        locks_.giving_back(id, *part);
}

// The task leaves the call, which is its innermost frame.
void Replay::leave_lock_call(TaskId id, TaskTimeline& task) {
    CallFrame& frame = task.frames.back();
    const auto part = part_of(frame);
    if (!part) return;
    if (definitions_.region(frame.region).name.starts_with("MPI_Win_unlock"))
        return locks_.given_back(id, *part, state_.now);
    const bool exclusive = frame.type == static_cast<std::uint32_t>(LockType::kExclusive);
    const bool shared = frame.type == static_cast<std::uint32_t>(LockType::kShared);
    const bool all = part->target == LockedPart::kAll;
    if (!all && !exclusive && !shared) return;
    const auto last = locks_.taken(id, *part, exclusive && !all, frame.since, state_.now);
    if (!last) return;
    tell_wait({.why = Wait::Why::kLock,
               .task = id,
               .whom = last->task,
               .from = frame.since,
               .to = last->until,
               .region = frame.region,
               .site = frame.site,
               .pattern = WaitPattern::kLockContention,
               .window = frame.window},
              &frame);
}

void Replay::message_done(const Message& message) {
    ++(message.context == kUserMessages ? state_.messages : state_.inner_messages);
    if (message.received < message.sent) ++state_.backwards;
    if (listener_ != nullptr) listener_->on_message(message);
    // A wait within a collective call is reported when the task leaves the call.
    const bool of_program = message.context == kUserMessages;
    if (!of_program && !is_of_window(message)) return;
    TaskTimeline& receiver = state_.tasks[static_cast<std::size_t>(message.to)];
    const InCall& in = message.receive_in;
    if (of_program) end_probe(receiver, message);
    // A task does not wait for itself.
    if (in.region != 0 && message.sent > in.since && message.from != message.to) {
        CallFrame* call = outer_call(receiver, definitions_);
        tell_late_sender(message, in, message.received,
                         call != nullptr && call->since == in.since ? call : nullptr);
    }
    if (of_program) note_received(state_.tasks[static_cast<std::size_t>(message.from)], message);
}

// The receiver may have waited for this message in an earlier call, which did not receive it.
void Replay::end_probe(TaskTimeline& receiver, const Message& message) {
    if (!receiver.probe || message.receive_in.since < receiver.probe_left) return;
    const auto fits = [](std::uint32_t wanted, std::uint32_t found) {
        return static_cast<std::int32_t>(wanted) < 0 || wanted == found;
    };
    const CallFrame probe = *receiver.probe;
    if (!fits(probe.peer, static_cast<std::uint32_t>(message.from)) ||
        !fits(probe.type, message.type))
        return;
    receiver.probe.reset();
    if (message.from == message.to) return;
    const InCall in{.since = probe.since, .region = probe.region, .site = probe.site};
    tell_late_sender(message, in, receiver.probe_left, nullptr);
}

// The receiver has waited in that call until the message was sent, but not longer than `until`.
void Replay::tell_late_sender(const Message& message, const InCall& in, Time until,
                              CallFrame* call) {
    const bool of_program = message.context == kUserMessages;
    tell_wait({.why = Wait::Why::kLateSender,
               .task = message.to,
               .whom = message.from,
               .from = in.since,
               .to = std::min(message.sent, until),
               .region = in.region,
               .site = in.site,
               .pattern = of_program ? WaitPattern::kLateSender : pattern_of_window(in.region)},
              call);
}

void Replay::note_received(TaskTimeline& sender, const Message& message) {
    const Time came = message.receive_in.since;
    const auto send =
        std::find_if(sender.open_sends.begin(), sender.open_sends.end(),
                     [&message](const OpenSend& each) { return is_message(each, message); });
    if (send == sender.open_sends.end()) {
        const Hold& hold = message.hold;
        if (came <= hold.to)
            tell_wait({.why = Wait::Why::kLateReceiver,
                       .task = message.from,
                       .whom = message.to,
                       .from = hold.from,
                       .to = came,
                       .region = hold.region,
                       .site = hold.site,
                       .pattern = WaitPattern::kLateReceiver},
                      nullptr);
        return;
    }
    send->received = true;
    send->came = came;
    CallFrame* call = outer_call(sender, definitions_);
    if (send->ends_later || (call != nullptr && definitions_.region(call->region).awaits_sender))
        return;
    // The sender is still in a call that only sends, so it has certainly waited.
    end_send(message.from, *send, call);
    sender.open_sends.erase(send);
}

void Replay::note_arrival(TaskTimeline& task, Time when) {
    CallFrame* call = outer_call(task, definitions_);
    if (call != nullptr && definitions_.region(call->region).awaits_sender) call->received = when;
}

void Replay::meet(TaskId id, TaskTimeline& task, const Event& event) {
    const Record& record = event.record;
    const auto how = phase_of_collective(record.detail);
    if (how != Phase::kEnds) ++task.collectives;
    if (task.frames.empty()) return;
    CallFrame& frame = task.frames.back();
    // Never 0, which means none.
    const std::uint64_t key = high(record.b) * kNumbers + record.extra + 1;
    if (how != Phase::kStarts) frame.collective = key;
    if (how == Phase::kEnds) {
        // MPI_Wait ends messages and collective operations.
        if (task.state == State::kReceiving) change(id, task, State::kCollective, task.region);
        return;
    }
    frame.bytes += source_.bytes_of(event);
    Meeting& meeting = meetings_[key];
    ++meeting.inside;
    const DataFlow flow = flow_of(record, definitions_.region(frame.region));
    if (meeting.flow == DataFlow::kNone) meeting.flow = flow;
    if (record.a == static_cast<std::uint32_t>(id)) {
        meeting.root = id;
        meeting.root_entered = frame.since;
    }
    if (meeting.inside > 1 && frame.since < meeting.last_entered) return;
    meeting.last = id;
    meeting.last_entered = frame.since;
}

// The wait state of a member that could go on only after the last other member had entered.
WaitPattern Replay::pattern_of_last(const Meeting& meeting, TaskId member) {
    switch (meeting.flow) {
        case DataFlow::kBarrier:
            return WaitPattern::kBarrier;
        case DataFlow::kFence:
            return WaitPattern::kFence;
        case DataFlow::kAllToOne:
            return member == meeting.root ? WaitPattern::kEarlyReduce : WaitPattern::kLateMember;
        case DataFlow::kOneToAll:
            return WaitPattern::kLateMember;
        case DataFlow::kPrefix:
            return meeting.last < member ? WaitPattern::kEarlyScan : WaitPattern::kLateMember;
        case DataFlow::kNone:  // a persistent request in a trace before version 9
            return meeting.root < 0 ? WaitPattern::kNxN : WaitPattern::kLateMember;
        case DataFlow::kAllToAll:
            break;
    }
    return WaitPattern::kNxN;
}

// The task leaves the call in which it took part until the end.
void Replay::part(TaskId id, const CallFrame& frame) {
    const auto found = meetings_.find(frame.collective);
    if (found == meetings_.end()) return;
    Meeting& meeting = found->second;
    Time from = frame.since;
    const auto wait_for = [&](TaskId whom, Time until, WaitPattern pattern) {
        if (whom < 0 || whom == id || until <= from) return;
        tell_wait({.why = Wait::Why::kCollective,
                   .task = id,
                   .whom = whom,
                   .from = from,
                   .to = until,
                   .region = frame.region,
                   .site = frame.site,
                   .pattern = pattern,
                   .group = static_cast<std::uint32_t>((frame.collective - 1) / kNumbers)},
                  nullptr);
        from = until;
    };
    // Most members need only the root's data. Members that forward the data may be late too.
    if (meeting.flow == DataFlow::kOneToAll)
        wait_for(meeting.root, meeting.root_entered, WaitPattern::kLateBroadcast);
    wait_for(meeting.last, meeting.last_entered, pattern_of_last(meeting, id));
    if (--meeting.inside == 0) meetings_.erase(found);
}

}  // namespace poe::trace
