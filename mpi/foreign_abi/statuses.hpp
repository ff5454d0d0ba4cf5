// Statuses of a foreign binary interface and of the standard's.
//
// MPI leaves a part of a status as it is: MPI_ERROR in functions with one status, all of it in a
// test of a request that has not ended. To leave the same part of the program's status alone,
// source and error have the value kUntouched before the call.
#pragma once

#include <cstdint>
#include <mpi.h>

#include <climits>

#include "interface/status_members.hpp"
#include "mpi/foreign_abi/values.hpp"
#include "mpi/object/status.hpp"

namespace poe::mpi::foreign {

inline constexpr int kUntouched = INT_MIN;

// MPI_STATUS_IGNORE and MPI_STATUSES_IGNORE. A null pointer counts as such, too.
inline bool is_ignored(const Status* status) noexcept {
    return reinterpret_cast<std::uintptr_t>(status) <= kStatusIgnore;
}

inline MPI_Status status_in(const Status& from) noexcept {
    MPI_Status to{};
    to.MPI_SOURCE = rank_in(from.source);
    to.MPI_TAG = tag_in(from.tag);
    to.MPI_ERROR = error_in(from.error);
    const Received received = received_of(from);
    set_received_bytes(to, received.bytes);
    set_cancelled(to, received.cancelled);
    return to;
}

inline void mark_untouched(MPI_Status& status) noexcept {
    status.MPI_SOURCE = kUntouched;
    status.MPI_ERROR = kUntouched;
}

// Gives the program what a call has set in a status that was marked before.
inline void status_out(const MPI_Status& from, Status& to) noexcept {
    if (from.MPI_ERROR != kUntouched) to.error = error_out(from.MPI_ERROR);
    if (from.MPI_SOURCE == kUntouched) return;
    to.source = rank_out(from.MPI_SOURCE);
    to.tag = tag_out(from.MPI_TAG);
    set_received(to, {received_bytes(from), is_cancelled(from)});
}

// A status in which nothing was received.
inline Status empty_status() noexcept {
    Status status{};
    status.source = kAnySource;
    status.tag = kAnyTag;
    return status;
}

}  // namespace poe::mpi::foreign
