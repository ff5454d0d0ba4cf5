// Implementation of model.hpp.
#include "markerarray/model.hpp"

#include <algorithm>
#include <utility>

namespace poe::markers {

void Model::begin(JobFacts job, Moment now) {
    picture_ = {};
    picture_.rows.resize(job.tasks);
    for (std::size_t task = 0; task < picture_.rows.size(); ++task)
        picture_.rows[task].task = static_cast<TaskId>(task);
    picture_.job = std::move(job);
    picture_.at = began_ = forgotten_ = now;
    past_.clear();
    past_cost_ = 0;
    lights_used_ = 0;
    any_progress_ = false;
}

void Model::grow(std::size_t tasks) {
    while (picture_.rows.size() < tasks) {
        TaskRow row;
        row.task = static_cast<TaskId>(picture_.rows.size());
        picture_.rows.push_back(std::move(row));
    }
    picture_.job.tasks = static_cast<std::uint32_t>(picture_.rows.size());
}

// The pace is measured from the first progress. It starts again if the total changes or the
// progress decreases.
void Model::note_progress(const TaskRow& before, TaskRow& row, Moment now) {
    if (row.progress.total == 0) return;
    any_progress_ = true;
    const bool goes_on =
        before.progress.total == row.progress.total && before.progress.done <= row.progress.done;
    row.progress_since = goes_on ? before.progress_since : now;
    row.progress_from = goes_on ? before.progress_from : row.progress.done;
}

bool Model::put(TaskRow row, Moment now) {
    const auto index = static_cast<std::size_t>(row.task);
    if (row.task < 0 || index >= picture_.rows.size()) return false;
    picture_.at = std::max(picture_.at, now);
    TaskRow& place = picture_.rows[index];
    note_progress(place, row, now);
    if (place == row) return false;
    for (std::size_t light = row.lights.size(); light > lights_used_; --light)
        if (row.lights[light - 1] != 0) lights_used_ = light;
    std::swap(place, row);
    remember(now, std::move(row));
    return true;
}

void Model::tick(Moment now, Moment elapsed, bool ended) {
    picture_.at = std::max(picture_.at, now);
    picture_.elapsed = elapsed;
    picture_.ended = ended;
    began_ = now - elapsed;
}

std::size_t Model::cost_of(const Change& change) {
    return sizeof change + change.before.doing.capacity() + change.before.text.capacity();
}

void Model::remember(Moment now, TaskRow before) {
    past_.push_back({now, std::move(before)});
    past_cost_ += cost_of(past_.back());
    while (!past_.empty() && (past_cost_ > memory_ || past_.front().at + kRemembered < now)) {
        forgotten_ = past_.front().at;
        past_cost_ -= cost_of(past_.front());
        past_.pop_front();
    }
}

Moment Model::earliest() const {
    return std::max(forgotten_, picture_.at - kRemembered);
}

Picture Model::at(Moment moment) const {
    moment = std::clamp(moment, earliest(), picture_.at);
    Picture then = picture_;
    for (auto change = past_.rbegin(); change != past_.rend() && change->at > moment; ++change)
        then.rows[static_cast<std::size_t>(change->before.task)] = change->before;
    then.at = moment;
    if (!picture_.ended) then.elapsed = std::max(Moment{0}, moment - began_);
    return then;
}

std::vector<Model::Mark> Model::marks_of(TaskId task, std::size_t most) const {
    std::vector<Mark> marks;
    const auto index = static_cast<std::size_t>(task);
    if (task < 0 || index >= picture_.rows.size()) return marks;
    const TaskRow* after = &picture_.rows[index];
    for (auto change = past_.rbegin(); change != past_.rend() && marks.size() < most; ++change) {
        if (change->before.task != task) continue;
        const TaskRow& before = change->before;
        if (before.lights != after->lights || before.text != after->text)
            marks.push_back({change->at, *after});
        after = &before;
    }
    return marks;
}

}  // namespace poe::markers
