// Which processors the tasks of other jobs are bound to, so that two jobs that run at once do not
// get the same ones while others are free.
#pragma once

#include <optional>
#include <sched.h>
#include <string>

#include "base/unique_fd.hpp"
#include "partition_manager/daemon/cpu_shares.hpp"

namespace poe::pm {

// Held while a job looks for free processors and starts its tasks, so that two jobs that start
// together see each other. An empty descriptor if another user's process keeps the lock for long.
UniqueFd lock_processors(const std::string& parent);

// The processors to which tasks of other jobs on this node are bound. Looks at processes only if
// `parent` has directories of jobs other than `own_job`. Tasks that may use all of `usable` do not
// count.
cpu_set_t busy_processors(const std::string& parent, const std::string& own_job,
                          const cpu_set_t& usable);

// The cores none of whose processors is busy. Pure.
std::vector<Core> free_cores(const std::vector<Core>& cores, const cpu_set_t& busy);

// "0-3,8": the processors of a set, as the kernel writes them. Pure.
std::string processors_in_words(const cpu_set_t& set);

}  // namespace poe::pm
