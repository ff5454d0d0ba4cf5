// Active operations of several messages; see works.hpp.
#include "mpi/point/works.hpp"

#include <utility>

namespace poe::mpi {
namespace {

struct ActiveWorks final : comm::Helper {
    bool help(bool users_functions) override;

    comm::MessageLayer* messages = nullptr;
    Request* first = nullptr;
    Request* next = nullptr;  // the one that help() continues after the current one
    bool advancing = false;
};

ActiveWorks the_works;

void add(comm::MessageLayer& messages, Request& request) {
    ActiveWorks& list = the_works;
    if (list.first == nullptr) {
        list.messages = &messages;
        messages.set_request_helper(&list);
    }
    request.next_work = list.first;
    request.previous_work = nullptr;
    if (list.first != nullptr) list.first->previous_work = &request;
    list.first = &request;
}

void remove(Request& request) noexcept {
    ActiveWorks& list = the_works;
    if (list.next == &request) list.next = request.next_work;
    (request.previous_work != nullptr ? request.previous_work->next_work : list.first) =
        request.next_work;
    if (request.next_work != nullptr) request.next_work->previous_work = request.previous_work;
    // Waits become cheaper again.
    if (list.first == nullptr) list.messages->set_request_helper(nullptr);
}

void end(Request& request) noexcept {
    request.ended = true;
    remove(request);
    if (request.freed) free_request(request);
}

}  // namespace

void start_work(comm::Runtime& runtime, Request& request) {
    comm::MessageLayer& messages = runtime.messages();
    request.active = true;
    request.ended = false;
    request.work->start(messages);
    if (request.work->advance(messages)) {
        request.ended = true;
    } else {
        add(messages, request);
        runtime.keep_moving();
    }
}

Request& make_work(comm::Runtime& runtime, WorkPtr work, Comm* comm, bool persistent) {
    Request& request = make_request();
    request.type = Request::Type::kWork;
    request.work = std::move(work);
    request.persistent = persistent;
    if (comm != nullptr) set_comm(request, *comm);
    if (!persistent) start_work(runtime, request);
    return request;
}

void advance_work(comm::MessageLayer& messages, Request& request) {
    if (!request.ended && request.work->advance(messages)) end(request);
}

void wait_for_work(comm::MessageLayer& messages, Request& request) {
    if (request.ended) return;
    // Meanwhile only this function continues the operation.
    remove(request);
    struct Return {
        ~Return() {
            if (!request.ended) add(messages, request);
        }
        comm::MessageLayer& messages;
        Request& request;
    };
    const Return at_end{messages, request};
    while (!request.ended && request.work->wait(messages))
        request.ended = request.work->advance(messages);
}

// Continues all operations, but those that may call functions of the program only if
// `users_functions` is true. Returns true if one has ended. Never blocks.
bool ActiveWorks::help(bool users_functions) {
    // An operation may call the message layer, which may call its helpers.
    if (advancing) return false;
    struct Advancing {
        explicit Advancing(bool& what) noexcept : flag(what) { flag = true; }
        ~Advancing() { flag = false; }
        bool& flag;
    };
    const Advancing now(advancing);
    bool any = false;
    for (Request* each = first; each != nullptr; each = next) {
        next = each->next_work;
        if (!users_functions && each->work->calls_program()) continue;
        if (!each->work->advance(*messages)) continue;
        end(*each);
        any = true;
    }
    next = nullptr;
    return any;
}

bool has_works() noexcept {
    return the_works.first != nullptr;
}

}  // namespace poe::mpi
