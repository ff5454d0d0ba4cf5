// Numbers that mean something else in a foreign binary interface than in the standard's: ranks,
// tags, error codes, attribute keys and other constants. Pure. X_in converts what the program
// passes, X_out what the program gets. A number that is no constant of that interface never becomes
// a valid constant of ours.
#pragma once

#include <array>
#include <cstdint>
#include <mpi.h>

#include "interface/constants.hpp"

namespace poe::mpi::foreign {

// No rank, tag or constant of the standard's interface has this value.
inline constexpr int kNoValue = -29999;

inline int rank_in(int rank) noexcept {
    if (rank >= 0) [[likely]]
        return rank;
    if (rank == kProcNull) return MPI_PROC_NULL;
    if (rank == kAnySource) return MPI_ANY_SOURCE;
    if (rank == kRoot) return MPI_ROOT;
    const bool is_our_constant =
        rank == MPI_PROC_NULL || rank == MPI_ANY_SOURCE || rank == MPI_ROOT;
    return is_our_constant ? kNoValue : rank;
}
inline int rank_out(int rank) noexcept {
    if (rank >= 0) [[likely]]
        return rank;
    return rank == MPI_PROC_NULL    ? kProcNull
           : rank == MPI_ANY_SOURCE ? kAnySource
           : rank == MPI_ROOT       ? kRoot
                                    : rank;
}

inline int tag_in(int tag) noexcept {
    if (tag >= 0) [[likely]]
        return tag;
    return tag == kAnyTag ? MPI_ANY_TAG : tag == MPI_ANY_TAG ? kNoValue : tag;
}
inline int tag_out(int tag) noexcept {
    return tag == MPI_ANY_TAG ? kAnyTag : tag;
}

// Error codes:
//   code                          in the foreign interface
//   a class of the standard       its number there; MPI_ERR_OTHER if it does not exist there
//   added by the program          after its MPI_ERR_LASTCODE, as ours are after ours
//   any other number              a code of a function of the program; negative in our library
int error_in(int code) noexcept;
int known_error_out(int code) noexcept;
inline int error_out(int code) noexcept {
    return code == MPI_SUCCESS ? MPI_SUCCESS : known_error_out(code);
}

// What an exported function returns.
int finish_error(int code) noexcept;
inline int finish(int code) noexcept {
    return code == MPI_SUCCESS ? MPI_SUCCESS : finish_error(code);
}

// Keys that the program has created have the same number in both interfaces.
int keyval_in(int keyval) noexcept;
int keyval_out(int keyval) noexcept;

inline int distribution_in(int argument) noexcept {
    // A block of this size cannot be expressed in the standard's interface.
    if (argument == MPI_DISTRIBUTE_DFLT_DARG) return kNoValue;
    return argument == kDistributeDfltDarg ? MPI_DISTRIBUTE_DFLT_DARG : argument;
}
inline MPI_Offset displacement_in(MPI_Offset displacement) noexcept {
    return displacement == kDisplacementCurrent ? MPI_DISPLACEMENT_CURRENT : displacement;
}

// A constant of one of the generated lists. MPI_UNDEFINED has the same value in both interfaces.
template <const auto& kPairs>
int value_in(int value) noexcept {
    if (value == MPI_UNDEFINED) return value;
    for (const Pair& pair : kPairs)
        if (pair.theirs == value) return pair.ours;
    return kNoValue;
}
template <const auto& kPairs>
int value_out(int value) noexcept {
    for (const Pair& pair : kPairs)
        if (pair.ours == value) return pair.theirs;
    return value;
}
// A sum of such constants. Bits that are no constant stay as they are.
template <const auto& kPairs>
int bits_in(int bits) noexcept {
    int all = 0;
    int result = 0;
    for (const Pair& pair : kPairs) {
        all |= pair.theirs;
        if ((bits & pair.theirs) != 0) result |= pair.ours;
    }
    return result | (bits & ~all);
}
template <const auto& kPairs>
int bits_out(int bits) noexcept {
    int all = 0;
    int result = 0;
    for (const Pair& pair : kPairs) {
        all |= pair.ours;
        if ((bits & pair.ours) != 0) result |= pair.theirs;
    }
    return result | (bits & ~all);
}

}  // namespace poe::mpi::foreign
