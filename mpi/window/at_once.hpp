// The shortest way of calls that need no other task: operations with predefined datatypes on memory that is
// mapped, short puts that wait in a batch, locks that are free, and flushes with nothing to flush. They take 10 to 30 ns; the general way takes
// three times as long, because it describes the operation and can report every error.
//
// Each function returns false, and has changed nothing, if its call is not so simple or is wrong. The caller then
// takes the general way, which has the same effect. None of them blocks, but for the accumulate lock.
#pragma once

#include <cstdint>
#include <mpi.h>

#include "comm/bootstrap/runtime.hpp"
#include "mpi/window/access.hpp"
#include "mpi/window/window.hpp"

namespace poe::mpi {

// The arguments of an operation as the program gave them. `given` is the origin's buffer, which of
// MPI_Compare_and_swap is the new value; `fetched` is the place of the result. Each is null if the kind has none.
struct PlainAccess {
    AccessKind kind = AccessKind::kPut;
    const void* given = nullptr;
    const void* compared = nullptr;
    void* fetched = nullptr;
    MPI_Count count = 0;  // the same at origin and target, as is the datatype
    MPI_Datatype type = MPI_DATATYPE_NULL;
    int rank = 0;
    MPI_Aint displacement = 0;
    MPI_Op operation = MPI_OP_NULL;  // of accumulates and fetches
};

bool access_at_once(Window& window, const PlainAccess& access);

// `rank` may be kAllRanks. `local` as in flush().
bool flush_at_once(comm::Runtime& runtime, Window& window, int rank, bool local);

bool lock_at_once(comm::Runtime& runtime, Window& window, int rank, bool exclusive) noexcept;
bool unlock_at_once(comm::Runtime& runtime, Window& window, int rank);

}  // namespace poe::mpi
