/* ccmpi_bench WHAT NUMBER MODE SECONDS: the many-to-many communications of the CC-MPI paper, with MPI.
 *
 *   WHAT     NUMBER         what is timed
 *   five     bytes          a scatterv from rank 0 to the ranks 1 to 5
 *   levels   bytes          an alltoallv of equal blocks (table 2)
 *   random   seed           160 blocks of 64 KB, 20 of 16 KB, 60 of 100 bytes (table 3; of 16 tasks, and
 *                           in proportion of fewer)
 *   pages    pages          each task sends so many pages of 4 KB to each other one (table 6)
 *   short    bytes          blocks of 0 to so many bytes, drawn at random
 *
 * MODE is "mpi"; with -DWITH_CC (mpi_cc.h) also "group" for `five`, and "simple", or the number of a
 * level and a schedule for the others: 1, 2 or 3, and "greedy" or "all" ("3greedy").
 *
 * Times as coll_bench.c: batches between two barriers, the median of one call in microseconds. Task 0
 * prints "WHAT NUMBER MODE TASKS MEDIAN BATCHES". All blocks are checked once before that. */
#define _GNU_SOURCE
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#ifdef WITH_CC
#include <mpi_cc.h>
#endif

enum { LEAST_BATCHES = 3, MOST_BATCHES = 1001, MOST_CALLS = 1024, RECEIVERS = 5, PAGE = 4096 };
static const double kBatch = 5e-3;

static int tasks, me, level, schedule, five;
static int* lengths; /* of all pairs */
static int *out_counts, *out_starts, *in_counts, *in_starts;
static char *out, *in;
#ifdef WITH_CC
static MPI_Count* bytes;
static MPIX_Cc group = MPIX_CC_NULL;
#endif

static void fail(const char* what) {
    fprintf(stderr, "ccmpi_bench: task %d: %s\n", me, what);
    MPI_Abort(MPI_COMM_WORLD, 1);
    exit(1);
}
static void check(int code) {
    if (code != MPI_SUCCESS) fail("an MPI call failed");
}
static void* room(size_t size) {
    void* memory = calloc(size + 1, 1);
    if (memory == NULL) fail("no memory");
    return memory;
}
static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void call(void) {
    if (five) {
#ifdef WITH_CC
        if (level > 0) {
            check(MPIX_Scatterv_data_movement(out, out_counts, out_starts, MPI_BYTE, in,
                                              in_counts[0], MPI_BYTE, 0, MPI_COMM_WORLD, group));
            return;
        }
#endif
        check(MPI_Scatterv(out, out_counts, out_starts, MPI_BYTE, in, in_counts[0], MPI_BYTE, 0,
                           MPI_COMM_WORLD));
        return;
    }
#ifdef WITH_CC
    if (level > 0) {
        if (level == 1)
            check(MPIX_Alltoallv_control1(out_counts, MPI_BYTE, in_counts, MPI_BYTE, schedule,
                                          MPI_COMM_WORLD, &group));
        if (level == 2) check(MPIX_Alltoallv_control2(bytes, schedule, MPI_COMM_WORLD, &group));
        check(MPIX_Alltoallv_data_trans2(out, out_counts, out_starts, MPI_BYTE, in, in_counts,
                                         in_starts, MPI_BYTE, MPI_COMM_WORLD, group));
        if (level < 3) check(MPIX_Alltoallv_close_group(&group));
        return;
    }
#endif
    check(MPI_Alltoallv(out, out_counts, out_starts, MPI_BYTE, in, in_counts, in_starts, MPI_BYTE,
                        MPI_COMM_WORLD));
}

static void make_lengths(const char* what, long number) {
    lengths = room((size_t)tasks * (size_t)tasks * sizeof(int));
    five = strcmp(what, "five") == 0;
    const int random = strcmp(what, "random") == 0, pages = strcmp(what, "pages") == 0,
              is_short = strcmp(what, "short") == 0;
    if (!five && !random && !pages && !is_short && strcmp(what, "levels") != 0)
        fail("WHAT is none of its words");
    const int pairs = tasks * (tasks - 1);
    unsigned state = (unsigned)number * 2654435761u + 1;
    int* order = room((size_t)pairs * sizeof(int));
    for (int i = 0; i < pairs; ++i) order[i] = i;
    for (int i = pairs - 1; i > 0; --i) {
        state = state * 1664525u + 1013904223u;
        const int j = (int)((state >> 8) % (unsigned)(i + 1)), kept = order[i];
        order[i] = order[j];
        order[j] = kept;
    }
    for (int i = 0; i < pairs; ++i) {
        const int from = order[i] / (tasks - 1), step = order[i] % (tasks - 1) + 1;
        const int to = (from + step) % tasks;
        const int share = i * 240 / pairs;
        int length = pages ? (int)number * PAGE : (int)number;
        if (random) length = share < 160 ? 64 << 10 : share < 180 ? 16 << 10 : 100;
        if (is_short) {
            state = state * 1664525u + 1013904223u;
            length = (int)((state >> 8) % (unsigned)(number + 1));
        }
        if (five) length = from == 0 && to <= RECEIVERS ? (int)number : 0;
        lengths[from * tasks + to] = length;
    }
    free(order);
}

