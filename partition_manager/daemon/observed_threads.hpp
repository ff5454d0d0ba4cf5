// Finds out whether threads of a task that are not in a call of MPI could make the task continue.
#pragma once

#include <functional>
#include <span>
#include <sys/types.h>

namespace poe::pm {

// True if, at one moment during the call, every thread of the process except those in `left_out`
// slept until another thread of the process wakes it. None of them can then act as long as the
// threads in `left_out` do not. False if the kernel does not report enough. meanwhile() is called
// at that moment; if it returns false, so does this function. Never blocks.
bool other_threads_sleep(pid_t process, std::span<const pid_t> left_out,
                         const std::function<bool()>& meanwhile);

}  // namespace poe::pm
