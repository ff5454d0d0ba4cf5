/* ring: a token goes round all tasks, and each task says who it is, where it is, and what it got.
 *
 * Run:   poe ./ring -procs 4        or just   ./ring -procs 4
 *        poe ./ring 100000 -procs 4           100000 rounds, for the time of one step
 *
 * Task 0 starts the token with value 0; every task adds one and passes it on, so that after each
 * round it is larger by the number of tasks. */
#include <mpproto.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { TOKEN = 1 };

static double seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* The library has said on stderr what went wrong. */
static void stop(const char* call) {
    fprintf(stderr, "ring: %s failed (0032-%d)\n", call, mperrno);
    mpc_stopall(1);
}

static long receive(int from) {
    long token = 0;
    int type = TOKEN;
    size_t got = 0;
    if (mpc_brecv(&token, sizeof token, &from, &type, &got) != 0 || got != sizeof token) {
        stop("mpc_brecv");
    }
    return token;
}

static void send(long token, int to) {
    if (mpc_bsend(&token, sizeof token, to, TOKEN) != 0) stop("mpc_bsend");
}

int main(int argc, char** argv) {
    int tasks, me;
    char host[256] = "?";
    long rounds = argc > 1 ? strtol(argv[1], NULL, 10) : 1;
    if (rounds < 1) {
        fprintf(stderr, "ring: \"%s\" is not a number of rounds\n", argv[1]);
        return 2;
    }
    if (mpc_environ(&tasks, &me) != 0) stop("mpc_environ");
    gethostname(host, sizeof host - 1);

    const int next = (me + 1) % tasks;
    const int previous = (me + tasks - 1) % tasks;
    long token = 0;
    if (mpc_sync(ALLGRP) != 0) stop("mpc_sync");
    const double begin = seconds();
    for (long round = 0; round < rounds; ++round) {
        if (me == 0) {
            send(token + 1, next);
            token = receive(previous);
        } else {
            token = receive(previous);
            send(token + 1, next);
        }
    }
    const double elapsed = seconds() - begin;
    printf("task %d of %d on %s got %ld from task %d\n", me, tasks, host, token, previous);
    if (me == 0) {
        printf("%ld round%s, %.3f us per step\n", rounds, rounds == 1 ? "" : "s",
               1e6 * elapsed / (double)(rounds * tasks));
        if (token != rounds * tasks) {
            fprintf(stderr, "ring: the token should be %ld\n", rounds * tasks);
            mpc_stopall(1);
        }
    }
    return 0;
}
