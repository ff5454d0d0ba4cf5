// Blocking sends and receives (MPI 5.0, sections 3.2, 3.4 and 3.10).
#include <mpi.h>
#include <new>
#include <utility>

#include "mpi/api/bodies.hpp"
#include "mpi/api/point_call.hpp"
#include "mpi/object/status.hpp"
#include "mpi/point/completion.hpp"
#include "mpi/point/outcomes.hpp"
#include "mpi/point/send_buffer.hpp"
#include "mpi/point/waiting.hpp"

namespace poe::mpi {
namespace {

using comm::Outcome;

[[gnu::cold]] int fail_send(Call& call, const MessageArguments& message, Outcome outcome) {
    return fail_message(call, *message.comm,
                        fault_of(call.runtime(), *message.comm, outcome, message.task));
}

[[gnu::cold]] int fail_receive(Call& call, Comm& comm, const comm::ReceiveRequest& receive) {
    if (receive.outcome == Outcome::kDone)
        return fail_message(call, comm, truncation(comm, receive));
    const TaskId peer = receive.source >= 0 ? receive.source : receive.wanted.source;
    return fail_message(call, comm, fault_of(call.runtime(), comm, receive.outcome, peer));
}

// The result of a receive that has ended.
int finish_receive(Call& call, Comm& comm, const comm::ReceiveRequest& receive,
                   MPI_Status* status) {
    if (status != MPI_STATUS_IGNORE) set_received(*status, comm, receive);
    if (receive.outcome == Outcome::kDone && receive.length <= receive.view.size()) [[likely]]
        return MPI_SUCCESS;
    return fail_receive(call, comm, receive);
}

// Waits for a request that the program does not see, and frees it.
int wait_and_free(Call& call, Request& request, MPI_Status* status) {
    MPI_Request handle = MPI_REQUEST_NULL;
    const CallAbout about = about_request(request);
    const Noted noted(call, about);
    if (const int code = start_new(call, request, &handle)) return code;
    if (!has_ended(request)) {
        const Shown shown(call, about);
        wait_for(call.runtime(), request);
    }
    return finish_one(call, handle, request, status);
}

}  // namespace

int send(Call& call, const void* buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
         MPI_Comm comm) {
    MessageArguments message;
    if (!resolve_send(call, buf, count, datatype, dest, tag, comm, message)) return call.code();
    if (message.nobody) return MPI_SUCCESS;
    if (environment().checking) [[unlikely]]
        return wait_and_free(call, make_send(call, message, SendMode::kStandard), nullptr);
    TypedLayout layout;
    const comm::BufferView view = message.view(layout);
    const VisibleCall visible(call, message.about(view.size()));
    const Outcome outcome =
        call.runtime().messages().send(view, message.task, tag, message.comm->context);
    return outcome == Outcome::kDone ? MPI_SUCCESS : fail_send(call, message, outcome);
}

int ssend(Call& call, const void* buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
          MPI_Comm comm) {
    MessageArguments message;
    if (!resolve_send(call, buf, count, datatype, dest, tag, comm, message)) return call.code();
    if (message.nobody) return MPI_SUCCESS;
    if (environment().checking) [[unlikely]]
        return wait_and_free(call, make_send(call, message, SendMode::kSynchronous), nullptr);
    TypedLayout layout;
    comm::SendRequest request(message.view(layout), message.task, tag, message.comm->context);
    request.synchronous = true;
    const VisibleCall visible(call, message.about(request.view.size()));
    comm::MessageLayer& messages = call.runtime().messages();
    messages.start(request);
    const Outcome outcome = messages.wait(request);
    return outcome == Outcome::kDone ? MPI_SUCCESS : fail_send(call, message, outcome);
}

int bsend(Call& call, const void* buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
          MPI_Comm comm) {
    MessageArguments message;
    if (!resolve_send(call, buf, count, datatype, dest, tag, comm, message)) return call.code();
    if (message.nobody) return MPI_SUCCESS;
    MPI_Request handle = MPI_REQUEST_NULL;
    Request& request = make_send(call, message, SendMode::kBuffered);
    const Noted noted(call, about_request(request));
    if (const int code = start_new(call, request, &handle)) return code;
    retire(handle, request);
    return MPI_SUCCESS;
}

int recv(Call& call, void* buf, MPI_Count count, MPI_Datatype datatype, int source, int tag,
         MPI_Comm comm, MPI_Status* status) {
    MessageArguments message;
    if (!resolve_receive(call, buf, count, datatype, source, tag, comm, message))
        return call.code();
    if (message.nobody) {
        if (status != MPI_STATUS_IGNORE) set_from_nobody(*status);
        return MPI_SUCCESS;
    }
    if (environment().checking) [[unlikely]]
        return wait_and_free(call, make_receive(call, message), status);
    TypedLayout layout;
    const comm::BufferView view = message.view(layout);
    const VisibleCall visible(call, message.about(view.size()));
    const comm::ReceiveRequest& received = call.runtime().messages().receive(view, message.key());
    return finish_receive(call, *message.comm, received, status);
}

int sendrecv(Call& call, const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, int dest,
             int sendtag, void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int source,
             int recvtag, MPI_Comm comm, MPI_Status* status) {
    Request* request = make_send_receive(call, sendbuf, sendcount, sendtype, dest, sendtag, recvbuf,
                                         recvcount, recvtype, source, recvtag, comm);
    return request == nullptr ? call.code() : wait_and_free(call, *request, status);
}

int sendrecv_replace(Call& call, void* buf, MPI_Count count, MPI_Datatype datatype, int dest,
                     int sendtag, int source, int recvtag, MPI_Comm comm, MPI_Status* status) {
    Request* request =
        make_replacement(call, buf, count, datatype, dest, sendtag, source, recvtag, comm);
    return request == nullptr ? call.code() : wait_and_free(call, *request, status);
}

int mrecv(Call& call, void* buf, MPI_Count count, MPI_Datatype datatype, MPI_Message* message,
          MPI_Status* status) {
    MatchedMessage* matched = nullptr;
    Request* request = make_matched_receive(call, buf, count, datatype, message, matched);
    if (request == nullptr) return call.code();
    MPI_Request handle = handle_of(*request);
    const CallAbout about = about_request(*request);
    const Noted noted(call, about);
    start_matched_receive(call, *request, matched);
    if (!has_ended(*request)) {
        const Shown shown(call, about);
        wait_for(call.runtime(), *request);
    }
    return finish_one(call, handle, *request, status);
}

}  // namespace poe::mpi
