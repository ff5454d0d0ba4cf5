// The arguments that the library recognises by their addresses, such as MPI_BOTTOM (MPI 5.0,
// section 19.3.9). mpif.h has each as a common block, the modules have it as a variable. If a
// program has such a common block too, its address is that of the program.
#pragma once

#include <mpi.h>

extern "C" {
// The common blocks of mpif.h.
extern int poe_mpi_bottom_;
extern int poe_mpi_in_place_;
extern int poe_mpi_buffer_automatic_;
extern int poe_mpi_status_ignore_[MPI_F_STATUS_SIZE];
extern int poe_mpi_statuses_ignore_[MPI_F_STATUS_SIZE];
extern int poe_mpi_errcodes_ignore_;
extern int poe_mpi_unweighted_;
extern int poe_mpi_weights_empty_;
extern char poe_mpi_argv_null_;
extern char poe_mpi_argvs_null_;

// The variables of both modules.
extern int poe_mpi_module_bottom;
extern int poe_mpi_module_in_place;
extern int poe_mpi_module_buffer_automatic;
extern int poe_mpi_module_errcodes_ignore;
extern int poe_mpi_module_unweighted;
extern int poe_mpi_module_weights_empty;
extern char poe_mpi_module_argv_null;
extern char poe_mpi_module_argvs_null;

// Those of module mpi, and those of module mpi_f08.
extern int poe_mpi_module_status_ignore[MPI_F_STATUS_SIZE];
extern int poe_mpi_module_statuses_ignore[MPI_F_STATUS_SIZE];
extern int poe_mpi_f08_status_ignore[MPI_F_STATUS_SIZE];
extern int poe_mpi_f08_statuses_ignore[MPI_F_STATUS_SIZE];
}

namespace poe::mpi::fortran {

// The buffer for the C function: the address, or the constant of C that it stands for.
inline void* as_buffer(void* address) noexcept {
    if (address == &poe_mpi_in_place_ || address == &poe_mpi_module_in_place) return MPI_IN_PLACE;
    if (address == &poe_mpi_bottom_ || address == &poe_mpi_module_bottom) return MPI_BOTTOM;
    if (address == &poe_mpi_buffer_automatic_ || address == &poe_mpi_module_buffer_automatic)
        return MPI_BUFFER_AUTOMATIC;
    return address;
}

inline bool is_in_place(const void* address) noexcept {
    return address == &poe_mpi_in_place_ || address == &poe_mpi_module_in_place;
}

// A status of Fortran has the layout of one of C.
inline MPI_Status* as_status(int* address) noexcept {
    if (address == poe_mpi_status_ignore_ || address == poe_mpi_module_status_ignore ||
        address == poe_mpi_f08_status_ignore)
        return MPI_STATUS_IGNORE;
    return reinterpret_cast<MPI_Status*>(address);
}
inline MPI_Status* as_statuses(int* address) noexcept {
    if (address == poe_mpi_statuses_ignore_ || address == poe_mpi_module_statuses_ignore ||
        address == poe_mpi_f08_statuses_ignore)
        return MPI_STATUSES_IGNORE;
    return reinterpret_cast<MPI_Status*>(address);
}
static_assert(sizeof(MPI_Status) == MPI_F_STATUS_SIZE * sizeof(int));

// An array of weights, const or not.
template <typename Int>
Int* as_weights(Int* address) noexcept {
    if (address == &poe_mpi_unweighted_ || address == &poe_mpi_module_unweighted)
        return MPI_UNWEIGHTED;
    if (address == &poe_mpi_weights_empty_ || address == &poe_mpi_module_weights_empty)
        return MPI_WEIGHTS_EMPTY;
    return address;
}

inline int* as_error_codes(int* address) noexcept {
    if (address == &poe_mpi_errcodes_ignore_ || address == &poe_mpi_module_errcodes_ignore)
        return MPI_ERRCODES_IGNORE;
    return address;
}

inline bool is_argv_null(const char* address) noexcept {
    return address == &poe_mpi_argv_null_ || address == &poe_mpi_module_argv_null;
}
inline bool is_argvs_null(const char* address) noexcept {
    return address == &poe_mpi_argvs_null_ || address == &poe_mpi_module_argvs_null;
}

}  // namespace poe::mpi::fortran
