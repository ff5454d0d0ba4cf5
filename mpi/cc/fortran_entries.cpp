// The names of Fortran (mpif_cc.h): every argument by reference, handles as integers, and the
// result in a last argument.
#include "mpi/cc/mpi_cc.h"

namespace {

MPI_Datatype type(const MPI_Fint* handle) {
    return MPI_Type_fromint(*handle);
}
MPI_Comm communicator(const MPI_Fint* handle) {
    return MPI_Comm_fromint(*handle);
}

}  // namespace

#define BCAST_F void *buffer, const int *count, const MPI_Fint *datatype, const int *root
#define BCAST_A buffer, *count, type(datatype), *root
#define SCATTER_F                                                                       \
    const void *sendbuf, const int *sendcount, const MPI_Fint *sendtype, void *recvbuf, \
        const int *recvcount, const MPI_Fint *recvtype, const int *root
#define SCATTER_A sendbuf, *sendcount, type(sendtype), recvbuf, *recvcount, type(recvtype), *root
#define SCATTERV_F                                                                           \
    const void *sendbuf, const int *sendcounts, const int *displs, const MPI_Fint *sendtype, \
        void *recvbuf, const int *recvcount, const MPI_Fint *recvtype, const int *root
#define SCATTERV_A \
    sendbuf, sendcounts, displs, type(sendtype), recvbuf, *recvcount, type(recvtype), *root
#define GATHERV_F                                                                       \
    const void *sendbuf, const int *sendcount, const MPI_Fint *sendtype, void *recvbuf, \
        const int *recvcounts, const int *displs, const MPI_Fint *recvtype, const int *root
#define GATHERV_A \
    sendbuf, *sendcount, type(sendtype), recvbuf, recvcounts, displs, type(recvtype), *root
#define REDUCE_F                                                                    \
    const void *sendbuf, void *recvbuf, const int *count, const MPI_Fint *datatype, \
        const MPI_Fint *op, const int *root
#define REDUCE_A sendbuf, recvbuf, *count, type(datatype), MPI_Op_fromint(*op), *root

// The three subroutines of a rooted operation.
#define ROOTED(upper, lower, formal, actual)                                                 \
    extern "C" void mpix_##lower##_open_group_(formal, const MPI_Fint* comm, MPIX_Cc* group, \
                                               int* ierror) {                                \
        *ierror = MPIX_##upper##_open_group(actual, communicator(comm), group);              \
    }                                                                                        \
    extern "C" void mpix_##lower##_data_movement_(formal, const MPI_Fint* comm,              \
                                                  const MPIX_Cc* group, int* ierror) {       \
        *ierror = MPIX_##upper##_data_movement(actual, communicator(comm), *group);          \
    }                                                                                        \
    extern "C" void mpix_##lower##_close_group_(MPIX_Cc* group, int* ierror) {               \
        *ierror = MPIX_##upper##_close_group(group);                                         \
    }

#define COMMA_SAFE(...) __VA_ARGS__
#define EACH(upper, lower, NAME) ROOTED(upper, lower, COMMA_SAFE(NAME##_F), COMMA_SAFE(NAME##_A))

EACH(Bcast, bcast, BCAST)
EACH(Scatter, scatter, SCATTER)
EACH(Scatterv, scatterv, SCATTERV)
EACH(Gather, gather, SCATTER)
EACH(Gatherv, gatherv, GATHERV)
EACH(Reduce, reduce, REDUCE)

extern "C" {

void mpix_scatterv_dynamic_(SCATTERV_F, const MPI_Fint* comm, int* ierror) {
    *ierror = MPIX_Scatterv_dynamic(SCATTERV_A, communicator(comm));
}

void mpix_alltoallv_control1_(const int* sendcounts, const MPI_Fint* sendtype,
                              const int* recvcounts, const MPI_Fint* recvtype, const int* schedule,
                              const MPI_Fint* comm, MPIX_Cc* group, int* ierror) {
    *ierror = MPIX_Alltoallv_control1(sendcounts, type(sendtype), recvcounts, type(recvtype),
                                      *schedule, communicator(comm), group);
}
void mpix_alltoallv_control2_(const MPI_Count* bytes, const int* schedule, const MPI_Fint* comm,
                              MPIX_Cc* group, int* ierror) {
    *ierror = MPIX_Alltoallv_control2(bytes, *schedule, communicator(comm), group);
}
void mpix_alltoallv_data_trans2_(const void* sendbuf, const int* sendcounts, const int* sdispls,
                                 const MPI_Fint* sendtype, void* recvbuf, const int* recvcounts,
                                 const int* rdispls, const MPI_Fint* recvtype, const MPI_Fint* comm,
                                 const MPIX_Cc* group, int* ierror) {
    *ierror =
        MPIX_Alltoallv_data_trans2(sendbuf, sendcounts, sdispls, type(sendtype), recvbuf,
                                   recvcounts, rdispls, type(recvtype), communicator(comm), *group);
}
void mpix_alltoallv_close_group_(MPIX_Cc* group, int* ierror) {
    *ierror = MPIX_Alltoallv_close_group(group);
}
void mpix_alltoallv_get_phases_(const MPIX_Cc* group, int* phases, int* schedule, int* ierror) {
    *ierror = MPIX_Alltoallv_get_phases(*group, phases, schedule);
}

}  // extern "C"
