// Plain calls (plain_call.hpp) with blocks of unequal length: those whose blocks are in the shared
// memory of the node after one exchange. If blocks must follow as messages, or have a wrong length,
// the general way goes on with the call (CollectiveState::begun).
#pragma once

#include <cstddef>

#include "comm/bootstrap/runtime.hpp"
#include "mpi/collective/shown_call.hpp"
#include "mpi/communicator/comm.hpp"
#include "mpi/datatype/counts.hpp"

namespace poe::mpi {

// One block for each member, of a predefined datatype without gaps.
struct PlainVector {
    std::byte* memory = nullptr;
    Counts counts = nullptr;
    Counts displacements = nullptr;  // in elements
    Bytes element = 0;               // bytes; 0: the datatype is not so simple
};
// One block without gaps.
struct PlainBlock {
    std::byte* memory = nullptr;
    Bytes bytes = 0;
};

// Make the call; block until this member's part is complete. Return false if the call is not plain,
// or if it is not complete; the general way then makes it, goes on with it, or reports the error.
// Precondition: the root is a rank of the communicator, and no buffer is MPI_IN_PLACE or null.
bool make_plain_alltoallv(comm::Runtime& runtime, Comm& comm, const PlainVector& out,
                          const PlainVector& in, const ShownAs& shown) noexcept;
// `own` is given, or in the memory of the result if it is null.
bool make_plain_allgatherv(comm::Runtime& runtime, Comm& comm, const PlainBlock& own,
                           const PlainVector& all, const ShownAs& shown) noexcept;
// A gatherv (`gathers`) or scatterv. Only the root uses `all`.
bool make_plain_rooted(comm::Runtime& runtime, Comm& comm, bool gathers, int root,
                       const PlainBlock& own, const PlainVector& all,
                       const ShownAs& shown) noexcept;

}  // namespace poe::mpi
