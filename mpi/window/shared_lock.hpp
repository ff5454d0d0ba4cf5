// The locks of a window in shared memory: those of MPI_Win_lock, one per member, in its
// MemberControl. An origin takes and releases them by itself, so the member may compute meanwhile.
//
//   word      meaning
//   holders   0: free; kExclusiveHolder + the task that holds it; otherwise: the number of shared holders
//   writers   origins that wait for an exclusive lock; shared locks are refused meanwhile, so that an
//             exclusive lock is granted although others come and go. An origin that holds other
//             locks takes a shared lock nevertheless, because the writer may wait for one of these
//             (lock_queue.hpp)
//   waiting   origins that wait for any lock; the origin that releases it wakes the tasks that sleep
//
// Invariant: `holders` changes only from 0 to an exclusive holder, from there to 0 by this holder,
// and by one between numbers of shared holders. While a task holds the lock exclusively, nobody
// else changes the word, so the holder releases the lock by a plain store. A lock and its release
// therefore take one atomic operation, which is the dearest part of both.
//
// No wake-up is lost: before an origin sleeps, it increments `waiting`, executes the heavy fence
// (Waiter::begin_sleep) and looks at `holders` again; the one that releases the lock changes
// `holders`, executes the light fence, and looks at `waiting` (base/fence.hpp). If a member of the
// window dies, waits for its locks end with a fault, because it may hold them.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/fence.hpp"
#include "base/types.hpp"
#include "comm/bootstrap/runtime.hpp"
#include "mpi/object/fault.hpp"
#include "mpi/window/shared_memory.hpp"
#include "mpi/window/window.hpp"

namespace poe::mpi {

inline constexpr std::uint32_t kExclusiveHolder = 0x80000000u;

// Takes the lock for a task if it is free for this. `several`: the task holds other locks. Never
// blocks.
inline bool try_lock(MemberControl& control, bool exclusive, TaskId task,
                     bool several = false) noexcept {
    std::uint32_t held = 0;
    if (exclusive)
        return control.holders.compare_exchange_strong(
            held, kExclusiveHolder | static_cast<std::uint32_t>(task));
    held = control.holders.load(std::memory_order_relaxed);
    while ((held & kExclusiveHolder) == 0 && (several || control.writers.load() == 0)) {
        if (control.holders.compare_exchange_weak(held, held + 1)) return true;
    }
    return false;
}

// Releases the lock. Returns true if an origin waits for it, whose task may sleep and must be
// woken. Never blocks.
inline bool release_lock(MemberControl& control, bool exclusive, const Fences& fences) noexcept {
    if (exclusive) {
        control.holders.store(0, std::memory_order_release);
    } else {
        control.holders.fetch_sub(1, std::memory_order_release);
    }
    fences.light();
    return control.waiting.load(std::memory_order_relaxed) != 0;
}

// True if the locks of this window are in shared memory. The same at all members.
inline bool has_shared_locks(const Window& window) noexcept {
    return window.members.front().control != nullptr;
}

// The following are for a window for which that is true. The first blocks until the lock is held; a
// fault if a member has ended meanwhile, and the lock is not held then.
Fault take_shared_lock(comm::Runtime& runtime, Window& window, int rank, bool exclusive,
                       bool several);
void wake_lock_waiters(comm::Runtime& runtime) noexcept;
inline void release_shared_lock(comm::Runtime& runtime, Window& window, int rank,
                                bool exclusive) noexcept {
    if (release_lock(*window.member(rank).control, exclusive, runtime.fences())) [[unlikely]]
        wake_lock_waiters(runtime);
}

}  // namespace poe::mpi
