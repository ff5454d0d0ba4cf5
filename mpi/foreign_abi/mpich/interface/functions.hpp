// Constants of MPICH's interface that are neither numbers nor predefined handles of a table:
// addresses of variables and functions, and markers.
#pragma once

#include "interface/types.hpp"

namespace poe::mpi::foreign {

// MPI_DUP_FN and the like. MPI_NULL_COPY_FN and MPI_NULL_DELETE_FN are null pointers.
bool is_duplicate(const Function* copy) noexcept;
inline bool is_null_copy(const Function* copy) noexcept {
    return copy == nullptr;
}
inline bool is_null_delete(const Function* remove) noexcept {
    return remove == nullptr;
}

// MPI_UNWEIGHTED and MPI_WEIGHTS_EMPTY are addresses of variables (private_names.cpp).
extern int unweighted_variable;
extern int weights_empty_variable;
inline const int* unweighted() noexcept {
    return &unweighted_variable;
}
inline const int* weights_empty() noexcept {
    return &weights_empty_variable;
}

// Markers of the lower and of the upper bound of a structure.
inline bool is_lower_bound(int datatype) noexcept {
    return datatype == 0x4c000010;
}
inline bool is_upper_bound(int datatype) noexcept {
    return datatype == 0x4c000011;
}

// MPI::ERRORS_THROW_EXCEPTIONS of C++.
inline int throwing_errhandler() noexcept {
    return 0x54000002;
}

// How MPICH's library for C++ has the function of an operation called.
inline void call_operation_proxy(Function* proxy, void* invec, void* inoutvec, int len,
                                 int datatype, Function* function) {
    using Proxy = void(void* invec, void* inoutvec, int len, int datatype, Function* function);
    reinterpret_cast<Proxy*>(proxy)(invec, inoutvec, len, datatype, function);
}
// MPICH's library for C++ would invoke the error handler again if the call returned the error.
inline constexpr bool kProxyHandlesErrors = true;

// What fortran_keys.cpp does for MPICH's library for Fortran. The number for C of a predefined key
// that Fortran passes; other numbers stay.
int key_of_c(int keyval) noexcept;
// Turns the result of a function that gets an attribute into the value for Fortran. Returns `code`.
int fortran_value_of(int code, int keyval, void* attribute_val, const int* flag);

// The version of MPI that MPICH 4.0 has.
inline constexpr int kVersion = 4;
inline constexpr int kSubversion = 0;

}  // namespace poe::mpi::foreign
