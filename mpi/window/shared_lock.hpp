// The locks of a window in shared memory: those of MPI_Win_lock, one per member, in its MemberControl.
// An origin takes and releases them by itself, so the member may compute meanwhile.
//
//   word      meaning
//   holders   0: free; kExclusiveHolder + the task that holds it; otherwise: the number of shared holders
//   writers   origins that wait for an exclusive lock; shared locks are refused meanwhile, so that an
//             exclusive lock is granted although others come and go
//   waiting   origins that wait for any lock; the origin that releases it wakes the tasks that sleep
//
// No wake-up is lost: an origin increments `waiting` before it looks at `holders` again and sleeps; the one
// that releases the lock changes `holders` before it looks at `waiting`. Both are sequentially consistent.
// If a member of the window dies, waits for its locks end with a fault, because it may hold them.
#pragma once

#include <cstdint>

#include "comm/bootstrap/runtime.hpp"
#include "mpi/object/fault.hpp"
#include "mpi/window/shared_memory.hpp"
#include "mpi/window/window.hpp"

namespace poe::mpi {

inline constexpr std::uint32_t kExclusiveHolder = 0x80000000u;

// Takes the lock for a task if it is free for this. Never blocks.
bool try_lock(MemberControl& control, bool exclusive, TaskId task) noexcept;
void release_lock(MemberControl& control, bool exclusive) noexcept;

// True if the locks of this window are in shared memory. The same at all members.
bool has_shared_locks(comm::Runtime& runtime, const Window& window) noexcept;

// The following are for a window for which that is true. The first blocks until the lock is held; a
// fault if a member has ended meanwhile, and the lock is not held then.
Fault take_shared_lock(comm::Runtime& runtime, Window& window, int rank, bool exclusive);
void release_shared_lock(comm::Runtime& runtime, Window& window, int rank, bool exclusive) noexcept;

}  // namespace poe::mpi
