// Statuses of Open MPI's binary interface and of the standard's.
//
// MPI leaves a part of a status as it is: MPI_ERROR in functions with one status, all of it in a
// test of a request that has not ended. To leave the same part of the program's status alone,
// source and error have the value kUntouched before the call.
#pragma once

#include <cstdint>
#include <mpi.h>

#include <climits>

#include "interface/types.hpp"
#include "mpi/foreign_abi/values.hpp"
#include "mpi/object/status.hpp"

namespace poe::mpi::foreign {

inline constexpr int kUntouched = INT_MIN;

// MPI_STATUS_IGNORE and MPI_STATUSES_IGNORE.
inline bool is_ignored(const Status* status) noexcept {
    return status == nullptr;
}

inline MPI_Status status_in(const Status& from) noexcept {
    MPI_Status to{};
    to.MPI_SOURCE = rank_in(from.source);
    to.MPI_TAG = tag_in(from.tag);
    to.MPI_ERROR = error_in(from.error);
    set_received_bytes(to, static_cast<std::int64_t>(from.bytes));
    set_cancelled(to, from.cancelled != 0);
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
    to.cancelled = is_cancelled(from) ? 1 : 0;
    to.bytes = static_cast<std::size_t>(received_bytes(from));
}

// A status in which nothing was received.
inline Status empty_status() noexcept {
    return {kAnySource, kAnyTag, MPI_SUCCESS, 0, 0};
}

}  // namespace poe::mpi::foreign
