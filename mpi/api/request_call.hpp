// What the functions that complete requests share.
#pragma once

#include "mpi/api/point_call.hpp"

namespace poe::mpi {

// Ends an active request that has ended: stores its status unless `status` is null, and sets the
// handle to MPI_REQUEST_NULL unless the request is persistent. Returns the request's error without
// reporting it, and makes its communicator the object of the next report. Calls the functions of a
// generalized request.
Fault finish(Call& call, MPI_Request& handle, Request& request, MPI_Status* status);
// Stores the status of a request that has ended or is not active, which stays as it is.
Fault peek(Call& call, Request& request, MPI_Status* status);

// A collective operation of the communicator is about to start: counts it, and records it. Returns
// the value of Request::operation. The record comes before the first message of the operation, so
// that no other member ends before it.
std::uint32_t note_start(Noted& noted, Comm& comm, OperationFacts facts = {}) noexcept;
// Records which collective operation the call waits for, if the request stands for one.
void note_end(Noted& noted, const Request& request) noexcept;

}  // namespace poe::mpi
