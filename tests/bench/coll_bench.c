/* coll_bench OPERATION BYTES SECONDS [apart]: times one collective operation of all tasks. One
 * source, compiled with MPL and with each MPI (-DUSE_MPI), so that all run through the same loop.
 * "apart": there is a barrier after each call, which is part of the time, so that no call begins
 * before the previous one has ended at all tasks.
 *
 * Batches of calls between two barriers; as many calls to a batch as take a few milliseconds, as
 * many batches as fit into SECONDS, three at least. A batch took as long as it took the task that
 * left the first barrier first: where tasks share cores, others may leave it a slice of time later,
 * when most of a long call is done. Task 0 decides and tells the others. It prints
 * "OPERATION BYTES TASKS MEDIAN BEST BATCHES CALLS", times of one call in microseconds. BYTES is
 * the vector's length, or one block's (scatter, gather, concat, index); reductions add doubles.
 * ibcast, icombine, iconcat, iindex and isync are non-blocking calls, each followed by its wait.
 * scatterv, gatherv, concatv and indexv are irregular calls, here with blocks of equal length.
 * neighbor and ineighbor, in MPI only, exchange one block with each neighbour in a ring.
 * Each call's first and last bytes are checked once, before anything is timed. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MOST_BATCHES = 1001, LEAST_BATCHES = 3, MOST_CALLS = 4096, MOST_TASKS = 4096 };
static const double kBatch = 5e-3;

static int tasks, me;
static char *out, *in;
static size_t bytes;
static int apart;

static void fail(const char* what);

#ifdef USE_MPI
#include <mpi.h>
static MPI_Comm all;
static void check(int result) {
    if (result != MPI_SUCCESS) fail("an MPI call failed");
}
static void begin(int* argc, char*** argv) {
    check(MPI_Init(argc, argv));
    all = MPI_COMM_WORLD;
    MPI_Comm_size(all, &tasks);
    MPI_Comm_rank(all, &me);
}
static void finish(void) {
    MPI_Finalize();
}
static void abort_all(void) {
    MPI_Abort(all, 1);
}
static void tell(int* number) {
    check(MPI_Bcast(number, 1, MPI_INT, 0, all));
}
static double longest(double took) {
    double most;
    check(MPI_Allreduce(&took, &most, 1, MPI_DOUBLE, MPI_MAX, all));
    return most;
}
static int count(void) {
    return (int)(bytes / sizeof(double));
}
static void bcast(void) {
    check(MPI_Bcast(in, (int)bytes, MPI_BYTE, 0, all));
}
static void reduce(void) {
    check(MPI_Reduce(out, in, count(), MPI_DOUBLE, MPI_SUM, 0, all));
}
static void combine(void) {
    check(MPI_Allreduce(out, in, count(), MPI_DOUBLE, MPI_SUM, all));
}
static void prefix(void) {
    check(MPI_Scan(out, in, count(), MPI_DOUBLE, MPI_SUM, all));
}
static void scatter(void) {
    check(MPI_Scatter(out, (int)bytes, MPI_BYTE, in, (int)bytes, MPI_BYTE, 0, all));
}
static void gather(void) {
    check(MPI_Gather(out, (int)bytes, MPI_BYTE, in, (int)bytes, MPI_BYTE, 0, all));
}
static void concat(void) {
    check(MPI_Allgather(out, (int)bytes, MPI_BYTE, in, (int)bytes, MPI_BYTE, all));
}
static void index_all(void) {
    check(MPI_Alltoall(out, (int)bytes, MPI_BYTE, in, (int)bytes, MPI_BYTE, all));
}
static void shift(void) {
    check(MPI_Sendrecv(out, (int)bytes, MPI_BYTE, (me + 1) % tasks, 1, in, (int)bytes, MPI_BYTE,
                       (me + tasks - 1) % tasks, 1, all, MPI_STATUS_IGNORE));
}
/* Irregular calls, here with blocks of equal length. */
static int* lengths(void) {
    static int kept[MOST_TASKS];
    for (int i = 0; i < tasks; ++i) kept[i] = (int)bytes;
    return kept;
}
static int* places(void) {
    static int kept[MOST_TASKS];
    for (int i = 0; i < tasks; ++i) kept[i] = i * (int)bytes;
    return kept;
}
static void scatterv(void) {
    check(MPI_Scatterv(out, lengths(), places(), MPI_BYTE, in, (int)bytes, MPI_BYTE, 0, all));
}
static void gatherv(void) {
    check(MPI_Gatherv(out, (int)bytes, MPI_BYTE, in, lengths(), places(), MPI_BYTE, 0, all));
}
static void concatv(void) {
    check(MPI_Allgatherv(out, (int)bytes, MPI_BYTE, in, lengths(), places(), MPI_BYTE, all));
}
static void indexv(void) {
    check(
        MPI_Alltoallv(out, lengths(), places(), MPI_BYTE, in, lengths(), places(), MPI_BYTE, all));
}
static void synchronise(void) {
    check(MPI_Barrier(all));
}
static void wait_for(MPI_Request request) {
    check(MPI_Wait(&request, MPI_STATUS_IGNORE));
}
static void ibcast(void) {
    MPI_Request request;
    check(MPI_Ibcast(in, (int)bytes, MPI_BYTE, 0, all, &request));
    wait_for(request);
}
static void icombine(void) {
    MPI_Request request;
    check(MPI_Iallreduce(out, in, count(), MPI_DOUBLE, MPI_SUM, all, &request));
    wait_for(request);
}
static void iconcat(void) {
    MPI_Request request;
    check(MPI_Iallgather(out, (int)bytes, MPI_BYTE, in, (int)bytes, MPI_BYTE, all, &request));
    wait_for(request);
}
static void iindex(void) {
    MPI_Request request;
    check(MPI_Ialltoall(out, (int)bytes, MPI_BYTE, in, (int)bytes, MPI_BYTE, all, &request));
    wait_for(request);
}
static void isync(void) {
    MPI_Request request;
    check(MPI_Ibarrier(all, &request));
    wait_for(request);
}
static MPI_Comm ring(void) {
    static MPI_Comm made = MPI_COMM_NULL;
    const int periodic = 1;
    if (made == MPI_COMM_NULL) check(MPI_Cart_create(all, 1, &tasks, &periodic, 0, &made));
    return made;
}
static void neighbor(void) {
    check(MPI_Neighbor_alltoall(out, (int)bytes, MPI_BYTE, in, (int)bytes, MPI_BYTE, ring()));
}
static void ineighbor(void) {
    MPI_Request request;
    check(MPI_Ineighbor_alltoall(out, (int)bytes, MPI_BYTE, in, (int)bytes, MPI_BYTE, ring(),
                                 &request));
    wait_for(request);
}
#else
#include <mpproto.h>
static void check(int result) {
    if (result != 0) fail("an MPL call failed");
}
static void begin(int* argc, char*** argv) {
    (void)argc, (void)argv;
    check(mpc_environ(&tasks, &me));
}
static void finish(void) {}
static void abort_all(void) {
    mpc_stopall(1);
}
static void tell(int* number) {
    check(mpc_bcast(number, sizeof *number, 0, ALLGRP));
}
static double longest(double took) {
    double most;
    check(mpc_combine(&took, &most, sizeof took, d_vmax, ALLGRP));
    return most;
}
static void bcast(void) {
    check(mpc_bcast(in, bytes, 0, ALLGRP));
}
static void reduce(void) {
    check(mpc_reduce(out, in, bytes, 0, d_vadd, ALLGRP));
}
static void combine(void) {
    check(mpc_combine(out, in, bytes, d_vadd, ALLGRP));
}
static void prefix(void) {
    check(mpc_prefix(out, in, bytes, d_vadd, ALLGRP));
}
static void scatter(void) {
    check(mpc_scatter(out, in, bytes, 0, ALLGRP));
}
static void gather(void) {
    check(mpc_gather(out, in, bytes, 0, ALLGRP));
}
static void concat(void) {
    check(mpc_concat(out, in, bytes, ALLGRP));
}
static void index_all(void) {
    check(mpc_index(out, in, bytes, ALLGRP));
}
static void shift(void) {
    check(mpc_shift(out, in, bytes, 1, 0, ALLGRP));
}
/* Irregular calls, here with blocks of equal length. */
static int* lengths(void) {
    static int kept[MOST_TASKS];
    for (int i = 0; i < tasks; ++i) kept[i] = (int)bytes;
    return kept;
}
static void scatterv(void) {
    check(mpc_scatterv(out, in, lengths(), 0, ALLGRP));
}
static void gatherv(void) {
    check(mpc_gatherv(out, in, lengths(), 0, ALLGRP));
}
static void concatv(void) {
    check(mpc_concatv(out, in, lengths(), ALLGRP));
}
static void indexv(void) {
    check(mpc_indexv(out, lengths(), in, lengths(), ALLGRP));
}
static void synchronise(void) {
    check(mpc_sync(ALLGRP));
}
static void ibcast(void) {
    int call;
    check(mpc_ibcast(in, bytes, 0, ALLGRP, &call));
    check(mpc_collwait(&call));
}
static void icombine(void) {
    int call;
    check(mpc_icombine(out, in, bytes, d_vadd, ALLGRP, &call));
    check(mpc_collwait(&call));
}
static void iconcat(void) {
    int call;
    check(mpc_iconcat(out, in, bytes, ALLGRP, &call));
    check(mpc_collwait(&call));
}
static void iindex(void) {
    int call;
    check(mpc_iindex(out, in, bytes, ALLGRP, &call));
    check(mpc_collwait(&call));
}
static void isync(void) {
    int call;
    check(mpc_isync(ALLGRP, &call));
    check(mpc_collwait(&call));
}
static void neighbor(void) {
    fail("MPL has no calls with neighbours");
}
static void ineighbor(void) {
    neighbor();
}
#endif

