// The common blocks of mpif.h. The variables of the modules are in the modules' own objects.
#include "mpi/fortran/sentinels.hpp"

#pragma GCC visibility push(default)
extern "C" {
int poe_mpi_bottom_;
int poe_mpi_in_place_;
int poe_mpi_buffer_automatic_;
int poe_mpi_status_ignore_[MPI_F_STATUS_SIZE];
int poe_mpi_statuses_ignore_[MPI_F_STATUS_SIZE];
int poe_mpi_errcodes_ignore_;
int poe_mpi_unweighted_;
int poe_mpi_weights_empty_;
char poe_mpi_argv_null_;
char poe_mpi_argvs_null_;
}
#pragma GCC visibility pop
