// Waiting for requests; see waiting.hpp.
#include "mpi/point/waiting.hpp"

#include <functional>
#include <sched.h>
#include <utility>

#include "mpi/check/ledger.hpp"
#include "mpi/point/send_buffer.hpp"
#include "mpi/process/environment.hpp"

namespace poe::mpi {
namespace {

using comm::Outcome;
using Type = Request::Type;

// Programs that test a request look often, and a task dies rarely.
constexpr unsigned kLooksPerSweep = 256;

struct WaitState {
    // The messages that have ended of requests that were freed while they were active.
    comm::FinishedList freed;
    unsigned looks = 0;
};

WaitState& wait_state() noexcept {
    static auto* const state = new WaitState;
    return *state;
}

bool is_message(const Request& request) noexcept {
    return request.type == Type::kSend || request.type == Type::kReceive ||
           request.type == Type::kSendReceive;
}

bool sends(const Request& request) noexcept {
    return request.type == Type::kSend || request.type == Type::kSendReceive;
}

bool receives(const Request& request) noexcept {
    return request.type == Type::kReceive || request.type == Type::kSendReceive;
}

// Makes the messages of the request that have not ended join `list` when they end; null: none.
void tell(Request& request, comm::FinishedList* list) noexcept {
    if (sends(request)) request.send.tell = list;
    if (receives(request)) request.receive.tell = list;
}

// Ends messages that need a task that has ended.
void end_if_broken(comm::Runtime& runtime, Request& request) {
    comm::MessageLayer& messages = runtime.messages();
    if (sends(request)) messages.end_if_hopeless(request.send);
    if (receives(request)) messages.end_if_lost(request.receive);
}

// True if only this task could end the message, by a call that its only thread does not make while
// it waits.
bool needs_own_call(comm::Runtime& runtime, const Request& request) noexcept {
    if (runtime.messages().shared()) return false;
    const TaskId self = runtime.task();
    if (sends(request) && request.send.outcome == Outcome::kPending && request.send.dest == self)
        return true;
    return receives(request) && request.receive.outcome == Outcome::kPending &&
           request.receive.source < 0 &&
           (runtime.messages().alone() || request.receive.wanted.source == self);
}

template <typename Visit>
void for_each_active(std::span<const MPI_Request> handles, Visit&& visit) {
    for (const MPI_Request handle : handles) {
        Request* request = find_request(handle);
        if (request != nullptr && request->active) visit(*request);
    }
}

// Ends the first of the requests if only this task could end them, because it would wait forever.
void end_one_if_alone(comm::Runtime& runtime, std::span<const MPI_Request> handles) {
    Request* first = nullptr;
    bool alone = true;
    for_each_active(handles, [&](Request& request) {
        if (first == nullptr) first = &request;
        alone = alone && is_message(request) && needs_own_call(runtime, request);
    });
    if (alone && first != nullptr && !has_works()) wait_for(runtime, *first);
}

void wait_for_messages(comm::Runtime& runtime, std::span<const MPI_Request> handles) {
    comm::FinishedList ended;
    for_each_active(handles, [&](Request& request) { tell(request, &ended); });
    const auto sweep = [&] {
        for_each_active(handles, [&](Request& request) { end_if_broken(runtime, request); });
    };
    // A request with two messages has not ended when the first of them has.
    const Request* over = nullptr;
    while (over == nullptr) {
        runtime.messages().wait(ended, sweep);
        const comm::Request& message = *ended.head;
        const auto& request = *static_cast<const Request*>(message.owner);
        ended.remove(message);
        if (has_ended(request)) over = &request;
    }
    for_each_active(handles, [](Request& request) { tell(request, nullptr); });
}

}  // namespace

Fault start(comm::Runtime& runtime, Request& request) {
    comm::MessageLayer& messages = runtime.messages();
    if (request.check != nullptr) [[unlikely]] {
        if (Fault fault = request.check->begin()) return fault;
    }
    if (receives(request)) start_receive(messages, request);
    if (sends(request)) {
        comm::SendRequest& send = request.send;
        send.reset();
        send.tell = nullptr;
        send.owner = &request;
        if (request.mode == SendMode::kBuffered) [[unlikely]] {
            SendBuffer* buffer = buffer_for(*request.comm);
            if (buffer == nullptr)
                return {MPI_ERR_BUFFER, "", "no buffer for buffered sends is attached",
                        "call MPI_Buffer_attach first"};
            if (Fault fault = buffer->send(messages, send)) return fault;
            send.outcome = Outcome::kDone;
        } else {
            send.synchronous = request.mode == SendMode::kSynchronous;
            messages.start(send);
        }
    }
    request.active = true;
    if (request.type == Type::kWork) {
        start_work(runtime, request);
    } else if (!has_ended(request)) {
        runtime.keep_moving();
    }
    return {};
}

void wait_for(comm::Runtime& runtime, Request& request) {
    comm::MessageLayer& messages = runtime.messages();
    if (receives(request)) messages.wait(request.receive);
    if (sends(request)) messages.wait(request.send);
    if (request.type == Type::kWork && !messages.shared() && !messages.alone())
        wait_for_work(messages, request);
    if (has_ended(request)) return;
    wait_until(
        runtime,
        [&] {
            if (request.type == Type::kWork) advance_work(messages, request);
            return has_ended(request);
        },
        [&] { return request.type == Type::kWork ? request.work->awaited(messages) : Awaited{}; });
}

void wait_for_any(comm::Runtime& runtime, std::span<const MPI_Request> handles) {
    bool only_messages = true;
    bool any_ended = false;
    const auto look_at_all = [&] {
        for_each_active(handles, [&](Request& request) {
            only_messages = only_messages && is_message(request);
            any_ended = any_ended || has_ended(request);
        });
    };
    look_at_all();
    if (any_ended) return;
    end_one_if_alone(runtime, handles);
    look_at_all();
    if (any_ended) return;
    if (only_messages && !runtime.messages().alone()) return wait_for_messages(runtime, handles);
    unsigned looks = 0;
    const auto over = [&] {
        const bool sweep = ++looks % kLooksPerSweep == 0;
        for_each_active(handles, [&](Request& request) {
            if (request.type == Type::kWork) advance_work(runtime.messages(), request);
            if (sweep) end_if_broken(runtime, request);
            any_ended = any_ended || has_ended(request);
        });
        return any_ended;
    };
    // A reference, because a copy of the function would be allocated.
    wait_until(runtime, std::ref(over), [] { return Awaited{}; });
}

void look(comm::Runtime& runtime, std::span<const MPI_Request> handles) {
    comm::MessageLayer& messages = runtime.messages();
    messages.progress();
    messages.help();
    if (++wait_state().looks % kLooksPerSweep != 0) return;
    for_each_active(handles, [&](Request& request) {
        if (!has_ended(request)) end_if_broken(runtime, request);
    });
}

void wait_until(comm::Runtime& runtime, const std::function<bool()>& over,
                const std::function<Awaited()>& awaited, const std::function<bool()>* give_up) {
    if (!runtime.messages().alone() || runtime.messages().shared()) {
        runtime.messages().wait_until(over, awaited, give_up);
        return;
    }
    // In a job of one task the message layer cannot wait, because nobody would wake it.
    while (!over()) {
        runtime.messages().progress();
        runtime.messages().help();
        ::sched_yield();
    }
}

void free_when_ended(Request& request) noexcept {
    request.freed = true;
    if (request.check != nullptr) request.check->end();
    if (environment().checking) check::ledger().release(&request);
    if (is_message(request)) tell(request, &wait_state().freed);
}

void free_ended() noexcept {
    comm::FinishedList& freed = wait_state().freed;
    while (comm::Request* message = freed.head) {
        freed.remove(*message);
        auto& request = *static_cast<Request*>(message->owner);
        if (has_ended(request)) free_request(request);
    }
}

}  // namespace poe::mpi
