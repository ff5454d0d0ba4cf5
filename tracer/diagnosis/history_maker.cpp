// Implementation of history_maker.hpp.
#include "tracer/diagnosis/history_maker.hpp"

#include <algorithm>

#include "base/contexts.hpp"
#include "tracer/diagnosis/complete_history.hpp"

namespace poe::trace {
namespace {

constexpr std::uint32_t kFirstCommunicatorGroup = 1u << 30;
constexpr std::uint32_t kLateOperation = 1u << 16;  // an operation is found again this much later

// The communicator of a collective call's group, as in its record (tracer/FORMAT.md).
std::uint32_t communicator_of_group(std::uint32_t group) {
    if (group < kFirstCommunicatorGroup) return kMplGroup | group;
    const std::uint32_t number = group - kFirstCommunicatorGroup;
    // Early traces count the library's own communicators from 0.
    return number < kFirstMpiContext ? number + kFirstMpiContext : number;
}

std::uint32_t outermost_region(const TaskTimeline& task, const Definitions& definitions) {
    if (task.frames.empty()) return 0;
    const std::uint32_t region = task.frames.front().region;
    return definitions.region(region).of_user ? region : 0;
}

}  // namespace

HistoryMaker::HistoryMaker(const TraceSource& source, const Replay& replay, std::size_t most_bytes)
    : source_(source),
      replay_(replay),
      most_bytes_(most_bytes),
      covered_(source.facts().tasks, Time{0}),
      phases_(source.facts().tasks),
      last_(source.facts().tasks, Time{0}),
      inside_(source.facts().tasks),
      leaving_(source.facts().tasks) {
    history_.tasks = PerTask<LongVector<Activity>>(source.facts().tasks);
}

std::size_t HistoryMaker::most_bytes() {
    return std::max(kMostBytes, room_for_long_blocks() / 3);
}

bool HistoryMaker::is_left_out(TaskId task) const {
    return history_.too_long || source_.facts().is_device(task);
}

void HistoryMaker::count(std::size_t bytes) {
    bytes_ += bytes;
    if (bytes_ > most_bytes_) history_.too_long = true;
}

// Gives the memory of a history that is too long back. Not called while an event is being recorded,
// because that holds references into the history.
void HistoryMaker::drop_if_too_long() {
    if (!history_.too_long || bytes_ == 0) return;
    history_ = {};
    history_.too_long = true;
    history_.tasks = PerTask<LongVector<Activity>>(covered_.size());
    operations_ = {};
    bytes_ = 0;
}

const TaskTimeline& HistoryMaker::timeline_of(TaskId task) const {
    return replay_.state().tasks[static_cast<std::size_t>(task)];
}

// The time to which the replay will advance with this event.
Time HistoryMaker::replay_time(const Event& event) const {
    return std::max(event.time, replay_.state().now);
}

void HistoryMaker::on_event(const Event& event, TaskId task) {
    drop_if_too_long();
    const Kind kind = event.record.kind;
    // What the daemon saw of a task.
    const bool is_about_task = (kind == Kind::kEnded || kind == Kind::kDoing) && task < 0;
    if (const auto about = static_cast<TaskId>(event.record.a); is_about_task && last_.has(about))
        last_[about] = replay_time(event);
    if (task < 0 || is_left_out(task)) return;
    last_[task] = replay_time(event);
    phases_[task] = outermost_region(timeline_of(task), replay_.definitions());
    present_ = event;
    if (kind == Kind::kCollective) note_collective(event, task);
}

// Adds what a task did up to `to`. What happened since the last activity was not reported: the task
// polled, or it was not traced.
void HistoryMaker::add(TaskId task, Activity activity, Time to) {
    LongVector<Activity>& all = history_.tasks[task];
    Time& covered = covered_[task];
    activity.from = all.empty() ? activity.from : std::max(activity.from, covered);
    if (to < activity.from || (to == activity.from && !activity.is_call)) return;
    if (!all.empty() && covered < activity.from) {
        const bool polls = all.back().state == State::kPolling;
        all.push_back({.from = covered,
                       .phase = activity.phase,
                       .state = polls ? State::kPolling : State::kOff});
        count(sizeof(Activity));
    }
    all.push_back(activity);
    covered = to;
    count(sizeof(Activity));
}

// What no call and no computing covers: the daemon saw that the task slept, or tracing was off.
void HistoryMaker::on_state(TaskId task, State state, Time from, Time to) {
    if (is_left_out(task) || state == State::kComputing) return;
    from = std::max(from, covered_[task]);
    // A state that ends within a call is that of the call.
    const CallFrame* call = timeline_of(task).call(replay_.definitions());
    if (call != nullptr) to = std::min(to, call->since);
    if (from < to) add(task, {.from = from, .phase = phases_[task], .state = state}, to);
}

void HistoryMaker::on_computing(TaskId task, std::uint32_t region, Time from, Time to) {
    if (is_left_out(task)) return;
    // What a task did after its last event is not known.
    add(task, {.from = from, .region = region, .phase = phases_[task], .state = State::kComputing},
        std::min(to, last_[task]));
}

void HistoryMaker::on_interval(const Interval& interval) {
    if (!interval.outer_call || is_left_out(interval.task)) return;
    const TaskId task = interval.task;
    const CallFrame& frame = interval.frame;
    LongVector<Activity>& all = history_.tasks[task];
    for (std::size_t i = all.size(); i > 0 && all[i - 1].state == State::kComputing; --i) {
        if (all[i - 1].site != 0) break;
        all[i - 1].site = frame.site;
    }
    add(task,
        {.from = frame.since,
         .region = frame.region,
         .site = frame.site,
         .phase = outermost_region(timeline_of(task), replay_.definitions()),
         .state = replay_.definitions().region(frame.region).state,
         .is_call = true},
        interval.to);
    if (history_.too_long) return;
    for (const std::uint32_t member : leaving_[task]) {
        history_.members[member].end_since = frame.since;
        history_.members[member].left = interval.to;
    }
    leaving_[task].clear();
}

void HistoryMaker::on_message(const Message& message) {
    const bool counts = message.context == kUserMessages || replay_.is_of_window(message);
    if (!counts || is_left_out(message.to) || is_left_out(message.from)) return;
    history_.messages.push_back(
        {.from = message.from,
         .to = message.to,
         .communicator = source_.about_of(present_).context & ~kInternalContexts,
         .sent = message.sent,
         .received = message.received,
         .send_since = message.send_in.since,
         .receive_since = message.receive_in.since});
    count(sizeof(TaskMessage));
}

void HistoryMaker::on_wait(const Wait& wait) {
    if (is_left_out(wait.task) || is_left_out(wait.whom)) return;
    const bool collective = wait.why == Wait::Why::kCollective;
    history_.waits.push_back(
        {.pattern = wait.pattern,
         .task = wait.task,
         .whom = wait.whom,
         .communicator = collective ? communicator_of_group(wait.group) : wait.window,
         .from = wait.from,
         .to = wait.to});
    count(sizeof(TaskWait));
}

std::uint32_t HistoryMaker::operation_of(std::uint64_t key) {
    const auto [number, is_new] = operations_.number_of(key);
    if (is_new) {
        history_.operations.push_back({});
        count(sizeof(CollectiveOperation) + 2 * OperationNumbers::kSlotBytes);
    }
    return number;
}

void HistoryMaker::note_collective(const Event& event, TaskId task) {
    const Record& record = event.record;
    const TaskTimeline& timeline = timeline_of(task);
    const CallFrame* call = timeline.call(replay_.definitions());
    if (call == nullptr) return;
    const auto phase = phase_of_collective(record.detail);
    const std::uint32_t group = high(record.b);
    Calls& calls = calls_[pair(static_cast<std::uint32_t>(task), group)];
    // An operation may end after later ones have started, so only starts count laps.
    if (phase != Phase::kEnds) {
        if (calls.any && record.extra < calls.last) ++calls.laps;
        calls.any = true;
        calls.last = record.extra;
    }
    const bool of_last_lap = phase == Phase::kEnds && record.extra > calls.last && calls.laps > 0;
    const std::uint32_t lap = calls.laps - (of_last_lap ? 1 : 0);
    const std::uint32_t operation =
        operation_of(pair(group, 0) ^ (std::uint64_t{lap} * kLateOperation + record.extra));
    if (history_.too_long) return;
    std::vector<std::uint32_t>& inside = inside_[task];
    if (phase == Phase::kEnds) {
        const auto member = std::find_if(inside.rbegin(), inside.rend(), [&](std::uint32_t each) {
            return history_.members[each].operation == operation;
        });
        if (member == inside.rend()) return;
        leaving_[task].push_back(*member);
        inside.erase(std::next(member).base());
        return;
    }
    const DataFlow flow =
        flow_of(record, replay_.definitions().region(timeline.frames.back().region));
    CollectiveOperation& made = history_.operations[operation];
    if (made.flow == DataFlow::kNone) made.flow = flow;
    if (const auto root = static_cast<TaskId>(record.a); history_.tasks.has(root)) made.root = root;
    const auto number = static_cast<std::uint32_t>(history_.members.size());
    history_.members.push_back({.operation = operation,
                                .task = task,
                                .communicator = communicator_of_group(group),
                                .entered = call->since});
    (phase == Phase::kWhole ? leaving_[task] : inside).push_back(number);
    count(sizeof(Member));
}

// A call that the trace ends in.
void HistoryMaker::add_open_call(TaskId task) {
    const TaskTimeline& timeline = timeline_of(task);
    const CallFrame* call = timeline.call(replay_.definitions());
    if (call == nullptr || is_left_out(task)) return;
    add(task,
        {.from = call->since,
         .region = call->region,
         .site = call->site,
         .phase = outermost_region(timeline, replay_.definitions()),
         .state = replay_.definitions().region(call->region).state,
         .is_call = true},
        replay_.state().now);
}

History HistoryMaker::take() {
    for (TaskId task = 0; task < history_.tasks.size(); ++task) {
        add_open_call(task);
        LongVector<Activity>& all = history_.tasks[task];
        if (!all.empty()) all.push_back({.from = covered_[task]});
    }
    drop_if_too_long();
    if (!history_.too_long) complete(history_);
    return std::move(history_);
}

}  // namespace poe::trace
