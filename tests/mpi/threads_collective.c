/* Collective calls of several threads at once, each on a communicator of its own (MPI 5.0, sections
 * 6.14 and 11.6): blocking, non-blocking and persistent ones, and the making of communicators. */
#include "threads_test.h"

enum { kRounds = 10, kMany = 3000 };

static int values[kThreads][kMany], results[kThreads][16 * kMany];

static void all_kinds(MPI_Comm comm, int thread, int n) {
    const int p = threads_size;
    int* in = values[thread];
    int* out = results[thread];
    for (int i = 0; i < n; ++i) in[i] = threads_rank + i;
    CHECK_OK(MPI_Barrier(comm));
    CHECK_OK(MPI_Allreduce(in, out, n, MPI_INT, MPI_SUM, comm));
    for (int i = 0; i < n; ++i) CHECK_INT(out[i], p * (p - 1) / 2 + p * i);
    CHECK_OK(MPI_Reduce(in, out, n, MPI_INT, MPI_MAX, p - 1, comm));
    if (threads_rank == p - 1)
        for (int i = 0; i < n; ++i) CHECK_INT(out[i], p - 1 + i);
    CHECK_OK(MPI_Allgather(in, n, MPI_INT, out, n, MPI_INT, comm));
    for (int r = 0; r < p; ++r)
        for (int i = 0; i < n; ++i) CHECK_INT(out[r * n + i], r + i);
    CHECK_OK(MPI_Scan(in, out, n, MPI_INT, MPI_SUM, comm));
    for (int i = 0; i < n; ++i)
        CHECK_INT(out[i], threads_rank * (threads_rank + 1) / 2 + (threads_rank + 1) * i);
    CHECK_OK(MPI_Gather(in, n, MPI_INT, out, n, MPI_INT, 0, comm));
    for (int i = 0; i < n; ++i) in[i] = thread * 100 + i;
    if (threads_rank != 0) memset(in, 0, (size_t)n * sizeof(int));
    CHECK_OK(MPI_Bcast(in, n, MPI_INT, 0, comm));
    for (int i = 0; i < n; ++i) CHECK_INT(in[i], thread * 100 + i);
    int* each = results[thread];
    for (int i = 0; i < p; ++i) each[i] = threads_rank * p + i;
    CHECK_OK(MPI_Alltoall(each, 1, MPI_INT, each + p, 1, MPI_INT, comm));
    for (int i = 0; i < p; ++i) CHECK_INT(each[p + i], i * p + threads_rank);
}

static void blocking(int thread) {
    static const int lengths[] = {1, 5, 100, kMany};
    for (int round = 0; round < kRounds; ++round)
        all_kinds(threads_comms[thread], thread, lengths[(round + thread) % 4]);
}

static void non_blocking(int thread) {
    MPI_Comm comm = threads_comms[thread];
    const int p = threads_size;
    for (int round = 0; round < kRounds; ++round) {
        int one = threads_rank + round, sum = 0, root = threads_rank == 0 ? round : -1;
        int* all = results[thread];
        MPI_Request requests[4];
        CHECK_OK(MPI_Iallreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm, &requests[0]));
        CHECK_OK(MPI_Ibcast(&root, 1, MPI_INT, 0, comm, &requests[1]));
        CHECK_OK(MPI_Iallgather(&one, 1, MPI_INT, all, 1, MPI_INT, comm, &requests[2]));
        CHECK_OK(MPI_Ibarrier(comm, &requests[3]));
        if (thread % 2 == 0) {
            CHECK_OK(MPI_Waitall(4, requests, MPI_STATUSES_IGNORE));
        } else {
            int flag = 0;
            while (!flag) CHECK_OK(MPI_Testall(4, requests, &flag, MPI_STATUSES_IGNORE));
        }
        CHECK_INT(sum, p * (p - 1) / 2 + p * round);
        CHECK_INT(root, round);
        for (int r = 0; r < p; ++r) CHECK_INT(all[r], r + round);
    }
}

static void persistent(int thread) {
    const int p = threads_size;
    int one = 0, sum = 0;
    MPI_Request request;
    CHECK_OK(MPI_Allreduce_init(&one, &sum, 1, MPI_INT, MPI_SUM, threads_comms[thread],
                                MPI_INFO_NULL, &request));
    for (int round = 0; round < kRounds; ++round) {
        one = round;
        CHECK_OK(MPI_Start(&request));
        CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        CHECK_INT(sum, p * round);
    }
    CHECK_OK(MPI_Request_free(&request));
}

/* One thread starts the call, another completes it. */
static MPI_Request handed_on[kThreads];
static int handed_sum[kThreads];
static const int handed_one = 1;
static pthread_barrier_t everybody;

