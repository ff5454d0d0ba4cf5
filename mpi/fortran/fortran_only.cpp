// Procedures that only Fortran has: conversions of statuses, MPI_F_sync_reg, and the functions that
// stand for a missing conversion of data representations (MPI 5.0, sections 19.3.5, 19.1.17 and
// 14.5.3).
#include <cstring>
#include <mpi.h>

#include "mpi/fortran/convert.hpp"

namespace {

// Both kinds of statuses are the same eight integers.
void copy_status(const int* from, int* to, int* ierror) {
    std::memcpy(to, from, MPI_F_STATUS_SIZE * sizeof(int));
    poe::mpi::fortran::finish(ierror, MPI_SUCCESS);
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

void pmpi_status_f2f08_(const int* f_status, int* f08_status, int* ierror) {
    copy_status(f_status, f08_status, ierror);
}
void pmpi_status_f082f_(const int* f08_status, int* f_status, int* ierror) {
    copy_status(f08_status, f_status, ierror);
}
decltype(pmpi_status_f2f08_) mpi_status_f2f08_ __attribute__((weak, alias("pmpi_status_f2f08_")));
decltype(pmpi_status_f082f_) mpi_status_f082f_ __attribute__((weak, alias("pmpi_status_f082f_")));

// The call itself is what matters: the compiler does not know that it changes nothing.
void pmpi_f_sync_reg_(void*) {}
decltype(pmpi_f_sync_reg_) mpi_f_sync_reg_ __attribute__((weak, alias("pmpi_f_sync_reg_")));

void mpi_conversion_fn_null_(void*, int*, int*, void*, MPI_Offset*, MPI_Aint*, int* ierror) {
    *ierror = MPI_ERR_CONVERSION;
}
void mpi_conversion_fn_null_c_(void*, int*, MPI_Count*, void*, MPI_Offset*, MPI_Aint*,
                               int* ierror) {
    *ierror = MPI_ERR_CONVERSION;
}

}  // extern "C"
#pragma GCC visibility pop
