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

}  // namespace poe::mpi::quick
