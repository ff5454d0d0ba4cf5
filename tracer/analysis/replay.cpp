// Implementation of replay.hpp.
#include "tracer/analysis/replay.hpp"

#include <algorithm>

namespace poe::trace {
namespace {

// Deeper nesting is treated as damage.
constexpr std::size_t kDeepest = 256;

bool is_task(std::uint32_t task, const JobState& state) {
    return task < state.tasks.size();
}

}  // namespace

const CallFrame* TaskTimeline::call(const Definitions& definitions) const {
    for (const CallFrame& frame : frames)
        if (!definitions.region(frame.region).of_user) return &frame;
    return nullptr;
}

std::array<Time, kStates> TaskTimeline::spent_until(Time now) const {
    std::array<Time, kStates> sums = spent;
    if (!seen || now <= since) return sums;
    const bool polls = !polled || now - *polled <= Replay::kBetweenPolls;
    const Time until = polls ? now : *polled;
    sums[static_cast<std::size_t>(state)] += until - since;
    sums[static_cast<std::size_t>(State::kComputing)] += now - until;
    return sums;
}

Replay::Replay(const TraceSource& source, Definitions& definitions)
    : source_(source), definitions_(definitions) {
    state_.now = source.begin();
    state_.tasks.resize(static_cast<std::size_t>(source.facts().tasks));
}

void Replay::advance(Time now) {
    state_.now = std::max(state_.now, now);
}

void Replay::apply(const Event& event) {
    source_.parts_of(event, [this](const Event& part) { apply_part(part); });
    advance(event.time);
    ++state_.events;
}

void Replay::apply_part(const Event& event) {
    const TaskId id = source_.task_of(event.stream);
    if (listener_ != nullptr) listener_->on_event(event, id);
    advance(event.time);
    const Record& record = event.record;
    if (record.kind == Kind::kLost) state_.lost += record.b;
    if (record.kind == Kind::kDefine) {
        definitions_.define(event.stream, record, source_.text_of(event, record.extra));
    }
    if (id < 0) return node_event(event);

    TaskTimeline& task = state_.tasks[static_cast<std::size_t>(id)];
    if (!task.seen) {
        task.seen = true;
        task.since = state_.now;
        change(id, task, state_outside_calls(id, task));
    }
    if (task.polled && state_.now - *task.polled > kBetweenPolls) settle(id, task);
    switch (record.kind) {
        case Kind::kEnter:
            enter(task, event);
            if (!task.frames.empty() && definitions_.region(task.frames.back().region).locks_window)
                enter_lock_call(id, task, event);
            update(id, task);
            break;
        case Kind::kLeave:
            leave(id, task, definitions_.region(event.stream, record.a));
            break;
        case Kind::kSend:
            message_end(id, task, event, true);
            break;
        case Kind::kReceive:
            message_end(id, task, event, false);
            break;
        case Kind::kCollective:
            meet(id, task, event);
            break;
        case Kind::kCarriedOut:
            carry_out(id, task, event);
            break;
        case Kind::kSendEnded:
            send_ended(id, task, event);
            break;
        case Kind::kMarker:
        case Kind::kProgress:
            mark(id, event);
            break;
        case Kind::kCounter:
            state_.counters[{event.stream, definitions_.counter(event.stream, record.a)}] =
                record.detail == 0 ? std::bit_cast<double>(record.b)
                                   : static_cast<double>(static_cast<std::int64_t>(record.b));
            break;
        case Kind::kSystem:
            state_.system[{id, record.detail}] = record.b;
            break;
        case Kind::kTracing:
            while (!task.frames.empty()) leave_frame(id, task);
            change(id, task, record.detail == 0 ? State::kOff : state_outside_calls(id, task));
            break;
        default:
            break;
    }
}

void Replay::node_event(const Event& event) {
    const Record& record = event.record;
    const bool of_task = is_task(record.a, state_);
    if (record.kind == Kind::kSystem) {
        const Subject subject =
            of_task ? static_cast<Subject>(record.a) : -1 - source_.streams()[event.stream].node;
        state_.system[{subject, record.detail}] = record.b;
        return;
    }
    if (!of_task) return;
    const auto id = static_cast<TaskId>(record.a);
    TaskTimeline& task = state_.tasks[record.a];
    if (record.kind == Kind::kEnded) {
        while (!task.frames.empty()) leave_frame(id, task);
        change(id, task, State::kOff);
        task.ended = task.seen;
    } else if (record.kind == Kind::kDoing && task.frames.empty()) {
        const bool runs = static_cast<Doing>(record.detail) == Doing::kRuns;
        if (!task.seen) {
            task.seen = true;
            task.since = state_.now;
        }
        change(id, task, runs ? State::kComputing : State::kOther);
    }
}

void Replay::enter(TaskTimeline& task, const Event& event) {
    if (task.frames.size() >= kDeepest) return;
    const Record& record = event.record;
    task.frames.push_back({.region = definitions_.region(event.stream, record.a),
                           .site = definitions_.site(event.stream, record.extra),
                           .peer = high(record.b),
                           .type = low(record.b),
                           .since = state_.now});
}

void Replay::leave(TaskId id, TaskTimeline& task, std::uint32_t region) {
    // Frames inside were left too, though their records are lost.
    const auto found = std::find_if(task.frames.rbegin(), task.frames.rend(),
                                    [region](const CallFrame& f) { return f.region == region; });
    if (found == task.frames.rend()) return;
    const std::size_t left = static_cast<std::size_t>(task.frames.rend() - found) - 1;
    while (task.frames.size() > left) leave_frame(id, task);
    update(id, task);
}

void Replay::leave_frame(TaskId id, TaskTimeline& task) {
    const bool of_user = definitions_.region(task.frames.back().region).of_user;
    const bool outer = !of_user && task.call(definitions_) == &task.frames.back();
    if (outer) end_sends(id, task);
    end_round(id, task);
    if (definitions_.region(task.frames.back().region).locks_window) leave_lock_call(id, task);
    Interval interval{
        .task = id, .frame = task.frames.back(), .to = state_.now, .outer_call = outer};
    task.frames.pop_back();
    interval.depth = task.frames.size();
    if (!task.frames.empty()) task.frames.back().inner += interval.to - interval.frame.since;
    if (interval.outer_call) {
        task.last_call = interval.frame;
        task.last_left = interval.to;
        const Region& region = definitions_.region(interval.frame.region);
        const bool probes = region.awaits_sender && !region.awaits_receiver &&
                            !region.synchronises_window && interval.frame.received == Time{0};
        if (probes) {
            task.probe = interval.frame;
            task.probe_left = interval.to;
        }
    }
    if (interval.frame.collective != 0) part(id, interval.frame);
    if (listener_ != nullptr) listener_->on_interval(interval);
}

void Replay::carry_out(TaskId id, TaskTimeline& task, const Event& event) {
    if (task.frames.empty()) return;
    end_round(id, task);
    CallFrame& frame = task.frames.back();
    frame.path = definitions_.region(event.stream, event.record.a);
    frame.round = high(event.record.b);
    frame.rounds = low(event.record.b);
    frame.round_since = state_.now;
}

void Replay::end_round(TaskId id, const TaskTimeline& task) {
    if (task.frames.empty() || task.frames.back().path == 0 || listener_ == nullptr) return;
    listener_->on_round(id, task.frames.size() - 1, task.frames.back(), state_.now);
}

void Replay::update(TaskId id, TaskTimeline& task) {
    const CallFrame* call = task.call(definitions_);
    if (call == nullptr && task.state == State::kPolling) {
        // Whether it is still polling is known only when it enters its next call.
        if (!task.polled) task.polled = state_.now;
        return;
    }
    const State state =
        call == nullptr ? state_outside_calls(id, task) : definitions_.region(call->region).state;
    if (state != State::kPolling) settle(id, task);
    task.polled.reset();
    change(id, task, state, call == nullptr ? users_region(task) : 0);
}

// A device works in its regions and is idle outside them; it never computes for a task.
State Replay::state_outside_calls(TaskId id, const TaskTimeline& task) const {
    if (!source_.facts().is_device(id)) return State::kComputing;
    return task.frames.empty() ? State::kOff : State::kOther;
}

// Returns the innermost user's region in which the task computes; 0: none.
std::uint32_t Replay::users_region(const TaskTimeline& task) const {
    std::uint32_t innermost = 0;
    for (const CallFrame& frame : task.frames) {
        if (!definitions_.region(frame.region).of_user) break;
        innermost = frame.region;
    }
    return innermost;
}

void Replay::change(TaskId id, TaskTimeline& task, State state, std::uint32_t region) {
    settle(id, task);
    change_at(id, task, state, region, state_.now);
}

void Replay::change_at(TaskId id, TaskTimeline& task, State state, std::uint32_t region,
                       Time when) {
    if (task.state == state && task.region == region) return;
    tell_computing(id, task, when);
    task.region = region;
    if (task.state == state) return;
    task.spent[static_cast<std::size_t>(task.state)] += when - task.since;
    if (listener_ != nullptr) listener_->on_state(id, task.state, task.since, when);
    task.state = state;
    task.since = when;
}

// The task has computed since it left its last poll.
void Replay::settle(TaskId id, TaskTimeline& task) {
    if (!task.polled) return;
    const Time since = *task.polled;
    task.polled.reset();
    change_at(id, task, State::kComputing, users_region(task), since);
}

void Replay::tell_computing(TaskId id, TaskTimeline& task, Time until) {
    if (listener_ != nullptr && task.state == State::kComputing)
        listener_->on_computing(id, task.region, task.region_since, until);
    task.region_since = until;
}

void Replay::tell_computing() {
    for (std::size_t id = 0; id < state_.tasks.size(); ++id)
        tell_computing(static_cast<TaskId>(id), state_.tasks[id], state_.now);
}

void Replay::settle(Time now) {
    for (std::size_t id = 0; id < state_.tasks.size(); ++id) {
        TaskTimeline& task = state_.tasks[id];
        if (task.polled && now - *task.polled > kBetweenPolls)
            settle(static_cast<TaskId>(id), task);
    }
}

void Replay::message_end(TaskId id, TaskTimeline& task, const Event& event, bool is_send) {
    const Record& record = event.record;
    const Bytes bytes = source_.bytes_of(event);
    Message end{.type = high(record.b),
                .context = class_of_message(record.detail),
                .number = record.extra,
                .line = source_.line_of(event),
                .bytes = bytes};
    if (end.context != kUserMessages) {
        task.inner_sends += is_send ? 1 : 0;
        task.inner_bytes += is_send ? bytes : 0;
    } else {
        if (!task.frames.empty()) task.frames.back().bytes += bytes;
        ++(is_send ? task.sends : task.receives);
        (is_send ? task.bytes_sent : task.bytes_received) += bytes;
    }
    if (!is_task(record.a, state_)) return;
    const auto peer = static_cast<TaskId>(record.a);
    end.from = is_send ? id : peer;
    end.to = is_send ? peer : id;
    if (!is_send) {
        end.received = event.time;
        end.receive_in = in_call(task, record.a, false);
    } else {
        end.sent = event.time;
        end.send_in = in_call(task, record.a, true);
        if (end.context == kUserMessages) note_open(task, end);
    }
    const auto whole = is_send ? messages_.send(end) : messages_.receive(end);
    if (whole) message_done(*whole);
    if (!is_send && end.context == kUserMessages) note_arrival(task, event.time);
}

void Replay::mark(TaskId id, const Event& event) {
    const Record& record = event.record;
    Marks& marks = state_.marks[id];
    if (record.kind == Kind::kProgress) {
        (record.detail == 0 ? marks.done : marks.total) = record.b;
        return;
    }
    if (record.detail < kMaxLights && record.extra < kMarkerColors)
        marks.lights[record.detail] = static_cast<std::uint8_t>(record.extra + 1);
    if (record.a > 0) {
        marks.text = source_.text_of(event, std::min<std::size_t>(record.a, kMarkerBytes));
        ++marks.texts;
    }
}

void Replay::restore(JobState state, const std::vector<Message>& sends,
                     const std::vector<Message>& receives,
                     std::unordered_map<std::uint64_t, Meeting> meetings) {
    state.tasks.resize(state_.tasks.size());
    state_ = std::move(state);
    messages_ = {};
    messages_.restore(sends, true);
    messages_.restore(receives, false);
    meetings_ = std::move(meetings);
}

}  // namespace poe::trace
