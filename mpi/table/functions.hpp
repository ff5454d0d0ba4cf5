// The functions of MPI as an enumeration. The list is generated from the table functions.tsv. The
// large-count forms are functions of their own.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/calls.hpp"

namespace poe::mpi {

enum class Function : std::uint16_t {
#define MPI_CALL(enumerator, name, kind) enumerator,
#include "base/mpi_calls.inc"
#undef MPI_CALL
};

// The number by which watchers and traces know the function.
inline ::poe::Call call_of(Function function) noexcept {
    return static_cast<::poe::Call>(kFirstMpiCall + static_cast<std::uint16_t>(function));
}

// The C name, for example "MPI_Send_c"; "?" for a value that is no function. The text ends with a
// null character.
inline std::string_view function_name(Function function) noexcept {
    return call_name(call_of(function));
}

}  // namespace poe::mpi
