// The active requests of the type kWork. They are continued during every wait of this task: while
// there are any, they are one of the helpers of the message layer.
#pragma once

#include "comm/bootstrap/runtime.hpp"
#include "mpi/point/request.hpp"

namespace poe::mpi {

// Makes a request that owns `work`. If it is not persistent, the work is started; if that completes
// it, the request has ended already. `comm` may be null. Never blocks.
Request& make_work(comm::Runtime& runtime, WorkPtr work, Comm* comm, bool persistent);

// Starts the operation of a request of the type kWork that is not active. If it does not end at
// once, it makes progress also while the task computes. Never blocks.
void start_work(comm::Runtime& runtime, Request& request);
// Continues one operation if it has not ended. Never blocks.
void advance_work(comm::MessageLayer& messages, Request& request);
// Continues one operation and waits for its messages until it has ended, or until the next
// thing that it needs is not a message (Work::wait). Only if one thread uses the library.
void wait_for_work(comm::MessageLayer& messages, Request& request);
// True if an operation is active that has not ended.
bool has_works() noexcept;

}  // namespace poe::mpi
