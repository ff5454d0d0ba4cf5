// The exception of a fast path (quick_calls.hpp). A fast path cannot report errors, so the general
// way of the same call throws the exception again instead of making the call.
#pragma once

#include <atomic>

namespace poe::mpi {

// The number of threads that have a kept exception. A variable of each thread would need a part of
// the small memory that is left for those of libraries which are loaded later.
extern std::atomic<int> kept_exceptions;

// Keeps the exception that is being handled, for this thread. If there is no memory for that, the
// process ends.
void keep_exception() noexcept;
// Throws the kept exception of this thread if there is one, and keeps it no longer.
void throw_kept_exception();
// Forgets the kept exception of this thread if there is one.
void drop_kept_exception() noexcept;

}  // namespace poe::mpi
