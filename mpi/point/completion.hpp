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

// Fills in everything but MPI_ERROR of the status of an active request that has ended, or of one
// that is not active. For a generalized request the status is empty, because a function of the
// program fills it in.
void set_status_of(MPI_Status& status, const Request& request) noexcept;
// True if the operation of an active request has ended without an error, or the request is not
// active. False for generalized requests, messages in check mode, and some of the type kWork, which
// must be asked.
bool is_surely_successful(const Request& request) noexcept;
// Why an active request that has ended failed; no fault if it did not. Not for generalized
// requests.
Fault fault_of_request(comm::Runtime& runtime, Request& request);

// After a wait or test has reported the end of the request: a persistent request becomes inactive,
// another one is freed and the handle becomes MPI_REQUEST_NULL.
void retire(MPI_Request& handle, Request& request) noexcept;

// Tries to cancel the messages of an active request (section 3.8.4). Only a receive that no message
// has matched, and a send that no receive has matched, can be cancelled. Never blocks.
void cancel(comm::Runtime& runtime, Request& request);

}  // namespace poe::mpi
