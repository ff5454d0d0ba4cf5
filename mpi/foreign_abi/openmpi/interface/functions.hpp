// Constants of Open MPI's interface that are neither numbers nor predefined handles of ours:
// addresses of functions, and markers.
#pragma once

#include "interface/predefined.hpp"
#include "interface/types.hpp"

namespace poe::mpi::foreign {

// MPI_COMM_DUP_FN, MPI_COMM_NULL_COPY_FN and the like, which are functions of the library. If a
// program uses another address of such a function, the function itself is called.
bool is_duplicate(const Function* copy) noexcept;
bool is_null_copy(const Function* copy) noexcept;
bool is_null_delete(const Function* remove) noexcept;

// MPI_UNWEIGHTED and MPI_WEIGHTS_EMPTY.
inline const int* unweighted() noexcept {
    return reinterpret_cast<const int*>(2);  // NOLINT(performance-no-int-to-ptr)
}
inline const int* weights_empty() noexcept {
    return reinterpret_cast<const int*>(3);  // NOLINT(performance-no-int-to-ptr)
}

// Markers of the lower and of the upper bound of a structure.
inline bool is_lower_bound(const void* datatype) noexcept {
    return datatype == &ompi_mpi_lb;
}
inline bool is_upper_bound(const void* datatype) noexcept {
    return datatype == &ompi_mpi_ub;
}

// MPI::ERRORS_THROW_EXCEPTIONS of C++.
inline void* throwing_errhandler() noexcept {
    return &ompi_mpi_errors_throw_exceptions;
}

// How the function of an operation is called if it is not a function of C: by Open MPI's library
// for C++, or by ours for Fortran.
inline void call_operation_proxy(Function* proxy, void* invec, void* inoutvec, int len,
                                 void* datatype, Function* function) {
    using Proxy = void(void* invec, void* inoutvec, int* len, void** datatype, Function* function);
    reinterpret_cast<Proxy*>(proxy)(invec, inoutvec, &len, &datatype, function);
}
inline constexpr bool kProxyHandlesErrors = false;

// What Open MPI's library for Fortran has written into an object that it has just created
// (private_names.cpp). Called when it asks for the number of the object.
void note_fortran_operation(void* op) noexcept;
void note_fortran_grequest(void* request) noexcept;
// What it reads of a communicator. Called when it asks for the communicator with a number.
void note_sizes(void* comm) noexcept;

// The version of MPI that Open MPI 4 has.
inline constexpr int kVersion = 3;
inline constexpr int kSubversion = 1;

}  // namespace poe::mpi::foreign