static void fail(const char* what) {
    fprintf(stderr, "coll_bench: task %d: %s\n", me, what);
    abort_all();
    exit(1);
}

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* What is given: a task's number in every double. So a sum tells whether it is right. */
static void fill(char* buffer, size_t length) {
    for (size_t i = 0; i + sizeof(double) <= length; i += sizeof(double)) {
        const double value = me;
        memcpy(buffer + i, &value, sizeof value);
    }
}

static double first_of(const char* block) {
    double value;
    memcpy(&value, block, sizeof value);
    return value;
}

static void expect(double wanted, size_t blocks) {
    const size_t length = blocks * bytes;
    if (first_of(in) != (blocks == 1 ? wanted : 0) ||
        first_of(in + length - sizeof(double)) != wanted)
        fail("the result is wrong");
}

struct operation {
    const char* name;
    void (*call)(void);
    int blocks_out, blocks_in; /* 0: as many as there are tasks */
};
static const struct operation operations[] = {
    {"bcast", bcast, 1, 1},       {"reduce", reduce, 1, 1},       {"combine", combine, 1, 1},
    {"prefix", prefix, 1, 1},     {"scatter", scatter, 0, 1},     {"gather", gather, 1, 0},
    {"concat", concat, 1, 0},     {"index", index_all, 0, 0},     {"shift", shift, 1, 1},
    {"sync", synchronise, 1, 1},  {"ibcast", ibcast, 1, 1},       {"icombine", icombine, 1, 1},
    {"iconcat", iconcat, 1, 0},   {"iindex", iindex, 0, 0},       {"isync", isync, 1, 1},
    {"neighbor", neighbor, 2, 2}, {"ineighbor", ineighbor, 2, 2}, {"scatterv", scatterv, 0, 1},
    {"gatherv", gatherv, 1, 0},   {"concatv", concatv, 1, 0},     {"indexv", indexv, 0, 0},
};

