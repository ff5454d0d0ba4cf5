// Calls that need no other task; see at_once.hpp.
#include "mpi/window/at_once.hpp"

#include <atomic>
#include <cstring>
#include <new>

#include "mpi/collective/plain_call.hpp"
#include "mpi/datatype/predefined.hpp"
#include "mpi/object/handle.hpp"
#include "mpi/object/reductions.hpp"
#include "mpi/process/environment.hpp"
#include "mpi/window/epochs.hpp"
#include "mpi/window/origin.hpp"
#include "mpi/window/shared_lock.hpp"
#include "mpi/window/shared_memory.hpp"
#include "tracer/probe/process_context.hpp"

namespace poe::mpi {
namespace {

bool is_member(const Window& window, int rank) noexcept {
    return rank >= 0 && rank < window.size();
}

// The kernel of an accumulate; `copies` is set if it stores the data themselves, `keeps` if it changes nothing.
struct Change {
    ReductionKernel kernel = nullptr;
    bool copies = false;
    bool keeps = false;
    bool known() const noexcept { return kernel != nullptr || copies || keeps; }
};

Change find_change(MPI_Op operation, const PredefinedType& type) noexcept {
    Change change;
    change.copies = operation == MPI_REPLACE;
    change.keeps = operation == MPI_NO_OP;
    if (!change.known()) change.kernel = find_kernel(value_of(operation), type);
    return change;
}

// The same, for a caller that has the turn. Programs repeat their operations, so the last one is kept: to look it up
// takes as long as to add a number.
const Change& repeated_change(MPI_Op operation, MPI_Datatype type) noexcept {
    static MPI_Op last_operation = MPI_OP_NULL;
    static MPI_Datatype last_type = MPI_DATATYPE_NULL;
    static Change last;
    if (operation != last_operation || type != last_type) {
        last = find_change(operation, *find_predefined_type(value_of(type)));
        last_operation = operation;
        last_type = type;
    }
    return last;
}

}  // namespace

bool put_into_batch(Window& window, int rank, const Place& place, const void* given) noexcept {
    WindowMember& member = *place.member;
    if (rank == window.rank() || member.process == 0 || place.bytes == 0 ||
        place.bytes > kMostBatchedBytes || !member.batch.has_room(place.bytes))
        return false;
    Mail mail;
    mail.kind = AccessKind::kPut;
    mail.bytes = static_cast<std::uint32_t>(place.bytes);
    mail.displacement = place.at;
    try {
        member.batch.add(mail, static_cast<const std::byte*>(given));
    } catch (const std::bad_alloc&) {
        return false;
    }
    window.used = true;
    return true;
}

bool accumulate_at_once(Window& window, const void* given, void* fetched, const PlainTarget& target,
                        MPI_Op operation) noexcept {
    Place place;
    if (!find_place(window, target, place) || place.member->mapped == nullptr) return false;
    const Change& change = repeated_change(operation, target.type);
    if (!change.known()) return false;
    std::byte* const memory = place.member->mapped + place.at;
    {
        const AccumulateLock lock(window, target.rank, true);
        if (fetched != nullptr) copy_elements(fetched, memory, place.bytes);
        if (change.copies) {
            copy_elements(memory, given, place.bytes);
        } else if (change.kernel != nullptr) {
            change.kernel(given, memory, memory, place.bytes);
        }
    }
    note_store();
    window.used = true;
    return true;
}

bool compare_and_swap_at_once(Window& window, const void* given, const void* compared,
                              void* fetched, const PlainTarget& target) noexcept {
    Place place;
    if (!find_place(window, target, place) || place.member->mapped == nullptr ||
        !is_comparable(*find_predefined_type(value_of(target.type))))
        return false;
    std::byte* const memory = place.member->mapped + place.at;
    {
        const AccumulateLock lock(window, target.rank, true);
        copy_elements(fetched, memory, place.bytes);
        if (std::memcmp(fetched, compared, place.bytes) == 0)
            copy_elements(memory, given, place.bytes);
    }
    note_store();
    window.used = true;
    return true;
}

bool flush_all_at_once(comm::Runtime& runtime, Window& window, bool local) {
    if (!has_locks(window) || has_open_operations(window)) return false;
    if (!local) std::atomic_thread_fence(std::memory_order_release);
    look_at_others(runtime, window);
    return true;
}

bool fence_at_once(comm::Runtime& runtime, Window& window, int assertion, ::poe::Call shown,
                   const void* site) noexcept {
    constexpr int kKnown =
        MPI_MODE_NOSTORE | MPI_MODE_NOPUT | MPI_MODE_NOPRECEDE | MPI_MODE_NOSUCCEED;
    if ((assertion & ~kKnown) != 0 || window.size() < 2 || has_locks(window) ||
        window.access_started || window.exposed || has_open_operations(window))
        return false;
    PlainCall barrier;
    barrier.what = ::poe::Call::kSync;
    barrier.shown = shown;
    barrier.site = site;
    if (!make_plain_call(runtime, *window.comm, barrier)) return false;
    window.used = false;
    window.fenced = (assertion & MPI_MODE_NOSUCCEED) == 0;
    return true;
}

bool lock_at_once(comm::Runtime& runtime, Window& window, int rank, bool exclusive) noexcept {
    if (!is_member(window, rank) || !has_shared_locks(runtime, window) || window.locked_all ||
        window.access_started || (window.fenced && window.used))
        return false;
    WindowMember& member = window.member(rank);
    if (member.lock != LockHeld::kNone ||
        !try_lock(window.memory->control(rank), exclusive, runtime.task()))
        return false;
    window.fenced = false;
    member.lock = exclusive ? LockHeld::kExclusive : LockHeld::kShared;
    ++window.locks;
    return true;
}

bool unlock_at_once(comm::Runtime& runtime, Window& window, int rank) {
    if (!is_member(window, rank) || window.locked_all ||
        has_open_operations(window, window.member(rank)))
        return false;
    WindowMember& member = window.member(rank);
    if ((member.lock != LockHeld::kShared && member.lock != LockHeld::kExclusive) ||
        !has_shared_locks(runtime, window))
        return false;
    release_shared_lock(runtime, window, rank, member.lock == LockHeld::kExclusive);
    member.lock = LockHeld::kNone;
    if (--window.locks == 0) window.used = false;
    look_at_others(runtime, window);
    return true;
}

}  // namespace poe::mpi
