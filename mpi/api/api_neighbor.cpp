// Neighbourhood collective calls (MPI 5.0, sections 8.6 to 8.8).
#include <mpi.h>

#include "mpi/api/bodies.hpp"
#include "mpi/api/collective_call.hpp"
#include "mpi/collective/neighbor.hpp"

namespace poe::mpi {

namespace {
// The neighbours of this task in the virtual topology of the communicator. Null, after a report:
// it has none.
const Neighbors* find_neighbors(Call& call, MPI_Comm comm) {
    Comm& members = *find_comm(comm);
    if (members.topology != nullptr) return &members.topology->own_neighbors(members.rank);
    call.fail(MPI_ERR_TOPOLOGY, "comm", "the communicator has no virtual topology",
              "make one with MPI_Cart_create or MPI_Dist_graph_create");
    return nullptr;
}

auto neighbor_allgather_of(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                           void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype,
                           const Neighbors& neighbors) {
    return [=, &neighbors](Sequence& sequence) {
        collective::neighbor_allgather(sequence, neighbors,
                                       {sendbuf, sendcount, sendtype, &kSendBufferNames},
                                       {recvbuf, recvcount, recvtype, &kReceiveBufferNames});
    };
}
}  // namespace

int neighbor_allgather(Call& call, const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                       void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm) {
    const Neighbors* const neighbors = find_neighbors(call, comm);
    if (neighbors == nullptr) return call.code();
    return complete(call, comm,
                    neighbor_allgather_of(sendbuf, sendcount, sendtype, recvbuf, recvcount,
                                          recvtype, *neighbors));
}
int ineighbor_allgather(Call& call, const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                        void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm,
                        MPI_Request* request) {
    const Neighbors* const neighbors = find_neighbors(call, comm);
    if (neighbors == nullptr) return call.code();
    return start(call, comm, request,
                 neighbor_allgather_of(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype,
                                       *neighbors));
}
int neighbor_allgather_init(Call& call, const void* sendbuf, MPI_Count sendcount,
                            MPI_Datatype sendtype, void* recvbuf, MPI_Count recvcount,
                            MPI_Datatype recvtype, MPI_Comm comm, MPI_Info, MPI_Request* request) {
    const Neighbors* const neighbors = find_neighbors(call, comm);
    if (neighbors == nullptr) return call.code();
    return prepare(call, comm, request,
                   neighbor_allgather_of(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype,
                                         *neighbors));
}

namespace {
auto neighbor_allgatherv_of(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                            void* recvbuf, Counts recvcounts, Counts displs, MPI_Datatype recvtype,
                            const Neighbors& neighbors) {
    return [=, &neighbors](Sequence& sequence) {
        collective::neighbor_allgatherv(
            sequence, neighbors, {sendbuf, sendcount, sendtype, &kSendBufferNames},
            {recvbuf, recvcounts, displs, recvtype, nullptr, &kGatheredNames});
    };
}
}  // namespace

int neighbor_allgatherv(Call& call, const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                        void* recvbuf, Counts recvcounts, Counts displs, MPI_Datatype recvtype,
                        MPI_Comm comm) {
    const Neighbors* const neighbors = find_neighbors(call, comm);
    if (neighbors == nullptr) return call.code();
    return complete(call, comm,
                    neighbor_allgatherv_of(sendbuf, sendcount, sendtype, recvbuf, recvcounts,
                                           displs, recvtype, *neighbors));
}
int ineighbor_allgatherv(Call& call, const void* sendbuf, MPI_Count sendcount,
                         MPI_Datatype sendtype, void* recvbuf, Counts recvcounts, Counts displs,
                         MPI_Datatype recvtype, MPI_Comm comm, MPI_Request* request) {
    const Neighbors* const neighbors = find_neighbors(call, comm);
    if (neighbors == nullptr) return call.code();
    return start(call, comm, request,
                 neighbor_allgatherv_of(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs,
                                        recvtype, *neighbors));
}
int neighbor_allgatherv_init(Call& call, const void* sendbuf, MPI_Count sendcount,
                             MPI_Datatype sendtype, void* recvbuf, Counts recvcounts, Counts displs,
                             MPI_Datatype recvtype, MPI_Comm comm, MPI_Info, MPI_Request* request) {
    const Neighbors* const neighbors = find_neighbors(call, comm);
    if (neighbors == nullptr) return call.code();
    return prepare(call, comm, request,
                   neighbor_allgatherv_of(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs,
                                          recvtype, *neighbors));
}

namespace {
auto neighbor_alltoall_of(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                          void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype,
                          const Neighbors& neighbors) {
    return [=, &neighbors](Sequence& sequence) {
        collective::neighbor_alltoall(sequence, neighbors,
                                      {sendbuf, sendcount, sendtype, &kSendBufferNames},
                                      {recvbuf, recvcount, recvtype, &kReceiveBufferNames});
    };
}
}  // namespace

int neighbor_alltoall(Call& call, const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                      void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm) {
    const Neighbors* const neighbors = find_neighbors(call, comm);
    if (neighbors == nullptr) return call.code();
    return complete(call, comm,
                    neighbor_alltoall_of(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype,
                                         *neighbors));
}
int ineighbor_alltoall(Call& call, const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                       void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm,
                       MPI_Request* request) {
    const Neighbors* const neighbors = find_neighbors(call, comm);
    if (neighbors == nullptr) return call.code();
    return start(call, comm, request,
                 neighbor_alltoall_of(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype,
                                      *neighbors));
}
int neighbor_alltoall_init(Call& call, const void* sendbuf, MPI_Count sendcount,
                           MPI_Datatype sendtype, void* recvbuf, MPI_Count recvcount,
                           MPI_Datatype recvtype, MPI_Comm comm, MPI_Info, MPI_Request* request) {
    const Neighbors* const neighbors = find_neighbors(call, comm);
    if (neighbors == nullptr) return call.code();
    return prepare(call, comm, request,
                   neighbor_alltoall_of(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype,
                                        *neighbors));
}

namespace {
auto neighbor_alltoallv_of(const void* sendbuf, Counts sendcounts, Counts sdispls,
                           MPI_Datatype sendtype, void* recvbuf, Counts recvcounts, Counts rdispls,
                           MPI_Datatype recvtype, const Neighbors& neighbors) {
    return [=, &neighbors](Sequence& sequence) {
        collective::neighbor_alltoallv(
            sequence, neighbors,
            {sendbuf, sendcounts, sdispls, sendtype, nullptr, &kSendBlockNames},
            {recvbuf, recvcounts, rdispls, recvtype, nullptr, &kReceiveBlockNames});
    };
}
}  // namespace

int neighbor_alltoallv(Call& call, const void* sendbuf, Counts sendcounts, Counts sdispls,
                       MPI_Datatype sendtype, void* recvbuf, Counts recvcounts, Counts rdispls,
                       MPI_Datatype recvtype, MPI_Comm comm) {
    const Neighbors* const neighbors = find_neighbors(call, comm);
    if (neighbors == nullptr) return call.code();
    return complete(call, comm,
                    neighbor_alltoallv_of(sendbuf, sendcounts, sdispls, sendtype, recvbuf,
                                          recvcounts, rdispls, recvtype, *neighbors));
}
int ineighbor_alltoallv(Call& call, const void* sendbuf, Counts sendcounts, Counts sdispls,
                        MPI_Datatype sendtype, void* recvbuf, Counts recvcounts, Counts rdispls,
                        MPI_Datatype recvtype, MPI_Comm comm, MPI_Request* request) {
    const Neighbors* const neighbors = find_neighbors(call, comm);
    if (neighbors == nullptr) return call.code();
    return start(call, comm, request,
                 neighbor_alltoallv_of(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts,
                                       rdispls, recvtype, *neighbors));
}
int neighbor_alltoallv_init(Call& call, const void* sendbuf, Counts sendcounts, Counts sdispls,
                            MPI_Datatype sendtype, void* recvbuf, Counts recvcounts, Counts rdispls,
                            MPI_Datatype recvtype, MPI_Comm comm, MPI_Info, MPI_Request* request) {
    const Neighbors* const neighbors = find_neighbors(call, comm);
    if (neighbors == nullptr) return call.code();
    return prepare(call, comm, request,
                   neighbor_alltoallv_of(sendbuf, sendcounts, sdispls, sendtype, recvbuf,
                                         recvcounts, rdispls, recvtype, *neighbors));
}

namespace {
auto neighbor_alltoallw_of(const void* sendbuf, Counts sendcounts, const MPI_Aint* sdispls,
                           const MPI_Datatype* sendtypes, void* recvbuf, Counts recvcounts,
                           const MPI_Aint* rdispls, const MPI_Datatype* recvtypes,
                           const Neighbors& neighbors) {
    return [=, &neighbors](Sequence& sequence) {
        collective::neighbor_alltoallv(
            sequence, neighbors,
            {sendbuf, sendcounts, sdispls, MPI_DATATYPE_NULL, sendtypes, &kSendTypeNames},
            {recvbuf, recvcounts, rdispls, MPI_DATATYPE_NULL, recvtypes, &kReceiveTypeNames});
    };
}
}  // namespace

int neighbor_alltoallw(Call& call, const void* sendbuf, Counts sendcounts, const MPI_Aint* sdispls,
                       const MPI_Datatype* sendtypes, void* recvbuf, Counts recvcounts,
                       const MPI_Aint* rdispls, const MPI_Datatype* recvtypes, MPI_Comm comm) {
    const Neighbors* const neighbors = find_neighbors(call, comm);
    if (neighbors == nullptr) return call.code();
    return complete(call, comm,
                    neighbor_alltoallw_of(sendbuf, sendcounts, sdispls, sendtypes, recvbuf,
                                          recvcounts, rdispls, recvtypes, *neighbors));
}
int ineighbor_alltoallw(Call& call, const void* sendbuf, Counts sendcounts, const MPI_Aint* sdispls,
                        const MPI_Datatype* sendtypes, void* recvbuf, Counts recvcounts,
                        const MPI_Aint* rdispls, const MPI_Datatype* recvtypes, MPI_Comm comm,
                        MPI_Request* request) {
    const Neighbors* const neighbors = find_neighbors(call, comm);
    if (neighbors == nullptr) return call.code();
    return start(call, comm, request,
                 neighbor_alltoallw_of(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts,
                                       rdispls, recvtypes, *neighbors));
}
int neighbor_alltoallw_init(Call& call, const void* sendbuf, Counts sendcounts,
                            const MPI_Aint* sdispls, const MPI_Datatype* sendtypes, void* recvbuf,
                            Counts recvcounts, const MPI_Aint* rdispls,
                            const MPI_Datatype* recvtypes, MPI_Comm comm, MPI_Info,
                            MPI_Request* request) {
    const Neighbors* const neighbors = find_neighbors(call, comm);
    if (neighbors == nullptr) return call.code();
    return prepare(call, comm, request,
                   neighbor_alltoallw_of(sendbuf, sendcounts, sdispls, sendtypes, recvbuf,
                                         recvcounts, rdispls, recvtypes, *neighbors));
}

}  // namespace poe::mpi
