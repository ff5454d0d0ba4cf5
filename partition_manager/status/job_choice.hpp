// Selects the job that a user names, for all commands that take one.
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"
#include "partition_manager/status/job_listing.hpp"

namespace poe::pm {

// Returns the job that `name` denotes: its id, the pid of its poe, or a unique beginning of its id.
// The error lists the running jobs.
Result<RunningJob> choose_job(const std::vector<RunningJob>& jobs, const std::string& name);

// Returns the job and, after it, the jobs that its tasks have started (home/spawn_plan.hpp), the
// oldest first.
std::vector<RunningJob> with_spawned_jobs(const std::vector<RunningJob>& jobs,
                                          const RunningJob& job);

// Returns the jobs that users know: a job that tasks have started counts as a part of their job, to
// which its tasks and programs are added.
std::vector<RunningJob> whole_jobs(const std::vector<RunningJob>& jobs);

}  // namespace poe::pm
