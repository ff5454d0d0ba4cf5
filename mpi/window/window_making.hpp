// How the members of a group make and free a window (MPI 5.0, sections 12.2.1 to 12.2.5).
#pragma once

#include <cstdint>
#include <mpi.h>

#include "comm/bootstrap/runtime.hpp"
#include "mpi/communicator/comm.hpp"
#include "mpi/object/fault.hpp"
#include "mpi/window/window.hpp"

namespace poe::mpi {

// What a member says about its part.
struct WindowPart {
    int flavor = MPI_WIN_FLAVOR_CREATE;
    void* base = nullptr;  // MPI_WIN_FLAVOR_CREATE only
    std::int64_t size = 0;
    std::int64_t unit = 1;
    const Info* info = nullptr;  // null: no hints
};

struct MadeWindow {
    Window* window = nullptr;
    Fault fault;
};

// All members of `comm`, which is an intracommunicator, make this call. Blocks until they have. A
// fault of the arguments at one member, or a lack of memory, becomes a fault at all members.
MadeWindow make_window(comm::Runtime& runtime, Comm& comm, const WindowPart& part);

// Refuses a window with an open epoch.
Fault check_freeable(const Window& window);
// All members make this call. Blocks until no member accesses the window any more. Precondition:
// check_freeable() refuses nothing.
Fault free_window(comm::Runtime& runtime, Window& window);

// Adds memory to a dynamic window, or removes it again. Local.
Fault attach(Window& window, void* base, std::int64_t size);
Fault detach(Window& window, const void* base);

// The address, size and unit of a member's part of a shared window. `rank` may be MPI_PROC_NULL:
// the first member whose part is not empty. The address is null if this task does not see that
// part.
struct SharedPart {
    void* base = nullptr;
    std::int64_t size = 0;
    std::int64_t unit = 1;
};
SharedPart shared_part(const Window& window, int rank);

// Adds the known hints of `info` to those of the window.
void add_window_hints(Window& window, const Info* info);

}  // namespace poe::mpi
