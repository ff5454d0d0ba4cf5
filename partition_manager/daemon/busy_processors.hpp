// Finds the processors that tasks of other jobs are bound to, so that two concurrent jobs do not
// get the same processors while others are free.
#pragma once

#include <optional>
#include <sched.h>
#include <string>

#include "base/unique_fd.hpp"
#include "partition_manager/daemon/cpu_shares.hpp"

namespace poe::pm {

// Locks the choice of processors. A job holds the lock while it looks for free processors and
// starts its tasks, so that two jobs that start together see each other. Blocks for at most 0.2 s.
// Returns an empty descriptor if another process keeps the lock longer.
UniqueFd lock_processors(const std::string& parent);

// The processors to which tasks of other jobs on this node are bound. Examines processes only if
// `parent` has directories of jobs other than `own_job`. Tasks that may use all of `usable` are
// ignored.
cpu_set_t busy_processors(const std::string& parent, const std::string& own_job,
                          const cpu_set_t& usable);

// Returns the cores that have no busy processor. Pure.
std::vector<Core> free_cores(const std::vector<Core>& cores, const cpu_set_t& busy);

// Formats a set of processors as the kernel does: "0-3,8". Pure.
std::string processors_in_words(const cpu_set_t& set);

}  // namespace poe::pm
