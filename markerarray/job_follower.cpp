// See job_follower.hpp.
#include "markerarray/job_follower.hpp"

#include <algorithm>

#include "comm/base/error.hpp"

namespace poe::markers {
namespace {

constexpr std::chrono::milliseconds kSearchEvery{200};

}  // namespace

JobFollower::JobFollower(Settings settings, Clock::time_point now)
    : settings_(std::move(settings)), began_(now), model_(settings_.memory) {}

void JobFollower::follow(const pm::RunningJob& job, Clock::time_point now) {
    source_ = std::make_unique<SegmentSource>(job, settings_.node_name);
    job_ = job;
    ended_ = false;
    model_.begin(source_->facts(), moment(now));
    for (const TaskId task : job.tasks_elsewhere) {
        TaskRow row;
        row.task = task;
        row.node = source_->node_of(task);
        model_.put(std::move(row), moment(now));
    }
    poe_ = std::make_unique<PoeSource>(job.owner, job.id, source_->node());
    update(now);
}

void JobFollower::find_newest(Clock::time_point now) {
    const auto jobs = pm::running_jobs(settings_.parent, settings_.owner).jobs;
    if (jobs.empty() || jobs.back().segment == job_.segment) return;
    try {
        follow(jobs.back(), now);
    } catch (const Error&) {
        // It has ended again; the next search will tell.
    }
}

void JobFollower::update(Clock::time_point now) {
    const bool search = now - searched_ >= kSearchEvery;
    if (search) searched_ = now;
    if (source_ != nullptr && !ended_) {
        look_at_job(now);
    } else if (source_ != nullptr) {
        model_.tick(moment(now), ended_after_, true);
    }
    if (search && (source_ == nullptr || (ended_ && settings_.go_on))) find_newest(now);
}

// What is over is looked at before the rows are read: what was written last is in them.
void JobFollower::look_at_job(Clock::time_point now) {
    const bool over_here = !pm::still_runs(job_);
    source_->put_rows(model_, now, moment(now), over_here);
    poe_->put_rows(model_, now, moment(now));
    ended_ = over_here && (source_->facts().nodes.size() == 1 || poe_->over());
    model_.name_program(source_->facts().program);
    if (!ended_ || ended_after_ == Moment{0}) ended_after_ = source_->elapsed(now);
    model_.tick(moment(now), ended_after_, ended_);
}

const std::vector<std::string>& JobFollower::lines_of(TaskId task, Clock::time_point now) {
    poe_->want_lines(task, now);
    return poe_->lines();
}

bool JobFollower::complete() const {
    const auto& rows = model_.now().rows;
    return poe_ == nullptr || poe_->over() ||
           std::none_of(rows.begin(), rows.end(),
                        [](const TaskRow& row) { return row.activity == Activity::kUnknown; });
}

bool JobFollower::next_job(Clock::time_point now) {
    const auto jobs = pm::running_jobs(settings_.parent, settings_.owner).jobs;
    if (jobs.empty()) return false;
    auto next = std::find_if(jobs.begin(), jobs.end(), [this](const pm::RunningJob& job) {
        return job.segment == job_.segment;
    });
    if (next != jobs.end()) ++next;
    if (next == jobs.end()) next = jobs.begin();
    if (next->segment == job_.segment) return false;
    follow(*next, now);
    return true;
}

}  // namespace poe::markers
