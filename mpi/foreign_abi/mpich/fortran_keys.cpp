// Keys and values of attributes as MPICH's library for Fortran wants them.
#include <mpi.h>

#include "interface/functions.hpp"
#include "mpi/foreign_abi/fortran_values.hpp"
#include "mpi/foreign_abi/values.hpp"

namespace poe::mpi::foreign {

// MPICH's numbers of predefined keys are odd for C; the next number stands for the same key in
// Fortran. Such an attribute is the value itself, where C gets its address.
int fortran_value_of(int code, int keyval, void* attribute_val, const int* flag) {
    if (code != MPI_SUCCESS || *flag == 0) return code;
    auto* value = static_cast<MPI_Aint*>(attribute_val);
    if (value_in<kAttributeKey>(keyval) != kNoValue) {
        *value = *reinterpret_cast<const int*>(*value);
    } else if (const FortranValue* kept =
                   find_fortran_value(reinterpret_cast<const void*>(*value))) {
        *value = kept->value;
    }
    return code;
}

int key_of_c(int keyval) noexcept {
    return value_in<kAttributeKey>(keyval) == kNoValue &&
                   value_in<kAttributeKey>(keyval - 1) != kNoValue && keyval - 1 != kKeyvalInvalid
               ? keyval - 1
               : keyval;
}

}  // namespace poe::mpi::foreign
