// The state of all tasks as a picture, for the screen.
#include "debugger/session.hpp"

namespace poe::debugger {

namespace {

using Life = DebuggedTask::Life;
using terminal::Activity;

Activity activity_of(const DebuggedTask& task) {
    if (task.failed) return Activity::kFailed;
    switch (task.life) {
        case Life::kAttaching:
        case Life::kStarting:
            return Activity::kNotStarted;
        case Life::kAlive:
            return task.stopped ? Activity::kStopped : Activity::kComputing;
        case Life::kScript:
            return Activity::kComputing;
        case Life::kEnded:
            return Activity::kEnded;
        case Life::kLost:
            return Activity::kUnknown;
    }
    return Activity::kUnknown;
}

// The frame that the user looks at: the selected one, or the innermost one of the program. Null:
// none.
const StackFrame* frame_in_view(const DebuggedTask& task) {
    if (!task.stopped || !task.stack || task.stack->empty()) return nullptr;
    const Stack& stack = *task.stack;
    auto place = static_cast<std::size_t>(task.frame);
    if (place == 0) place = innermost_of_program(stack);
    return place < stack.size() ? &stack[place] : nullptr;
}

}  // namespace

void Session::look_around() {
    if (busy()) return;
    const TaskSet unknown = tasks_that(
        [](const DebuggedTask& task) { return task.stopped && !task.stack.has_value(); });
    if (unknown.empty()) return;
    const OperationPtr all = operation([this, unknown](Operation& done) {
        for (const TaskId task : unknown)
            if (DebuggedTask* each = find(task)) each->stack.emplace();  // also if gdb refuses
        for (auto& [task, stack] : done.stacks) find(task)->stack = std::move(stack);
    });
    ask_for_stacks(all, unknown);
    seal(all);
}

// The first stopped task of the current group, otherwise of all.
TaskId Session::task_in_view() const {
    if (!groups_) return -1;
    const auto group = groups_->find(group_);
    TaskSet stopped = group ? stopped_of(group.value()) : TaskSet();
    if (stopped.empty()) stopped = stopped_of(all_tasks(groups_->tasks()));
    return stopped.empty() ? -1 : *stopped.begin();
}

Picture Session::picture() const {
    Picture picture;
    if (!groups_) return picture;
    picture.tasks.assign(static_cast<std::size_t>(groups_->tasks()), Activity::kUnknown);
    const TaskId seen = task_in_view();
    const StackFrame* frame = seen >= 0 ? frame_in_view(*find(seen)) : nullptr;
    if (frame != nullptr && !frame->is_elsewhere) {
        picture.file = frame->file;
        picture.line = frame->line;
    }
    std::vector<std::pair<TaskId, Stack>> stacks;
    for (TaskId task = 0; task < groups_->tasks(); ++task) {
        const DebuggedTask* each = find(task);
        if (each == nullptr) continue;
        picture.tasks[static_cast<std::size_t>(task)] = activity_of(*each);
        const StackFrame* at = frame_in_view(*each);
        if (at == nullptr) continue;
        if (!picture.file.empty() && at->file == picture.file) picture.marks[at->line].insert(task);
        stacks.emplace_back(task, without_library_frames(*each->stack));
    }
    picture.stacks = lines_of(merge(stacks));
    return picture;
}

}  // namespace poe::debugger
