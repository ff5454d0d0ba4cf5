// Reductions (MPI 5.0, sections 6.9 to 6.13).
#include <mpi.h>

#include "mpi/api/bodies.hpp"
#include "mpi/api/collective_call.hpp"
#include "mpi/collective/collective.hpp"

namespace poe::mpi {

namespace {
auto reduce_of(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype,
               MPI_Op op, int root) {
    return [=](Sequence& sequence) {
        collective::reduce(sequence, {sendbuf, recvbuf, count, datatype, op}, root);
    };
}
}  // namespace

int reduce(Call& call, const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype,
           MPI_Op op, int root, MPI_Comm comm) {
    return complete_reduction(call, comm, op,
                              reduce_of(sendbuf, recvbuf, count, datatype, op, root), root);
}
int ireduce(Call& call, const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype,
            MPI_Op op, int root, MPI_Comm comm, MPI_Request* request) {
    return start(call, comm, request, reduce_of(sendbuf, recvbuf, count, datatype, op, root), root);
}
int reduce_init(Call& call, const void* sendbuf, void* recvbuf, MPI_Count count,
                MPI_Datatype datatype, MPI_Op op, int root, MPI_Comm comm, MPI_Info,
                MPI_Request* request) {
    return prepare(call, comm, request, reduce_of(sendbuf, recvbuf, count, datatype, op, root),
                   root);
}

namespace {
auto allreduce_of(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype,
                  MPI_Op op) {
    return [=](Sequence& sequence) {
        collective::allreduce(sequence, {sendbuf, recvbuf, count, datatype, op});
    };
}
}  // namespace

int allreduce(Call& call, const void* sendbuf, void* recvbuf, MPI_Count count,
              MPI_Datatype datatype, MPI_Op op, MPI_Comm comm) {
    return complete_reduction(call, comm, op, allreduce_of(sendbuf, recvbuf, count, datatype, op));
}
int iallreduce(Call& call, const void* sendbuf, void* recvbuf, MPI_Count count,
               MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Request* request) {
    return start(call, comm, request, allreduce_of(sendbuf, recvbuf, count, datatype, op));
}
int allreduce_init(Call& call, const void* sendbuf, void* recvbuf, MPI_Count count,
                   MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Info,
                   MPI_Request* request) {
    return prepare(call, comm, request, allreduce_of(sendbuf, recvbuf, count, datatype, op));
}

namespace {
auto scan_of(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype,
             MPI_Op op) {
    return [=](Sequence& sequence) {
        collective::scan(sequence, {sendbuf, recvbuf, count, datatype, op});
    };
}
}  // namespace

int scan(Call& call, const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype,
         MPI_Op op, MPI_Comm comm) {
    return complete_reduction(call, comm, op, scan_of(sendbuf, recvbuf, count, datatype, op));
}
int iscan(Call& call, const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype,
          MPI_Op op, MPI_Comm comm, MPI_Request* request) {
    return start(call, comm, request, scan_of(sendbuf, recvbuf, count, datatype, op));
}
int scan_init(Call& call, const void* sendbuf, void* recvbuf, MPI_Count count,
              MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Info, MPI_Request* request) {
    return prepare(call, comm, request, scan_of(sendbuf, recvbuf, count, datatype, op));
}

namespace {
auto exscan_of(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype,
               MPI_Op op) {
    return [=](Sequence& sequence) {
        collective::exscan(sequence, {sendbuf, recvbuf, count, datatype, op});
    };
}
}  // namespace

int exscan(Call& call, const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype,
           MPI_Op op, MPI_Comm comm) {
    return complete_reduction(call, comm, op, exscan_of(sendbuf, recvbuf, count, datatype, op));
}
int iexscan(Call& call, const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype,
            MPI_Op op, MPI_Comm comm, MPI_Request* request) {
    return start(call, comm, request, exscan_of(sendbuf, recvbuf, count, datatype, op));
}
int exscan_init(Call& call, const void* sendbuf, void* recvbuf, MPI_Count count,
                MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Info, MPI_Request* request) {
    return prepare(call, comm, request, exscan_of(sendbuf, recvbuf, count, datatype, op));
}

namespace {
auto reduce_scatter_block_of(const void* sendbuf, void* recvbuf, MPI_Count recvcount,
                             MPI_Datatype datatype, MPI_Op op) {
    return [=](Sequence& sequence) {
        collective::reduce_scatter_block(sequence, {sendbuf, recvbuf, recvcount, datatype, op});
    };
}
}  // namespace

int reduce_scatter_block(Call& call, const void* sendbuf, void* recvbuf, MPI_Count recvcount,
                         MPI_Datatype datatype, MPI_Op op, MPI_Comm comm) {
    return complete_reduction(call, comm, op,
                              reduce_scatter_block_of(sendbuf, recvbuf, recvcount, datatype, op));
}
int ireduce_scatter_block(Call& call, const void* sendbuf, void* recvbuf, MPI_Count recvcount,
                          MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Request* request) {
    return start(call, comm, request,
                 reduce_scatter_block_of(sendbuf, recvbuf, recvcount, datatype, op));
}
int reduce_scatter_block_init(Call& call, const void* sendbuf, void* recvbuf, MPI_Count recvcount,
                              MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Info,
                              MPI_Request* request) {
    return prepare(call, comm, request,
                   reduce_scatter_block_of(sendbuf, recvbuf, recvcount, datatype, op));
}

namespace {
auto reduce_scatter_of(const void* sendbuf, void* recvbuf, Counts recvcounts, MPI_Datatype datatype,
                       MPI_Op op) {
    return [=](Sequence& sequence) {
        collective::reduce_scatter(sequence, {sendbuf, recvbuf, 0, datatype, op}, recvcounts);
    };
}
}  // namespace

int reduce_scatter(Call& call, const void* sendbuf, void* recvbuf, Counts recvcounts,
                   MPI_Datatype datatype, MPI_Op op, MPI_Comm comm) {
    return complete_reduction(call, comm, op,
                              reduce_scatter_of(sendbuf, recvbuf, recvcounts, datatype, op));
}
int ireduce_scatter(Call& call, const void* sendbuf, void* recvbuf, Counts recvcounts,
                    MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Request* request) {
    return start(call, comm, request,
                 reduce_scatter_of(sendbuf, recvbuf, recvcounts, datatype, op));
}
int reduce_scatter_init(Call& call, const void* sendbuf, void* recvbuf, Counts recvcounts,
                        MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Info,
                        MPI_Request* request) {
    return prepare(call, comm, request,
                   reduce_scatter_of(sendbuf, recvbuf, recvcounts, datatype, op));
}

}  // namespace poe::mpi
