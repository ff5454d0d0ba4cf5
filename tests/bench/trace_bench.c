/* A task of the trace benchmark. trace_bench pingpong ROUNDS: nanoseconds per round trip of 8 bytes
 * between two tasks. trace_bench records COUNT: nanoseconds per counter of its own, which is a
 * record, and per reading of the clock, which is in it. */
#include <VT_trc.h>
#include <mpproto.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void pingpong(long rounds) {
    int tasks = 0;
    int me = 0;
    mpc_environ(&tasks, &me);
    long ball = 0;
    double begin = 0;
    const long before = rounds / 10;
    for (long i = -before; i < rounds; ++i) {
        int other = 1 - me;
        int type = 1;
        size_t got = 0;
        if (i == 0) begin = seconds();
        if (me == 0) mpc_bsend(&ball, sizeof ball, other, type);
        mpc_brecv(&ball, sizeof ball, &other, &type, &got);
        if (me == 1) mpc_bsend(&ball, sizeof ball, other, type);
    }
    if (me == 0) printf("%.2f\n", 1e9 * (seconds() - begin) / (double)rounds);
}

static void records(long count) {
    struct timespec now;
    vt_counter("count", 0);
    const double begin = seconds();
    for (long i = 0; i < count; ++i) vt_counter("count", (double)i);
    const double middle = seconds();
    for (long i = 0; i < count; ++i) clock_gettime(CLOCK_MONOTONIC, &now);
    const double end = seconds();
    printf("%.2f %.2f\n", 1e9 * (middle - begin) / (double)count,
           1e9 * (end - middle) / (double)count);
}

int main(int argc, char** argv) {
    if (argc == 3 && strcmp(argv[1], "pingpong") == 0) {
        pingpong(strtol(argv[2], NULL, 10));
    } else if (argc == 3 && strcmp(argv[1], "records") == 0) {
        records(strtol(argv[2], NULL, 10));
    } else {
        fprintf(stderr, "usage: trace_bench pingpong ROUNDS | records COUNT\n");
        return 2;
    }
    return 0;
}