static char byte_of(int from, int to) {
    return (char)(from * 31 + to * 7 + 1);
}

static void prepare(const char* mode) {
    int given = 0, got = 0;
    const size_t ints = (size_t)tasks * sizeof(int);
    out_counts = room(ints), out_starts = room(ints), in_counts = room(ints),
    in_starts = room(ints);
    for (int r = 0; r < tasks; ++r) {
        out_counts[r] = lengths[me * tasks + r], in_counts[r] = lengths[r * tasks + me];
        out_starts[r] = given, in_starts[r] = got;
        given += out_counts[r], got += in_counts[r];
    }
    out = room((size_t)given), in = room((size_t)got);
    for (int r = 0; r < tasks; ++r)
        memset(out + out_starts[r], byte_of(me, r), (size_t)out_counts[r]);
#ifdef WITH_CC
    bytes = room((size_t)tasks * (size_t)tasks * sizeof(MPI_Count));
    for (int i = 0; i < tasks * tasks; ++i) bytes[i] = lengths[i];
    if (strcmp(mode, "mpi") != 0) {
        level = mode[0] >= '1' && mode[0] <= '3' ? mode[0] - '0' : 3;
        schedule = strstr(mode, "greedy") != NULL   ? MPIX_CC_GREEDY
                   : strstr(mode, "all") != NULL    ? MPIX_CC_ALL_TO_ALL
                   : strstr(mode, "simple") != NULL ? MPIX_CC_SIMPLE
                                                    : MPIX_CC_AUTO;
        if (five)
            check(MPIX_Scatterv_open_group(out, out_counts, out_starts, MPI_BYTE, in, in_counts[0],
                                           MPI_BYTE, 0, MPI_COMM_WORLD, &group));
        else if (level == 3)
            check(MPIX_Alltoallv_control2(bytes, schedule, MPI_COMM_WORLD, &group));
    }
#else
    if (strcmp(mode, "mpi") != 0) fail("this program has the mode mpi only");
#endif
    call();
    for (int r = 0; r < tasks; ++r)
        for (int i = 0; i < in_counts[r]; ++i)
            if (in[in_starts[r] + i] != byte_of(r, me)) fail("a block has wrong bytes");
}

static double batch(int calls) {
    check(MPI_Barrier(MPI_COMM_WORLD));
    const double begun = now();
    for (int i = 0; i < calls; ++i) call();
    check(MPI_Barrier(MPI_COMM_WORLD));
    return now() - begun;
}

static int by_size(const void* a, const void* b) {
    const double x = *(const double*)a, y = *(const double*)b;
    return x < y ? -1 : x > y;
}

int main(int argc, char** argv) {
    static double took[MOST_BATCHES];
    int calls = 1, batches;
    check(MPI_Init(&argc, &argv));
    MPI_Comm_size(MPI_COMM_WORLD, &tasks);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    if (argc != 5) fail("usage: ccmpi_bench WHAT NUMBER MODE SECONDS");
    make_lengths(argv[1], atol(argv[2]));
    prepare(argv[3]);
    double once = batch(1);
    for (;;) {
        check(MPI_Bcast(&once, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD));
        if (once >= kBatch || calls >= MOST_CALLS) break;
        once = batch(calls *= 2);
    }
    batches = (int)(atof(argv[4]) / (once > 1e-9 ? once : 1e-9));
    batches = batches < LEAST_BATCHES  ? LEAST_BATCHES
              : batches > MOST_BATCHES ? MOST_BATCHES
                                       : batches;
    check(MPI_Bcast(&batches, 1, MPI_INT, 0, MPI_COMM_WORLD));
    for (int i = 0; i < batches; ++i) took[i] = batch(calls) / calls;
    qsort(took, (size_t)batches, sizeof took[0], by_size);
    if (me == 0)
        printf("%s %s %s %d %.3f %d\n", argv[1], argv[2], argv[3], tasks, 1e6 * took[batches / 2],
               batches);
    MPI_Finalize();
    return 0;
}
