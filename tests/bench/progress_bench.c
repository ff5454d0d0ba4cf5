/* progress_bench OPERATION: what moves while a task is busy with something else.
 *
 *   gap BYTES   task 1 sends BYTES to task 0 in one message; meanwhile tasks 0 and 2 exchange 8
 * bytes to and fro. Prints the longest time without such an exchange, in microseconds, and the rate
 * of the long message in MB/s. compute     each task has a receive open, which stays open, and
 * computes. Prints the microseconds that the same work takes, the least of ten. late BYTES  task 1
 * sends BYTES in a blocking send to task 0, which has posted the receive and computes for a second.
 * Prints the milliseconds until the send returned. calls       tasks 0 and 1 exchange 8 bytes to
 * and fro, with non-blocking receives. Prints half a round trip in microseconds. */
#include <mpproto.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static int me, tasks;

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void check(int result) {
    if (result < 0) {
        fprintf(stderr, "progress_bench: task %d: an MPL call failed\n", me);
        mpc_stopall(1);
    }
}

static void receive(void* in, size_t size, int from, int type) {
    size_t got;
    check(mpc_brecv(in, size, &from, &type, &got));
}

static int post(void* in, size_t size, int from, int type) {
    static int sources[64], types[64], next;
    int id;
    next = (next + 1) % 64;
    sources[next] = from, types[next] = type;
    check(mpc_recv(in, size, &sources[next], &types[next], &id));
    return id;
}

static char* memory(size_t size) {
    char* made = malloc(size);
    if (made == NULL) check(-1);
    memset(made, me + 1, size);
    return made;
}

static void gap(size_t size) {
    enum { LONG = 1, SHORT = 2 };
    char* buffer = memory(size);
    long token = 0;
    check(mpc_sync(ALLGRP));
    if (me == 1) {
        check(mpc_bsend(buffer, size, 0, LONG));
    } else if (me == 2) {
        while (token >= 0) {
            receive(&token, sizeof token, 0, SHORT);
            check(mpc_bsend(&token, sizeof token, 0, SHORT));
        }
    } else {
        double longest = 0;
        int id = post(buffer, size, 1, LONG);
        size_t got;
        const double start = now();
        double last = start;
        for (int done = 0; !done;) {
            done = mpc_status(id) >= 0;
            token = done ? -1 : 1;
            check(mpc_bsend(&token, sizeof token, 2, SHORT));
            receive(&token, sizeof token, 2, SHORT);
            const double time = now();
            if (time - last > longest) longest = time - last;
            last = time;
        }
        check(mpc_wait(&id, &got));
        printf("%.1f %.1f\n", 1e6 * longest, 1e-6 * (double)size / (last - start));
    }
    free(buffer);
}

static double work(void) {
    volatile double x = 1;
    const double start = now();
    for (long i = 0; i < 100000000; ++i) x = x * 0.999999 + 1e-6;
    return now() - start;
}

static void compute(void) {
    char byte;
    post(&byte, 1, (me + 1) % tasks, 9);
    double best = 1e9;
    for (int i = 0; i < 10; ++i) {
        const double time = work();
        if (time < best) best = time;
    }
    if (me == 0) printf("%.1f\n", 1e6 * best);
}

static void late(size_t size) {
    char* buffer = memory(size);
    size_t got;
    int id = me == 0 ? post(buffer, size, 1, 1) : 0;
    check(mpc_sync(ALLGRP));
    const double start = now();
    if (me == 1) {
        check(mpc_bsend(buffer, size, 0, 1));
        printf("%.2f\n", 1e3 * (now() - start));
    } else if (me == 0) {
        while (now() - start < 1) continue;
        check(mpc_wait(&id, &got));
    }
    free(buffer);
}

static int by_value(const void* a, const void* b) {
    const double x = *(const double*)a, y = *(const double*)b;
    return x < y ? -1 : x > y;
}

static void calls(void) {
    enum { ROUNDS = 20000, TIMES = 51 };
    double times[TIMES];
    long in = 0, out = 1;
    size_t got;
    for (int i = 0; i < TIMES && me < 2; ++i) {
        const double start = now();
        for (int round = 0; round < ROUNDS; ++round) {
            int id = post(&in, sizeof in, 1 - me, 1);
            if (me == 0) check(mpc_bsend(&out, sizeof out, 1, 1));
            check(mpc_wait(&id, &got));
            if (me == 1) check(mpc_bsend(&out, sizeof out, 0, 1));
        }
        times[i] = 1e6 * (now() - start) / ROUNDS / 2;
    }
    qsort(times, TIMES, sizeof times[0], by_value);
    if (me == 0) printf("%.4f\n", times[TIMES / 2]);
}

int main(int argc, char** argv) {
    const char* operation = argc > 1 ? argv[1] : "";
    const size_t size = argc > 2 ? strtoul(argv[2], NULL, 10) : 0;
    check(mpc_environ(&tasks, &me));
    if (strcmp(operation, "gap") == 0 && tasks == 3) gap(size);
    if (strcmp(operation, "compute") == 0) compute();
    if (strcmp(operation, "late") == 0) late(size);
    if (strcmp(operation, "calls") == 0 && tasks > 1) calls();
    return 0;
}
