// The changes of atomic operations; see elements.hpp.
#include "mpi/window/elements.hpp"

#include <mpi.h>

#include "mpi/datatype/predefined.hpp"
#include "mpi/object/handle.hpp"

namespace poe::mpi {
namespace {

Change find_change(std::uint16_t operation, std::uint16_t element) noexcept {
    Change change;
    change.copies = operation == value_of(MPI_REPLACE);
    change.keeps = operation == value_of(MPI_NO_OP);
    const PredefinedType* const type = find_predefined_type(element);
    if (change.known() || type == nullptr) return change;
    change.kernel = find_kernel(operation, *type);
    return change;
}

}  // namespace

const Change& repeated_change(std::uint16_t operation, std::uint16_t element) noexcept {
    static std::uint16_t last_operation = 0;
    static std::uint16_t last_element = 0;
    static Change last;
    if (operation != last_operation || element != last_element) {
        last = find_change(operation, element);
        last_operation = operation;
        last_element = element;
    }
    return last;
}

}  // namespace poe::mpi
