// The names of the functions of MPI.
#include "mpi/table/functions.hpp"

#include <array>
#include <cstddef>
#include <string_view>

namespace poe::mpi {
namespace {

constexpr std::array<std::string_view, 0
#define MPI_FUNCTION(enumerator, name) +1
#include "mpi/table/function_list.inc"
#undef MPI_FUNCTION
                     >
    kNames = {
#define MPI_FUNCTION(enumerator, name) std::string_view{name},
#include "mpi/table/function_list.inc"
#undef MPI_FUNCTION
};

}  // namespace

std::string_view function_name(Function function) noexcept {
    const auto index = static_cast<std::size_t>(function);
    return index < kNames.size() ? kNames[index] : std::string_view{"?"};
}

}  // namespace poe::mpi
