/* coll_irregular_bench PATTERN ELEMENTS SECONDS: times an irregular all-to-all of all tasks. One
 * source, compiled with MPL (mpc_indexv) and with each MPI (-DUSE_MPI, MPI_Alltoallv).
 *
 * The patterns are those of paper 004, figure 14, with elements of 22 bytes: each task sends
 * ELEMENTS to one other task and FEW to the rest. Pattern 1: that one is drawn by each task (a
 * spike where several draw the same). Pattern 2: it is the one across the diagonal of the square
 * array of tasks. With "lengths" for SECONDS task 0 prints the bytes from each task to each
 * instead, for mpsim -lengths.
 *
 * Times as coll_bench.c: batches between two barriers, the median of one call in microseconds; task
 * 0 prints "PATTERN ELEMENTS TASKS MEDIAN BATCHES". All blocks are checked once, before anything is
 * timed. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { ELEMENT = 22, FEW = 4, MOST_BATCHES = 1001, LEAST_BATCHES = 3, MOST_CALLS = 256 };
static const double kBatch = 5e-3;

static int tasks, me;
static char *out, *in;
static int *out_lengths, *in_lengths, *out_starts, *in_starts;

static void fail(const char* what);

#ifdef USE_MPI
#include <mpi.h>
static void check(int result) {
    if (result != MPI_SUCCESS) fail("an MPI call failed");
}
static void begin(int* argc, char*** argv) {
    check(MPI_Init(argc, argv));
    MPI_Comm_size(MPI_COMM_WORLD, &tasks);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
}
static void finish(void) {
    MPI_Finalize();
}
static void abort_all(void) {
    MPI_Abort(MPI_COMM_WORLD, 1);
}
static void tell(int* number) {
    check(MPI_Bcast(number, 1, MPI_INT, 0, MPI_COMM_WORLD));
}
static void synchronise(void) {
    check(MPI_Barrier(MPI_COMM_WORLD));
}
static void exchange(void) {
    check(MPI_Alltoallv(out, out_lengths, out_starts, MPI_BYTE, in, in_lengths, in_starts, MPI_BYTE,
                        MPI_COMM_WORLD));
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
static void synchronise(void) {
    check(mpc_sync(ALLGRP));
}
static void exchange(void) {
    check(mpc_indexv(out, out_lengths, in, in_lengths, ALLGRP));
}
#endif

static void fail(const char* what) {
    fprintf(stderr, "coll_irregular_bench: task %d: %s\n", me, what);
    abort_all();
    exit(1);
}

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Whom a task sends much to; all tasks know it of all. */
static int favourite(int pattern, int task) {
    int side = 1;
    unsigned drawn = (unsigned)task * 2654435761u + 12345u;
    while (side * side < tasks) ++side;
    if (pattern == 2) return task % side * side + task / side;
    drawn = (drawn ^ drawn >> 15) * 2246822519u;
    return (int)((drawn ^ drawn >> 13) % (unsigned)tasks);
}

static int length(int pattern, int elements, int from, int to) {
    return ELEMENT * (favourite(pattern, from) == to ? elements : FEW);
}

static char byte_of(int from, int to) {
    return (char)(from * 31 + to * 7 + 1);
}

static void* room(size_t bytes) {
    void* memory = malloc(bytes);
    if (memory == NULL) fail("no memory");
    return memory;
}

static void prepare(int pattern, int elements) {
    int given = 0, got = 0;
    const size_t ints = (size_t)tasks * sizeof(int);
    out_lengths = room(ints), in_lengths = room(ints);
    out_starts = room(ints), in_starts = room(ints);
    for (int other = 0; other < tasks; ++other) {
        out_starts[other] = given, in_starts[other] = got;
        given += out_lengths[other] = length(pattern, elements, me, other);
        got += in_lengths[other] = length(pattern, elements, other, me);
    }
    out = room((size_t)given), in = room((size_t)got);
    for (int other = 0; other < tasks; ++other)
        memset(out + out_starts[other], byte_of(me, other), (size_t)out_lengths[other]);
    memset(in, 0, (size_t)got);
}

static void verify(void) {
    exchange();
    for (int other = 0; other < tasks; ++other) {
        for (int i = 0; i < in_lengths[other]; ++i) {
            if (in[in_starts[other] + i] != byte_of(other, me)) fail("the result is wrong");
        }
    }
}

/* The time of one call. */
static double batch(int calls) {
    double start;
    synchronise();
    start = now();
    for (int i = 0; i < calls; ++i) exchange();
    synchronise();
    return (now() - start) / calls;
}

static int compare(const void* a, const void* b) {
    const double x = *(const double*)a, y = *(const double*)b;
    return (x > y) - (x < y);
}

static void measure(int pattern, int elements, double seconds) {
    static double times[MOST_BATCHES];
    int calls = 1, batches = 0, more = 1;
    double took, end;
    for (;;) {
        took = batch(calls);
        more = took * calls < kBatch && calls < MOST_CALLS;
        tell(&more);
        if (!more) break;
        calls *= 4;
    }
    end = now() + seconds;
    do {
        took = batch(calls);
        if (batches < MOST_BATCHES) times[batches++] = took;
        more = batches < LEAST_BATCHES || (now() < end && batches < MOST_BATCHES);
        tell(&more);
    } while (more);
    if (me != 0) return;
    qsort(times, (size_t)batches, sizeof *times, compare);
    printf("%d %d %d %.4f %d\n", pattern, elements, tasks, 1e6 * times[batches / 2], batches);
}

int main(int argc, char** argv) {
    int pattern, elements;
    begin(&argc, &argv);
    if (argc < 4) fail("usage: coll_irregular_bench PATTERN ELEMENTS SECONDS|lengths");
    pattern = atoi(argv[1]);
    elements = atoi(argv[2]);
    if (strcmp(argv[3], "lengths") == 0) {
        for (int from = 0; me == 0 && from < tasks; ++from) {
            for (int to = 0; to < tasks; ++to)
                printf("%d%c", length(pattern, elements, from, to), to + 1 < tasks ? ' ' : '\n');
        }
        synchronise();
        finish();
        return 0;
    }
    prepare(pattern, elements);
    verify();
    measure(pattern, elements, strtod(argv[3], NULL));
    finish();
    return 0;
}
