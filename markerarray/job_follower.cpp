// Implementation of job_follower.hpp.
#include "markerarray/job_follower.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "partition_manager/status/home_jobs.hpp"
#include "partition_manager/status/job_choice.hpp"

namespace poe::markers {
namespace {

constexpr std::chrono::milliseconds kSearchEvery{200};
constexpr NodeIndex kNowhere = -1;

// The facts that are known of a job without a segment.
JobFacts facts_of(const pm::RunningJob& job) {
    JobFacts facts;
    facts.id = job.id;
    facts.tasks = job.tasks;
    facts.nodes = job.node_names;
    for (const std::string& program : job.programs)
        facts.program +=
            (facts.program.empty() ? "" : ", ") + program.substr(program.rfind('/') + 1);
    return facts;
}

}  // namespace

JobFollower::JobFollower(Settings settings, Clock::time_point now)
    : settings_(std::move(settings)), began_(now), model_(settings_.memory) {}

void JobFollower::follow(const pm::RunningJob& job, Clock::time_point now) {
    std::unique_ptr<SegmentSource> source;
    if (!job.segment.empty()) source = std::make_unique<SegmentSource>(job, settings_.node_name);
    source_ = std::move(source);
    job_ = job;
    followed_ = now;
    ended_ = false;
    ended_after_ = Moment{0};
    model_.begin(source_ ? source_->facts() : facts_of(job), moment(now));
    for (const TaskId task : job.tasks_elsewhere) {
        TaskRow row;
        row.task = task;
        row.node = source_ ? source_->node_of(task) : kNowhere;
        model_.put(std::move(row), moment(now));
    }
    poe_ = std::make_unique<PoeSource>(job.owner, job.id, source_ ? source_->node() : kNowhere,
                                       model_.now().job.tasks);
    update(now);
}

void JobFollower::find_newest(Clock::time_point now) {
    const auto jobs = this->jobs();
    if (jobs.empty() || jobs.back().id == job_.id) return;
    try {
        follow(jobs.back(), now);
    } catch (const Error&) {
        // The job has already ended; the next search will find that out.
    }
}

void JobFollower::update(Clock::time_point now) {
    const bool search = now - searched_ >= kSearchEvery;
    if (search) searched_ = now;
    // The picture of a job that has ended does not change any more, including its times.
    if (has_job() && !ended_) look_at_job(now);
    if (search && (!has_job() || (ended_ && settings_.go_on))) find_newest(now);
}

// Checks whether the job is over before it reads the rows, so that the rows include what was
// written last.
void JobFollower::look_at_job(Clock::time_point now) {
    const bool over_here = source_ == nullptr || !pm::still_runs(job_);
    if (source_) source_->put_rows(model_, now, moment(now), over_here);
    poe_->put_rows(model_, now, moment(now));
    const bool all_here = source_ && source_->facts().nodes.size() == 1 &&
                          source_->facts().tasks == model_.now().rows.size();
    ended_ = over_here && (poe_->over() || all_here);
    if (source_) model_.name_program(source_->facts().program);
    if (!ended_ || ended_after_ == Moment{0}) ended_after_ = elapsed(now);
    model_.tick(moment(now), ended_after_, ended_);
}

Moment JobFollower::elapsed(Clock::time_point now) const {
    if (source_) return source_->elapsed(now);
    return job_.elapsed + std::chrono::duration_cast<Moment>(now - followed_);
}

const std::vector<std::string>& JobFollower::lines_of(TaskId task, Clock::time_point now) {
    poe_->want_lines(task, now);
    return poe_->lines();
}

bool JobFollower::complete() const {
    const auto& rows = model_.now().rows;
    const auto known = std::count_if(rows.begin(), rows.end(), [](const TaskRow& row) {
        return row.activity != Activity::kUnknown;
    });
    return poe_ == nullptr || poe_->over() || known >= static_cast<std::ptrdiff_t>(job_.tasks);
}

std::vector<pm::RunningJob> JobFollower::jobs() const {
    return pm::whole_jobs(pm::jobs_seen_here(settings_.parent, settings_.owner).jobs);
}

bool JobFollower::next_job(Clock::time_point now) {
    const auto jobs = this->jobs();
    if (jobs.empty()) return false;
    auto next = std::find_if(jobs.begin(), jobs.end(),
                             [this](const pm::RunningJob& job) { return job.id == job_.id; });
    if (next != jobs.end()) ++next;
    if (next == jobs.end()) next = jobs.begin();
    if (next->id == job_.id) return false;
    follow(*next, now);
    return true;
}

}  // namespace poe::markers
