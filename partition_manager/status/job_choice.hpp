// Which job somebody means, for all commands that take one.
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"
#include "partition_manager/status/job_listing.hpp"

namespace poe::pm {

// The job that `name` means: its id, the pid of its poe, or the beginning of the id of one only.
// The error says which jobs there are.
Result<RunningJob> choose_job(const std::vector<RunningJob>& jobs, const std::string& name);

}  // namespace poe::pm
