// Functions of Fortran that are in Open MPI's library for C: MPI_COMM_DUP_FN and the like, and
// those behind MPI_WTIME and MPI_AINT_ADD of its modules.
#include <mpi.h>

#include "mpi/foreign_abi/library.hpp"

using poe::mpi::foreign::library;

#pragma GCC visibility push(default)
extern "C" {

// `Integer` is the type of attributes. Module mpi_f08 uses the names that end with _f.
#define FUNCTIONS(kind, Integer)                                                          \
    void mpi_##kind##dup_fn_(int*, int*, Integer*, Integer* value_in, Integer* value_out, \
                             int* flag, int* code) {                                      \
        *value_out = *value_in;                                                           \
        *flag = 1;                                                                        \
        *code = MPI_SUCCESS;                                                              \
    }                                                                                     \
    void mpi_##kind##null_copy_fn_(int*, int*, Integer*, Integer*, Integer*, int* flag,   \
                                   int* code) {                                           \
        *flag = 0;                                                                        \
        *code = MPI_SUCCESS;                                                              \
    }                                                                                     \
    void mpi_##kind##null_delete_fn_(int*, int*, Integer*, Integer*, int* code) {         \
        *code = MPI_SUCCESS;                                                              \
    }                                                                                     \
    decltype(mpi_##kind##dup_fn_) ompi_##kind##dup_fn_f                                   \
        __attribute__((alias("mpi_" #kind "dup_fn_")));                                   \
    decltype(mpi_##kind##null_copy_fn_) ompi_##kind##null_copy_fn_f                       \
        __attribute__((alias("mpi_" #kind "null_copy_fn_")));                             \
    decltype(mpi_##kind##null_delete_fn_) ompi_##kind##null_delete_fn_f                   \
        __attribute__((alias("mpi_" #kind "null_delete_fn_")));
FUNCTIONS(comm_, MPI_Aint)
FUNCTIONS(type_, MPI_Aint)
FUNCTIONS(win_, MPI_Aint)
FUNCTIONS(, int)
#undef FUNCTIONS

// Known by its address, never called.
void mpi_conversion_fn_null_() {}

double mpi_wtime_f90_() {
    return library.Wtime();
}
double mpi_wtick_f90_() {
    return library.Wtick();
}
MPI_Aint mpi_aint_add_f90_(const MPI_Aint* base, const MPI_Aint* displacement) {
    return library.Aint_add(*base, *displacement);
}
MPI_Aint mpi_aint_diff_f90_(const MPI_Aint* first, const MPI_Aint* second) {
    return library.Aint_diff(*first, *second);
}

}  // extern "C"
#pragma GCC visibility pop
