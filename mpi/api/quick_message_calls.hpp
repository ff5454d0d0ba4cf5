// The fast paths of messages (quick_calls.hpp): starting them, and waiting for requests of any
// kind.
#pragma once

#include <mpi.h>

#include "mpi/api/point_call.hpp"
#include "mpi/api/quick_turn.hpp"
#include "mpi/api/shown.hpp"
#include "mpi/point/completion.hpp"
#include "mpi/point/message_view.hpp"
#include "mpi/point/request.hpp"
#include "mpi/point/waiting.hpp"
#include "tracer/probe/caller_site.hpp"

namespace poe::mpi::quick {

// Messages. Their memory is elements without gaps, or that of a derived datatype.

// The derived datatype of a message with data; null if the arguments are wrong or there is none.
inline Datatype* find_derived(MPI_Count count, MPI_Datatype datatype) noexcept {
    Datatype* const type = find<Datatype>(datatype);
    std::int64_t bytes = 0;
    const bool has_data = type != nullptr && type->committed() && count > 0 && type->size() > 0 &&
                          !__builtin_mul_overflow(count, type->size(), &bytes);
    return has_data ? type : nullptr;
}

// The message has left, so its request is the one that all such messages have, and nothing else is
// kept.
inline bool isend(const void* buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
                  MPI_Comm comm, MPI_Request* request) {
    return with_comm(comm, [&](comm::Runtime& runtime, Comm& members) {
        const Members& peers = members.peers();
        if (buf == nullptr || request == nullptr || tag < 0 || dest < 0 || dest >= peers.size())
            return false;
        const auto sends = [&](const comm::BufferView& view) {
            return runtime.messages().send_at_once(view, peers.task(dest), tag, members.context);
        };
        if (const Bytes bytes = plain_bytes(count, datatype)) {
            if (!sends({static_cast<std::byte*>(const_cast<void*>(buf)), bytes})) return false;
        } else {
            Datatype* const derived = find_derived(count, datatype);
            TypedLayout layout;
            if (derived == nullptr || !sends(view_of(layout, *derived, buf, count))) return false;
        }
        *request = handle_of(sent_request());
        return true;
    });
}
inline bool irsend(const void* buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
                   MPI_Comm comm, MPI_Request* request) {
    return isend(buf, count, datatype, dest, tag, comm, request);
}

inline bool irecv(void* buf, MPI_Count count, MPI_Datatype datatype, int source, int tag,
                  MPI_Comm comm, MPI_Request* request) {
    return with_comm(comm, [&](comm::Runtime& runtime, Comm& members) {
        const Bytes bytes = plain_bytes(count, datatype);
        Datatype* const derived = bytes == 0 ? find_derived(count, datatype) : nullptr;
        const Members& peers = members.peers();
        const bool from_any = source == MPI_ANY_SOURCE;
        if ((bytes == 0 && derived == nullptr) || buf == nullptr || request == nullptr ||
            (tag < 0 && tag != MPI_ANY_TAG) ||
            (!from_any && (source < 0 || source >= peers.size())))
            return false;
        Request& made = make_request();
        set_comm(made, members);
        made.type = Request::Type::kReceive;
        if (derived == nullptr) {
            made.receive.view = {static_cast<std::byte*>(buf), bytes};
        } else {
            made.receive.view = view_of(made.receive_layout, *derived, buf, count);
            made.receive_type = TypeReference(*derived);
        }
        made.receive.wanted = {members.context, from_any ? comm::kWildcard : peers.task(source),
                               tag == MPI_ANY_TAG ? comm::kWildcard : tag};
        start_receive(runtime.messages(), made);
        made.active = true;
        if (!has_ended(made)) runtime.keep_moving();
        *request = handle_of(made);
        return true;
    });
}

// The persistent request of a message that may be started; null if the general way has to decide
// what to do.
inline Request* find_startable(MPI_Request handle) noexcept {
    Request* const request = find_request(handle);
    if (request == nullptr || !request->persistent || request->active) return nullptr;
    const bool sends = request->type == Request::Type::kSend &&
                       (request->mode == SendMode::kStandard || request->mode == SendMode::kReady);
    return sends || request->type == Request::Type::kReceive ? request : nullptr;
}
// Starts a request of find_startable().
inline void start_message(comm::Runtime& runtime, Request& request) {
    comm::MessageLayer& messages = runtime.messages();
    if (request.type == Request::Type::kReceive) {
        start_receive(messages, request);
        request.active = true;
        if (!has_ended(request)) runtime.keep_moving();
        return;
    }
    comm::SendRequest& send = request.send;
    if (messages.send_at_once(send.view, send.dest, send.type, send.context)) {
        send.outcome = comm::Outcome::kDone;
        request.active = true;
        return;
    }
    poe::mpi::start(runtime, request);  // such a request always starts
}

inline bool start(MPI_Request* request) {
    return with_messages([&](comm::Runtime& runtime) {
        Request* const found = request != nullptr ? find_startable(*request) : nullptr;
        if (found != nullptr) start_message(runtime, *found);
        return found != nullptr;
    });
}
inline bool startall(int count, MPI_Request* requests) {
    return with_messages([&](comm::Runtime& runtime) {
        for (int i = 0; i < count; ++i)
            if (find_startable(requests[i]) == nullptr) return false;
        for (int i = 0; i < count; ++i) {
            Request* const found = find_startable(requests[i]);
            if (found == nullptr)
                return false;  // the same request twice, which the general way reports
            start_message(runtime, *found);
        }
        return true;
    });
}

// Waiting. If a request may have failed, a wait returns false after the request has ended. The
// general way then finishes it at once and reports the error.

inline void wait_until_ended(comm::Runtime& runtime, Request& request, const CallPlace& place) {
    if (has_ended(request)) return;
    const void* const site = caller_site != nullptr ? caller_site : place.site;
    const Shown shown(runtime, place.function, site, about_request(request));
    wait_for(runtime, request);
}
// For an active request that has ended.
inline void finish(MPI_Request& handle, Request& request, MPI_Status* status) {
    if (status != nullptr) set_status_of(*status, request);
    retire(handle, request);
}

inline bool wait(MPI_Request* handle, MPI_Status* status, const CallPlace& place) {
    return with_messages([&](comm::Runtime& runtime) {
        Request* const request = handle != nullptr ? find_request(*handle) : nullptr;
        if (request == nullptr || !request->active) return false;
        wait_until_ended(runtime, *request, place);
        if (!is_surely_successful(*request)) return false;
        finish(*handle, *request, status);
        return true;
    });
}

// Finishes the requests only after all of them have succeeded, so that after an error the general
// way finds every request unchanged.
inline bool waitall(int count, MPI_Request* handles, MPI_Status* statuses, const CallPlace& place) {
    // This function visits each request three times, so for many requests the general way is
    // faster.
    constexpr int kFew = 8;
    if (count < 0 || count > kFew || (handles == nullptr && count > 0)) return false;
    return with_messages([&](comm::Runtime& runtime) {
        Request* requests[kFew];
        for (int i = 0; i < count; ++i) {
            requests[i] = find_request(handles[i]);
            if (requests[i] == nullptr || !requests[i]->active) return false;
        }
        for (int i = 0; i < count; ++i) {
            // Takes everything that has arrived meanwhile, so that the request often needs no wait.
            if (i > 0 && !has_ended(*requests[i])) runtime.messages().progress();
            wait_until_ended(runtime, *requests[i], place);
            if (!is_surely_successful(*requests[i])) return false;
        }
        for (int i = 0; i < count; ++i)
            if (requests[i]->active)  // false if a handle is there twice
                finish(handles[i], *requests[i], statuses != nullptr ? statuses + i : nullptr);
        return true;
    });
}

}  // namespace poe::mpi::quick
