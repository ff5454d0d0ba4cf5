// Functions that MPICH's binary interface has and MPI 5.0 has not: those that MPI 3.0 has removed,
// in terms of their successors, conversions between C and Fortran, and MPICH's extensions.
#include "mpi/mpich_abi/arguments.hpp"
#include "mpi/mpich_abi/by_hand.hpp"

using namespace poe::mpi::mpich;

namespace {

// A status of Fortran is an array of five integers, in the order of the members of that of C.
void copy_status(const Status* from, Status* to) noexcept {
    *to = *from;
}

}  // namespace

// Defines PMPI_X, and MPI_X as a weak alias of it. `parameters` is in parentheses.
#define EXPORT(result, name, parameters)                   \
    result mpich_##name parameters __asm__("PMPI_" #name); \
    result alias_##name parameters __asm__("MPI_" #name)   \
        __attribute__((weak, alias("PMPI_" #name)));       \
    result mpich_##name parameters
#define EXPORT_X(result, name, parameters)                   \
    result mpichx_##name parameters __asm__("PMPIX_" #name); \
    result aliasx_##name parameters __asm__("MPIX_" #name)   \
        __attribute__((weak, alias("PMPIX_" #name)));        \
    result mpichx_##name parameters

#pragma GCC visibility push(default)
extern "C" {

EXPORT(int, Address, (const void* location, MPI_Aint* address)) {
    return finish(library.Get_address(location, address));
}

EXPORT(int, Errhandler_create, (Function * function, int* errhandler)) {
    return comm_create_errhandler(function, errhandler);
}
EXPORT(int, Errhandler_get, (int comm, int* errhandler)) {
    return comm_get_errhandler(comm, errhandler);
}
EXPORT(int, Errhandler_set, (int comm, int errhandler)) {
    return comm_set_errhandler(comm, errhandler);
}

EXPORT(int, Type_extent, (int datatype, MPI_Aint* extent)) {
    MPI_Aint lower = 0;
    return finish(library.Type_get_extent(handle_in<MPI_Datatype>(datatype), &lower, extent));
}
EXPORT(int, Type_lb, (int datatype, MPI_Aint* displacement)) {
    MPI_Aint extent = 0;
    return finish(
        library.Type_get_extent(handle_in<MPI_Datatype>(datatype), displacement, &extent));
}
EXPORT(int, Type_ub, (int datatype, MPI_Aint* displacement)) {
    MPI_Aint lower = 0;
    MPI_Aint extent = 0;
    const int code = library.Type_get_extent(handle_in<MPI_Datatype>(datatype), &lower,
                                             displacement == nullptr ? nullptr : &extent);
    if (code == MPI_SUCCESS) *displacement = lower + extent;
    return finish(code);
}
EXPORT(int, Type_hvector, (int count, int length, MPI_Aint stride, int oldtype, int* newtype)) {
    HandleOut<MPI_Datatype> made(newtype);
    return finish(
        library.Type_create_hvector(count, length, stride, handle_in<MPI_Datatype>(oldtype), made));
}
EXPORT(int, Type_hindexed,
       (int count, const int* lengths, const MPI_Aint* displacements, int oldtype, int* newtype)) {
    HandleOut<MPI_Datatype> made(newtype);
    return finish(library.Type_create_hindexed(count, lengths, displacements,
                                               handle_in<MPI_Datatype>(oldtype), made));
}
EXPORT(int, Type_struct,
       (int count, const int* lengths, const MPI_Aint* displacements, const int* types,
        int* newtype)) {
    return type_create_struct(count, lengths, displacements, types, newtype);
}

EXPORT(int, Status_c2f, (const Status* c_status, Status* f_status)) {
    if (is_ignored(c_status)) return finish(MPI_ERR_ARG);
    copy_status(c_status, f_status);
    return MPI_SUCCESS;
}
EXPORT(int, Status_f2c, (const Status* f_status, Status* c_status)) {
    if (f_status == nullptr) return finish(MPI_ERR_ARG);
    copy_status(f_status, c_status);
    return MPI_SUCCESS;
}
EXPORT(int, File_c2f, (File file)) {
    return file_toint(file);
}
EXPORT(File, File_f2c, (int file)) {
    return file_fromint(file);
}

// Names of MPICH for functions that MPI 4.1 has added.
EXPORT_X(int, Delete_error_class, (int error_class)) {
    return finish(library.Remove_error_class(error_in(error_class)));
}
EXPORT_X(int, Delete_error_code, (int code)) {
    return finish(library.Remove_error_code(error_in(code)));
}
EXPORT_X(int, Delete_error_string, (int code)) {
    return finish(library.Remove_error_string(error_in(code)));
}

// Our library cannot go on after a failure with a smaller communicator.
EXPORT_X(int, Comm_agree, (int comm, int*)) {
    return refuse(comm);
}
EXPORT_X(int, Comm_failure_ack, (int comm)) {
    return refuse(comm);
}
EXPORT_X(int, Comm_failure_get_acked, (int comm, int*)) {
    return refuse(comm);
}
EXPORT_X(int, Comm_revoke, (int comm)) {
    return refuse(comm);
}
EXPORT_X(int, Comm_shrink, (int comm, int*)) {
    return refuse(comm);
}
EXPORT_X(int, Grequest_class_allocate, (int, void*, int*)) {
    return refuse(static_cast<int>(kNull<MPI_Comm>));
}
EXPORT_X(int, Grequest_class_create,
         (Function*, Function*, Function*, Function*, Function*, int*)) {
    return refuse(static_cast<int>(kNull<MPI_Comm>));
}
EXPORT_X(int, Grequest_start,
         (Function*, Function*, Function*, Function*, Function*, void*, int*)) {
    return refuse(static_cast<int>(kNull<MPI_Comm>));
}

// Buffers are in the memory of processors only.
EXPORT_X(int, GPU_query_support, (int, int* is_supported)) {
    if (is_supported == nullptr) return finish(MPI_ERR_ARG);
    *is_supported = 0;
    return MPI_SUCCESS;
}
EXPORT_X(int, Query_cuda_support, (void)) {
    return 0;
}
EXPORT_X(int, Query_ze_support, (void)) {
    return 0;
}
EXPORT_X(int, Query_hip_support, (void)) {
    return 0;
}

}  // extern "C"
#pragma GCC visibility pop
