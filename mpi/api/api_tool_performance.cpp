// The tools interface: performance variables (MPI 5.0, section 15.3.7). All run all the time and
// cannot be changed.
#include <mpi.h>

#include "mpi/api/bodies.hpp"
#include "mpi/api/tool_call.hpp"

namespace poe::mpi {
namespace {

using namespace tool;

// Runs work(session, variable) for one handle of a session.
template <typename Work>
int find_handle(Tools& all, MPI_T_pvar_session session, MPI_T_pvar_handle handle, Work&& work) {
    PvarSession* of = find(all.sessions, session);
    if (of == nullptr) return MPI_T_ERR_INVALID_SESSION;
    const PvarHandle* found = find(of->handles, handle);
    if (found == nullptr) return MPI_T_ERR_INVALID_HANDLE;
    return work(*of, *found->variable);
}
template <typename Work>
int with_handle(MPI_T_pvar_session session, MPI_T_pvar_handle handle, Work&& work) {
    return in_tools([&](Tools& all) -> int { return find_handle(all, session, handle, work); });
}

// The same for functions that also take all handles of a session: those that cannot be done are
// then left out, and here none can.
int refuse(MPI_T_pvar_session session, MPI_T_pvar_handle handle, int code) {
    if (handle != MPI_T_PVAR_ALL_HANDLES)
        return with_handle(session, handle,
                           [code](PvarSession&, const PerformanceVariable&) { return code; });
    return in_tools([&](Tools& all) -> int {
        return find(all.sessions, session) != nullptr ? MPI_SUCCESS : MPI_T_ERR_INVALID_SESSION;
    });
}

}  // namespace

int t_pvar_get_num(int* num) {
    return in_tools([&](Tools&) -> int { return store(num, performance_variables().size()); });
}

int t_pvar_get_index(const char* name, int kind, int* index) {
    return in_tools([&](Tools&) -> int {
        if (index == nullptr) return MPI_T_ERR_INVALID;
        int found = 0;
        const int code = store_index(performance_variables(), name, &found);
        if (code != MPI_SUCCESS) return code;
        if (at(performance_variables(), found)->kind != kind) return MPI_T_ERR_INVALID_NAME;
        return store(index, found);
    });
}

int t_pvar_get_info(int number, char* name, int* name_len, int* verbosity, int* kind,
                    MPI_Datatype* type, MPI_T_enum* items, char* description, int* description_len,
                    int* bind, int* readonly, int* continuous, int* atomic) {
    return in_tools([&](Tools&) -> int {
        const PerformanceVariable* found = at(performance_variables(), number);
        if (found == nullptr) return MPI_T_ERR_INVALID_INDEX;
        copy_text(found->name, name, name_len);
        copy_text(found->description, description, description_len);
        store(verbosity, MPI_T_VERBOSITY_USER_BASIC);
        store(kind, found->kind);
        store(type, MPI_UNSIGNED_LONG_LONG);
        store(items, MPI_T_ENUM_NULL);
        store(bind, MPI_T_BIND_NO_OBJECT);
        store(readonly, 1);
        store(continuous, 1);
        return store(atomic, 0);
    });
}

int t_pvar_session_create(MPI_T_pvar_session* session) {
    return in_tools([&](Tools& all) -> int {
        if (session == nullptr) return MPI_T_ERR_INVALID;
        auto made = std::make_unique<PvarSession>();
        *session = reinterpret_cast<MPI_T_pvar_session>(made.get());
        all.sessions.insert(std::move(made));
        return MPI_SUCCESS;
    });
}

int t_pvar_session_free(MPI_T_pvar_session* session) {
    return in_tools([&](Tools& all) -> int {
        const PvarSession* found = session != nullptr ? find(all.sessions, *session) : nullptr;
        if (found == nullptr) return MPI_T_ERR_INVALID_SESSION;
        remove(all.sessions, found);
        *session = MPI_T_PVAR_SESSION_NULL;
        return MPI_SUCCESS;
    });
}

int t_pvar_handle_alloc(MPI_T_pvar_session session, int number, void*, MPI_T_pvar_handle* handle,
                        int* count) {
    return in_tools([&](Tools& all) -> int {
        PvarSession* of = find(all.sessions, session);
        if (of == nullptr) return MPI_T_ERR_INVALID_SESSION;
        const PerformanceVariable* found = at(performance_variables(), number);
        if (found == nullptr) return MPI_T_ERR_INVALID_INDEX;
        if (handle == nullptr) return MPI_T_ERR_INVALID;
        auto made = std::make_unique<PvarHandle>(PvarHandle{found});
        *handle = reinterpret_cast<MPI_T_pvar_handle>(made.get());
        store(count, 1);
        of->handles.insert(std::move(made));
        return MPI_SUCCESS;
    });
}

int t_pvar_handle_free(MPI_T_pvar_session session, MPI_T_pvar_handle* handle) {
    if (handle == nullptr) return MPI_T_ERR_INVALID_HANDLE;
    const void* const wanted = *handle;
    return with_handle(session, *handle, [&](PvarSession& of, const PerformanceVariable&) -> int {
        remove(of.handles, find(of.handles, wanted));
        *handle = MPI_T_PVAR_HANDLE_NULL;
        return MPI_SUCCESS;
    });
}

int t_pvar_start(MPI_T_pvar_session session, MPI_T_pvar_handle handle) {
    return refuse(session, handle, MPI_T_ERR_PVAR_NO_STARTSTOP);
}

int t_pvar_stop(MPI_T_pvar_session session, MPI_T_pvar_handle handle) {
    return refuse(session, handle, MPI_T_ERR_PVAR_NO_STARTSTOP);
}

int t_pvar_reset(MPI_T_pvar_session session, MPI_T_pvar_handle handle) {
    return refuse(session, handle, MPI_T_ERR_PVAR_NO_WRITE);
}

int t_pvar_write(MPI_T_pvar_session session, MPI_T_pvar_handle handle, const void*) {
    return with_handle(session, handle, [](PvarSession&, const PerformanceVariable&) -> int {
        return MPI_T_ERR_PVAR_NO_WRITE;
    });
}

int t_pvar_readreset(MPI_T_pvar_session session, MPI_T_pvar_handle handle, void*) {
    return with_handle(session, handle, [](PvarSession&, const PerformanceVariable&) -> int {
        return MPI_T_ERR_PVAR_NO_ATOMIC;
    });
}

int t_pvar_read(MPI_T_pvar_session session, MPI_T_pvar_handle handle, void* buffer) {
    return in_tools_with_turn([&](Tools& all, comm::Runtime* runtime) -> int {
        return find_handle(all, session, handle,
                           [&](PvarSession&, const PerformanceVariable& variable) -> int {
                               if (buffer == nullptr) return MPI_T_ERR_INVALID;
                               if (runtime == nullptr) return MPI_T_ERR_NOT_ACCESSIBLE;
                               *static_cast<unsigned long long*>(buffer) =
                                   variable.value(*runtime, variable.argument);
                               return MPI_SUCCESS;
                           });
    });
}

}  // namespace poe::mpi
