// Starting requests, and waiting until they have ended. completion.hpp has their results.
#pragma once

#include <span>

#include "comm/bootstrap/runtime.hpp"
#include "mpi/point/request.hpp"
#include "mpi/point/works.hpp"

namespace poe::mpi {

// True if the operation of an active request has ended.
inline bool has_ended(const Request& request) noexcept {
    constexpr auto kPending = comm::Outcome::kPending;
    switch (request.type) {
        case Request::Type::kSend:
            return request.send.outcome != kPending;
        case Request::Type::kReceive:
            return request.receive.outcome != kPending;
        case Request::Type::kSendReceive:
            return request.receive.outcome != kPending && request.send.outcome != kPending;
        case Request::Type::kWork:
            return request.ended;
        case Request::Type::kGeneralized:
            return request.generalized.complete;
        case Request::Type::kNone:
        case Request::Type::kNobody:
            break;
    }
    return true;
}

// Starts the receive of a request, which its `view` and `wanted` describe. Does not make the
// request active.
inline void start_receive(comm::MessageLayer& messages, Request& request) {
    comm::ReceiveRequest& receive = request.receive;
    receive.reset(receive.view, receive.wanted);
    receive.tell = nullptr;
    receive.owner = &request;
    messages.start(receive);
    messages.begin_fetching();
}

// Starts the operation of a request that is not active. For messages, the fields `view`, `dest`,
// `type` and `context` of the send and `view` and `wanted` of the receive describe it. Never
// blocks.
// A fault if a buffered send does not fit into the buffer, and in check mode if a buffer is part of
// another request in progress; the request is then not active.
Fault start(comm::Runtime& runtime, Request& request);

// Each of the following lets messages and active operations make progress.

// Blocks until the active request has ended.
void wait_for(comm::Runtime& runtime, Request& request);
// Blocks until at least one of the active requests has ended. Handles of requests that are not
// active are skipped. Precondition: there is an active one.
void wait_for_any(comm::Runtime& runtime, std::span<const MPI_Request> handles);
// Looks once for progress; never blocks. For functions that have found that not enough has ended.
void look(comm::Runtime& runtime, std::span<const MPI_Request> handles);
// Call after look() if again not enough has ended: gives the processor away if tasks share it.
inline void pause_after_look(comm::Runtime& runtime) {
    runtime.pause_between_looks();
}

// Blocks until over() returns true. `awaited` says for what, for watchers. `give_up` is that of
// MessageLayer::wait_until().
void wait_until(comm::Runtime& runtime, const std::function<bool()>& over,
                const std::function<Awaited()>& awaited,
                const std::function<bool()>* give_up = nullptr);

// A request that the program has freed while it was active: it is freed when it has ended.
void free_when_ended(Request& request) noexcept;
// Frees those that have ended. Call it now and then; never blocks.
void free_ended() noexcept;

}  // namespace poe::mpi
