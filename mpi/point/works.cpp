// Active operations of several messages; see works.hpp.
#include "mpi/point/works.hpp"

#include <utility>

namespace poe::mpi {
namespace {

struct ActiveWorks {
    Request* first = nullptr;
    Request* next = nullptr;  // the one that advance_works() continues after the current one
    bool advancing = false;
};

ActiveWorks& works() noexcept {
    static ActiveWorks* const active = new ActiveWorks;
    return *active;
}

void add(comm::MessageLayer& messages, Request& request) {
    ActiveWorks& list = works();
    if (list.first == nullptr)
        messages.set_request_helper(
            [&messages](bool users_functions) { return advance_works(messages, users_functions); });
    request.next_work = list.first;
    request.previous_work = nullptr;
    if (list.first != nullptr) list.first->previous_work = &request;
    list.first = &request;
}

void remove(Request& request) noexcept {
    ActiveWorks& list = works();
    if (list.next == &request) list.next = request.next_work;
    (request.previous_work != nullptr ? request.previous_work->next_work : list.first) =
        request.next_work;
    if (request.next_work != nullptr) request.next_work->previous_work = request.previous_work;
}

void end(Request& request) noexcept {
    request.ended = true;
    remove(request);
    if (request.freed) free_request(request);
}

}  // namespace

void start_work(comm::MessageLayer& messages, Request& request) {
    request.active = true;
    request.ended = false;
    request.work->start(messages);
    if (request.work->advance(messages)) {
        request.ended = true;
    } else {
        add(messages, request);
    }
}

Request& make_work(comm::MessageLayer& messages, std::unique_ptr<Work> work, Comm* comm,
                   bool persistent) {
    Request& request = make_request();
    request.type = Request::Type::kWork;
    request.work = std::move(work);
    request.persistent = persistent;
    if (comm != nullptr) set_comm(request, *comm);
    if (!persistent) start_work(messages, request);
    return request;
}

void advance_work(comm::MessageLayer& messages, Request& request) {
    if (!request.ended && request.work->advance(messages)) end(request);
}

void wait_for_work(comm::MessageLayer& messages, Request& request) {
    for (;;) {
        advance_work(messages, request);
        if (request.ended) return;
        request.waits = true;
        const bool waited = request.work->wait(messages);
        request.waits = false;
        if (!waited) return;
    }
}

void end_help_if_idle(comm::MessageLayer& messages) {
    const ActiveWorks& list = works();
    if (list.first == nullptr && !list.advancing) messages.set_request_helper({});
}

bool advance_works(comm::MessageLayer& messages, bool users_functions) {
    ActiveWorks& list = works();
    // An operation may call the message layer, which may call its helpers.
    if (list.advancing) return false;
    list.advancing = true;
    bool any = false;
    for (Request* each = list.first; each != nullptr; each = list.next) {
        list.next = each->next_work;
        if (each->waits) continue;
        if (!users_functions && each->work->calls_program()) continue;
        if (!each->work->advance(messages)) continue;
        end(*each);
        any = true;
    }
    list.next = nullptr;
    list.advancing = false;
    return any;
}

bool has_works() noexcept {
    return works().first != nullptr;
}

}  // namespace poe::mpi
