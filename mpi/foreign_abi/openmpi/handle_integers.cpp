// Handles as integers of Fortran, and statuses as arrays.
#include "interface/handles.hpp"
#include "mpi/foreign_abi/exported.hpp"

namespace poe::mpi::foreign {

// The functions of MPI 5.0 have the same integers as those of Open MPI, MPI_Comm_c2f and the like.
#define HANDLE(name, type)                           \
    Theirs<MPI_##type> name##_fromint(int integer) { \
        return from_fortran<MPI_##type>(integer);    \
    }                                                \
    int name##_toint(Theirs<MPI_##type> handle) {    \
        return to_fortran(handle);                   \
    }
HANDLE(comm, Comm)
HANDLE(errhandler, Errhandler)
HANDLE(file, File)
HANDLE(group, Group)
HANDLE(info, Info)
HANDLE(message, Message)
HANDLE(op, Op)
HANDLE(request, Request)
HANDLE(session, Session)
HANDLE(type, Datatype)
HANDLE(win, Win)
#undef HANDLE

}  // namespace poe::mpi::foreign

using namespace poe::mpi::foreign;

#pragma GCC visibility push(default)
extern "C" {

#define CONVERSIONS(name, type)                   \
    EXPORT(int, name##_c2f, (void* handle)) {     \
        return to_fortran(handle);                \
    }                                             \
    EXPORT(void*, name##_f2c, (int integer)) {    \
        return from_fortran<MPI_##type>(integer); \
    }
CONVERSIONS(Errhandler, Errhandler)
CONVERSIONS(File, File)
CONVERSIONS(Group, Group)
CONVERSIONS(Info, Info)
CONVERSIONS(Message, Message)
CONVERSIONS(Type, Datatype)
CONVERSIONS(Win, Win)
#undef CONVERSIONS
EXPORT(int, Comm_c2f, (void* comm)) {
    return to_fortran(comm);
}
EXPORT(void*, Comm_f2c, (int integer)) {
    void* const comm = from_fortran<MPI_Comm>(integer);
    note_sizes(comm);
    return comm;
}
EXPORT(int, Op_c2f, (void* op)) {
    note_fortran_operation(op);
    return to_fortran(op);
}
EXPORT(void*, Op_f2c, (int integer)) {
    return from_fortran<MPI_Op>(integer);
}
EXPORT(int, Request_c2f, (void* request)) {
    note_fortran_grequest(request);
    return to_fortran(request);
}
EXPORT(void*, Request_f2c, (int integer)) {
    return from_fortran<MPI_Request>(integer);
}

// A status of Fortran is an array of six integers with the same bytes.
EXPORT(int, Status_c2f, (const Status* c_status, int* f_status)) {
    if (is_ignored(c_status) || f_status == nullptr) return finish(MPI_ERR_ARG);
    std::memcpy(f_status, c_status, sizeof *c_status);
    return MPI_SUCCESS;
}
EXPORT(int, Status_f2c, (const int* f_status, Status* c_status)) {
    if (f_status == nullptr || is_ignored(c_status)) return finish(MPI_ERR_ARG);
    std::memcpy(c_status, f_status, sizeof *c_status);
    return MPI_SUCCESS;
}

}  // extern "C"
#pragma GCC visibility pop
