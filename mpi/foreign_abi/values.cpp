// See values.hpp.
#include "mpi/foreign_abi/values.hpp"

namespace poe::mpi::foreign {
namespace {

// What a program of MPICH takes as the class of errors that MPICH does not know.
constexpr int kOtherError = value_of_ours(kErrorClass, MPI_ERR_OTHER);
// From a code that our library has added to the same code of MPICH's interface.
constexpr int kAddedShift = kErrLastcode - MPI_ERR_LASTCODE;

bool is_our_class(int code) noexcept {
    return code > 0 && code <= MPI_ERR_ABI;
}

}  // namespace

int error_in(int code) noexcept {
    if (code >= kErrLastcode) return code - kAddedShift;
    for (const Pair& pair : kErrorClass)
        if (pair.theirs == code) return pair.ours;
    for (const Pair& pair : kErrorClassMpiT)
        if (pair.theirs == code) return pair.ours;
    return code > 0 ? -code : code;
}

int known_error_out(int code) noexcept {
    if (code >= MPI_ERR_LASTCODE) return code + kAddedShift;
    for (const Pair& pair : kErrorClass)
        if (pair.ours == code) return pair.theirs;
    for (const Pair& pair : kErrorClassMpiT)
        if (pair.ours == code) return pair.theirs;
    if (is_our_class(code)) return kOtherError;
    return code < 0 ? -code : code;
}

int keyval_in(int keyval) noexcept {
    for (const Pair& pair : kAttributeKey)
        if (pair.theirs == keyval) return pair.ours;
    for (const Pair& pair : kAttributeKey)
        if (pair.ours == keyval) return kNoValue;
    return keyval;
}

int keyval_out(int keyval) noexcept {
    for (const Pair& pair : kAttributeKey)
        if (pair.ours == keyval) return pair.theirs;
    return keyval;
}

}  // namespace poe::mpi::foreign
