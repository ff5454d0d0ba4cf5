// The fast paths of collective calls (quick_calls.hpp). Each call has a description, a function of
// the communicator, which the blocking and the non-blocking form share (plain_call.hpp).
#pragma once

#include <mpi.h>

#include "mpi/api/quick_turn.hpp"
#include "mpi/collective/plain_call.hpp"
#include "mpi/point/request.hpp"

namespace poe::mpi::quick {

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
        plain.shown = {call_of(place.function), place.site};
        return make_plain_call(runtime, comm, plain);
    });
}
// Starts that call without waiting for its end, and stores its request. False if it is not plain,
// or in place.
template <typename Describe>
inline bool start(MPI_Comm handle, MPI_Request* request, Describe&& describe) {
    if (request == nullptr) return false;
    return with_plain(handle, describe, [&](comm::Runtime& runtime, Comm& comm, PlainCall& plain) {
        if (plain.in_place) return false;
        *request = handle_of(start_plain_call(runtime, comm, plain));
        return true;
    });
}

inline bool is_plain(const void* buffer) noexcept {
    return buffer != nullptr && buffer != MPI_IN_PLACE;
}
inline bool is_rank(const Comm& comm, int root) noexcept {
    return root >= 0 && root < comm.size();
}
// The block of a rank in a buffer of blocks.
inline std::byte* block_of(const void* buffer, int rank, Bytes bytes) noexcept {
    return static_cast<std::byte*>(const_cast<void*>(buffer)) + static_cast<Bytes>(rank) * bytes;
}
inline constexpr PlainCall kNotPlain{collectives::Operation::kBcast};

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
    const bool in_place = given == MPI_IN_PLACE && gets;
    if (reduction == nullptr || !(in_place || is_plain(given)) ||
        (gets && (!is_plain(result) || result == given)))
        return kNotPlain;
    return {.operation = operation,
            .what = what,
            .bytes = plain_bytes(count, datatype),
            .root = root,
            .given = in_place ? result : given,
            .result = gets ? result : nullptr,
            .reduction = reduction,
            .in_place = in_place};
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

// Describes MPI_Allreduce or MPI_Scan, whose result all members get.
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

    Bytes sent_bytes() const noexcept { return plain_bytes(sendcount, sendtype); }
    Bytes received_bytes() const noexcept { return plain_bytes(recvcount, recvtype); }
    bool are_alike() const noexcept { return recvcount == sendcount && recvtype == sendtype; }
    bool are_plain() const noexcept {
        return is_plain(sendbuf) && is_plain(recvbuf) && are_alike();
    }
    // The member sends what is in the memory of what it receives.
    bool are_received_in_place() const noexcept {
        return sendbuf == MPI_IN_PLACE && is_plain(recvbuf);
    }
    // The root of a scatter keeps its block where it is.
    bool are_sent_in_place() const noexcept { return recvbuf == MPI_IN_PLACE && is_plain(sendbuf); }
};

inline auto plain_gather(const PlainBlocks& blocks, int root) {
    return [=](Comm& members) {
        PlainCall call{.operation = collectives::Operation::kGather,
                       .what = ::poe::Call::kGather,
                       .bytes = blocks.sent_bytes(),
                       .root = root,
                       .given = blocks.sendbuf};
        if (root != members.rank)
            return is_rank(members, root) && is_plain(blocks.sendbuf) ? call : kNotPlain;
        call.result = blocks.recvbuf;
        if (blocks.are_received_in_place()) {
            call.bytes = blocks.received_bytes();
            call.given = block_of(blocks.recvbuf, root, call.bytes);
            call.in_place = true;
            return call;
        }
        const bool plain =
            blocks.are_plain() && block_of(blocks.recvbuf, root, call.bytes) != blocks.sendbuf;
        return plain ? call : kNotPlain;
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
        PlainCall call{.operation = collectives::Operation::kScatter,
                       .what = ::poe::Call::kScatter,
                       .bytes = blocks.received_bytes(),
                       .root = root,
                       .result = blocks.recvbuf};
        if (root != members.rank)
            return is_rank(members, root) && is_plain(blocks.recvbuf) ? call : kNotPlain;
        call.given = blocks.sendbuf;
        if (blocks.are_sent_in_place()) {
            call.bytes = blocks.sent_bytes();
            call.result = block_of(blocks.sendbuf, root, call.bytes);
            call.in_place = true;
            return call;
        }
        const bool plain =
            blocks.are_plain() && block_of(blocks.sendbuf, root, call.bytes) != blocks.recvbuf;
        return plain ? call : kNotPlain;
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
        const bool in_place = blocks.are_received_in_place();
        const Bytes bytes = in_place ? blocks.received_bytes() : blocks.sent_bytes();
        const void* const own = block_of(blocks.recvbuf, members.rank, bytes);
        if (!in_place && (!blocks.are_plain() || own == blocks.sendbuf)) return kNotPlain;
        return PlainCall{.operation = collectives::Operation::kConcat,
                         .what = ::poe::Call::kConcat,
                         .bytes = bytes,
                         .given = in_place ? own : blocks.sendbuf,
                         .result = blocks.recvbuf,
                         .in_place = in_place};
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
        const bool in_place = blocks.are_received_in_place();
        if (!in_place && (!blocks.are_plain() || blocks.recvbuf == blocks.sendbuf))
            return kNotPlain;
        return PlainCall{.operation = collectives::Operation::kIndex,
                         .what = ::poe::Call::kIndex,
                         .bytes = in_place ? blocks.received_bytes() : blocks.sent_bytes(),
                         .given = in_place ? blocks.recvbuf : blocks.sendbuf,
                         .result = blocks.recvbuf,
                         .in_place = in_place};
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

}  // namespace poe::mpi::quick
