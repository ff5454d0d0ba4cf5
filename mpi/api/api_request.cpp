// Completing requests: one request (MPI 5.0, sections 3.7.3, 3.7.6 and 3.8.4). For several requests
// see api_request_several.cpp.
#include <mpi.h>
#include <string>

#include "mpi/api/bodies.hpp"
#include "mpi/api/request_call.hpp"
#include "mpi/object/status.hpp"
#include "mpi/point/completion.hpp"
#include "mpi/point/waiting.hpp"

namespace poe::mpi {
namespace {

// The status of a generalized request that is complete, and the code of the program's function.
int query(Call& call, const Request& request, MPI_Status& status) {
    set_empty(status);
    return call.outside(
        [&] { return request.generalized.query(request.generalized.extra_state, &status); });
}

Fault fault_of_function(int code) {
    if (code == MPI_SUCCESS) return {};
    return {code, "",
            "a function of the generalized request returned the code " + std::to_string(code), ""};
}

}  // namespace

Fault finish(Call& call, MPI_Request& handle, Request& request, MPI_Status* status) {
    if (is_surely_successful(request)) [[likely]] {
        if (status != nullptr) set_status_of(*status, request);
        retire(handle, request);
        return {};
    }
    MPI_Status own;
    if (status == nullptr) status = &own;
    Fault fault;
    if (request.type == Request::Type::kGeneralized) {
        int code = query(call, request, *status);
        const int freed =
            call.outside([&] { return request.generalized.free(request.generalized.extra_state); });
        if (code == MPI_SUCCESS) code = freed;
        fault = fault_of_function(code);
    } else {
        set_status_of(*status, request);
        fault = fault_of_request(call.runtime(), request);
    }
    if (fault && request.type == Request::Type::kWork && request.work->file() != MPI_FILE_NULL)
        call.about(ErrorObject(request.work->file()));
    else if (fault)
        call.about(ErrorObject(request.comm != nullptr ? handle_of(*request.comm) : MPI_COMM_SELF));
    retire(handle, request);
    return fault;
}

int finish_one(Call& call, MPI_Request& handle, Request& request, MPI_Status* status) {
    if (is_surely_successful(request)) [[likely]] {
        if (status != nullptr) set_status_of(*status, request);
        retire(handle, request);
        return MPI_SUCCESS;
    }
    return call.finish(finish(call, handle, request, status));
}

Fault peek(Call& call, Request& request, MPI_Status* status) {
    MPI_Status own;
    if (status == nullptr) status = &own;
    if (request.active && request.type == Request::Type::kGeneralized)
        return fault_of_function(query(call, request, *status));
    set_status_of(*status, request);
    return {};
}

namespace {

// Without the envelope of check mode.
Bytes seen_bytes(const Request& request, const comm::BufferView& view) noexcept {
    return request.check != nullptr ? check::without_envelope(view.size()) : view.size();
}

}  // namespace

CallAbout about_request(const Request& request) noexcept {
    switch (request.type) {
        case Request::Type::kSend:
            return {request.send.dest, request.send.type, seen_bytes(request, request.send.view),
                    request.comm->context, request.integer};
        case Request::Type::kReceive:
        case Request::Type::kSendReceive:
            return {request.receive.wanted.source, request.receive.wanted.type,
                    seen_bytes(request, request.receive.view), request.comm->context,
                    request.integer};
        case Request::Type::kWork:
            if (request.comm != nullptr) {
                CallAbout about = about_all_of(*request.comm);
                about.request = request.integer;
                return about;
            }
            break;
        default:
            break;
    }
    return {TaskActivity::kAnyPeer, TaskActivity::kNoType, 0, 0, request.integer};
}

std::uint32_t note_start(Noted& noted, Comm& comm, OperationFacts facts) noexcept {
    noted.collective(comm, comm.operations++, trace::Phase::kStarts, facts);
    return facts.takes_part ? comm.operations : 0;
}

void note_end(Noted& noted, const Request& request) noexcept {
    if (request.type != Request::Type::kWork || request.comm == nullptr || request.operation == 0)
        return;
    noted.collective(*request.comm, request.operation - 1, trace::Phase::kEnds);
}

int wait(Call& call, MPI_Request* request, MPI_Status* status) {
    Request* found = find_request(*request);
    if (found == nullptr || !found->active) [[unlikely]] {
        if (found == nullptr && *request != MPI_REQUEST_NULL) {
            refuse_request(call, *request, "request");
            return call.code();
        }
        if (status != MPI_STATUS_IGNORE) set_empty(*status);
        return MPI_SUCCESS;
    }
    const CallAbout about = about_request(*found);
    Noted noted(call, about);
    note_end(noted, *found);
    if (!has_ended(*found)) {
        const Shown shown(call, about);
        wait_for(call.runtime(), *found);
    }
    return finish_one(call, *request, *found, status);
}

int test(Call& call, MPI_Request* request, int* flag, MPI_Status* status) {
    Request* found = find_request(*request);
    if (found == nullptr || !found->active) [[unlikely]] {
        if (found == nullptr && *request != MPI_REQUEST_NULL) {
            refuse_request(call, *request, "request");
            return call.code();
        }
        *flag = 1;
        if (status != MPI_STATUS_IGNORE) set_empty(*status);
        return MPI_SUCCESS;
    }
    Noted noted(call, about_request(*found));
    if (!has_ended(*found)) {
        look(call.runtime(), {request, 1});
        if (!has_ended(*found)) pause_after_look(call.runtime());
    }
    *flag = has_ended(*found) ? 1 : 0;
    if (*flag != 0) note_end(noted, *found);
    return *flag != 0 ? finish_one(call, *request, *found, status) : MPI_SUCCESS;
}

int request_get_status(Call& call, MPI_Request request, int* flag, MPI_Status* status) {
    Request* found = find_request(request);
    if (found == nullptr) {
        if (request != MPI_REQUEST_NULL) {
            refuse_request(call, request, "request");
            return call.code();
        }
        *flag = 1;
        if (status != MPI_STATUS_IGNORE) set_empty(*status);
        return MPI_SUCCESS;
    }
    if (found->active && !has_ended(*found)) {
        look(call.runtime(), {&request, 1});
        if (!has_ended(*found)) pause_after_look(call.runtime());
    }
    *flag = !found->active || has_ended(*found) ? 1 : 0;
    return *flag != 0 ? call.finish(peek(call, *found, status)) : MPI_SUCCESS;
}

int request_free(Call& call, MPI_Request* request) {
    Request* found = find_request(*request);
    if (found == nullptr) {
        refuse_request(call, *request, "request");
        return call.code();
    }
    free_ended();
    *request = MPI_REQUEST_NULL;
    if (found->active && !has_ended(*found)) {
        free_when_ended(*found);
        return MPI_SUCCESS;
    }
    int code = MPI_SUCCESS;
    if (found->active && found->type == Request::Type::kGeneralized)
        code =
            call.outside([&] { return found->generalized.free(found->generalized.extra_state); });
    free_request(*found);
    return call.finish(fault_of_function(code));
}

int cancel(Call& call, MPI_Request* request) {
    Request* found = find_request(*request);
    if (found == nullptr) {
        refuse_request(call, *request, "request");
        return call.code();
    }
    if (!found->active || found->type == Request::Type::kWork)
        return call.fail(MPI_ERR_REQUEST, "request",
                         found->active ? "it cannot be cancelled" : "it is not active",
                         "cancel requests of sends, receives and generalized requests only");
    if (found->type == Request::Type::kGeneralized) {
        const Generalized& generalized = found->generalized;
        return call.finish(fault_of_function(call.outside([&] {
            return generalized.cancel(generalized.extra_state, generalized.complete ? 1 : 0);
        })));
    }
    cancel(call.runtime(), *found);
    return MPI_SUCCESS;
}

int grequest_start(Call& call, MPI_Grequest_query_function* query_fn,
                   MPI_Grequest_free_function* free_fn, MPI_Grequest_cancel_function* cancel_fn,
                   void* extra_state, MPI_Request* request) {
    if (query_fn == nullptr || free_fn == nullptr || cancel_fn == nullptr)
        return call.fail(MPI_ERR_ARG,
                         query_fn == nullptr  ? "query_fn"
                         : free_fn == nullptr ? "free_fn"
                                              : "cancel_fn",
                         "it is a null pointer");
    Request& made = make_request();
    made.type = Request::Type::kGeneralized;
    made.generalized = {query_fn, free_fn, cancel_fn, extra_state, false};
    made.active = true;
    *request = handle_of(made);
    return MPI_SUCCESS;
}

int grequest_complete(Call& call, MPI_Request request) {
    Request* found = find_request(request);
    if (found == nullptr || found->type != Request::Type::kGeneralized ||
        found->generalized.complete)
        return call.fail(MPI_ERR_REQUEST, "request",
                         "it is no generalized request that is still to be completed",
                         "complete each request of MPI_Grequest_start once");
    found->generalized.complete = true;
    if (!found->freed) return MPI_SUCCESS;
    const int code =
        call.outside([&] { return found->generalized.free(found->generalized.extra_state); });
    free_request(*found);
    return call.finish(fault_of_function(code));
}

}  // namespace poe::mpi
