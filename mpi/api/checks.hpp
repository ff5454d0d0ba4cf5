// The checks of arguments that the table of functions names. Each reports an error and returns
// false if the argument is wrong. A check of a new kind is a function check_<kind> here.
#pragma once

#include <mpi.h>
#include <string>
#include <string_view>

#include "mpi/api/call.hpp"
#include "mpi/api/counts.hpp"
#include "mpi/datatype/predefined.hpp"

namespace poe::mpi::checks {

// Apart from the checks, which are inlined into every function.
[[gnu::cold, gnu::noinline]] inline bool refused(Call& call, int code, const char* name,
                                                 std::string_view what, const char* remedy = "") {
    call.fail(code, name, what, remedy);
    return false;
}

// The pointer is not null.
template <typename T>
bool check_pointer(Call& call, const T* pointer, const char* name) {
    return pointer != nullptr || refused(call, MPI_ERR_ARG, name, "it is a null pointer");
}
inline bool check_pointer(Call& call, const CountOut& out, const char* name) {
    return !out.is_null() || refused(call, MPI_ERR_ARG, name, "it is a null pointer");
}

// The function is not null.
template <typename F>
bool check_function(Call& call, F* function, const char* name) {
    return function != nullptr || refused(call, MPI_ERR_ARG, name, "it is a null pointer");
}

// The count is not negative.
inline bool check_count(Call& call, MPI_Count count, const char* name) {
    return count >= 0 || refused(call, MPI_ERR_COUNT, name, std::to_string(count) + " is negative");
}

// The key of an Info is neither null nor empty nor too long.
inline bool check_key(Call& call, const char* key, const char*) {
    const Fault fault = check_info_key(key);
    if (fault) call.fail(fault);
    return !fault;
}

inline bool check_comm(Call& call, MPI_Comm comm, const char* name) {
    return environment().find_comm(comm) != nullptr ||
           refused(call, MPI_ERR_COMM, name,
                   comm == MPI_COMM_NULL ? "it is MPI_COMM_NULL" : "it is no communicator");
}

inline bool check_group(Call& call, MPI_Group group, const char* name) {
    return environment().find_group(group) != nullptr ||
           refused(call, MPI_ERR_GROUP, name,
                   group == MPI_GROUP_NULL ? "it is MPI_GROUP_NULL" : "it is no group");
}

inline bool check_info(Call& call, MPI_Info info, const char* name) {
    return info == MPI_INFO_ENV || environment().find_info(info) != nullptr ||
           refused(call, MPI_ERR_INFO, name,
                   info == MPI_INFO_NULL ? "it is MPI_INFO_NULL" : "it is no info");
}

inline bool check_errhandler(Call& call, MPI_Errhandler handler, const char* name) {
    return is_predefined_errhandler(handler) || find<ErrorHandler>(handler) != nullptr ||
           refused(call, MPI_ERR_ERRHANDLER, name,
                   handler == MPI_ERRHANDLER_NULL ? "it is MPI_ERRHANDLER_NULL"
                                                  : "it is no error handler");
}

// An object of the kinds that have error handlers.
template <typename Handle>
bool check_owner(Call& call, Handle handle, Handle null, int code, const char* name,
                 const char* kind) {
    return find<ErrorHandlerOwner>(handle) != nullptr ||
           refused(
               call, code, name,
               (handle == null ? "it is the null handle of a " : "it is no ") + std::string(kind));
}
inline bool check_win(Call& call, MPI_Win win, const char* name) {
    return check_owner(call, win, MPI_WIN_NULL, MPI_ERR_WIN, name, "window");
}
inline bool check_session(Call& call, MPI_Session session, const char* name) {
    return check_owner(call, session, MPI_SESSION_NULL, MPI_ERR_SESSION, name, "session");
}
// The file, or MPI_FILE_NULL, which stands for the files that are not open yet.
inline bool check_file(Call& call, MPI_File file, const char* name) {
    return file == MPI_FILE_NULL ||
           check_owner(call, file, MPI_FILE_NULL, MPI_ERR_FILE, name, "file");
}

// A file that is open.
inline bool check_open_file(Call& call, MPI_File file, const char* name) {
    return check_owner(call, file, MPI_FILE_NULL, MPI_ERR_FILE, name, "file");
}

inline bool check_op(Call& call, MPI_Op op, const char* name) {
    return is_predefined_operation(op) || find<Operation>(op) != nullptr ||
           refused(call, MPI_ERR_OP, name,
                   op == MPI_OP_NULL ? "it is MPI_OP_NULL" : "it is no operation");
}

// The datatype is predefined or was made by the program.
inline bool check_type(Call& call, MPI_Datatype type, const char* name) {
    return find_predefined_type(value_of(type)) != nullptr ||
           find_object(Kind::kDatatype, type) != nullptr ||
           refused(call, MPI_ERR_TYPE, name,
                   type == MPI_DATATYPE_NULL ? "it is MPI_DATATYPE_NULL" : "it is no datatype");
}

}  // namespace poe::mpi::checks
