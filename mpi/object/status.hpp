// The hidden part of MPI_Status: the length of the message and whether the operation was cancelled.
//
//   MPI_internal   content
//   0, 1           the received bytes: bits 31..0, bits 62..32
//   2              1 if the operation was cancelled, otherwise 0
//   3, 4           reserved, 0
#pragma once

#include <cstdint>
#include <mpi.h>

namespace poe::mpi {

inline std::int64_t received_bytes(const MPI_Status& status) noexcept {
    return static_cast<std::int64_t>(
        static_cast<std::uint64_t>(static_cast<std::uint32_t>(status.MPI_internal[1])) << 32 |
        static_cast<std::uint32_t>(status.MPI_internal[0]));
}
inline void set_received_bytes(MPI_Status& status, std::int64_t bytes) noexcept {
    const auto value = static_cast<std::uint64_t>(bytes);
    status.MPI_internal[0] = static_cast<int>(static_cast<std::uint32_t>(value));
    status.MPI_internal[1] = static_cast<int>(static_cast<std::uint32_t>(value >> 32));
}

inline bool is_cancelled(const MPI_Status& status) noexcept {
    return status.MPI_internal[2] != 0;
}
inline void set_cancelled(MPI_Status& status, bool cancelled) noexcept {
    status.MPI_internal[2] = cancelled ? 1 : 0;
}

// Fills in everything but MPI_ERROR, which only functions with several statuses set.
inline void set_status(MPI_Status& status, int source, int tag, std::int64_t bytes) noexcept {
    status.MPI_SOURCE = source;
    status.MPI_TAG = tag;
    for (int& word : status.MPI_internal) word = 0;
    set_received_bytes(status, bytes);
}
// The empty status, of a request that is null or inactive. It is the only one of a single request
// that has a defined MPI_ERROR (section 3.7.3).
inline void set_empty(MPI_Status& status) noexcept {
    status.MPI_ERROR = MPI_SUCCESS;
    set_status(status, MPI_ANY_SOURCE, MPI_ANY_TAG, 0);
}
// The status of a receive from MPI_PROC_NULL (section 3.10).
inline void set_from_nobody(MPI_Status& status) noexcept {
    set_status(status, MPI_PROC_NULL, MPI_ANY_TAG, 0);
}

// The result of MPI_Get_count: how many whole elements of `size` bytes have come, MPI_UNDEFINED if
// it is no whole number.
inline std::int64_t count_of(std::int64_t bytes, std::int64_t size) noexcept {
    if (size == 0) return bytes == 0 ? 0 : MPI_UNDEFINED;
    return bytes % size == 0 ? bytes / size : MPI_UNDEFINED;
}

}  // namespace poe::mpi
