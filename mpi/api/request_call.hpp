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

// Shows to watchers that the call waits for this request.
Shown show_wait(const Call& call, const Request& request) noexcept;

}  // namespace poe::mpi
