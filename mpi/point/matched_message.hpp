// Probing for messages, and messages that were taken out of matching by MPI_Mprobe or MPI_Improbe
// (MPI 5.0, section 3.8.2).
#pragma once

#include <mpi.h>

#include "comm/bootstrap/runtime.hpp"
#include "mpi/communicator/comm.hpp"
#include "mpi/object/handle.hpp"

namespace poe::mpi {

// A message that only MPI_Mrecv or MPI_Imrecv can receive.
struct MatchedMessage final : Object {
    comm::Unexpected* message = nullptr;  // the message layer owns it
    Comm* comm = nullptr;                 // with a reference to it, unless it is predefined

    void reset() noexcept;
};

Pool<MatchedMessage>& matched_messages() noexcept;
inline MatchedMessage* find_matched(MPI_Message handle) noexcept {
    return find<MatchedMessage>(handle);
}

// Returns the oldest message that such a receive would match, or null. Lets messages make progress
// if there is none at once. Never blocks. The result is valid until messages make progress.
const comm::Unexpected* look_for(comm::Runtime& runtime, const comm::MatchKey& wanted);
// The same, but blocks until there is one. Null if there can be none: see `outcome`, and `lost` if
// a task has ended.
const comm::Unexpected* wait_for_message(comm::Runtime& runtime, const comm::MatchKey& wanted,
                                         comm::Outcome& outcome, TaskId& lost);
// Takes the message out of matching.
MPI_Message extract(comm::Runtime& runtime, Comm& comm, const comm::MatchKey& wanted);

// Fills in everything but MPI_ERROR.
void set_probed(MPI_Status& status, const Comm& comm, const comm::Unexpected& message) noexcept;

}  // namespace poe::mpi
