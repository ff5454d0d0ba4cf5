// The results of requests that have ended: statuses and faults (MPI 5.0, sections 3.7.3 and 3.7.5).
#pragma once

#include <mpi.h>

#include "comm/bootstrap/runtime.hpp"
#include "mpi/object/fault.hpp"
#include "mpi/point/request.hpp"

namespace poe::mpi {

// Fills in everything but MPI_ERROR of the status of a receive that has ended, in the ranks of its
// communicator.
void set_received(MPI_Status& status, const Comm& comm,
                  const comm::ReceiveRequest& receive) noexcept;

// The status and the fault of an active request that has ended, and of one that is not active. Not
// for generalized requests, whose status a function of the program makes. Changes nothing.
Fault result_of(comm::Runtime& runtime, Request& request, MPI_Status& status);
// True if result_of() would return no fault. Cheaper.
bool is_successful(const Request& request) noexcept;

// After a wait or test has reported the end of the request: a persistent request becomes inactive,
// another one is freed and the handle becomes MPI_REQUEST_NULL.
void retire(comm::Runtime& runtime, MPI_Request& handle, Request& request) noexcept;

// Tries to cancel the messages of an active request (section 3.8.4). Only a receive that no message
// has matched can be cancelled. Never blocks.
void cancel(comm::Runtime& runtime, Request& request);

}  // namespace poe::mpi
