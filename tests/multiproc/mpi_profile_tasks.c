/* Calls of every kind with lengths that differ between members, for the comparison of a trace with mpi_profile.c.
   Rank r of n tasks gives (r + 1) * (i + 1) ints to member i where lengths differ. */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

enum { kMost = 16, kRounds = 3, kInts = kMost * kMost * kMost };

static int rank, size;
static int given[kInts], taken[kInts], both[kInts];
static int counts[kMost], places[kMost], own_counts[kMost], own_places[kMost];
static int byte_places[kMost], own_byte_places[kMost];
static MPI_Datatype types[kMost];

static int next(void) {
    return (rank + 1) % size;
}
static int previous(void) {
    return (rank + size - 1) % size;
}

/* given to member i: counts[i]; taken from member i: own_counts[i] */
static void prepare(void) {
    for (int i = 0; i < size; ++i) {
        counts[i] = (rank + 1) * (i + 1);
        own_counts[i] = (i + 1) * (rank + 1);
        places[i] = i == 0 ? 0 : places[i - 1] + counts[i - 1];
        own_places[i] = i == 0 ? 0 : own_places[i - 1] + own_counts[i - 1];
        byte_places[i] = places[i] * (int)sizeof(int);
        own_byte_places[i] = own_places[i] * (int)sizeof(int);
        types[i] = MPI_INT;
    }
}

static void messages(void) {
    MPI_Request requests[2];
    MPI_Status statuses[2];
    int index, flag;
    MPI_Sendrecv(given, rank + 1, MPI_INT, next(), 1, taken, kInts, MPI_INT, previous(), 1,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Irecv(taken, kInts, MPI_INT, MPI_ANY_SOURCE, 2, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(given, 5 + rank, MPI_INT, next(), 2, MPI_COMM_WORLD, &requests[1]);
    MPI_Waitall(2, requests, statuses);
    MPI_Isend(given, 7, MPI_INT, next(), 3, MPI_COMM_WORLD, &requests[0]);
    MPI_Recv(taken, kInts, MPI_INT, previous(), 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    MPI_Send_init(given, 2, MPI_DOUBLE, next(), 4, MPI_COMM_WORLD, &requests[0]);
    MPI_Recv_init(taken, 2, MPI_DOUBLE, previous(), 4, MPI_COMM_WORLD, &requests[1]);
    MPI_Startall(2, requests);
    MPI_Waitany(2, requests, &index, MPI_STATUS_IGNORE);
    MPI_Waitany(2, requests, &index, MPI_STATUS_IGNORE);
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
    MPI_Iprobe(MPI_ANY_SOURCE, 77, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    MPI_Send(given, 9, MPI_INT, MPI_PROC_NULL, 5, MPI_COMM_WORLD);
    MPI_Recv(taken, 9, MPI_INT, MPI_PROC_NULL, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void equal_lengths(MPI_Comm comm) {
    MPI_Request request;
    MPI_Barrier(comm);
    MPI_Bcast(both, 11, MPI_INT, 0, comm);
    MPI_Reduce(given, taken, 3, MPI_INT, MPI_SUM, 1 % size, comm);
    MPI_Allreduce(given, taken, 4, MPI_INT, MPI_MAX, comm);
    MPI_Allreduce(MPI_IN_PLACE, both, 4, MPI_INT, MPI_MAX, comm);
    MPI_Scan(given, taken, 5, MPI_INT, MPI_SUM, comm);
    MPI_Exscan(given, taken, 6, MPI_INT, MPI_SUM, comm);
    MPI_Gather(given, 7, MPI_INT, taken, 7, MPI_INT, 0, comm);
    MPI_Gather(rank == 0 ? MPI_IN_PLACE : given, 7, MPI_INT, both, 7, MPI_INT, 0, comm);
    MPI_Scatter(given, 8, MPI_INT, taken, 8, MPI_INT, 0, comm);
    MPI_Scatter(both, 8, MPI_INT, rank == 0 ? MPI_IN_PLACE : taken, 8, MPI_INT, 0, comm);
    MPI_Allgather(given, 9, MPI_INT, taken, 9, MPI_INT, comm);
    MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, both, 9, MPI_INT, comm);
    MPI_Alltoall(given, 10, MPI_INT, taken, 10, MPI_INT, comm);
    MPI_Reduce_scatter_block(given, taken, 3, MPI_INT, MPI_SUM, comm);
    MPI_Ibarrier(comm, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Ibcast(both, 12, MPI_INT, 0, comm, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Iallreduce(given, taken, 13, MPI_INT, MPI_SUM, comm, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void own_lengths(MPI_Comm comm) {
    MPI_Request request;
    int blocks[kMost], begins[kMost];
    for (int i = 0; i < size; ++i) {
        blocks[i] = i + 1;
        begins[i] = i * kMost;
    }
    MPI_Gatherv(given, rank + 1, MPI_INT, taken, blocks, begins, MPI_INT, 0, comm);
    MPI_Gatherv(rank == 0 ? MPI_IN_PLACE : given, rank + 1, MPI_INT, both, blocks, begins, MPI_INT,
                0, comm);
    MPI_Scatterv(given, blocks, begins, MPI_INT, taken, rank + 1, MPI_INT, 0, comm);
    MPI_Scatterv(both, blocks, begins, MPI_INT, rank == 0 ? MPI_IN_PLACE : taken, rank + 1, MPI_INT,
                 0, comm);
    MPI_Allgatherv(given, rank + 1, MPI_INT, taken, blocks, begins, MPI_INT, comm);
    MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, both, blocks, begins, MPI_INT, comm);
    MPI_Alltoallv(given, counts, places, MPI_INT, taken, own_counts, own_places, MPI_INT, comm);
    MPI_Alltoallw(given, counts, byte_places, types, taken, own_counts, own_byte_places, types,
                  comm);
    MPI_Ialltoallv(given, counts, places, MPI_INT, taken, own_counts, own_places, MPI_INT, comm,
                   &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Reduce_scatter(given, taken, blocks, MPI_INT, MPI_SUM, comm);
}

int main(int argc, char** argv) {
    MPI_Comm copy, half;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (size > kMost) MPI_Abort(MPI_COMM_WORLD, 1);
    prepare();
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    for (int round = 0; round < kRounds; ++round) {
        messages();
        equal_lengths(round % 2 == 0 ? MPI_COMM_WORLD : copy);
        own_lengths(round % 2 == 0 ? copy : MPI_COMM_WORLD);
    }
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, 0, &half);
    MPI_Bcast(both, rank % 2 + 1, MPI_INT, 0, half);
    MPI_Comm_free(&half);
    MPI_Comm_free(&copy);
    MPI_Finalize();
    return 0;
}
