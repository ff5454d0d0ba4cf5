// See job_choice.hpp.
#include "partition_manager/status/job_choice.hpp"

#include <algorithm>
#include <iterator>

#include "base/suggest.hpp"

namespace poe::pm {

namespace {

// A job that tasks have started is younger than their job, and its name begins with the name of
// their job.
bool is_spawned_by(const RunningJob& first, const RunningJob& job) {
    return job.id.starts_with(first.id + "-s");
}

}  // namespace

std::vector<RunningJob> with_spawned_jobs(const std::vector<RunningJob>& jobs,
                                          const RunningJob& job) {
    std::vector<RunningJob> all{job};
    std::copy_if(jobs.begin(), jobs.end(), std::back_inserter(all),
                 [&](const RunningJob& other) { return is_spawned_by(job, other); });
    return all;
}

std::vector<RunningJob> whole_jobs(const std::vector<RunningJob>& jobs) {
    std::vector<RunningJob> whole;
    for (const RunningJob& job : jobs) {
        const auto starter =
            std::find_if(jobs.begin(), jobs.end(),
                         [&job](const RunningJob& other) { return is_spawned_by(other, job); });
        if (starter != jobs.end()) continue;
        RunningJob sum = job;
        for (const RunningJob& other : jobs) {
            if (!is_spawned_by(job, other)) continue;
            sum.tasks += other.tasks;
            for (const std::string& program : other.programs)
                if (std::find(sum.programs.begin(), sum.programs.end(), program) ==
                    sum.programs.end())
                    sum.programs.push_back(program);
        }
        whole.push_back(std::move(sum));
    }
    return whole;
}

Result<RunningJob> choose_job(const std::vector<RunningJob>& jobs, const std::string& name) {
    std::vector<const RunningJob*> matches;
    for (const RunningJob& job : jobs)
        if (job.id == name || (job.poe != 0 && std::to_string(job.poe) == name)) return job;
    for (const RunningJob& job : jobs)
        if (job.id.compare(0, name.size(), name) == 0) matches.push_back(&job);
    const auto is_of_first = [&](const RunningJob* job) {
        return job == matches[0] || is_spawned_by(*matches[0], *job);
    };
    if (!matches.empty() && std::all_of(matches.begin(), matches.end(), is_of_first))
        return *matches[0];
    std::string known;
    for (const RunningJob& job : jobs) known += (known.empty() ? "" : ", ") + job.id;
    return UserError{"",
                     0,
                     0,
                     (matches.empty() ? "no running job is called " : "several jobs begin with ") +
                         in_quotes(name),
                     known.empty() ? "none is running on this computer" : "running: " + known,
                     0};
}

}  // namespace poe::pm
