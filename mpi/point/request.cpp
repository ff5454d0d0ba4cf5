// The pool of requests; see request.hpp.
#include "mpi/point/request.hpp"

#include <utility>

#include "mpi/check/ledger.hpp"
#include "mpi/process/environment.hpp"

namespace poe::mpi {
namespace {

// Requests that were freed stay out of the pool until they are used again, because a pool takes a
// lock. They have no magic number, so their handles are invalid.
struct KeptRequests {
    Pool<Request> pool{Kind::kRequest};
    Request* free = nullptr;
    std::size_t in_use = 0;
};

KeptRequests& kept() noexcept {
    static KeptRequests* const requests = [] {
        auto* made = new KeptRequests;
        environment().pools[static_cast<std::size_t>(Kind::kRequest)] = &made->pool;
        return made;
    }();
    return *requests;
}

}  // namespace

void Request::reset() noexcept {
    persistent = active = ended = freed = receives_from_nobody = false;
    mode = SendMode::kStandard;
    if (send_type.get() != nullptr) [[unlikely]]
        send_type = TypeReference();
    if (receive_type.get() != nullptr) [[unlikely]]
        receive_type = TypeReference();
    if (type >= Type::kWork || copy != nullptr || check != nullptr) [[unlikely]] {
        copy.reset();
        check.reset();
        work.reset();
        operation = 0;
        facts = {};
        generalized = {};
    }
    type = Type::kNone;
    if (Comm* used = std::exchange(comm, nullptr); used != nullptr && used->integer != 0)
        comm_pool().release(*used);
}

Request& make_request() {
    KeptRequests& requests = kept();
    ++requests.in_use;
    Request* request = requests.free;
    if (request == nullptr) [[unlikely]]
        return requests.pool.make();
    requests.free = request->next_free;
    request->magic.store(magic_of(Kind::kRequest), std::memory_order_relaxed);
    return *request;
}

Request& sent_request() {
    static Request& request = []() -> Request& {
        Request& made = kept().pool.make();
        made.type = Request::Type::kSend;
        made.common = made.active = true;
        made.comm = &world();
        made.send.outcome = comm::Outcome::kDone;
        return made;
    }();
    return request;
}

void free_request(Request& request) noexcept {
    if (request.common) return;
    KeptRequests& requests = kept();
    if (environment().checking) [[unlikely]]
        check::ledger().release(&request);
    request.magic.store(0, std::memory_order_relaxed);
    request.reset();
    request.next_free = std::exchange(requests.free, &request);
    --requests.in_use;
}

std::size_t requests_in_use() noexcept {
    return kept().in_use;
}

void set_comm(Request& request, Comm& comm) noexcept {
    request.comm = &comm;
    if (comm.integer != 0) add_reference(comm);
}

}  // namespace poe::mpi
