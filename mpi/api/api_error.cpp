// Error handlers, classes and codes (MPI 5.0, sections 9.3 to 9.5).
#include <cstring>
#include <mpi.h>
#include <mutex>

#include "mpi/api/bodies.hpp"
#include "mpi/api/checks.hpp"

namespace poe::mpi {
namespace {

template <typename Function>
int create_errhandler(Kind target, Function* function, MPI_Errhandler* errhandler) {
    ErrorHandler& handler = environment().errhandlers.make();
    handler.target = target;
    handler.function = reinterpret_cast<void (*)()>(function);
    *errhandler = handle_of<MPI_Errhandler>(handler);
    return MPI_SUCCESS;
}

// Replaces the error handler of an object, which is stored in `place`. The handler must be
// predefined or made for such objects.
int set_errhandler(Call& call, MPI_Errhandler& place, Kind kind, MPI_Errhandler errhandler) {
    const auto* own = find<ErrorHandler>(errhandler);
    if (own != nullptr && own->target != kind) {
        return call.fail(MPI_ERR_ERRHANDLER, "errhandler",
                         "the error handler was created for another kind of objects",
                         "create one for this kind");
    }
    Environment& mpi = environment();
    mpi.retain(errhandler);
    mpi.release(place);
    place = errhandler;
    return MPI_SUCCESS;
}

int get_errhandler(MPI_Errhandler place, MPI_Errhandler* errhandler) {
    environment().retain(place);
    *errhandler = place;
    return MPI_SUCCESS;
}

int call_errhandler(Call& call, ErrorObject object, int errorcode) {
    call.invoke_handler(object, errorcode, "the program has raised an error");
    return MPI_SUCCESS;
}

// The place of the error handler of a file; of MPI_FILE_NULL it is the default of new files.
MPI_Errhandler& file_place(MPI_File file) {
    if (file == MPI_FILE_NULL) return environment().file_errhandler;
    return find<ErrorHandlerOwner>(file)->errhandler;
}

// Changes the table of error codes.
template <typename Change>
int change_codes(Call& call, Change&& change) {
    Environment& mpi = environment();
    Fault fault;
    {
        const std::lock_guard guard(mpi.lock);
        fault = change(mpi.error_codes);
    }
    return call.finish(fault);
}

int refuse_code(Call& call, int errorcode) {
    return call.fail(MPI_ERR_ARG, "errorcode", std::to_string(errorcode) + " is no error code");
}

}  // namespace

int comm_create_errhandler(Call&, MPI_Comm_errhandler_function* comm_errhandler_fn,
                           MPI_Errhandler* errhandler) {
    return create_errhandler(Kind::kComm, comm_errhandler_fn, errhandler);
}
int win_create_errhandler(Call&, MPI_Win_errhandler_function* win_errhandler_fn,
                          MPI_Errhandler* errhandler) {
    return create_errhandler(Kind::kWin, win_errhandler_fn, errhandler);
}
int file_create_errhandler(Call&, MPI_File_errhandler_function* file_errhandler_fn,
                           MPI_Errhandler* errhandler) {
    return create_errhandler(Kind::kFile, file_errhandler_fn, errhandler);
}
int session_create_errhandler(Call&, MPI_Session_errhandler_function* session_errhandler_fn,
                              MPI_Errhandler* errhandler) {
    return create_errhandler(Kind::kSession, session_errhandler_fn, errhandler);
}

// Predefined handlers can be freed, because MPI_Comm_get_errhandler may have returned them, and
// what it returns must be freed.
int errhandler_free(Call& call, MPI_Errhandler* errhandler) {
    if (!checks::check_errhandler(call, *errhandler, "errhandler")) return call.code();
    environment().release(*errhandler);
    *errhandler = MPI_ERRHANDLER_NULL;
    return MPI_SUCCESS;
}

int comm_set_errhandler(Call& call, MPI_Comm comm, MPI_Errhandler errhandler) {
    Environment& mpi = environment();
    const int code = set_errhandler(call, mpi.find_comm(comm)->errhandler, Kind::kComm, errhandler);
    if (code == MPI_SUCCESS && comm == MPI_COMM_SELF) mpi.self_has_own_errhandler = true;
    return code;
}
int comm_get_errhandler(Call&, MPI_Comm comm, MPI_Errhandler* errhandler) {
    return get_errhandler(environment().find_comm(comm)->errhandler, errhandler);
}
int comm_call_errhandler(Call& call, MPI_Comm comm, int errorcode) {
    return call_errhandler(call, ErrorObject(comm), errorcode);
}

int win_set_errhandler(Call& call, MPI_Win win, MPI_Errhandler errhandler) {
    return set_errhandler(call, find<ErrorHandlerOwner>(win)->errhandler, Kind::kWin, errhandler);
}
int win_get_errhandler(Call&, MPI_Win win, MPI_Errhandler* errhandler) {
    return get_errhandler(find<ErrorHandlerOwner>(win)->errhandler, errhandler);
}
int win_call_errhandler(Call& call, MPI_Win win, int errorcode) {
    return call_errhandler(call, ErrorObject(win), errorcode);
}

int session_set_errhandler(Call& call, MPI_Session session, MPI_Errhandler errhandler) {
    return set_errhandler(call, find<ErrorHandlerOwner>(session)->errhandler, Kind::kSession,
                          errhandler);
}
int session_get_errhandler(Call&, MPI_Session session, MPI_Errhandler* errhandler) {
    return get_errhandler(find<ErrorHandlerOwner>(session)->errhandler, errhandler);
}
int session_call_errhandler(Call& call, MPI_Session session, int errorcode) {
    return call_errhandler(call, ErrorObject(session), errorcode);
}

int file_set_errhandler(Call& call, MPI_File file, MPI_Errhandler errhandler) {
    return set_errhandler(call, file_place(file), Kind::kFile, errhandler);
}
int file_get_errhandler(Call&, MPI_File file, MPI_Errhandler* errhandler) {
    return get_errhandler(file_place(file), errhandler);
}
int file_call_errhandler(Call& call, MPI_File file, int errorcode) {
    return call_errhandler(call, ErrorObject(file), errorcode);
}

int add_error_class(Call& call, int* errorclass) {
    return change_codes(call, [&](ErrorCodes& codes) {
        *errorclass = codes.add_class();
        return Fault{};
    });
}

int add_error_code(Call& call, int errorclass, int* errorcode) {
    return change_codes(call,
                        [&](ErrorCodes& codes) { return codes.add_code(errorclass, *errorcode); });
}

int add_error_string(Call& call, int errorcode, const char* string) {
    const std::string_view text(string, ::strnlen(string, MPI_MAX_ERROR_STRING));
    return change_codes(call, [&](ErrorCodes& codes) { return codes.add_text(errorcode, text); });
}

int remove_error_class(Call& call, int errorclass) {
    return change_codes(call, [&](ErrorCodes& codes) { return codes.remove_class(errorclass); });
}

int remove_error_code(Call& call, int errorcode) {
    return change_codes(call, [&](ErrorCodes& codes) { return codes.remove_code(errorcode); });
}

int remove_error_string(Call& call, int errorcode) {
    return change_codes(call, [&](ErrorCodes& codes) { return codes.remove_text(errorcode); });
}

int error_class(Call& call, int errorcode, int* errorclass) {
    Environment& mpi = environment();
    std::optional<int> found;
    {
        const std::lock_guard guard(mpi.lock);
        found = mpi.error_codes.class_of(errorcode);
    }
    if (!found) return refuse_code(call, errorcode);
    *errorclass = *found;
    return MPI_SUCCESS;
}

int error_string(Call& call, int errorcode, char* string, int* resultlen) {
    Environment& mpi = environment();
    std::optional<std::string> found;
    {
        const std::lock_guard guard(mpi.lock);
        found = mpi.error_codes.text_of(errorcode);
    }
    if (!found) return refuse_code(call, errorcode);
    copy_info_value(*found, {string, MPI_MAX_ERROR_STRING});
    *resultlen = static_cast<int>(found->size());
    return MPI_SUCCESS;
}

}  // namespace poe::mpi
