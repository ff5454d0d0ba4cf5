// Replay: applies events, in their order, to the state of the job, and reports to a listener what
// has ended: calls, messages, waits. Everything that is shown, summed or exported is derived from
// it.
#pragma once

#include <optional>
#include <unordered_map>

#include "tracer/analysis/job_state.hpp"
#include "tracer/analysis/wait_pattern.hpp"
#include "tracer/analysis/window_locks.hpp"
#include "tracer/read/trace_source.hpp"

namespace poe::trace {

// A call or region that a task has left.
struct Interval {
    TaskId task = 0;
    CallFrame frame;
    Time to{0};
    std::size_t depth = 0;    // number of enclosing frames
    bool outer_call = false;  // a call that is in no other call
    Time self() const { return to - frame.since - frame.inner; }
};

// A part of a call in which a task could not continue because of another task.
// `why` is the coarse reason; `pattern` is the wait state.
struct Wait {
    enum class Why : std::uint8_t { kLateSender, kLateReceiver, kCollective, kLock };
    static constexpr std::size_t kWhys = 4;
    Why why = Why::kLateSender;
    TaskId task = 0;
    TaskId whom = 0;
    Time from{0};
    Time to{0};
    std::uint32_t region = 0;
    std::uint32_t site = Definitions::kNoSite;
    WaitPattern pattern = WaitPattern::kLateSender;
    std::uint32_t group = 0;   // of a collective call, as in its record; else 0
    std::uint32_t window = 0;  // of a wait for its lock: its matching context; else 0
};
std::string_view why_word(Wait::Why why);

// Receives reports. Called while an event is applied; `state` has the time of that event.
class Listener {
  public:
    virtual ~Listener() = default;
    // A task was in one state from its `since` until now, and then enters another one.
    virtual void on_state(TaskId, State, Time /*from*/, Time /*to*/) {}
    // A task computed until now in its innermost user's region (0: in none).
    virtual void on_computing(TaskId, std::uint32_t /*region*/, Time /*from*/, Time /*to*/) {}
    virtual void on_interval(const Interval&) {}
    // A task has left a round of its collective call, which is in `frame`, or the call itself.
    // `depth` as in on_open.
    virtual void on_round(TaskId, std::size_t /*depth*/, const CallFrame&, Time /*to*/) {}
    // Called at the end of a section by the code that walks through it: a call or region that
    // continues.
    virtual void on_open(TaskId, std::size_t /*depth*/, const CallFrame&, Time /*to*/) {}
    virtual void on_message(const Message&) {}
    virtual void on_wait(const Wait&) {}
    // Called for every event, before it changes the state. `task` is -1 for a node's event.
    virtual void on_event(const Event&, TaskId /*task*/) {}
};

// A collective operation in progress: how many tasks are in it, which task entered last, when its
// root entered, if it has a root, and the data flow of the call that a member entered first.
struct Meeting {
    std::uint32_t inside = 0;
    TaskId last = 0;
    Time last_entered{0};
    TaskId root = -1;  // -1: there is none, or it has not entered yet
    Time root_entered{0};
    DataFlow flow = DataFlow::kNone;
};

// For one thread. Source and definitions must outlive it; definitions are added.
class Replay {
  public:
    Replay(const TraceSource& source, Definitions& definitions);

    void tell(Listener* listener) { listener_ = listener; }
    // Applies an event. Events must come in the order of EventMerge; a time before the last one
    // counts as the last one.
    void apply(const Event& event);
    // Advances the time without an event.
    void advance(Time now);
    // Decides what tasks have done since their last poll, if the next event can no longer be
    // another poll.
    void settle(Time now);
    // Reports to the listener how long each task has computed in its region so far. Later reports
    // of that computing begin here.
    void tell_computing();

    // Two polls with at most this time between them count as continuous polling.
    static constexpr Time kBetweenPolls{10'000};

    const JobState& state() const { return state_; }
    const MessageMatcher& messages() const { return messages_; }
    const Definitions& definitions() const { return definitions_; }
    const std::unordered_map<std::uint64_t, Meeting>& meetings() const { return meetings_; }
    // Continues from a stored state.
    void restore(JobState state, const std::vector<Message>& sends,
                 const std::vector<Message>& receives,
                 std::unordered_map<std::uint64_t, Meeting> meetings);

    // True if the message is one of the library for which MPI_Win_start or MPI_Win_wait has waited.
    bool is_of_window(const Message& message) const;

  private:
    void apply_part(const Event& event);
    void enter(TaskTimeline& task, const Event& event);
    void leave(TaskId id, TaskTimeline& task, std::uint32_t region);
    void leave_frame(TaskId id, TaskTimeline& task);
    void carry_out(TaskId id, TaskTimeline& task, const Event& event);
    void end_round(TaskId id, const TaskTimeline& task);
    void message_end(TaskId id, TaskTimeline& task, const Event& event, bool is_send);
    void mark(TaskId id, const Event& event);
    void node_event(const Event& event);
    void update(TaskId id, TaskTimeline& task);
    State state_outside_calls(TaskId id, const TaskTimeline& task) const;
    void change(TaskId id, TaskTimeline& task, State state, std::uint32_t region = 0);
    void change_at(TaskId id, TaskTimeline& task, State state, std::uint32_t region, Time when);
    void settle(TaskId id, TaskTimeline& task);
    std::uint32_t users_region(const TaskTimeline& task) const;
    void tell_computing(TaskId id, TaskTimeline& task, Time until);

    // Which task waited for which: replay_waits.cpp.
    InCall in_call(const TaskTimeline& task, std::uint32_t peer, bool is_send) const;
    void message_done(const Message& message);
    void note_open(TaskTimeline& task, const Message& message);
    void end_probe(TaskTimeline& receiver, const Message& message);
    void tell_late_sender(const Message& message, const InCall& in, Time until, CallFrame* call);
    void note_received(TaskTimeline& sender, const Message& message);
    void note_arrival(TaskTimeline& task, Time when);
    Hold hold_of(const OpenSend& send, const CallFrame& call) const;
    void send_ended(TaskId id, TaskTimeline& task, const Event& event);
    void end_sends(TaskId id, TaskTimeline& task);
    void end_send(TaskId id, const OpenSend& send, CallFrame* call);
    void tell_wait(Wait wait, CallFrame* call);
    void meet(TaskId id, TaskTimeline& task, const Event& event);
    void part(TaskId id, const CallFrame& frame);
    std::optional<LockedPart> part_of(const CallFrame& frame) const;
    void enter_lock_call(TaskId id, TaskTimeline& task, const Event& event);
    void leave_lock_call(TaskId id, TaskTimeline& task);
    WaitPattern pattern_of_window(std::uint32_t region) const;
    static WaitPattern pattern_of_last(const Meeting& meeting, TaskId member);

    const TraceSource& source_;
    Definitions& definitions_;
    Listener* listener_ = nullptr;
    JobState state_;
    MessageMatcher messages_;
    std::unordered_map<std::uint64_t, Meeting> meetings_;
    // Not part of a stored state: a lock that was taken before it has no known holder.
    WindowLocks locks_;
};

}  // namespace poe::trace
