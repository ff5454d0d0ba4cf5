// The functions of MPI as an enumeration, with their names, for messages, traces and watchers. The
// list is generated from the table functions.tsv. The large-count forms are functions of their own.
#pragma once

#include <cstdint>
#include <string_view>

namespace poe::mpi {

enum class Function : std::uint16_t {
#define MPI_FUNCTION(enumerator, name) enumerator,
#include "mpi/table/function_list.inc"
#undef MPI_FUNCTION
};

// The C name, for example "MPI_Send_c"; "?" for a value that is no function. The text ends with a
// null character.
std::string_view function_name(Function function) noexcept;

}  // namespace poe::mpi
