// Implementation of poe_source.hpp.
#include "markerarray/poe_source.hpp"

#include <algorithm>
#include <utility>

#include "markerarray/task_rows.hpp"

namespace poe::markers {
namespace {

constexpr std::chrono::milliseconds kAskEvery{500};
constexpr std::chrono::milliseconds kWaitsEvery{1'000};

}  // namespace

PoeSource::PoeSource(uid_t owner, const std::string& job, NodeIndex here, std::uint32_t tasks)
    : here_(here),
      tasks_(tasks),
      call_(pm::WatchCall::to(owner, job)),
      reached_(call_.has_value()) {}

void PoeSource::put_rows(Model& model, Clock::time_point now, Moment moment) {
    for (pm::Message& message : call_ ? call_->take() : std::vector<pm::Message>{}) {
        if (auto* lines = std::get_if<pm::TaskLines>(&message)) {
            if (lines->task == wanted_) lines_ = std::move(lines->lines);
        } else if (const auto* tasks = std::get_if<pm::WatchedTasks>(&message)) {
            for (const pm::WatchedTask& task : tasks->tasks) {
                if (task.state.task < 0 || !covers(task.state.task, task.state.node)) continue;
                TaskRow row = row_of(task);
                model.grow(static_cast<std::size_t>(row.task) + 1);
                waiting_.erase(row.task);
                if (row.waits_ms > 0) waiting_.emplace(row.task, Waiting{row, now});
                model.put(std::move(row), moment);
            }
        }
    }
    if (over() && !std::exchange(told_over_, true)) put_lost(model, moment);
    if (!over() && now - waiting_put_ >= kWaitsEvery) put_waiting(model, now, moment);
}

void PoeSource::put_waiting(Model& model, Clock::time_point now, Moment moment) {
    waiting_put_ = now;
    for (const auto& [task, waiting] : waiting_) {
        TaskRow row = waiting.row;
        row.waits_ms += static_cast<std::uint32_t>(
            std::chrono::duration_cast<std::chrono::milliseconds>(now - waiting.since).count());
        model.put(std::move(row), moment);
    }
}

void PoeSource::put_lost(Model& model, Moment moment) {
    std::vector<TaskRow> lost;
    for (const TaskRow& row : model.now().rows)
        if (covers(row.task, row.node) && row.activity != Activity::kEnded &&
            row.activity != Activity::kFailed)
            lost.push_back(row);
    for (TaskRow& row : lost) {
        lose(row);
        if (!reached_) row.doing = "shown where poe runs";
        model.put(std::move(row), moment);
    }
}

void PoeSource::want_lines(TaskId task, Clock::time_point now) {
    if (task != wanted_) {
        wanted_ = task;
        lines_.clear();
        asked_ = {};
    }
    if (!call_ || now - asked_ < kAskEvery) return;
    asked_ = now;
    call_->ask_lines(task);
}

}  // namespace poe::markers
