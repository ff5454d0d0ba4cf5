// The fast paths of blocking calls with blocks of unequal length (quick_calls.hpp).
#pragma once

#include <mpi.h>

#include "mpi/api/quick_collective_calls.hpp"
#include "mpi/collective/plain_irregular.hpp"

namespace poe::mpi::quick {

inline ShownAs shown(const CallPlace& place) noexcept {
    return {call_of(place.function), place.site};
}
inline PlainVector plain_vector(const void* buffer, Counts counts, Counts displs,
                                MPI_Datatype type) noexcept {
    return {static_cast<std::byte*>(const_cast<void*>(buffer)), counts, displs,
            bytes_without_gaps(value_of(type))};
}
inline PlainBlock plain_block(const void* buffer, MPI_Count count, MPI_Datatype type) noexcept {
    return {static_cast<std::byte*>(const_cast<void*>(buffer)), plain_bytes(count, type)};
}

inline bool alltoallv(const void* sendbuf, Counts sendcounts, Counts sdispls, MPI_Datatype sendtype,
                      void* recvbuf, Counts recvcounts, Counts rdispls, MPI_Datatype recvtype,
                      MPI_Comm comm, const CallPlace& place) {
    if (!is_plain(sendbuf) || !is_plain(recvbuf)) return false;
    return with_comm(comm, [&](comm::Runtime& runtime, Comm& members) {
        return make_plain_alltoallv(
            runtime, members, plain_vector(sendbuf, sendcounts, sdispls, sendtype),
            plain_vector(recvbuf, recvcounts, rdispls, recvtype), shown(place));
    });
}

inline bool allgatherv(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                       void* recvbuf, Counts recvcounts, Counts displs, MPI_Datatype recvtype,
                       MPI_Comm comm, const CallPlace& place) {
    const bool in_place = sendbuf == MPI_IN_PLACE;
    if (sendbuf == nullptr || !is_plain(recvbuf)) return false;
    return with_comm(comm, [&](comm::Runtime& runtime, Comm& members) {
        if (members.is_inter() || members.size() < 2) return false;
        return make_plain_allgatherv(
            runtime, members, in_place ? PlainBlock{} : plain_block(sendbuf, sendcount, sendtype),
            plain_vector(recvbuf, recvcounts, displs, recvtype), shown(place));
    });
}

// A gatherv (`gathers`) or scatterv. A block of no elements has no length that plain_bytes() could
// tell from a wrong one.
inline bool make_rooted(bool gathers, const PlainBlock& own, const PlainVector& all, int root,
                        MPI_Comm comm, const CallPlace& place) {
    if (own.bytes == 0 || !is_plain(own.memory)) return false;
    return with_comm(comm, [&](comm::Runtime& runtime, Comm& members) {
        if (!is_rank(members, root) || (root == members.rank && !is_plain(all.memory)))
            return false;
        return make_plain_rooted(runtime, members, gathers, root, own, all, shown(place));
    });
}
inline bool gatherv(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                    Counts recvcounts, Counts displs, MPI_Datatype recvtype, int root,
                    MPI_Comm comm, const CallPlace& place) {
    return make_rooted(true, plain_block(sendbuf, sendcount, sendtype),
                       plain_vector(recvbuf, recvcounts, displs, recvtype), root, comm, place);
}
inline bool scatterv(const void* sendbuf, Counts sendcounts, Counts displs, MPI_Datatype sendtype,
                     void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int root,
                     MPI_Comm comm, const CallPlace& place) {
    return make_rooted(false, plain_block(recvbuf, recvcount, recvtype),
                       plain_vector(sendbuf, sendcounts, displs, sendtype), root, comm, place);
}

}  // namespace poe::mpi::quick
