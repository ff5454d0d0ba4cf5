// Statuses of MPICH's binary interface and of the standard's.
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

// MPI_STATUS_IGNORE and MPI_STATUSES_IGNORE. A null pointer counts as such, too.
inline bool is_ignored(const Status* status) noexcept {
    return reinterpret_cast<std::uintptr_t>(status) <= kStatusIgnore;
}

inline MPI_Status status_in(const Status& from) noexcept {
    MPI_Status to{};
    const auto high = static_cast<std::uint32_t>(from.count_high);
    to.MPI_SOURCE = rank_in(from.source);
    to.MPI_TAG = tag_in(from.tag);
    to.MPI_ERROR = error_in(from.error);
    set_received_bytes(to, static_cast<std::int64_t>(static_cast<std::uint64_t>(high >> 1) << 32 |
                                                     static_cast<std::uint32_t>(from.count_low)));
    set_cancelled(to, (high & 1) != 0);
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
    const auto bytes = static_cast<std::uint64_t>(received_bytes(from));
    to.count_low = static_cast<int>(static_cast<std::uint32_t>(bytes));
    to.count_high = static_cast<int>(static_cast<std::uint32_t>(bytes >> 32) << 1 |
                                     (is_cancelled(from) ? 1u : 0u));
    to.source = rank_out(from.MPI_SOURCE);
    to.tag = tag_out(from.MPI_TAG);
}

// A status in which nothing was received.
inline Status empty_status() noexcept {
    return {0, 0, kAnySource, kAnyTag, MPI_SUCCESS};
}

}  // namespace poe::mpi::foreign
