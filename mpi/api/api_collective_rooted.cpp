// Collective calls with a root, and the barrier (MPI 5.0, sections 6.3 to 6.6, 6.12 and 6.13).
#include <mpi.h>

#include "mpi/api/bodies.hpp"
#include "mpi/api/collective_call.hpp"
#include "mpi/collective/collective.hpp"

namespace poe::mpi {

int barrier(Call& call, MPI_Comm comm) {
    return complete(call, comm, collective::barrier);
}
int ibarrier(Call& call, MPI_Comm comm, MPI_Request* request) {
    return start(call, comm, request, collective::barrier);
}
int barrier_init(Call& call, MPI_Comm comm, MPI_Info, MPI_Request* request) {
    return prepare(call, comm, request, collective::barrier);
}

namespace {
auto bcast_of(void* buffer, MPI_Count count, MPI_Datatype datatype, int root) {
    return [=](Sequence& sequence) {
        collective::bcast(sequence, {buffer, count, datatype, &kBufferNames}, root);
    };
}
}  // namespace

int bcast(Call& call, void* buffer, MPI_Count count, MPI_Datatype datatype, int root,
          MPI_Comm comm) {
    return complete(call, comm, bcast_of(buffer, count, datatype, root), root);
}
int ibcast(Call& call, void* buffer, MPI_Count count, MPI_Datatype datatype, int root,
           MPI_Comm comm, MPI_Request* request) {
    return start(call, comm, request, bcast_of(buffer, count, datatype, root), root);
}
int bcast_init(Call& call, void* buffer, MPI_Count count, MPI_Datatype datatype, int root,
               MPI_Comm comm, MPI_Info, MPI_Request* request) {
    return prepare(call, comm, request, bcast_of(buffer, count, datatype, root), root);
}

namespace {
auto gather_of(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
               MPI_Count recvcount, MPI_Datatype recvtype, int root) {
    return [=](Sequence& sequence) {
        collective::gather(sequence, {sendbuf, sendcount, sendtype, &kSendBufferNames},
                           {recvbuf, recvcount, recvtype, &kReceiveBufferNames}, root);
    };
}
}  // namespace

int gather(Call& call, const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
           void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm) {
    return complete(call, comm,
                    gather_of(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root),
                    root);
}
int igather(Call& call, const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
            void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm,
            MPI_Request* request) {
    return start(call, comm, request,
                 gather_of(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root), root);
}
int gather_init(Call& call, const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm,
                MPI_Info, MPI_Request* request) {
    return prepare(call, comm, request,
                   gather_of(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root),
                   root);
}

namespace {
auto gatherv_of(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                Counts recvcounts, Counts displs, MPI_Datatype recvtype, int root) {
    return [=](Sequence& sequence) {
        collective::gatherv(sequence, {sendbuf, sendcount, sendtype, &kSendBufferNames},
                            {recvbuf, recvcounts, displs, recvtype, nullptr, &kGatheredNames},
                            root);
    };
}
}  // namespace

int gatherv(Call& call, const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
            void* recvbuf, Counts recvcounts, Counts displs, MPI_Datatype recvtype, int root,
            MPI_Comm comm) {
    return complete(
        call, comm,
        gatherv_of(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, root),
        root);
}
int igatherv(Call& call, const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
             void* recvbuf, Counts recvcounts, Counts displs, MPI_Datatype recvtype, int root,
             MPI_Comm comm, MPI_Request* request) {
    return start(
        call, comm, request,
        gatherv_of(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, root),
        root);
}
int gatherv_init(Call& call, const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                 void* recvbuf, Counts recvcounts, Counts displs, MPI_Datatype recvtype, int root,
                 MPI_Comm comm, MPI_Info, MPI_Request* request) {
    return prepare(
        call, comm, request,
        gatherv_of(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, root),
        root);
}

namespace {
auto scatter_of(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                MPI_Count recvcount, MPI_Datatype recvtype, int root) {
    return [=](Sequence& sequence) {
        collective::scatter(sequence, {sendbuf, sendcount, sendtype, &kSendBufferNames},
                            {recvbuf, recvcount, recvtype, &kReceiveBufferNames}, root);
    };
}
}  // namespace

int scatter(Call& call, const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
            void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm) {
    return complete(call, comm,
                    scatter_of(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root),
                    root);
}
int iscatter(Call& call, const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
             void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm,
             MPI_Request* request) {
    return start(call, comm, request,
                 scatter_of(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root),
                 root);
}
int scatter_init(Call& call, const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                 void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm,
                 MPI_Info, MPI_Request* request) {
    return prepare(call, comm, request,
                   scatter_of(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root),
                   root);
}

namespace {
auto scatterv_of(const void* sendbuf, Counts sendcounts, Counts displs, MPI_Datatype sendtype,
                 void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int root) {
    return [=](Sequence& sequence) {
        collective::scatterv(sequence,
                             {sendbuf, sendcounts, displs, sendtype, nullptr, &kScatteredNames},
                             {recvbuf, recvcount, recvtype, &kReceiveBufferNames}, root);
    };
}
}  // namespace

int scatterv(Call& call, const void* sendbuf, Counts sendcounts, Counts displs,
             MPI_Datatype sendtype, void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype,
             int root, MPI_Comm comm) {
    return complete(
        call, comm,
        scatterv_of(sendbuf, sendcounts, displs, sendtype, recvbuf, recvcount, recvtype, root),
        root);
}
int iscatterv(Call& call, const void* sendbuf, Counts sendcounts, Counts displs,
              MPI_Datatype sendtype, void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype,
              int root, MPI_Comm comm, MPI_Request* request) {
    return start(
        call, comm, request,
        scatterv_of(sendbuf, sendcounts, displs, sendtype, recvbuf, recvcount, recvtype, root),
        root);
}
int scatterv_init(Call& call, const void* sendbuf, Counts sendcounts, Counts displs,
                  MPI_Datatype sendtype, void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype,
                  int root, MPI_Comm comm, MPI_Info, MPI_Request* request) {
    return prepare(
        call, comm, request,
        scatterv_of(sendbuf, sendcounts, displs, sendtype, recvbuf, recvcount, recvtype, root),
        root);
}

}  // namespace poe::mpi
