/* Collective calls on intercommunicators, and on the halves of all tasks. With one task there is nothing to test. */
#include "mpi_test.h"

enum { kLength = 1000, kMostTasks = 16 };
static int n, me;

static int value(int side, int rank, int i) {
    return side * 100000 + rank * 1000 + i % 1000;
}

/* All rooted calls with the root in the group `side`. */
static void try_roots(MPI_Comm inter, int side, int rank, int others, int sending) {
    int own[kLength], got[kLength * kMostTasks], counts[kMostTasks], places[kMostTasks];
    for (int i = 0; i < kLength; ++i) own[i] = value(side, rank, i);
    const int in_root_group = side == sending;
    const int root = in_root_group ? (rank == 0 ? MPI_ROOT : MPI_PROC_NULL) : 0;

    memset(got, 0, sizeof got);
    CHECK_OK(MPI_Bcast(root == MPI_ROOT ? own : got, kLength, MPI_INT, root, inter));
    for (int i = 0; i < kLength && !in_root_group; ++i) CHECK_INT(got[i], value(sending, 0, i));

    CHECK_OK(MPI_Gather(own, 5, MPI_INT, got, 5, MPI_INT, root, inter));
    for (int r = 0; r < others && root == MPI_ROOT; ++r)
        for (int i = 0; i < 5; ++i) CHECK_INT(got[5 * r + i], value(!side, r, i));

    for (int r = 0; r < kMostTasks; ++r) {
        counts[r] = r;
        places[r] = 20 * r;
    }
    CHECK_OK(MPI_Gatherv(own, rank, MPI_INT, got, counts, places, MPI_INT, root, inter));
    for (int r = 0; r < others && root == MPI_ROOT; ++r)
        for (int i = 0; i < r; ++i) CHECK_INT(got[20 * r + i], value(!side, r, i));

    memset(got, 0, sizeof got);
    CHECK_OK(MPI_Scatter(own, 7, MPI_INT, got, 7, MPI_INT, root, inter));
    for (int i = 0; i < 7 && !in_root_group; ++i)
        CHECK_INT(got[i], value(sending, 0, 7 * rank + i));
    CHECK_OK(MPI_Scatterv(own, counts, places, MPI_INT, got, rank, MPI_INT, root, inter));
    for (int i = 0; i < rank && !in_root_group; ++i)
        CHECK_INT(got[i], value(sending, 0, 20 * rank + i));

    CHECK_OK(MPI_Reduce(own, got, kLength, MPI_INT, MPI_SUM, root, inter));
    for (int i = 0; i < kLength && root == MPI_ROOT; ++i) {
        int sum = 0;
        for (int r = 0; r < others; ++r) sum += value(!side, r, i);
        CHECK_INT(got[i], sum);
    }
}

static void try_symmetric(MPI_Comm inter, int side, int rank, int members, int others) {
    int own[kLength], got[kLength * kMostTasks], counts[kMostTasks], places[kMostTasks];
    for (int i = 0; i < kLength; ++i) own[i] = value(side, rank, i);
    CHECK_OK(MPI_Barrier(inter));

    CHECK_OK(MPI_Allgather(own, 9, MPI_INT, got, 9, MPI_INT, inter));
    for (int r = 0; r < others; ++r)
        for (int i = 0; i < 9; ++i) CHECK_INT(got[9 * r + i], value(!side, r, i));

    for (int r = 0; r < kMostTasks; ++r) {
        counts[r] = r + 1;
        places[r] = 20 * r;
    }
    CHECK_OK(MPI_Allgatherv(own, rank + 1, MPI_INT, got, counts, places, MPI_INT, inter));
    for (int r = 0; r < others; ++r)
        for (int i = 0; i <= r; ++i) CHECK_INT(got[20 * r + i], value(!side, r, i));

    CHECK_OK(MPI_Alltoall(own, 3, MPI_INT, got, 3, MPI_INT, inter));
    for (int r = 0; r < others; ++r)
        for (int i = 0; i < 3; ++i) CHECK_INT(got[3 * r + i], value(!side, r, 3 * rank + i));

    MPI_Request requests[3];
    int sums[kLength], late[kLength];
    CHECK_OK(MPI_Iallreduce(own, sums, kLength, MPI_INT, MPI_SUM, inter, &requests[0]));
    CHECK_OK(MPI_Ibarrier(inter, &requests[1]));
    CHECK_OK(MPI_Iallreduce(own, late, kLength, MPI_INT, MPI_MAX, inter, &requests[2]));
    CHECK_OK(MPI_Waitall(3, requests, MPI_STATUSES_IGNORE));
    for (int i = 0; i < kLength; ++i) {
        int sum = 0;
        for (int r = 0; r < others; ++r) sum += value(!side, r, i);
        CHECK_INT(sums[i], sum);
        CHECK_INT(late[i], value(!side, others - 1, i));
    }

    /* Both groups give members * others elements. */
    CHECK_OK(MPI_Reduce_scatter_block(own, got, others, MPI_INT, MPI_SUM, inter));
    for (int i = 0; i < others; ++i) {
        int sum = 0;
        for (int r = 0; r < others; ++r) sum += value(!side, r, rank * others + i);
        CHECK_INT(got[i], sum);
    }
    for (int r = 0; r < members; ++r) counts[r] = r == 0 ? members * others : 0;
    CHECK_OK(MPI_Reduce_scatter(own, got, counts, MPI_INT, MPI_SUM, inter));
    for (int i = 0; i < counts[rank]; ++i) {
        int sum = 0;
        for (int r = 0; r < others; ++r) sum += value(!side, r, i);
        CHECK_INT(got[i], sum);
    }
}

static void try_intercommunicator(void) {
    const int side = me % 2;
    MPI_Comm half, inter;
    int rank, members, others;
    CHECK_OK(MPI_Comm_split(MPI_COMM_WORLD, side, me, &half));
    CHECK_OK(MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - side, 5, &inter));
    MPI_Comm_rank(half, &rank);
    MPI_Comm_size(half, &members);
    MPI_Comm_remote_size(inter, &others);
    for (int repetition = 0; repetition < 3; ++repetition) {
        try_roots(inter, side, rank, others, 0);
        try_roots(inter, side, rank, others, 1);
        try_symmetric(inter, side, rank, members, others);
    }
    int own = 1, sum = 0;
    CHECK_OK(MPI_Allreduce(&own, &sum, 1, MPI_INT, MPI_SUM, half));
    CHECK_INT(sum, members);
    MPI_Comm_free(&inter);
    MPI_Comm_free(&half);
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &n);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    CHECK(n <= kMostTasks);
    if (n > 1) try_intercommunicator();
    MPI_Finalize();
    return 0;
}