static void verify(const struct operation* what) {
    const double sum = tasks * (tasks - 1) / 2.0;
    what->call();
    if (what->call == bcast || what->call == ibcast || what->call == scatter ||
        what->call == scatterv)
        expect(0, 1);
    if (what->call == combine || what->call == icombine || (what->call == reduce && me == 0))
        expect(sum, 1);
    if (what->call == prefix) expect(me * (me + 1) / 2.0, 1);
    if (what->call == shift) expect((me + tasks - 1) % tasks, 1);
    if (what->call == concat || what->call == iconcat || what->call == index_all ||
        what->call == iindex || what->call == concatv || what->call == indexv ||
        ((what->call == gather || what->call == gatherv) && me == 0))
        expect(tasks - 1, (size_t)tasks);
    if (what->call == neighbor || what->call == ineighbor) {
        if (first_of(in) != (me + tasks - 1) % tasks || first_of(in + bytes) != (me + 1) % tasks)
            fail("the result is wrong");
    }
}

/* The time of one call. A barrier at the end is one more where barriers are measured. */
static double batch(void (*call)(void), int calls) {
    double start, took;
    synchronise();
    start = now();
    for (int i = 0; i < calls; ++i) {
        call();
        if (apart) synchronise();
    }
    if (!apart) synchronise();
    took = longest(now() - start);
    return took / (call == synchronise && !apart ? calls + 1 : calls);
}

