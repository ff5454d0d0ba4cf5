// The results of requests; see completion.hpp.
#include "mpi/point/completion.hpp"

#include <algorithm>

#include "mpi/object/status.hpp"
#include "mpi/point/outcomes.hpp"
#include "mpi/process/environment.hpp"
#include "tracer/probe/process_context.hpp"

namespace poe::mpi {
namespace {

using comm::Outcome;
using Type = Request::Type;

bool is_cancelled(const comm::Request& message) noexcept {
    return message.outcome == Outcome::kCancelled;
}

bool succeeded(const comm::SendRequest& send) noexcept {
    return is_cancelled(send) || send.outcome == Outcome::kDone;
}

bool succeeded(const comm::ReceiveRequest& receive) noexcept {
    return is_cancelled(receive) ||
           (receive.outcome == Outcome::kDone && receive.length <= receive.view.size());
}

Fault fault_of_receive(comm::Runtime& runtime, const Comm& comm,
                       const comm::ReceiveRequest& receive, const check::MessageCheck* check) {
    if (succeeded(receive)) return check != nullptr ? check->check_receive(comm, receive) : Fault{};
    if (receive.outcome == Outcome::kDone) return truncation(comm, receive);
    const TaskId peer = receive.source >= 0 ? receive.source : receive.wanted.source;
    return fault_of(runtime, comm, receive.outcome, peer);
}

Fault fault_of_send(comm::Runtime& runtime, const Comm& comm, const comm::SendRequest& send,
                    const check::MessageCheck* check) {
    if (!succeeded(send)) return fault_of(runtime, comm, send.outcome, send.dest);
    return check != nullptr ? check->check_send() : Fault{};
}

// The length of a message as the program sees it.
Bytes seen_length(Bytes length) noexcept {
    return environment().checking ? check::without_envelope(length) : length;
}

void trace_end(const Request& request) {
    if (!process_context().tracer.on() || request.mode == SendMode::kBuffered) [[likely]]
        return;
    const comm::SendRequest& send = request.send;
    process_context().tracer.send_ended(static_cast<std::uint8_t>(send.flow), send.dest, send.type,
                                        send.number);
}

}  // namespace

void set_received(MPI_Status& status, const Comm& comm,
                  const comm::ReceiveRequest& receive) noexcept {
    if (is_cancelled(receive)) {
        set_status(status, MPI_ANY_SOURCE, MPI_ANY_TAG, 0);
        set_cancelled(status, true);
        return;
    }
    if (receive.source < 0) return set_status(status, MPI_ANY_SOURCE, MPI_ANY_TAG, 0);
    set_status(
        status, comm.peers().rank_of(receive.source), receive.type,
        static_cast<std::int64_t>(seen_length(std::min(receive.length, receive.view.size()))));
}

void set_status_of(MPI_Status& status, const Request& request) noexcept {
    if (!request.active) return set_empty(status);
    if (request.type == Type::kReceive || request.type == Type::kSendReceive) [[likely]]
        return set_received(status, *request.comm, request.receive);
    if (request.receives_from_nobody) return set_from_nobody(status);
    if (request.type == Type::kWork && request.work->describe(status)) return;
    set_status(status, MPI_ANY_SOURCE, MPI_ANY_TAG,
               request.type == Type::kWork ? static_cast<std::int64_t>(request.work->moved()) : 0);
    if (request.type == Type::kSend && is_cancelled(request.send)) set_cancelled(status, true);
}

bool is_surely_successful(const Request& request) noexcept {
    if (!request.active) return true;
    if (request.check != nullptr) [[unlikely]]
        return false;
    switch (request.type) {
        case Type::kSend:
            return succeeded(request.send);
        case Type::kReceive:
            return succeeded(request.receive);
        case Type::kSendReceive:
            return succeeded(request.send) && succeeded(request.receive);
        case Type::kNobody:
            return true;
        case Type::kWork:
            return request.work->succeeded();
        case Type::kNone:
        case Type::kGeneralized:
            break;
    }
    return false;
}

Fault fault_of_request(comm::Runtime& runtime, Request& request) {
    switch (request.type) {
        case Type::kSend:
            return fault_of_send(runtime, *request.comm, request.send, request.check.get());
        case Type::kReceive:
            return fault_of_receive(runtime, *request.comm, request.receive, request.check.get());
        case Type::kSendReceive: {
            const check::MessageCheck* const check = request.check.get();
            Fault fault = fault_of_send(runtime, *request.comm, request.send, check);
            return fault ? fault : fault_of_receive(runtime, *request.comm, request.receive, check);
        }
        case Type::kWork:
            return request.work->result();
        case Type::kNone:
        case Type::kNobody:
        case Type::kGeneralized:
            break;
    }
    return {};
}

void retire(MPI_Request& handle, Request& request) noexcept {
    if (request.active && (request.type == Type::kSend || request.type == Type::kSendReceive))
        trace_end(request);
    if (request.common) {
        handle = MPI_REQUEST_NULL;
        return;
    }
    request.active = false;
    if (request.check != nullptr) [[unlikely]]
        request.check->end();
    if (request.persistent) return;
    free_request(request);
    handle = MPI_REQUEST_NULL;
}

void cancel(comm::Runtime& runtime, Request& request) {
    if (request.type == Type::kReceive) runtime.messages().cancel(request.receive);
    if (request.type == Type::kSend) runtime.messages().cancel(request.send);
}

}  // namespace poe::mpi
