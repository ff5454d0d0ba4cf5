// Functions that MPICH's binary interface has and MPI 5.0 has not: those that MPI 3.0 has removed,
// in terms of their successors, conversions between C and Fortran, and MPICH's extensions.
#include "mpi/mpich_abi/arguments.hpp"
#include "mpi/mpich_abi/by_hand.hpp"
#include "tracer/probe/caller_site.hpp"

using namespace poe::mpi::mpich;

namespace {

// A status of Fortran is an array of five integers, in the order of the members of that of C.
void copy_status(const Status* from, Status* to) noexcept {
    *to = *from;
}

}  // namespace

// Defines PMPI_X, and MPI_X as a weak alias of it. `parameters` is in parentheses. The first
// statement of each exported function. Fortran and C++ programs call from libraries of MPICH.
#define remember_caller() poe::caller_site = __builtin_return_address(0)

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
    remember_caller();
    return finish(library.Get_address(location, address));
}

EXPORT(int, Errhandler_create, (Function * function, int* errhandler)) {
    remember_caller();
    return comm_create_errhandler(function, errhandler);
}
EXPORT(int, Errhandler_get, (int comm, int* errhandler)) {
    remember_caller();
    return comm_get_errhandler(comm, errhandler);
}
EXPORT(int, Errhandler_set, (int comm, int errhandler)) {
    remember_caller();
    return comm_set_errhandler(comm, errhandler);
}

EXPORT(int, Type_extent, (int datatype, MPI_Aint* extent)) {
    remember_caller();
    MPI_Aint lower = 0;
    return finish(library.Type_get_extent(handle_in<MPI_Datatype>(datatype), &lower, extent));
}
EXPORT(int, Type_lb, (int datatype, MPI_Aint* displacement)) {
    remember_caller();
    MPI_Aint extent = 0;
    return finish(
        library.Type_get_extent(handle_in<MPI_Datatype>(datatype), displacement, &extent));
}
EXPORT(int, Type_ub, (int datatype, MPI_Aint* displacement)) {
    remember_caller();
    MPI_Aint lower = 0;
    MPI_Aint extent = 0;
    const int code = library.Type_get_extent(handle_in<MPI_Datatype>(datatype), &lower,
                                             displacement == nullptr ? nullptr : &extent);
    if (code == MPI_SUCCESS) *displacement = lower + extent;
    return finish(code);
}
EXPORT(int, Type_hvector, (int count, int length, MPI_Aint stride, int oldtype, int* newtype)) {
    remember_caller();
    HandleOut<MPI_Datatype> made(newtype);
    return finish(
        library.Type_create_hvector(count, length, stride, handle_in<MPI_Datatype>(oldtype), made));
}
EXPORT(int, Type_hindexed,
       (int count, const int* lengths, const MPI_Aint* displacements, int oldtype, int* newtype)) {
    remember_caller();
    HandleOut<MPI_Datatype> made(newtype);
    return finish(library.Type_create_hindexed(count, lengths, displacements,
                                               handle_in<MPI_Datatype>(oldtype), made));
}
EXPORT(int, Type_struct,
       (int count, const int* lengths, const MPI_Aint* displacements, const int* types,
        int* newtype)) {
    remember_caller();
    return type_create_struct(count, lengths, displacements, types, newtype);
}

EXPORT(int, Status_c2f, (const Status* c_status, Status* f_status)) {
    remember_caller();
    if (is_ignored(c_status)) return finish(MPI_ERR_ARG);
    copy_status(c_status, f_status);
    return MPI_SUCCESS;
}
EXPORT(int, Status_f2c, (const Status* f_status, Status* c_status)) {
    remember_caller();
    if (f_status == nullptr) return finish(MPI_ERR_ARG);
    copy_status(f_status, c_status);
    return MPI_SUCCESS;
}
EXPORT(int, File_c2f, (File file)) {
    remember_caller();
    return file_toint(file);
}
EXPORT(File, File_f2c, (int file)) {
    remember_caller();
    return file_fromint(file);
}

// Names of MPICH for functions that MPI 4.1 has added.
EXPORT_X(int, Delete_error_class, (int error_class)) {
    remember_caller();
    return finish(library.Remove_error_class(error_in(error_class)));
}
EXPORT_X(int, Delete_error_code, (int code)) {
    remember_caller();
    return finish(library.Remove_error_code(error_in(code)));
}
EXPORT_X(int, Delete_error_string, (int code)) {
    remember_caller();
    return finish(library.Remove_error_string(error_in(code)));
}

// Our library cannot go on after a failure with a smaller communicator.
EXPORT_X(int, Comm_agree, (int comm, int*)) {
    remember_caller();
    return refuse(comm);
}
EXPORT_X(int, Comm_failure_ack, (int comm)) {
    remember_caller();
    return refuse(comm);
}
EXPORT_X(int, Comm_failure_get_acked, (int comm, int*)) {
    remember_caller();
    return refuse(comm);
}
EXPORT_X(int, Comm_revoke, (int comm)) {
    remember_caller();
    return refuse(comm);
}
EXPORT_X(int, Comm_shrink, (int comm, int*)) {
    remember_caller();
    return refuse(comm);
}
EXPORT_X(int, Grequest_class_allocate, (int, void*, int*)) {
    remember_caller();
    return refuse(static_cast<int>(kNull<MPI_Comm>));
}
EXPORT_X(int, Grequest_class_create,
         (Function*, Function*, Function*, Function*, Function*, int*)) {
    remember_caller();
    return refuse(static_cast<int>(kNull<MPI_Comm>));
}
EXPORT_X(int, Grequest_start,
         (Function*, Function*, Function*, Function*, Function*, void*, int*)) {
    remember_caller();
    return refuse(static_cast<int>(kNull<MPI_Comm>));
}

// Buffers are in the memory of processors only.
EXPORT_X(int, GPU_query_support, (int, int* is_supported)) {
    remember_caller();
    if (is_supported == nullptr) return finish(MPI_ERR_ARG);
    *is_supported = 0;
    return MPI_SUCCESS;
}
EXPORT_X(int, Query_cuda_support, (void)) {
    remember_caller();
    return 0;
}
EXPORT_X(int, Query_ze_support, (void)) {
    remember_caller();
    return 0;
}
EXPORT_X(int, Query_hip_support, (void)) {
    remember_caller();
    return 0;
}

}  // extern "C"
#pragma GCC visibility pop
