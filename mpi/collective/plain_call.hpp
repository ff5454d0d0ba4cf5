// Plain calls: the most common collective calls, which need no Sequence, because they consist of
// one operation of CCL on the program's memory: the communicator is an intracommunicator, and the
// datatype is predefined and has no gaps. Short calls take about half as long as in the general
// way, which can report every error.
//
// The general way makes the same calls of CCL, so members may take different ways in one call.
#pragma once

#include <cstddef>

#include "comm/bootstrap/runtime.hpp"
#include "mpi/collective/sequence.hpp"
#include "mpi/collective/shown_call.hpp"
#include "mpi/communicator/comm.hpp"
#include "mpi/point/request.hpp"

namespace poe::mpi {

struct PlainCall {
    collectives::Operation operation = collectives::Operation::kSync;
    ::poe::Call what = ::poe::Call::kNone;  // the operation, as a call of CCL
    Bytes bytes = 0;                        // of the vector, or of a block (the mean of all)
    int root = 0;
    // What this member gives and gets; the root of a broadcast gives what `result` contains.
    const void* given = nullptr;
    void* result = nullptr;
    const KnownReduction* reduction = nullptr;  // null: the operation reduces nothing
    bool in_place = false;   // `given` is in the memory of `result`, or the reverse (MPI_IN_PLACE)
    bool irregular = false;  // blocks are at CollectiveState::offsets, not all of `bytes` bytes
    ShownAs shown = {};
};

// Makes the call; blocks until this member's part is complete. Returns false if it has not been
// made: it would need messages or a copy of what is given, a member has ended, or memory is short.
// The general way then makes it or reports the error. Precondition: `comm` is an intracommunicator
// with several members, and the arguments are right.
bool make_plain_call(comm::Runtime& runtime, Comm& comm, const PlainCall& plain) noexcept;
// Starts the call without blocking, and returns its request. Throws if memory is short; the call
// must not be made in another way then. The precondition is the same, and the call is not in place;
// `shown` is not used.
Request& start_plain_call(comm::Runtime& runtime, Comm& comm, const PlainCall& plain);

// The operation if the last reduction on this communicator was the same, and predefined; otherwise
// null.
inline const KnownReduction* repeated_reduction(Comm& comm, MPI_Op op, MPI_Datatype type) {
    const KnownReduction& last = collective_state(comm).reduction;
    return op == last.op && type == last.type && op != MPI_OP_NULL ? &last : nullptr;
}

}  // namespace poe::mpi
