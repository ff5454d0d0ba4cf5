// Collective calls in which all members give and get data (MPI 5.0, sections 6.7, 6.8, 6.12 and
// 6.13).
#include <mpi.h>

#include "mpi/api/bodies.hpp"
#include "mpi/api/collective_call.hpp"
#include "mpi/collective/collective.hpp"

namespace poe::mpi {

namespace {
auto allgather_of(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                  MPI_Count recvcount, MPI_Datatype recvtype) {
    return [=](Sequence& sequence) {
        collective::allgather(sequence, {sendbuf, sendcount, sendtype, &kSendBufferNames},
                              {recvbuf, recvcount, recvtype, &kReceiveBufferNames});
    };
}
}  // namespace

int allgather(Call& call, const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
              void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm) {
    return complete(call, comm,
                    allgather_of(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype));
}
int iallgather(Call& call, const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
               void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm,
               MPI_Request* request) {
    return start(call, comm, request,
                 allgather_of(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype));
}
int allgather_init(Call& call, const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                   void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm,
                   MPI_Info, MPI_Request* request) {
    return prepare(call, comm, request,
                   allgather_of(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype));
}

namespace {
auto allgatherv_of(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                   Counts recvcounts, Counts displs, MPI_Datatype recvtype) {
    return [=](Sequence& sequence) {
        collective::allgatherv(sequence, {sendbuf, sendcount, sendtype, &kSendBufferNames},
                               {recvbuf, recvcounts, displs, recvtype, nullptr, &kGatheredNames});
    };
}
}  // namespace

int allgatherv(Call& call, const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
               void* recvbuf, Counts recvcounts, Counts displs, MPI_Datatype recvtype,
               MPI_Comm comm) {
    return complete(
        call, comm,
        allgatherv_of(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype));
}
int iallgatherv(Call& call, const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                void* recvbuf, Counts recvcounts, Counts displs, MPI_Datatype recvtype,
                MPI_Comm comm, MPI_Request* request) {
    return start(
        call, comm, request,
        allgatherv_of(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype));
}
int allgatherv_init(Call& call, const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                    void* recvbuf, Counts recvcounts, Counts displs, MPI_Datatype recvtype,
                    MPI_Comm comm, MPI_Info, MPI_Request* request) {
    return prepare(
        call, comm, request,
        allgatherv_of(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype));
}

namespace {
auto alltoall_of(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                 MPI_Count recvcount, MPI_Datatype recvtype) {
    return [=](Sequence& sequence) {
        collective::alltoall(sequence, {sendbuf, sendcount, sendtype, &kSendBufferNames},
                             {recvbuf, recvcount, recvtype, &kReceiveBufferNames});
    };
}
}  // namespace

int alltoall(Call& call, const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
             void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm) {
    return complete(call, comm,
                    alltoall_of(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype));
}
int ialltoall(Call& call, const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
              void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm,
              MPI_Request* request) {
    return start(call, comm, request,
                 alltoall_of(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype));
}
int alltoall_init(Call& call, const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                  void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm,
                  MPI_Info, MPI_Request* request) {
    return prepare(call, comm, request,
                   alltoall_of(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype));
}

namespace {
auto alltoallv_of(const void* sendbuf, Counts sendcounts, Counts sdispls, MPI_Datatype sendtype,
                  void* recvbuf, Counts recvcounts, Counts rdispls, MPI_Datatype recvtype) {
    return [=](Sequence& sequence) {
        collective::alltoallv(
            sequence, {sendbuf, sendcounts, sdispls, sendtype, nullptr, &kSendBlockNames},
            {recvbuf, recvcounts, rdispls, recvtype, nullptr, &kReceiveBlockNames});
    };
}
}  // namespace

int alltoallv(Call& call, const void* sendbuf, Counts sendcounts, Counts sdispls,
              MPI_Datatype sendtype, void* recvbuf, Counts recvcounts, Counts rdispls,
              MPI_Datatype recvtype, MPI_Comm comm) {
    return complete(call, comm,
                    alltoallv_of(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts,
                                 rdispls, recvtype));
}
int ialltoallv(Call& call, const void* sendbuf, Counts sendcounts, Counts sdispls,
               MPI_Datatype sendtype, void* recvbuf, Counts recvcounts, Counts rdispls,
               MPI_Datatype recvtype, MPI_Comm comm, MPI_Request* request) {
    return start(call, comm, request,
                 alltoallv_of(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls,
                              recvtype));
}
int alltoallv_init(Call& call, const void* sendbuf, Counts sendcounts, Counts sdispls,
                   MPI_Datatype sendtype, void* recvbuf, Counts recvcounts, Counts rdispls,
                   MPI_Datatype recvtype, MPI_Comm comm, MPI_Info, MPI_Request* request) {
    return prepare(call, comm, request,
                   alltoallv_of(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts,
                                rdispls, recvtype));
}

namespace {
auto alltoallw_of(const void* sendbuf, Counts sendcounts, Counts sdispls,
                  const MPI_Datatype* sendtypes, void* recvbuf, Counts recvcounts, Counts rdispls,
                  const MPI_Datatype* recvtypes) {
    return [=](Sequence& sequence) {
        collective::alltoallv(
            sequence, {sendbuf, sendcounts, sdispls, MPI_DATATYPE_NULL, sendtypes, &kSendTypeNames},
            {recvbuf, recvcounts, rdispls, MPI_DATATYPE_NULL, recvtypes, &kReceiveTypeNames});
    };
}
}  // namespace

int alltoallw(Call& call, const void* sendbuf, Counts sendcounts, Counts sdispls,
              const MPI_Datatype* sendtypes, void* recvbuf, Counts recvcounts, Counts rdispls,
              const MPI_Datatype* recvtypes, MPI_Comm comm) {
    return complete(call, comm,
                    alltoallw_of(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts,
                                 rdispls, recvtypes));
}
int ialltoallw(Call& call, const void* sendbuf, Counts sendcounts, Counts sdispls,
               const MPI_Datatype* sendtypes, void* recvbuf, Counts recvcounts, Counts rdispls,
               const MPI_Datatype* recvtypes, MPI_Comm comm, MPI_Request* request) {
    return start(call, comm, request,
                 alltoallw_of(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls,
                              recvtypes));
}
int alltoallw_init(Call& call, const void* sendbuf, Counts sendcounts, Counts sdispls,
                   const MPI_Datatype* sendtypes, void* recvbuf, Counts recvcounts, Counts rdispls,
                   const MPI_Datatype* recvtypes, MPI_Comm comm, MPI_Info, MPI_Request* request) {
    return prepare(call, comm, request,
                   alltoallw_of(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts,
                                rdispls, recvtypes));
}

}  // namespace poe::mpi
