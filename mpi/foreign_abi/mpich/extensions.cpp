// Functions of MPICH's binary interface that the standard does not have or has as macros:
// conversions between C and Fortran, and extensions.
#include "mpi/foreign_abi/exported.hpp"

using namespace poe::mpi::foreign;

namespace {

// A status of Fortran is an array of five integers, in the order of the members of that of C.
void copy_status(const Status* from, Status* to) noexcept {
    *to = *from;
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

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
EXPORT(int, File_c2f, (Theirs<MPI_File> file)) {
    remember_caller();
    return file_toint(file);
}
EXPORT(Theirs<MPI_File>, File_f2c, (int file)) {
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
EXPORT_X(int, Comm_agree, (Theirs<MPI_Comm> comm, int*)) {
    remember_caller();
    return refuse(comm);
}
EXPORT_X(int, Comm_failure_ack, (Theirs<MPI_Comm> comm)) {
    remember_caller();
    return refuse(comm);
}
EXPORT_X(int, Comm_failure_get_acked, (Theirs<MPI_Comm> comm, int*)) {
    remember_caller();
    return refuse(comm);
}
EXPORT_X(int, Comm_revoke, (Theirs<MPI_Comm> comm)) {
    remember_caller();
    return refuse(comm);
}
EXPORT_X(int, Comm_shrink, (Theirs<MPI_Comm> comm, int*)) {
    remember_caller();
    return refuse(comm);
}
EXPORT_X(int, Grequest_class_allocate, (int, void*, int*)) {
    remember_caller();
    return refuse(handle_out(MPI_COMM_NULL));
}
EXPORT_X(int, Grequest_class_create,
         (Function*, Function*, Function*, Function*, Function*, int*)) {
    remember_caller();
    return refuse(handle_out(MPI_COMM_NULL));
}
EXPORT_X(int, Grequest_start,
         (Function*, Function*, Function*, Function*, Function*, void*, int*)) {
    remember_caller();
    return refuse(handle_out(MPI_COMM_NULL));
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
