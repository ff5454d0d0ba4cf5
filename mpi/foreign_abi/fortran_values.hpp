// Attributes whose values a Fortran program has set. Such a value is an integer; a C program gets
// the address of a variable that holds it (MPI 5.0, section 19.3.7). Our library keeps that address
// as the value.
//
// A variable is never changed, and equal values share one, so there are as many as different
// values.
#pragma once

#include <mpi.h>

namespace poe::mpi::foreign {

struct FortranValue {
    MPI_Aint value;  // first, because a C program gets its address
    int type;        // MPICH's number of the type: 1 an address-sized integer, 3 an INTEGER
};

// The address that stands for the value. Thread-safe, as the other function.
void* keep_fortran_value(MPI_Aint value, int type);
// Null if the value of the attribute was set by C.
const FortranValue* find_fortran_value(const void* attribute);

}  // namespace poe::mpi::foreign
