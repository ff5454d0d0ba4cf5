/* mpl_bench: half round trip, one-way stream and barrier times of the MPL library, for people:
 * nothing here passes or fails by time.
 *
 * Run:  mpl_run -n 2 -p mpl_bench            pinned pair, all sizes
 *       mpl_run -n 16 mpl_bench sync         barrier of 16 tasks
 *       mpl_run -n 2 -p mpl_bench stream     one way, window of the library's own */
#include <mpproto.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { REPETITIONS = 301 };

static int tasks, me;

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void check(int result) {
    if (result != 0) mpc_stopall(1);
}

static void receive(char* buffer, size_t size, int from) {
    int type = 1;
    size_t got = 0;
    check(mpc_brecv(buffer, size, &from, &type, &got));
}

static void ping_pong(char* buffer, size_t size) {
    if (me == 0) {
        check(mpc_bsend(buffer, size, 1, 1));
        receive(buffer, size, 1);
    } else {
        receive(buffer, size, 0);
        check(mpc_bsend(buffer, size, 0, 1));
    }
}

static void stream(char* buffer, size_t size) {
    for (int i = 0; i < 64; ++i) {
        if (me == 0) {
            check(mpc_bsend(buffer, size, 1, 1));
        } else {
            receive(buffer, size, 0);
        }
    }
    if (me == 0) {
        receive(buffer, 0, 1);
    } else {
        check(mpc_bsend(buffer, 0, 0, 1));
    }
}

static void barrier(char* buffer, size_t size) {
    (void)buffer;
    (void)size;
    check(mpc_sync(ALLGRP));
}

static int by_value(const void* a, const void* b) {
    const double x = *(const double*)a, y = *(const double*)b;
    return x < y ? -1 : x > y;
}

/* Time of one step in microseconds: the median of many short repetitions, and the least of them in
 * *best, which is what a quiet machine would show. */
static double measure(double* best, void (*step)(char*, size_t), char* buffer, size_t size,
                      long count) {
    double times[REPETITIONS];
    for (int repetition = 0; repetition < REPETITIONS; ++repetition) {
        check(mpc_sync(ALLGRP));
        const double begin = now();
        for (long i = 0; i < count; ++i) step(buffer, size);
        times[repetition] = 1e6 * (now() - begin) / (double)count;
    }
    qsort(times, REPETITIONS, sizeof times[0], by_value);
    *best = times[0];
    return times[REPETITIONS / 2];
}

int main(int argc, char** argv) {
    const char* what = argc > 1 ? argv[1] : "pingpong";
    static const size_t sizes[] = {0,     8,     48,    64,     512,    1024,   4096,    8192,
                                   16384, 32768, 65536, 131072, 262144, 524288, 1048576, 4194304};
    check(mpc_environ(&tasks, &me));
    char* buffer = malloc(4194304);
    double best = 0;
    if (buffer == NULL) return 1;
    memset(buffer, 1, 4194304);
    if (strcmp(what, "sync") == 0) {
        const double us = measure(&best, barrier, buffer, 0, 100);
        if (me == 0) printf("mpc_sync of %d tasks: %.3f us, best %.3f\n", tasks, us, best);
        return 0;
    }
    const int streams = strcmp(what, "stream") == 0;
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; ++i) {
        const long count = sizes[i] <= 4096      ? 500
                           : sizes[i] <= 65536   ? 50
                           : sizes[i] <= 1048576 ? 10
                                                 : 2;
        const int per_step = streams ? 64 : 2;
        const double us = measure(&best, streams ? stream : ping_pong, buffer, sizes[i],
                                  streams ? count / 64 + 1 : count);
        if (me == 0)
            printf("%8zu %10.3f us, best %8.3f\n", sizes[i], us / per_step, best / per_step);
    }
    return 0;
}
