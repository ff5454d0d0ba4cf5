// Fast paths: what the entry points of functions with the context `quick` (mpi/table/functions.tsv)
// try first. A fast path handles only calls with valid arguments, without tracing and without check
// mode. The parameters are those of the body of the same name, and the place of a call that may
// wait. If a function returns false, the general way makes the call. Then a function that starts
// something has started nothing, and a wait has finished no request, but may have waited; or it has
// failed with an exception, which the general way reports (kept_exception.hpp).
#pragma once

#include <exception>
#include <mpi.h>

#include "mpi/api/call_turn.hpp"
#include "mpi/api/kept_exception.hpp"
#include "mpi/api/point_call.hpp"
#include "mpi/api/shown.hpp"
#include "mpi/collective/plain_call.hpp"
#include "mpi/point/completion.hpp"
#include "mpi/point/message_view.hpp"
#include "mpi/point/request.hpp"
#include "mpi/point/waiting.hpp"
#include "mpi/table/functions.hpp"
#include "mpi/window/at_once.hpp"
#include "mpi/window/window.hpp"
#include "tracer/probe/caller_site.hpp"

namespace poe::mpi::quick {

// Calls work(runtime) in a turn of its own; false if that is not possible. `work` does not throw.
template <typename Work>
inline bool in_turn(Work&& work) {
    CallTurn turn;
    turn.take();
    return turn.is_held() && may_be_at_once() && work(*turn.runtime());
}

// The same for work(runtime, window).
template <typename Work>
inline bool with_window(MPI_Win win, Work&& work) {
    return in_turn([&](comm::Runtime& runtime) {
        Window* const window = find_window(win);
        return window != nullptr && work(runtime, *window);
    });
}

[[gnu::flatten]] inline bool put(const void* origin_addr, MPI_Count origin_count,
                                 MPI_Datatype origin_datatype, int target_rank,
                                 MPI_Aint target_disp, MPI_Count target_count,
                                 MPI_Datatype target_datatype, MPI_Win win) {
    if (origin_count != target_count || origin_datatype != target_datatype) return false;
    return with_window(win, [&](comm::Runtime& runtime, Window& window) {
        return put_at_once(runtime, window, origin_addr,
                           {target_rank, target_disp, target_count, target_datatype});
    });
}

[[gnu::flatten]] inline bool get(void* origin_addr, MPI_Count origin_count,
                                 MPI_Datatype origin_datatype, int target_rank,
                                 MPI_Aint target_disp, MPI_Count target_count,
                                 MPI_Datatype target_datatype, MPI_Win win) {
    if (origin_count != target_count || origin_datatype != target_datatype) return false;
    return with_window(win, [&](comm::Runtime& runtime, Window& window) {
        return get_at_once(runtime, window, origin_addr,
                           {target_rank, target_disp, target_count, target_datatype});
    });
}

[[gnu::flatten]] inline bool accumulate(const void* origin_addr, MPI_Count origin_count,
                                        MPI_Datatype origin_datatype, int target_rank,
                                        MPI_Aint target_disp, MPI_Count target_count,
                                        MPI_Datatype target_datatype, MPI_Op op, MPI_Win win) {
    if (origin_addr == nullptr || origin_count != target_count ||
        origin_datatype != target_datatype)
        return false;
    return with_window(win, [&](comm::Runtime& runtime, Window& window) {
        return accumulate_at_once(runtime, window, origin_addr, nullptr,
                                  {target_rank, target_disp, target_count, target_datatype}, op);
    });
}

// MPI_NO_OP ignores the origin's buffer.
[[gnu::flatten]] inline bool get_accumulate(const void* origin_addr, MPI_Count origin_count,
                                            MPI_Datatype origin_datatype, void* result_addr,
                                            MPI_Count result_count, MPI_Datatype result_datatype,
                                            int target_rank, MPI_Aint target_disp,
                                            MPI_Count target_count, MPI_Datatype target_datatype,
                                            MPI_Op op, MPI_Win win) {
    if (result_addr == nullptr || result_count != target_count ||
        result_datatype != target_datatype)
        return false;
    if (op != MPI_NO_OP && (origin_addr == nullptr || origin_count != target_count ||
                            origin_datatype != target_datatype))
        return false;
    return with_window(win, [&](comm::Runtime& runtime, Window& window) {
        return accumulate_at_once(runtime, window, origin_addr, result_addr,
                                  {target_rank, target_disp, target_count, target_datatype}, op);
    });
}

[[gnu::flatten]] inline bool fetch_and_op(const void* origin_addr, void* result_addr,
                                          MPI_Datatype datatype, int target_rank,
                                          MPI_Aint target_disp, MPI_Op op, MPI_Win win) {
    if (result_addr == nullptr || (origin_addr == nullptr && op != MPI_NO_OP)) return false;
    return with_window(win, [&](comm::Runtime& runtime, Window& window) {
        return accumulate_at_once(runtime, window, origin_addr, result_addr,
                                  {target_rank, target_disp, 1, datatype}, op);
    });
}

[[gnu::flatten]] inline bool compare_and_swap(const void* origin_addr, const void* compare_addr,
                                              void* result_addr, MPI_Datatype datatype,
                                              int target_rank, MPI_Aint target_disp, MPI_Win win) {
    if (origin_addr == nullptr || compare_addr == nullptr || result_addr == nullptr) return false;
    return with_window(win, [&](comm::Runtime& runtime, Window& window) {
        return compare_and_swap_at_once(runtime, window, origin_addr, compare_addr, result_addr,
                                        {target_rank, target_disp, 1, datatype});
    });
}

[[gnu::flatten]] inline bool win_flush(int rank, MPI_Win win) {
    return with_window(win, [&](comm::Runtime& runtime, Window& window) {
        return flush_at_once(runtime, window, rank, false);
    });
}
[[gnu::flatten]] inline bool win_flush_local(int rank, MPI_Win win) {
    return with_window(win, [&](comm::Runtime& runtime, Window& window) {
        return flush_at_once(runtime, window, rank, true);
    });
}
[[gnu::flatten]] inline bool win_flush_all(MPI_Win win) {
    return with_window(win, [&](comm::Runtime& runtime, Window& window) {
        return flush_all_at_once(runtime, window, false);
    });
}
[[gnu::flatten]] inline bool win_flush_local_all(MPI_Win win) {
    return with_window(win, [&](comm::Runtime& runtime, Window& window) {
        return flush_all_at_once(runtime, window, true);
    });
}

[[gnu::flatten]] inline bool win_lock(int lock_type, int rank, int assert, MPI_Win win) {
    if (rank < 0 || assert != 0 ||
        (lock_type != MPI_LOCK_EXCLUSIVE && lock_type != MPI_LOCK_SHARED))
        return false;
    return with_window(win, [&](comm::Runtime& runtime, Window& window) {
        return lock_at_once(runtime, window, rank, lock_type == MPI_LOCK_EXCLUSIVE);
    });
}
[[gnu::flatten]] inline bool win_unlock(int rank, MPI_Win win) {
    return rank >= 0 && with_window(win, [&](comm::Runtime& runtime, Window& window) {
               return unlock_at_once(runtime, window, rank);
           });
}

// What watchers see of a call that may wait: the function, and where the program has called it.
struct CallPlace {
    Function function;
    const void* site;
};

// Calls work(runtime), which may send and receive messages, in a turn of its own; false if that is
// not possible, or if `work` throws.
template <typename Work>
inline bool with_messages(Work&& work) {
    return in_turn([&](comm::Runtime& runtime) {
        try {
            return runtime.failure().empty() && work(runtime);
        } catch (const std::exception&) {
            keep_exception();
            return false;
        }
    });
}

// Calls work(runtime, comm) in a turn of its own; false if that is not possible.
template <typename Work>
inline bool with_comm(MPI_Comm handle, Work&& work) {
    return with_messages([&](comm::Runtime& runtime) {
        Comm* const comm = find_comm(handle);
        return comm != nullptr && work(runtime, *comm);
    });
}

// describe(comm) returns the call, or kNotPlain. If the call is plain, returns
// make(runtime, comm, plain), which is called in a turn of its own; otherwise false.
template <typename Describe, typename Make>
inline bool with_plain(MPI_Comm handle, Describe&& describe, Make&& make) {
    return with_comm(handle, [&](comm::Runtime& runtime, Comm& comm) {
        if (comm.is_inter() || comm.size() < 2) return false;
        PlainCall plain = describe(comm);
        if (plain.bytes == 0 && plain.operation != collectives::Operation::kSync) return false;
        return make(runtime, comm, plain);
    });
}
// Makes the call that describe(comm) describes. False if it has not been made.
template <typename Describe>
inline bool complete(MPI_Comm handle, const CallPlace& place, Describe&& describe) {
    return with_plain(handle, describe, [&](comm::Runtime& runtime, Comm& comm, PlainCall& plain) {
        plain.shown = call_of(place.function);
        plain.site = place.site;
        return make_plain_call(runtime, comm, plain);
    });
}
// Starts that call without waiting for its end, and stores its request. False if it is not plain.
template <typename Describe>
inline bool start(MPI_Comm handle, MPI_Request* request, Describe&& describe) {
    if (request == nullptr) return false;
    return with_plain(handle, describe, [&](comm::Runtime& runtime, Comm& comm, PlainCall& plain) {
        *request = handle_of(start_plain_call(runtime, comm, plain));
        return true;
    });
}

// The bytes of this many elements without gaps; 0 if there are none, or if the elements are not so
// simple.
inline Bytes plain_bytes(MPI_Count count, MPI_Datatype type) noexcept {
    const Bytes element = bytes_without_gaps(value_of(type));
    Bytes bytes = 0;
    return count > 0 && !__builtin_mul_overflow(count, element, &bytes) ? bytes : 0;
}
inline bool is_plain(const void* buffer) noexcept {
    return buffer != nullptr && buffer != MPI_IN_PLACE;
}
inline bool is_rank(const Comm& comm, int root) noexcept {
    return root >= 0 && root < comm.size();
}
// The block of a rank in a buffer of blocks.
inline const void* block_of(const void* buffer, int rank, Bytes bytes) noexcept {
    return static_cast<const std::byte*>(buffer) + static_cast<Bytes>(rank) * bytes;
}
inline constexpr PlainCall kNotPlain{collectives::Operation::kBcast};

// Collective calls. Each description is a function of the communicator.

inline PlainCall plain_barrier(Comm&) noexcept {
    return {collectives::Operation::kSync, ::poe::Call::kSync};
}
inline bool barrier(MPI_Comm comm, const CallPlace& place) {
    return complete(comm, place, plain_barrier);
}
inline bool ibarrier(MPI_Comm comm, MPI_Request* request) {
    return start(comm, request, plain_barrier);
}

inline auto plain_bcast(void* buffer, MPI_Count count, MPI_Datatype datatype, int root) {
    return [=](Comm& members) {
        if (!is_plain(buffer) || !is_rank(members, root)) return kNotPlain;
        return PlainCall{collectives::Operation::kBcast,
                         ::poe::Call::kBcast,
                         plain_bytes(count, datatype),
                         root,
                         nullptr,
                         buffer};
    };
}
inline bool bcast(void* buffer, MPI_Count count, MPI_Datatype datatype, int root, MPI_Comm comm,
                  const CallPlace& place) {
    return complete(comm, place, plain_bcast(buffer, count, datatype, root));
}
inline bool ibcast(void* buffer, MPI_Count count, MPI_Datatype datatype, int root, MPI_Comm comm,
                   MPI_Request* request) {
    return start(comm, request, plain_bcast(buffer, count, datatype, root));
}

// A reduction whose result goes to the root, or to all members.
inline PlainCall plain_reduction(Comm& comm, collectives::Operation operation, ::poe::Call what,
                                 const void* given, void* result, MPI_Count count,
                                 MPI_Datatype datatype, MPI_Op op, int root, bool gets) {
    const KnownReduction* const reduction = repeated_reduction(comm, op, datatype);
    if (reduction == nullptr || !is_plain(given) ||
        (gets && (!is_plain(result) || result == given)))
        return kNotPlain;
    return {operation, what, plain_bytes(count, datatype), root, given, gets ? result : nullptr,
            reduction};
}
inline auto plain_reduce(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype,
                         MPI_Op op, int root) {
    return [=](Comm& members) {
        if (!is_rank(members, root)) return kNotPlain;
        return plain_reduction(members, collectives::Operation::kReduce, ::poe::Call::kReduce,
                               sendbuf, recvbuf, count, datatype, op, root, root == members.rank);
    };
}
inline bool reduce(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype,
                   MPI_Op op, int root, MPI_Comm comm, const CallPlace& place) {
    return complete(comm, place, plain_reduce(sendbuf, recvbuf, count, datatype, op, root));
}
inline bool ireduce(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype,
                    MPI_Op op, int root, MPI_Comm comm, MPI_Request* request) {
    return start(comm, request, plain_reduce(sendbuf, recvbuf, count, datatype, op, root));
}

// Of MPI_Allreduce and MPI_Scan.
inline auto plain_reduction_of_all(collectives::Operation operation, ::poe::Call what,
                                   const void* sendbuf, void* recvbuf, MPI_Count count,
                                   MPI_Datatype datatype, MPI_Op op) {
    return [=](Comm& members) {
        return plain_reduction(members, operation, what, sendbuf, recvbuf, count, datatype, op, 0,
                               true);
    };
}
inline auto plain_allreduce(const void* sendbuf, void* recvbuf, MPI_Count count,
                            MPI_Datatype datatype, MPI_Op op) {
    return plain_reduction_of_all(collectives::Operation::kCombine, ::poe::Call::kCombine, sendbuf,
                                  recvbuf, count, datatype, op);
}
inline bool allreduce(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype,
                      MPI_Op op, MPI_Comm comm, const CallPlace& place) {
    return complete(comm, place, plain_allreduce(sendbuf, recvbuf, count, datatype, op));
}
inline bool iallreduce(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype,
                       MPI_Op op, MPI_Comm comm, MPI_Request* request) {
    return start(comm, request, plain_allreduce(sendbuf, recvbuf, count, datatype, op));
}
inline auto plain_scan(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype,
                       MPI_Op op) {
    return plain_reduction_of_all(collectives::Operation::kPrefix, ::poe::Call::kPrefix, sendbuf,
                                  recvbuf, count, datatype, op);
}
inline bool scan(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype,
                 MPI_Op op, MPI_Comm comm, const CallPlace& place) {
    return complete(comm, place, plain_scan(sendbuf, recvbuf, count, datatype, op));
}
inline bool iscan(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype,
                  MPI_Op op, MPI_Comm comm, MPI_Request* request) {
    return start(comm, request, plain_scan(sendbuf, recvbuf, count, datatype, op));
}

// Blocks: what a member sends and receives.
struct PlainBlocks {
    const void* sendbuf;
    MPI_Count sendcount;
    MPI_Datatype sendtype;
    void* recvbuf;
    MPI_Count recvcount;
    MPI_Datatype recvtype;

