// Replay: turns events, in their order, into the state of the job, and tells a listener what came
// to an end: calls, messages, waits. Everything that is shown, summed or exported comes from here.
#pragma once

#include <unordered_map>

#include "tracer/analysis/job_state.hpp"
#include "tracer/read/trace_source.hpp"

namespace poe::trace {

// A call or region that a task has left.
struct Interval {
    TaskId task = 0;
    Frame frame;
    Time to{0};
    std::size_t depth = 0;    // how many were around it
    bool outer_call = false;  // a call that is in no other call
    Time self() const { return to - frame.since - frame.inner; }
};

// A stretch of a call in which a task could not go on because of another one.
struct Wait {
    enum class Why : std::uint8_t { kLateSender, kLateReceiver, kCollective };
    Why why = Why::kLateSender;
    TaskId task = 0;
    TaskId whom = 0;
    Time from{0};
    Time to{0};
    std::uint32_t region = 0;
    std::uint32_t site = Definitions::kNoSite;
};
std::string_view why_word(Wait::Why why);

// What a replay tells. Called while an event is applied, which is the moment of `state`.
class Listener {
  public:
    virtual ~Listener() = default;
    // A task was in one state from its `since` until now, and is in another one after this.
    virtual void on_state(TaskId, State, Time /*from*/, Time /*to*/) {}
    // A task computed in a user's region, the innermost one it was in (0: in none), until now.
    virtual void on_computing(TaskId, std::uint32_t /*region*/, Time /*from*/, Time /*to*/) {}
    virtual void on_interval(const Interval&) {}
    // At the end of a stretch, by whoever walks through one: a call or region that goes on.
    virtual void on_open(TaskId, std::size_t /*depth*/, const Frame&, Time /*to*/) {}
    virtual void on_message(const Message&) {}
    virtual void on_wait(const Wait&) {}
    // Every event, before it changes the state. `task` is -1 for a node's.
    virtual void on_event(const Event&, TaskId /*task*/) {}
};

// A collective operation under way: how many tasks are in it, which of them came last, and when its
// root came, if it has one.
struct Meeting {
    std::uint32_t inside = 0;
    TaskId last = 0;
    Time last_entered{0};
    TaskId root = -1;  // -1: there is none, or it has not come
    Time root_entered{0};
};

// One thread. Source and definitions must outlive it; definitions grow.
class Replay {
  public:
    Replay(const TraceSource& source, Definitions& definitions);

    void tell(Listener* listener) { listener_ = listener; }
    // Events come in the order of EventMerge; a time before the last one counts as the last.
    void apply(const Event& event);
    // The moment is now, without an event.
    void advance(Time now);
    // Decides what tasks have done since their last poll, where the next event can no longer be
    // another poll.
    void settle(Time now);
    // Tells the listener how long each task has computed in its region so far. What it tells of
    // that computing later begins here.
    void tell_computing();

    // Two polls with at most so much time between them are one polling.
    static constexpr Time kBetweenPolls{10'000};

    const JobState& state() const { return state_; }
    const MessageMatcher& messages() const { return messages_; }
    const Definitions& definitions() const { return definitions_; }
    const std::unordered_map<std::uint64_t, Meeting>& meetings() const { return meetings_; }
    // Goes on from a state that was kept.
    void restore(JobState state, const std::vector<Message>& sends,
                 const std::vector<Message>& receives,
                 std::unordered_map<std::uint64_t, Meeting> meetings);

  private:
    void enter(TaskState& task, const Event& event);
    void leave(TaskId id, TaskState& task, std::uint32_t region);
    void leave_frame(TaskId id, TaskState& task);
    void message_end(TaskId id, TaskState& task, const Event& event, bool is_send);
    void mark(TaskId id, const Event& event);
    void node_event(const Event& event);
    void update(TaskId id, TaskState& task);
    State state_outside_calls(TaskId id, const TaskState& task) const;
    void change(TaskId id, TaskState& task, State state, std::uint32_t region = 0);
    void change_at(TaskId id, TaskState& task, State state, std::uint32_t region, Time when);
    void settle(TaskId id, TaskState& task);
    std::uint32_t users_region(const TaskState& task) const;
    void tell_computing(TaskId id, TaskState& task, Time until);

    // Who waited for whom: replay_waits.cpp.
    InCall in_call(const TaskState& task, std::uint32_t peer, bool is_send) const;
    void message_done(const Message& message);
    void note_open(TaskState& task, const Message& message);
    void note_received(TaskState& sender, const Message& message);
    void note_arrival(TaskState& task, Time when);
    Hold hold_of(const OpenSend& send, const Frame& call) const;
    void send_ended(TaskId id, TaskState& task, const Event& event);
    void end_sends(TaskId id, TaskState& task);
    void end_send(TaskId id, const OpenSend& send, Frame* call);
    void tell_wait(Wait wait, Frame* call);
    void meet(TaskId id, TaskState& task, const Event& event);
    void part(TaskId id, const Frame& frame);

    const TraceSource& source_;
    Definitions& definitions_;
    Listener* listener_ = nullptr;
    JobState state_;
    MessageMatcher messages_;
    std::unordered_map<std::uint64_t, Meeting> meetings_;
};

}  // namespace poe::trace
