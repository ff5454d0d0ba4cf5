/* A program with every kind of call that the observer of MPI libraries treats in a way of its own. What poe must record
   of it is known by construction (poe_observe.py). Each task says at the end what it has received. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

enum { kTasks = 4, kCount = 25 };

static long sum; /* of all that was received */

static void add(const int* values, int count) {
    for (int i = 0; i < count; ++i) sum += values[i];
}

static void point_to_point(MPI_Comm comm, int rank) {
    int out[kCount], in[kCount];
    const int next = (rank + 1) % kTasks, before = (rank + kTasks - 1) % kTasks;
    MPI_Status status;
    MPI_Request requests[4];
    for (int i = 0; i < kCount; ++i) out[i] = rank + i;

    /* Blocking, with and without wildcards and statuses. */
    if (rank == 0) MPI_Ssend(out, kCount, MPI_INT, 1, 1, comm);
    if (rank == 1)
        MPI_Recv(in, kCount, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, MPI_STATUS_IGNORE),
            add(in, kCount);
    MPI_Sendrecv(out, 10, MPI_INT, next, 2, in, kCount, MPI_INT, before, 2, comm, &status),
        add(in, 10);
    MPI_Send(out, 1, MPI_INT, MPI_PROC_NULL, 3, comm);
    MPI_Recv(in, 1, MPI_INT, MPI_PROC_NULL, 3, comm, MPI_STATUS_IGNORE);

    /* Two receives of one tag that end in the other order. */
    int first[2], second[2];
    MPI_Irecv(first, 2, MPI_INT, before, 4, comm, &requests[0]);
    MPI_Irecv(second, 2, MPI_INT, before, 4, comm, &requests[1]);
    MPI_Isend(out, 1, MPI_INT, next, 4, comm, &requests[2]);
    MPI_Isend(out, 2, MPI_INT, next, 4, comm, &requests[3]);
    MPI_Wait(&requests[1], MPI_STATUS_IGNORE), add(second, 2);
    MPI_Wait(&requests[0], &status), add(first, 1);
    MPI_Waitall(2, &requests[2], MPI_STATUSES_IGNORE);

    /* Some of several requests. */
    for (int i = 0; i < 2; ++i) MPI_Irecv(in + i, 1, MPI_INT, before, 5 + i, comm, &requests[i]);
    for (int i = 0; i < 2; ++i) MPI_Isend(out + i, 1, MPI_INT, next, 5 + i, comm, &requests[2 + i]);
    int index, done = 0, indices[4], flag = 0;
    MPI_Waitany(4, requests, &index, MPI_STATUS_IGNORE);
    while (done != MPI_UNDEFINED) MPI_Waitsome(4, requests, &done, indices, MPI_STATUSES_IGNORE);
    add(in, 2);

    /* Probes and matched messages. */
    MPI_Isend(out, 7, MPI_INT, next, 7, comm, &requests[0]);
    MPI_Message message;
    MPI_Mprobe(MPI_ANY_SOURCE, 7, comm, &message, MPI_STATUS_IGNORE);
    MPI_Mrecv(in, 7, MPI_INT, &message, MPI_STATUS_IGNORE), add(in, 7);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);

    /* Persistent requests. */
    MPI_Send_init(out, 3, MPI_INT, next, 8, comm, &requests[0]);
    MPI_Recv_init(in, 3, MPI_INT, before, 8, comm, &requests[1]);
    for (int i = 0; i < 5; ++i) {
        MPI_Startall(2, requests);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE), add(in, 3);
    }
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);

    /* A receive that is cancelled, and the next one of its tag. */
    MPI_Irecv(in, 1, MPI_INT, before, 9, comm, &requests[0]);
    MPI_Cancel(&requests[0]);
    MPI_Wait(&requests[0], &status);
    MPI_Test_cancelled(&status, &flag);
    if (!flag) printf("not cancelled\n");
    MPI_Barrier(comm);
    MPI_Sendrecv(out, 1, MPI_INT, next, 9, in, 1, MPI_INT, before, 9, comm, MPI_STATUS_IGNORE),
        add(in, 1);

    /* A derived type, and the same handle with another type. */
    for (int length = 2; length <= 3; ++length) {
        MPI_Datatype type;
        MPI_Type_contiguous(length, MPI_INT, &type);
        MPI_Type_commit(&type);
        MPI_Sendrecv(out, 1, type, next, 10, in, 1, type, before, 10, comm, MPI_STATUS_IGNORE),
            add(in, length);
        MPI_Type_free(&type);
    }
}

int main(int argc, char** argv) {
    int rank, provided, mine, all;
    MPI_Init_thread(&argc, &argv, argc > 1 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    point_to_point(MPI_COMM_WORLD, rank);

    /* Communicators: the ranks of this one are the tasks in the other order. */
    MPI_Comm reversed, copy, half, inter;
    MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &reversed);
    MPI_Comm_set_name(reversed, "reversed");
    point_to_point(reversed, kTasks - 1 - rank);
    MPI_Request request;
    MPI_Comm_idup(reversed, &copy, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Comm_split(MPI_COMM_WORLD, rank / 2, rank, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, rank < 2 ? 2 : 0, 11, &inter);
    MPI_Sendrecv(&rank, 1, MPI_INT, rank % 2, 12, &mine, 1, MPI_INT, rank % 2, 12, inter,
                 MPI_STATUS_IGNORE);
    sum += mine;

    /* Collective operations, with a root, in place, non-blocking. */
    mine = rank;
    MPI_Bcast(&mine, 1, MPI_INT, 2, copy);
    MPI_Allreduce(MPI_IN_PLACE, &mine, 1, MPI_INT, MPI_SUM, copy);
    MPI_Iallreduce(&rank, &all, 1, MPI_INT, MPI_MAX, copy, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    sum += mine + all;

    MPI_Comm_free(&inter);
    MPI_Comm_free(&copy);
    MPI_Comm_free(&half);
    MPI_Comm_free(&reversed);
    printf("task %d received %ld\n", rank, sum);
    MPI_Finalize();
    return 0;
}
