// Non-blocking and persistent sends and receives (MPI 5.0, sections 3.7 and 3.9).
#include <mpi.h>

#include "mpi/api/bodies.hpp"
#include "mpi/api/request_call.hpp"
#include "mpi/point/waiting.hpp"
#include "mpi/process/environment.hpp"

namespace poe::mpi {
namespace {

// The arguments of a send; the functions differ in the mode.
struct SendArguments {
    const void* buf;
    MPI_Count count;
    MPI_Datatype datatype;
    int dest;
    int tag;
    MPI_Comm comm;
};

int start_noted(Call& call, Request& request, MPI_Request* handle) {
    const Noted noted(call, about_request(request));
    return start_new(call, request, handle);
}

// Sends a message that ends at once, if it is not traced: a trace names each request.
bool send_at_once(Call& call, const MessageArguments& message) {
    if (message.nobody || process_context().tracer.on()) return false;
    TypedLayout layout;
    return call.runtime().messages().send_at_once(message.view(layout), message.task, message.tag,
                                                  message.comm->context);
}

int start_send(Call& call, const SendArguments& given, SendMode mode, MPI_Request* request) {
    MessageArguments message;
    if (!resolve_send(call, given.buf, given.count, given.datatype, given.dest, given.tag,
                      given.comm, message))
        return call.code();
    if (mode != SendMode::kSynchronous && mode != SendMode::kBuffered && !environment().checking &&
        send_at_once(call, message)) [[likely]] {
        *request = handle_of(sent_request());
        return MPI_SUCCESS;
    }
    return start_noted(call, make_send(call, message, mode), request);
}

int prepare_send(Call& call, const SendArguments& given, SendMode mode, MPI_Request* request) {
    MessageArguments message;
    if (!resolve_send(call, given.buf, given.count, given.datatype, given.dest, given.tag,
                      given.comm, message))
        return call.code();
    Request& made = make_send(call, message, mode);
    made.persistent = true;
    *request = handle_of(made);
    return MPI_SUCCESS;
}

// Starts a persistent request.
int restart(Call& call, Noted& noted, Request& request) {
    if (request.type == Request::Type::kWork && request.work->starts_operation())
        request.operation = note_start(noted, *request.comm, request.facts);
    const Fault fault = start(call.runtime(), request);
    return fault ? fail_message(call, *request.comm, fault) : MPI_SUCCESS;
}

// The request of an MPI_REQUEST_NULL or of a handle that names none is refused.
Request* startable(Call& call, MPI_Request handle) {
    Request* request = find_request(handle);
    if (request == nullptr) {
        refuse_request(call, handle, "request");
        return nullptr;
    }
    if (request->persistent && !request->active) return request;
    call.fail(MPI_ERR_REQUEST, "request",
              request->persistent ? "the request is active already" : "it is not persistent",
              request->persistent ? "complete it with MPI_Wait or MPI_Test before it starts again"
                                  : "make it with a function whose name ends with _init");
    return nullptr;
}

}  // namespace

int isend(Call& call, const void* buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
          MPI_Comm comm, MPI_Request* request) {
    return start_send(call, {buf, count, datatype, dest, tag, comm}, SendMode::kStandard, request);
}
int issend(Call& call, const void* buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
           MPI_Comm comm, MPI_Request* request) {
    return start_send(call, {buf, count, datatype, dest, tag, comm}, SendMode::kSynchronous,
                      request);
}
int ibsend(Call& call, const void* buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
           MPI_Comm comm, MPI_Request* request) {
    return start_send(call, {buf, count, datatype, dest, tag, comm}, SendMode::kBuffered, request);
}
int irsend(Call& call, const void* buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
           MPI_Comm comm, MPI_Request* request) {
    return start_send(call, {buf, count, datatype, dest, tag, comm}, SendMode::kReady, request);
}

int send_init(Call& call, const void* buf, MPI_Count count, MPI_Datatype datatype, int dest,
              int tag, MPI_Comm comm, MPI_Request* request) {
    return prepare_send(call, {buf, count, datatype, dest, tag, comm}, SendMode::kStandard,
                        request);
}
int ssend_init(Call& call, const void* buf, MPI_Count count, MPI_Datatype datatype, int dest,
               int tag, MPI_Comm comm, MPI_Request* request) {
    return prepare_send(call, {buf, count, datatype, dest, tag, comm}, SendMode::kSynchronous,
                        request);
}
int bsend_init(Call& call, const void* buf, MPI_Count count, MPI_Datatype datatype, int dest,
               int tag, MPI_Comm comm, MPI_Request* request) {
    return prepare_send(call, {buf, count, datatype, dest, tag, comm}, SendMode::kBuffered,
                        request);
}
int rsend_init(Call& call, const void* buf, MPI_Count count, MPI_Datatype datatype, int dest,
               int tag, MPI_Comm comm, MPI_Request* request) {
    return prepare_send(call, {buf, count, datatype, dest, tag, comm}, SendMode::kReady, request);
}

int irecv(Call& call, void* buf, MPI_Count count, MPI_Datatype datatype, int source, int tag,
          MPI_Comm comm, MPI_Request* request) {
    MessageArguments message;
    if (!resolve_receive(call, buf, count, datatype, source, tag, comm, message))
        return call.code();
    return start_noted(call, make_receive(call, message), request);
}
int recv_init(Call& call, void* buf, MPI_Count count, MPI_Datatype datatype, int source, int tag,
              MPI_Comm comm, MPI_Request* request) {
    MessageArguments message;
    if (!resolve_receive(call, buf, count, datatype, source, tag, comm, message))
        return call.code();
    Request& made = make_receive(call, message);
    made.persistent = true;
    *request = handle_of(made);
    return MPI_SUCCESS;
}

int isendrecv(Call& call, const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, int dest,
              int sendtag, void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int source,
              int recvtag, MPI_Comm comm, MPI_Request* request) {
    Request* made = make_send_receive(call, sendbuf, sendcount, sendtype, dest, sendtag, recvbuf,
                                      recvcount, recvtype, source, recvtag, comm);
    return made == nullptr ? call.code() : start_noted(call, *made, request);
}
int isendrecv_replace(Call& call, void* buf, MPI_Count count, MPI_Datatype datatype, int dest,
                      int sendtag, int source, int recvtag, MPI_Comm comm, MPI_Request* request) {
    Request* made =
        make_replacement(call, buf, count, datatype, dest, sendtag, source, recvtag, comm);
    return made == nullptr ? call.code() : start_noted(call, *made, request);
}

int imrecv(Call& call, void* buf, MPI_Count count, MPI_Datatype datatype, MPI_Message* message,
           MPI_Request* request) {
    MatchedMessage* matched = nullptr;
    Request* made = make_matched_receive(call, buf, count, datatype, message, matched);
    if (made == nullptr) return call.code();
    const Noted noted(call, about_request(*made));
    start_matched_receive(call, *made, matched);
    *request = handle_of(*made);
    return MPI_SUCCESS;
}

int start(Call& call, MPI_Request* request) {
    Request* found = startable(call, *request);
    if (found == nullptr) return call.code();
    Noted noted(call, about_request(*found));
    return restart(call, noted, *found);
}

int startall(Call& call, int count, MPI_Request* requests) {
    for (int i = 0; i < count; ++i)
        if (startable(call, requests[i]) == nullptr) return call.code();
    Noted noted(call);
    for (int i = 0; i < count; ++i) {
        // Null if the array has this request twice.
        Request* const found = startable(call, requests[i]);
        if (found == nullptr) return call.code();
        if (const int code = restart(call, noted, *found)) return code;
    }
    return MPI_SUCCESS;
}

}  // namespace poe::mpi
