/* A task of the marker benchmark. marker_bench free CALLS: so many markers as fast as possible;
 * prints nanoseconds per call with a text, without one, and of a progress. marker_bench paced RATE
 * SECONDS: that many markers a second; prints how many it set. */
#include <mp_marker.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void run_free(long calls) {
    const double begin = seconds();
    for (long i = 0; i < calls; ++i) mpc_marker((int)(i % 10), (int)(i % 100), "step 12 of 345");
    const double text = seconds();
    for (long i = 0; i < calls; ++i) mpc_marker((int)(i % 10), (int)(i % 100), NULL);
    const double light = seconds();
    for (long i = 0; i < calls; ++i) mpc_progress(i, calls);
    const double progress = seconds();
    printf("%.2f %.2f %.2f\n", 1e9 * (text - begin) / (double)calls,
           1e9 * (light - text) / (double)calls, 1e9 * (progress - light) / (double)calls);
}

/* In portions of a millisecond, so that more tasks than cores can keep the pace. */
static void run_paced(double rate, double length) {
    const double begin = seconds();
    const struct timespec pause = {0, 500000};
    long set = 0;
    double elapsed = 0;
    while (elapsed < length) {
        const long due = (long)(rate * elapsed);
        for (; set < due; ++set) mpc_marker((int)(set % 10), (int)(set % 100), "step 12 of 345");
        nanosleep(&pause, NULL);
        elapsed = seconds() - begin;
    }
    printf("%ld\n", set);
}

int main(int argc, char** argv) {
    mpc_marker(0, 0, "");
    if (argc == 3 && strcmp(argv[1], "free") == 0) {
        run_free(strtol(argv[2], NULL, 10));
    } else if (argc == 4 && strcmp(argv[1], "paced") == 0) {
        run_paced(strtod(argv[2], NULL), strtod(argv[3], NULL));
    } else {
        fprintf(stderr, "usage: marker_bench free CALLS | paced RATE SECONDS\n");
        return 2;
    }
    return 0;
}