    bool are_alike() const noexcept { return recvcount == sendcount && recvtype == sendtype; }
    bool are_plain() const noexcept {
        return is_plain(sendbuf) && is_plain(recvbuf) && are_alike();
    }
};

inline auto plain_gather(const PlainBlocks& blocks, int root) {
    return [=](Comm& members) {
        const Bytes bytes = plain_bytes(blocks.sendcount, blocks.sendtype);
        const bool is_root = root == members.rank;
        if (!is_rank(members, root) || !is_plain(blocks.sendbuf) ||
            (is_root &&
             (!blocks.are_plain() || block_of(blocks.recvbuf, root, bytes) == blocks.sendbuf)))
            return kNotPlain;
        return PlainCall{
            collectives::Operation::kGather,   ::poe::Call::kGather, bytes, root, blocks.sendbuf,
            is_root ? blocks.recvbuf : nullptr};
    };
}
inline bool gather(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                   MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm,
                   const CallPlace& place) {
    return complete(
        comm, place,
        plain_gather({sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype}, root));
}
inline bool igather(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                    MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm,
                    MPI_Request* request) {
    return start(comm, request,
                 plain_gather({sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype}, root));
}

inline auto plain_scatter(const PlainBlocks& blocks, int root) {
    return [=](Comm& members) {
        const Bytes bytes = plain_bytes(blocks.recvcount, blocks.recvtype);
        const bool is_root = root == members.rank;
        if (!is_rank(members, root) || !is_plain(blocks.recvbuf) ||
            (is_root &&
             (!blocks.are_plain() || block_of(blocks.sendbuf, root, bytes) == blocks.recvbuf)))
            return kNotPlain;
        return PlainCall{collectives::Operation::kScatter,   ::poe::Call::kScatter, bytes, root,
                         is_root ? blocks.sendbuf : nullptr, blocks.recvbuf};
    };
}
inline bool scatter(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                    MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm,
                    const CallPlace& place) {
    return complete(
        comm, place,
        plain_scatter({sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype}, root));
}
inline bool iscatter(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                     MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm,
                     MPI_Request* request) {
    return start(comm, request,
                 plain_scatter({sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype}, root));
}

inline auto plain_allgather(const PlainBlocks& blocks) {
    return [=](Comm& members) {
        const Bytes bytes = plain_bytes(blocks.sendcount, blocks.sendtype);
        if (!blocks.are_plain() || block_of(blocks.recvbuf, members.rank, bytes) == blocks.sendbuf)
            return kNotPlain;
        return PlainCall{collectives::Operation::kConcat,
                         ::poe::Call::kConcat,
                         bytes,
                         0,
                         blocks.sendbuf,
                         blocks.recvbuf};
    };
}
inline bool allgather(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                      void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm,
                      const CallPlace& place) {
    return complete(comm, place,
                    plain_allgather({sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype}));
}
inline bool iallgather(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                       void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm,
                       MPI_Request* request) {
    return start(comm, request,
                 plain_allgather({sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype}));
}

inline auto plain_alltoall(const PlainBlocks& blocks) {
    return [=](Comm&) {
        if (!blocks.are_plain() || blocks.recvbuf == blocks.sendbuf) return kNotPlain;
        return PlainCall{collectives::Operation::kIndex,
                         ::poe::Call::kIndex,
                         plain_bytes(blocks.sendcount, blocks.sendtype),
                         0,
                         blocks.sendbuf,
                         blocks.recvbuf};
    };
}
inline bool alltoall(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                     MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm,
                     const CallPlace& place) {
    return complete(comm, place,
                    plain_alltoall({sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype}));
}
inline bool ialltoall(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                      void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm,
                      MPI_Request* request) {
    return start(comm, request,
                 plain_alltoall({sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype}));
}

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

inline bool win_fence(int assert, MPI_Win win, const CallPlace& place) {
    return with_window(win, [&](comm::Runtime& runtime, Window& window) {
        return fence_at_once(runtime, window, assert, call_of(place.function), place.site);
    });
}

}  // namespace poe::mpi::quick
