// Calls that need no other task; see at_once.hpp.
#include "mpi/window/at_once.hpp"

#include <atomic>
#include <cstring>

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

// Calls that are recorded or checked take the general way.
bool is_observed() noexcept {
    return process_context().tracer.on() || environment().checking;
}

bool is_member(const Window& window, int rank) noexcept {
    return rank >= 0 && rank < window.size();
}

// The elements' place in the part of the target.
struct Place {
    std::int64_t at = 0;  // in bytes
    Bytes bytes = 0;
};

// False if the elements are not in the part.
bool find_place(const WindowMember& member, const PlainAccess& access, Bytes element,
                Place& place) noexcept {
    std::int64_t length = 0;
    std::int64_t end = 0;
    if (access.count < 0 || access.displacement < 0 ||
        __builtin_mul_overflow(access.displacement, member.unit, &place.at) ||
        __builtin_mul_overflow(access.count, static_cast<std::int64_t>(element), &length) ||
        __builtin_add_overflow(place.at, length, &end) || end > member.size)
        return false;
    place.bytes = static_cast<Bytes>(length);
    return true;
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

void carry_out_atomically(Window& window, const PlainAccess& access, const Change& change,
                          std::byte* memory, Bytes bytes) {
    const AccumulateLock lock(window, access.rank, true);
    if (access.fetched != nullptr) std::memcpy(access.fetched, memory, bytes);
    if (access.kind == AccessKind::kCompareAndSwap) {
        if (std::memcmp(memory, access.compared, bytes) == 0)
            std::memcpy(memory, access.given, bytes);
    } else if (change.copies) {
        std::memcpy(memory, access.given, bytes);
    } else if (change.kernel != nullptr) {
        change.kernel(static_cast<const std::byte*>(access.given), memory,
                      static_cast<std::size_t>(access.count));
    }
}

// Adds a short put to the batch of a member of another process (other_process.hpp).
bool batch_put(WindowMember& member, const PlainAccess& access, const Place& place) {
    if (access.kind != AccessKind::kPut || member.process == 0 || access.given == nullptr ||
        place.bytes == 0 || place.bytes > kMostBatchedBytes || !member.batch.has_room(place.bytes))
        return false;
    Mail mail;
    mail.kind = AccessKind::kPut;
    mail.bytes = static_cast<std::uint32_t>(place.bytes);
    mail.displacement = place.at;
    member.batch.add(mail, static_cast<const std::byte*>(access.given));
    return true;
}

bool has_open_operations(const Window& window, int rank) noexcept {
    const auto open = [](const WindowMember& member) {
        return member.unflushed || !member.batch.empty();
    };
    if (!window.pending.empty() || window.fault) return true;
    if (rank != kAllRanks) return open(window.members[static_cast<std::size_t>(rank)]);
    for (const WindowMember& member : window.members)
        if (open(member)) return true;
    return false;
}

}  // namespace

bool access_at_once(Window& window, const PlainAccess& access) {
    if (is_observed() || !is_member(window, access.rank) || !in_access_epoch(window, access.rank))
        return false;
    const PredefinedType* const type = find_predefined_type(value_of(access.type));
    if (type == nullptr || type->size != type->extent) return false;
    WindowMember& member = window.member(access.rank);
    Place place;
    if (!find_place(member, access, type->size, place)) return false;
    if (member.mapped == nullptr) {
        if (access.rank == window.rank() || !batch_put(member, access, place)) return false;
        window.used = true;
        return true;
    }
    std::byte* const memory = member.mapped + place.at;
    const Bytes bytes = place.bytes;
    if (takes_data(access.kind) && access.given == nullptr) return false;
    if (gives_data(access.kind) && access.fetched == nullptr) return false;
    if (access.kind == AccessKind::kPut) {
        std::memcpy(memory, access.given, bytes);
    } else if (access.kind == AccessKind::kGet) {
        std::memcpy(access.fetched, memory, bytes);
    } else {
        Change change;
        if (access.kind == AccessKind::kCompareAndSwap) {
            if (access.compared == nullptr) return false;
        } else {
            change = find_change(access.operation, *type);
            if (!change.known()) return false;
        }
        carry_out_atomically(window, access, change, memory, bytes);
    }
    window.used = true;
    return true;
}

bool flush_at_once(comm::Runtime& runtime, Window& window, int rank, bool local) {
    if (is_observed() || (rank != kAllRanks && !is_member(window, rank))) return false;
    const bool locked =
        rank == kAllRanks ? has_locks(window) : window.member(rank).lock != LockHeld::kNone;
    if (!locked || has_open_operations(window, rank)) return false;
    if (!local) std::atomic_thread_fence(std::memory_order_seq_cst);
    look_at_others(runtime, window);
    return true;
}

bool lock_at_once(comm::Runtime& runtime, Window& window, int rank, bool exclusive) noexcept {
    if (is_observed() || !is_member(window, rank) || !has_shared_locks(runtime, window) ||
        window.locked_all || window.access_started || (window.fenced && window.used))
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
    if (is_observed() || !is_member(window, rank) || window.locked_all ||
        has_open_operations(window, rank))
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
