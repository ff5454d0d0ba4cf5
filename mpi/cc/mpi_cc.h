/* Network control apart from data transmission, as in CC-MPI (Karwande, Yuan, Lowenthal 2003): an
 * extension of MPI. A control function prepares a communication once: it learns who takes part,
 * agrees on the lengths and computes the schedule. A data function then moves data as often as the
 * program likes. poe-mpi-cc(7) describes all functions. Link with -lmpi_cc, which uses only
 * functions of the standard and works with every library of the standard's binary interface.
 *
 * All members of the communicator call control functions in the same order. A data function is
 * called by all members, with the arguments of the control function; an argument that differs is an
 * error of class MPI_ERR_ARG, which invokes the error handler of the communicator. All functions
 * return MPI_SUCCESS or an error code. Buffers belong to the program; data functions use them until
 * they return, and groups of rooted operations remember their addresses. */
#ifndef POE_MPI_CC_H
#define POE_MPI_CC_H

#include <mpi.h>

#ifdef __cplusplus
extern "C" {
#endif

/* An open group: a prepared communication. Belongs to the task. */
typedef int MPIX_Cc;
#define MPIX_CC_NULL (-1)

/* How an alltoallv is scheduled. */
enum {
    MPIX_CC_AUTO = 0,      /* what is predicted to be the fastest: without phases */
    MPIX_CC_SIMPLE = 1,    /* all at once, without phases */
    MPIX_CC_GREEDY = 2,    /* phases of the longest messages that do not compete */
    MPIX_CC_ALL_TO_ALL = 3 /* phases that begin with messages of the same distance */
};

/* Rooted operations. open_group blocks until the group is prepared; data_movement blocks until this
 * member's part is complete; close_group sets the handle to MPIX_CC_NULL. A member that neither
 * sends nor receives data (a count of 0) takes no part in the data movement and does not wait. */
#define MPIX_CC_BCAST_ARGUMENTS void *buffer, int count, MPI_Datatype datatype, int root
#define MPIX_CC_SCATTER_ARGUMENTS                                                            \
    const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount, \
        MPI_Datatype recvtype, int root
#define MPIX_CC_SCATTERV_ARGUMENTS                                                          \
    const void *sendbuf, const int sendcounts[], const int displs[], MPI_Datatype sendtype, \
        void *recvbuf, int recvcount, MPI_Datatype recvtype, int root
#define MPIX_CC_GATHERV_ARGUMENTS                                             \
    const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, \
        const int recvcounts[], const int displs[], MPI_Datatype recvtype, int root
#define MPIX_CC_REDUCE_ARGUMENTS \
    const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op, int root

int MPIX_Bcast_open_group(MPIX_CC_BCAST_ARGUMENTS, MPI_Comm comm, MPIX_Cc* group);
int MPIX_Bcast_data_movement(MPIX_CC_BCAST_ARGUMENTS, MPI_Comm comm, MPIX_Cc group);
int MPIX_Bcast_close_group(MPIX_Cc* group);
int MPIX_Scatter_open_group(MPIX_CC_SCATTER_ARGUMENTS, MPI_Comm comm, MPIX_Cc* group);
int MPIX_Scatter_data_movement(MPIX_CC_SCATTER_ARGUMENTS, MPI_Comm comm, MPIX_Cc group);
int MPIX_Scatter_close_group(MPIX_Cc* group);
int MPIX_Scatterv_open_group(MPIX_CC_SCATTERV_ARGUMENTS, MPI_Comm comm, MPIX_Cc* group);
int MPIX_Scatterv_data_movement(MPIX_CC_SCATTERV_ARGUMENTS, MPI_Comm comm, MPIX_Cc group);
int MPIX_Scatterv_close_group(MPIX_Cc* group);
int MPIX_Gather_open_group(MPIX_CC_SCATTER_ARGUMENTS, MPI_Comm comm, MPIX_Cc* group);
int MPIX_Gather_data_movement(MPIX_CC_SCATTER_ARGUMENTS, MPI_Comm comm, MPIX_Cc group);
int MPIX_Gather_close_group(MPIX_Cc* group);
int MPIX_Gatherv_open_group(MPIX_CC_GATHERV_ARGUMENTS, MPI_Comm comm, MPIX_Cc* group);
int MPIX_Gatherv_data_movement(MPIX_CC_GATHERV_ARGUMENTS, MPI_Comm comm, MPIX_Cc group);
int MPIX_Gatherv_close_group(MPIX_Cc* group);
int MPIX_Reduce_open_group(MPIX_CC_REDUCE_ARGUMENTS, MPI_Comm comm, MPIX_Cc* group);
int MPIX_Reduce_data_movement(MPIX_CC_REDUCE_ARGUMENTS, MPI_Comm comm, MPIX_Cc group);
int MPIX_Reduce_close_group(MPIX_Cc* group);
/* Opens a group for one scatterv, moves the data, closes it (dynamic group management). */
int MPIX_Scatterv_dynamic(MPIX_CC_SCATTERV_ARGUMENTS, MPI_Comm comm);

/* Alltoallv. control1 exchanges the lengths among all members and computes the schedule; it blocks.
 * If a member does not receive as much as another one sends to it, all members get an error.
 * control2 computes the schedule from lengths that the program knows: bytes[i * n + j] bytes go
 * from rank i to rank j, the same at all members. Only the first control function on a communicator
 * sends messages for control2, because it makes a communicator for the data. data_trans2
 * moves the data by the schedule of the group; it refuses lengths for which the group was not made. */
int MPIX_Alltoallv_control1(const int sendcounts[], MPI_Datatype sendtype, const int recvcounts[],
                            MPI_Datatype recvtype, int schedule, MPI_Comm comm, MPIX_Cc* group);
int MPIX_Alltoallv_control2(const MPI_Count bytes[], int schedule, MPI_Comm comm, MPIX_Cc* group);
int MPIX_Alltoallv_data_trans2(const void* sendbuf, const int sendcounts[], const int sdispls[],
                               MPI_Datatype sendtype, void* recvbuf, const int recvcounts[],
                               const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm,
                               MPIX_Cc group);
int MPIX_Alltoallv_close_group(MPIX_Cc* group);
/* The number of phases of the group's schedule (0: none), and the schedule that was chosen. */
int MPIX_Alltoallv_get_phases(MPIX_Cc group, int* phases, int* schedule);

#ifdef __cplusplus
}
#endif

/* The names of the paper. */
#ifndef MPIX_CC_NO_SHORT_NAMES
#define MPI_Scatterv_open_group MPIX_Scatterv_open_group
#define MPI_Scatterv_data_movement MPIX_Scatterv_data_movement
#define MPI_Scatterv_close_group MPIX_Scatterv_close_group
#define MPI_Alltoallv_control1 MPIX_Alltoallv_control1
#define MPI_Alltoallv_control2 MPIX_Alltoallv_control2
#define MPI_Alltoallv_data_trans2 MPIX_Alltoallv_data_trans2
#endif

#endif