static void completed_by_others(int thread) {
    for (int round = 0; round < kRounds; ++round) {
        CHECK_OK(MPI_Iallreduce(&handed_one, &handed_sum[thread], 1, MPI_INT, MPI_SUM,
                                threads_comms[thread], &handed_on[thread]));
        pthread_barrier_wait(&everybody);
        const int other = (thread + 1) % kThreads;
        CHECK_OK(MPI_Wait(&handed_on[other], MPI_STATUS_IGNORE));
        CHECK_INT(handed_sum[other], threads_size);
        pthread_barrier_wait(&everybody);
    }
}

/* The program's operation may ask for the size of its datatype. */
static void add_pairs(void* in, void* inout, int* length, MPI_Datatype* type) {
    int size = 0;
    if (MPI_Type_size(*type, &size) != MPI_SUCCESS || size != 2 * (int)sizeof(int)) abort();
    for (int i = 0; i < 2 * *length; ++i) ((int*)inout)[i] += ((int*)in)[i];
}

static void own_operations(int thread) {
    MPI_Op op;
    MPI_Datatype pair;
    CHECK_OK(MPI_Op_create(add_pairs, 1, &op));
    CHECK_OK(MPI_Type_contiguous(2, MPI_INT, &pair));
    CHECK_OK(MPI_Type_commit(&pair));
    for (int round = 0; round < kRounds; ++round) {
        int in[6] = {1, 2, 3, 4, 5, round}, out[6] = {0};
        MPI_Request request;
        CHECK_OK(MPI_Allreduce(in, out, 3, pair, op, threads_comms[thread]));
        for (int i = 0; i < 6; ++i) CHECK_INT(out[i], threads_size * in[i]);
        CHECK_OK(MPI_Iallreduce(in, out, 3, pair, op, threads_comms[thread], &request));
        CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        for (int i = 0; i < 6; ++i) CHECK_INT(out[i], threads_size * in[i]);
    }
    CHECK_OK(MPI_Type_free(&pair));
    CHECK_OK(MPI_Op_free(&op));
}

/* Communicators are made at the same time, and messages on them are never confused. */
static void use(MPI_Comm comm, int thread) {
    int rank = -1, size = 0, got = -1, sum = 0;
    const int one = 1;
    CHECK_OK(MPI_Comm_rank(comm, &rank));
    CHECK_OK(MPI_Comm_size(comm, &size));
    const int sent = thread * 1000 + rank;
    CHECK_OK(MPI_Sendrecv(&sent, 1, MPI_INT, (rank + 1) % size, 0, &got, 1, MPI_INT,
                          (rank + size - 1) % size, 0, comm, MPI_STATUS_IGNORE));
    CHECK_INT(got, thread * 1000 + (rank + size - 1) % size);
    CHECK_OK(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm));
    CHECK_INT(sum, size);
}

static void making(int thread) {
    for (int round = 0; round < 4; ++round) {
        MPI_Comm dup, split, created, idup;
        MPI_Group group;
        MPI_Request request;
        CHECK_OK(MPI_Comm_dup(threads_comms[thread], &dup));
        CHECK_OK(MPI_Comm_split(dup, threads_rank % 2, -threads_rank, &split));
        CHECK_OK(MPI_Comm_idup(dup, &idup, &request));
        use(split, thread);
        CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        use(idup, thread);
        CHECK_OK(MPI_Comm_group(dup, &group));
        CHECK_OK(MPI_Comm_create_group(dup, group, thread, &created));
        use(created, thread);
        use(dup, thread);
        CHECK_OK(MPI_Group_free(&group));
        CHECK_OK(MPI_Comm_free(&split));
        CHECK_OK(MPI_Comm_free(&created));
        CHECK_OK(MPI_Comm_disconnect(&idup));
        CHECK_OK(MPI_Comm_free(&dup));
    }
}

/* Some threads only wait for a message while the others make collective calls. */
static void beside_receives(int thread) {
    const int peer = (threads_rank + 1) % threads_size;
    if (thread < 3) {
        int got = -1;
        CHECK_OK(
            MPI_Recv(&got, 1, MPI_INT, MPI_ANY_SOURCE, thread, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        CHECK_INT(got, thread);
        return;
    }
    for (int round = 0; round < kRounds; ++round) all_kinds(threads_comms[thread], thread, 10);
    if (thread == 3)
        for (int t = 0; t < 3; ++t) CHECK_OK(MPI_Send(&t, 1, MPI_INT, peer, t, MPI_COMM_WORLD));
}

int main(int argc, char** argv) {
    begin_threads(&argc, &argv);
    CHECK(threads_size <= 16);
    pthread_barrier_init(&everybody, NULL, kThreads);
    in_threads(blocking);
    in_threads(non_blocking);
    in_threads(persistent);
    in_threads(completed_by_others);
    in_threads(own_operations);
    in_threads(making);
    in_threads(beside_receives);
    end_threads();
    return 0;
}
