// Handles as integers, for Fortran (MPI 5.0, section 19.3.4). The integer of a predefined handle is
// its value; that of another handle is the number of its object in the pool, from 4096 on. What
// names no object becomes the null handle of its kind.
#include <mpi.h>

#include "mpi/api/bodies.hpp"

namespace poe::mpi {
namespace {

template <typename Handle>
int to_integer(Handle handle, Handle null) {
    if (is_predefined(handle)) return static_cast<int>(value_of(handle));
    const Object* object = find_object(kKindOf<Handle>, handle);
    return object != nullptr ? object->integer : static_cast<int>(value_of(null));
}

template <typename Handle>
Handle from_integer(int integer, Handle null) {
    if (integer < 0) return null;
    const auto value = static_cast<std::uintptr_t>(integer);
    // A predefined handle is a number. NOLINTNEXTLINE(performance-no-int-to-ptr)
    if (value < kFirstAddress) return reinterpret_cast<Handle>(value);
    AnyPool* pool = environment().pools[static_cast<std::size_t>(kKindOf<Handle>)];
    Object* object = pool == nullptr ? nullptr : pool->at(integer);
    return object == nullptr ? null : handle_of<Handle>(*object);
}

}  // namespace

int comm_toint(MPI_Comm comm) {
    return to_integer(comm, MPI_COMM_NULL);
}
int errhandler_toint(MPI_Errhandler errhandler) {
    return to_integer(errhandler, MPI_ERRHANDLER_NULL);
}
int file_toint(MPI_File file) {
    return to_integer(file, MPI_FILE_NULL);
}
int group_toint(MPI_Group group) {
    return to_integer(group, MPI_GROUP_NULL);
}
int info_toint(MPI_Info info) {
    return to_integer(info, MPI_INFO_NULL);
}
int message_toint(MPI_Message message) {
    return to_integer(message, MPI_MESSAGE_NULL);
}
int op_toint(MPI_Op op) {
    return to_integer(op, MPI_OP_NULL);
}
int request_toint(MPI_Request request) {
    return to_integer(request, MPI_REQUEST_NULL);
}
int session_toint(MPI_Session session) {
    return to_integer(session, MPI_SESSION_NULL);
}
int type_toint(MPI_Datatype datatype) {
    return to_integer(datatype, MPI_DATATYPE_NULL);
}
int win_toint(MPI_Win win) {
    return to_integer(win, MPI_WIN_NULL);
}

MPI_Comm comm_fromint(int comm) {
    return from_integer(comm, MPI_COMM_NULL);
}
MPI_Errhandler errhandler_fromint(int errhandler) {
    return from_integer(errhandler, MPI_ERRHANDLER_NULL);
}
MPI_File file_fromint(int file) {
    return from_integer(file, MPI_FILE_NULL);
}
MPI_Group group_fromint(int group) {
    return from_integer(group, MPI_GROUP_NULL);
}
MPI_Info info_fromint(int info) {
    return from_integer(info, MPI_INFO_NULL);
}
MPI_Message message_fromint(int message) {
    return from_integer(message, MPI_MESSAGE_NULL);
}
MPI_Op op_fromint(int op) {
    return from_integer(op, MPI_OP_NULL);
}
MPI_Request request_fromint(int request) {
    return from_integer(request, MPI_REQUEST_NULL);
}
MPI_Session session_fromint(int session) {
    return from_integer(session, MPI_SESSION_NULL);
}
MPI_Datatype type_fromint(int datatype) {
    return from_integer(datatype, MPI_DATATYPE_NULL);
}
MPI_Win win_fromint(int win) {
    return from_integer(win, MPI_WIN_NULL);
}

}  // namespace poe::mpi
