// The shortest way of calls that need no other task, and of fences: operations with predefined
// datatypes on memory that is mapped, contiguous puts and gets of another process, short operations
// with a result that a waiting target takes out of its mailbox, locks that are free, and flushes
// with nothing to flush. But for the mailbox they take 5 to 20 ns; the general way takes three
// times as long, because it describes the operation and can report every error.
//
// Each function returns false, and has changed nothing, if its call is not so simple or is wrong.
// The caller then takes the general way, which has the same effect. None of them blocks, but for
// the accumulate lock, a put or get of another process, a target that has taken an operation, and a
// fence. All are for the thread that has the turn. The arguments are those of the program.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mpi.h>

#include "base/types.hpp"
#include "comm/bootstrap/runtime.hpp"
#include "mpi/datatype/predefined.hpp"
#include "mpi/process/environment.hpp"
#include "mpi/window/elements.hpp"
#include "mpi/window/epochs.hpp"
#include "mpi/window/origin.hpp"
#include "mpi/window/shared_lock.hpp"
#include "mpi/window/store_order.hpp"
#include "mpi/window/window.hpp"
#include "tracer/probe/process_context.hpp"

namespace poe::mpi {

// False if calls are recorded or checked: then all take the general way.
inline bool may_be_at_once() noexcept {
    const Environment& mpi = environment();
    return !process_context().tracer.on() && !mpi.checking &&
           mpi.users.load(std::memory_order_relaxed) != 0;
}

// The elements of a target. The origin has the same count and datatype.
struct PlainTarget {
    int rank = 0;
    MPI_Aint displacement = 0;
    MPI_Count count = 0;
    MPI_Datatype type = MPI_DATATYPE_NULL;
};

// Their place in the part of the target.
struct Place {
    WindowMember* member = nullptr;
    std::int64_t at = 0;  // in bytes
    Bytes bytes = 0;
};

// False if the elements are not in the part, if there is no epoch, or if their datatype is not
// simple.
inline bool find_place(Window& window, const PlainTarget& target, Place& place) noexcept {
    if (target.rank < 0 || target.rank >= window.size() || !in_access_epoch(window, target.rank))
        return false;
    WindowMember& member = window.member(target.rank);
    const Bytes element = bytes_without_gaps(value_of(target.type));
    std::int64_t length = 0;
    std::int64_t end = 0;
    if (element == 0 || target.count < 0 || target.displacement < 0 ||
        __builtin_mul_overflow(target.displacement, member.unit, &place.at) ||
        __builtin_mul_overflow(target.count, static_cast<std::int64_t>(element), &length) ||
        __builtin_add_overflow(place.at, length, &end) || end > member.size)
        return false;
    place.member = &member;
    place.bytes = static_cast<Bytes>(length);
    return true;
}

// Adds a short put to the batch of a member of another process, and carries a longer one out
// (other_process.hpp).
bool put_into_process(comm::Runtime& runtime, Window& window, int rank, const Place& place,
                      const void* given) noexcept;

inline bool put_at_once(comm::Runtime& runtime, Window& window, const void* given,
                        const PlainTarget& target) noexcept {
    Place place;
    if (given == nullptr || !find_place(window, target, place)) return false;
    if (place.member->mapped == nullptr)
        return put_into_process(runtime, window, target.rank, place, given);
    copy_elements(place.member->mapped + place.at, given, place.bytes);
    note_store();
    window.used = true;
    return true;
}

// Hands a short get to a target of another process that is just waiting in MPI, and carries a
// longer one out.
bool get_from_process(comm::Runtime& runtime, Window& window, int rank, const Place& place,
                      void* fetched) noexcept;

inline bool get_at_once(comm::Runtime& runtime, Window& window, void* fetched,
                        const PlainTarget& target) noexcept {
    Place place;
    if (fetched == nullptr || !find_place(window, target, place)) return false;
    if (place.member->mapped == nullptr)
        return get_from_process(runtime, window, target.rank, place, fetched);
    order_load_after_stores();
    copy_elements(fetched, place.member->mapped + place.at, place.bytes);
    window.used = true;
    return true;
}

// MPI_Accumulate if `fetched` is null, otherwise MPI_Get_accumulate. `given` may be null if the
// operation is MPI_NO_OP.
bool accumulate_at_once(comm::Runtime& runtime, Window& window, const void* given, void* fetched,
                        const PlainTarget& target, MPI_Op operation) noexcept;

// The count of `target` is 1.
bool compare_and_swap_at_once(comm::Runtime& runtime, Window& window, const void* given,
                              const void* compared, void* fetched,
                              const PlainTarget& target) noexcept;

// `local` as in flush().
inline bool flush_at_once(comm::Runtime& runtime, Window& window, int rank, bool local) {
    if (rank < 0 || rank >= window.size()) return false;
    const WindowMember& member = window.member(rank);
    if (member.lock == LockHeld::kNone || has_open_operations(window, member)) return false;
    // Stores of messages come after those of the operations; for loads see store_order.hpp.
    if (!local) std::atomic_thread_fence(std::memory_order_release);
    look_at_others(runtime, window);
    return true;
}
// The same for all members.
bool flush_all_at_once(comm::Runtime& runtime, Window& window, bool local);

// MPI_Win_fence; blocks until all members have called it. `shown` and `site` are what watchers see.
bool fence_at_once(comm::Runtime& runtime, Window& window, int assertion, ::poe::Call shown,
                   const void* site) noexcept;

// A lock that is free and in shared memory.
inline bool lock_at_once(comm::Runtime& runtime, Window& window, int rank,
                         bool exclusive) noexcept {
    if (rank < 0 || rank >= window.size() || window.locked_all || window.access_started ||
        (window.fenced && window.used))
        return false;
    WindowMember& member = window.member(rank);
    if (member.control == nullptr || member.lock != LockHeld::kNone ||
        !try_lock(*member.control, exclusive, runtime.task()))
        return false;
    window.fenced = false;
    member.lock = exclusive ? LockHeld::kExclusive : LockHeld::kShared;
    ++window.locks;
    return true;
}
inline bool unlock_at_once(comm::Runtime& runtime, Window& window, int rank) {
    if (rank < 0 || rank >= window.size() || window.locked_all) return false;
    WindowMember& member = window.member(rank);
    if (member.control == nullptr || has_open_operations(window, member) ||
        (member.lock != LockHeld::kShared && member.lock != LockHeld::kExclusive))
        return false;
    release_shared_lock(runtime, window, rank, member.lock == LockHeld::kExclusive);
    member.lock = LockHeld::kNone;
    if (--window.locks == 0) window.used = false;
    look_at_others(runtime, window);
    return true;
}

}  // namespace poe::mpi