static int compare(const void* a, const void* b) {
    const double x = *(const double*)a, y = *(const double*)b;
    return (x > y) - (x < y);
}

static void measure(const struct operation* what, double seconds) {
    static double times[MOST_BATCHES];
    int calls = 1, batches = 0, more = 1;
    double took, end;
    /* A few calls say how many fit into a batch; the quickest of three, since one may have been
     * interrupted. */
    for (;;) {
        took = batch(what->call, calls);
        for (int again = 0; again < 2; ++again) {
            const double other = batch(what->call, calls);
            if (other < took) took = other;
        }
        more = took * calls < kBatch && calls < MOST_CALLS;
        tell(&more);
        if (!more) break;
        calls *= 4;
    }
    end = now() + seconds;
    do {
        took = batch(what->call, calls);
        if (batches < MOST_BATCHES) times[batches++] = took;
        more = batches < LEAST_BATCHES || (now() < end && batches < MOST_BATCHES);
        tell(&more);
    } while (more);
    if (me != 0) return;
    qsort(times, (size_t)batches, sizeof *times, compare);
    printf("%s %zu %d %.4f %.4f %d %d\n", what->name, bytes, tasks, 1e6 * times[batches / 2],
           1e6 * times[0], batches, calls);
}

int main(int argc, char** argv) {
    begin(&argc, &argv);
    if (argc < 4) fail("usage: coll_bench OPERATION BYTES SECONDS [apart]");
    if (tasks > MOST_TASKS) fail("too many tasks");
    bytes = strtoul(argv[2], NULL, 10);
    apart = argc > 4 && strcmp(argv[4], "apart") == 0;
    for (size_t i = 0; i < sizeof operations / sizeof *operations; ++i) {
        const struct operation* what = &operations[i];
        size_t given, got;
        if (strcmp(argv[1], what->name) != 0) continue;
        given = bytes * (size_t)(what->blocks_out > 0 ? what->blocks_out : tasks);
        got = bytes * (size_t)(what->blocks_in > 0 ? what->blocks_in : tasks);
        out = malloc(given);
        in = malloc(got);
        if (out == NULL || in == NULL || bytes < sizeof(double))
            fail("no memory, or too few bytes");
        fill(out, given);
        fill(in, got);
        verify(what);
        measure(what, strtod(argv[3], NULL));
        finish();
        return 0;
    }
    fail("no such operation");
    return 1;
}
