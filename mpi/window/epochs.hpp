// Epochs: the synchronisation calls of windows (MPI 5.0, section 12.5), and which operations they
// allow.
//
//   call        access epoch            how it ends
//   fence       to all members          wait until the own operations have taken effect; barrier
//   start       to the group            the same is sent as kComplete, after the operations
//   lock        to one member           wait until the own operations have taken effect, then release
//   lock_all    to all members          the same for each member
//
// Every function blocks only as the standard allows, and returns a fault with MPI_ERR_RMA_SYNC if
// the call does not fit to the epochs of the window; nothing has changed then.
#pragma once

#include <mpi.h>
#include <vector>

#include "comm/bootstrap/runtime.hpp"
#include "mpi/object/fault.hpp"
#include "mpi/window/window.hpp"

namespace poe::mpi {

// True if an operation on this member is allowed.
inline bool in_access_epoch(const Window& window, int rank) noexcept {
    const WindowMember& member = window.members[static_cast<std::size_t>(rank)];
    return window.fenced || window.locked_all || member.started || member.lock != LockHeld::kNone;
}
inline bool has_locks(const Window& window) noexcept {
    return window.locks > 0 || window.locked_all;
}
// Refuses an operation on this member outside of an access epoch to it.
Fault check_access_epoch(const Window& window, int rank);

// Rules that only check mode enforces, because a program that breaks them may work:
//
//   rule                                                                    function
//   operations with requests belong into epochs of locks                    check_requests_allowed
//   a member that exposes its part by MPI_Win_post is not locked            lock, post
//   MPI_MODE_NOPRECEDE: no operation was made since the last fence          fence
//   a window that has the hint no_locks is not locked                       lock, lock_all
//   operations after a fence are ended by another one                       check_freeable (window_making.hpp)
Fault check_requests_allowed(const Window& window, int rank);

Fault fence(comm::Runtime& runtime, Window& window, int assertion);

// `ranks` are members of the window's group.
Fault post(comm::Runtime& runtime, Window& window, const std::vector<int>& ranks, int assertion);
Fault start_epoch(comm::Runtime& runtime, Window& window, const std::vector<int>& ranks,
                  int assertion);
Fault complete_epoch(comm::Runtime& runtime, Window& window);
Fault wait_exposure(comm::Runtime& runtime, Window& window);
// Sets `over`; never blocks.
Fault test_exposure(comm::Runtime& runtime, Window& window, bool& over);

Fault lock(comm::Runtime& runtime, Window& window, int rank, bool exclusive, int assertion);
Fault unlock(comm::Runtime& runtime, Window& window, int rank);
Fault lock_all(comm::Runtime& runtime, Window& window, int assertion);
Fault unlock_all(comm::Runtime& runtime, Window& window);
// `rank` may be kAllRanks. `local`: only the own buffers have to be free.
Fault flush(comm::Runtime& runtime, Window& window, int rank, bool local);
// A memory barrier; serves other tasks.
void sync(comm::Runtime& runtime);

// Blocks until all members have made the call.
Fault meet(comm::Runtime& runtime, Window& window);

}  // namespace poe::mpi
