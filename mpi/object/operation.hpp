// Operation: a reduction operation, predefined or made by the program (MPI 5.0, section 6.9), and
// its application to two arrays.
#pragma once

#include <cstdint>
#include <mpi.h>

#include "mpi/object/fault.hpp"
#include "mpi/object/handle.hpp"

namespace poe::mpi {

// An operation that the program has made; one of the two functions is null.
struct Operation : Object {
    MPI_User_function* function = nullptr;
    MPI_User_function_c* large_function = nullptr;
    bool commutative = false;

    void reset() noexcept {
        function = nullptr;
        large_function = nullptr;
    }
};

bool is_predefined_operation(MPI_Op op) noexcept;

// Precondition: the operation is predefined or of the program. MPI_REPLACE is the only predefined
// one that does not commute.
bool is_commutative(MPI_Op op) noexcept;

// Refuses a predefined operation that is not defined on the datatype. A derived datatype has none.
Fault check_operation(MPI_Op op, MPI_Datatype datatype);

// Computes inout[i] = in[i] op inout[i] for `count` elements. `extent` is the distance of elements
// of the datatype in bytes. May call the program's function, several times if that counts with int
// and `count` is larger. Precondition: check_operation() refuses nothing.
void apply(MPI_Op op, const void* in, void* inout, std::int64_t count, MPI_Datatype datatype,
           std::int64_t extent);

}  // namespace poe::mpi
