/* A tool as others write it: it defines functions of MPI and calls those of the profiling interface. It
 * counts every call that it sees. */
#include <mpi.h>

enum { kRank, kSendrecv, kIrecv, kSend, kWaitall, kBarrier, kAllreduce, kFunctions };

static int counts[kFunctions];

int tool_count(int function);
int tool_count(int function) {
    return counts[function];
}

int MPI_Comm_rank(MPI_Comm comm, int* rank) {
    ++counts[kRank];
    return PMPI_Comm_rank(comm, rank);
}
int MPI_Sendrecv(const void* sendbuf, int sendcount, MPI_Datatype sendtype, int dest, int sendtag,
                 void* recvbuf, int recvcount, MPI_Datatype recvtype, int source, int recvtag,
                 MPI_Comm comm, MPI_Status* status) {
    ++counts[kSendrecv];
    return PMPI_Sendrecv(sendbuf, sendcount, sendtype, dest, sendtag, recvbuf, recvcount, recvtype,
                         source, recvtag, comm, status);
}
int MPI_Irecv(void* buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm,
              MPI_Request* request) {
    ++counts[kIrecv];
    return PMPI_Irecv(buf, count, datatype, source, tag, comm, request);
}
int MPI_Send(const void* buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm) {
    ++counts[kSend];
    return PMPI_Send(buf, count, datatype, dest, tag, comm);
}
int MPI_Waitall(int count, MPI_Request array_of_requests[], MPI_Status* array_of_statuses) {
    ++counts[kWaitall];
    return PMPI_Waitall(count, array_of_requests, array_of_statuses);
}
int MPI_Barrier(MPI_Comm comm) {
    ++counts[kBarrier];
    return PMPI_Barrier(comm);
}
int MPI_Allreduce(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
                  MPI_Comm comm) {
    ++counts[kAllreduce];
    return PMPI_Allreduce(sendbuf, recvbuf, count, datatype, op, comm);
}
