// Which predefined operation is defined on which predefined datatype.
#include "mpi/object/reductions.hpp"

#include "mpi/object/handle.hpp"

namespace poe::mpi {

ReductionKernel find_kernel(std::uintptr_t operation, const PredefinedType& type) noexcept {
    if (const ReductionKernel kernel = find_arithmetic_kernel(operation, type)) return kernel;
    if (const ReductionKernel kernel = find_logical_kernel(operation, type)) return kernel;
    return find_location_kernel(operation, type);
}

}  // namespace poe::mpi
