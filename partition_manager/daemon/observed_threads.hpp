// Whether threads of a task that are not in a call of MPI could make the task continue.
#pragma once

#include <functional>
#include <span>
#include <sys/types.h>

namespace poe::pm {

// True if every thread of the process but `left_out` sleeps until another thread of the process
// wakes it, so that none of them can act as long as the threads that are left out do not. All of
// them slept at one moment during the call. False also if the kernel does not say. `meanwhile` is
// called while they sleep; if it returns false, so does this function. Never blocks.
bool other_threads_sleep(pid_t process, std::span<const pid_t> left_out,
                         const std::function<bool()>& meanwhile);

}  // namespace poe::pm
