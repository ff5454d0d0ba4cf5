/* The tasks of poe_watch.py: one program, told by its first word how to wait, or how not to. Tasks
 * print "ready" when they go into it. */
#include <mpproto.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { LARGE = 100 * 1000 * 1000 };

static int tasks, me;
static char* buffer;

static void receive(int source, int type) {
    size_t got;
    mpc_brecv(buffer, LARGE, &source, &type, &got);
}

static void send_to(int dest, size_t length, int type) {
    mpc_bsend(buffer, length, dest, type);
}

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static void compute(double seconds) {
    const double end = now() + seconds;
    while (now() < end) {
    }
}

static void rest(double seconds) {
    usleep((useconds_t)(seconds * 1e6));
}

/* ---- waits that never end */

static void wait_for_ever(const char* how) {
    const int next = (me + 1) % tasks, previous = (me + tasks - 1) % tasks;
    if (strcmp(how, "sends") == 0) { /* everybody sends first, more than buffers hold */
        send_to(next, LARGE, 2);
        receive(previous, 2);
    } else if (strcmp(how, "receives") == 0) { /* everybody receives first */
        receive(previous, 3);
    } else if (strcmp(how, "type") == 0) {
        if (me == 0) {
            send_to(1, 16, 8);
            receive(1, 9);
        } else if (me == 1) {
            receive(0, 7);
        } else {
            receive(0, 5);
        }
    } else if (strcmp(how, "source") == 0) { /* 0 sends what 1 awaits from the last task */
        if (me == 0) {
            send_to(1, 4, 7);
            receive(1, 7);
        } else {
            receive(me == 1 ? tasks - 1 : 1, 7);
        }
    } else if (strcmp(how, "sync") == 0) { /* the last task forgets it */
        if (me == tasks - 1)
            receive(0, 7);
        else
            mpc_sync(ALLGRP);
    } else if (strcmp(how, "flush") == 0) { /* the last task synchronises instead */
        if (me == tasks - 1)
            mpc_sync(ALLGRP);
        else
            mpc_flush(1);
    } else if (strcmp(how, "ended") == 0) { /* the last task is gone */
        if (me != tasks - 1) receive(tasks - 1, 7);
    } else if (strcmp(how, "any") == 0) {
        receive(DONTCARE, DONTCARE);
    } else if (strcmp(how, "two-of-many") == 0) { /* the others compute */
        if (me < 2)
            receive(1 - me, 1);
        else
            for (;;) rest(1);
    }
}

/* ---- all others wait for task 0, which computes */

static void wait_for_zero(const char* how) {
    if (me == 0) compute(1e9);
    if (strcmp(how, "zero-send") == 0) send_to(0, LARGE, 1);
    if (strcmp(how, "zero-buffer") == 0) /* small messages until there is no buffer left */
        for (;;) send_to(0, 1000, 1);
    if (strcmp(how, "zero-receive") == 0) receive(0, 1);
    if (strcmp(how, "zero-any") == 0) receive(DONTCARE, DONTCARE);
    if (strcmp(how, "zero-sync") == 0) mpc_sync(ALLGRP);
    if (strcmp(how, "zero-chain") == 0) receive(me - 1, 1);
}

/* ---- waits that end, each longer than a timeout of a second */

static void go_on(const char* how) {
    const int next = (me + 1) % tasks, previous = (me + tasks - 1) % tasks;
    if (strcmp(how, "long-computing") == 0) {
        if (me == 0) compute(2.5);
    } else if (strcmp(how, "long-sleeping") == 0) {
        if (me == 0) rest(2.5);
    } else if (strcmp(how, "long-flush") == 0) {
        if (me == 0) rest(2.5);
        mpc_flush(1);
    } else if (strcmp(how, "long-reading") == 0) {
        if (me == 0) (void)getchar();
    } else if (strcmp(how, "long-token") ==
               0) { /* all but the holder wait for more than a timeout */
        for (int round = 0; round < 2; ++round) {
            if (me == 0 && round == 0) rest(0.4);
            if (me != 0 || round != 0) receive(previous, 1);
            rest(0.4);
            send_to(next, 1, 1);
        }
        if (me == 0) receive(previous, 1);
    } else if (strcmp(how, "long-stream") ==
               0) { /* one long wait in which things move now and then */
        if (me == 0)
            for (int i = 0; i < 12; ++i) {
                rest(0.25);
                for (int to = 1; to < tasks; ++to) send_to(to, 100000, i < 11 ? 5 : 6);
            }
        else
            receive(0, 6);
    } else if (strcmp(how, "long-ping-pong") == 0) { /* until told to stop */
        const char* stop = getenv("WATCH_STOP");
        if (stop == NULL) exit(2);
        for (int i = 0;; ++i) {
            const int go = me == 0 && access(stop, F_OK) == 0 ? 2 : 1;
            if (me == 0) send_to(1, 8, go);
            int source = 1 - me, type = DONTCARE;
            size_t got;
            mpc_brecv(buffer, LARGE, &source, &type, &got);
            if (me == 1) send_to(0, 8, type);
            if (type == 2) break;
        }
    }
    mpc_sync(ALLGRP);
}

int main(int count, char** words) {
    if (count < 2) return 2;
    mpc_environ(&tasks, &me);
    buffer = calloc(1, LARGE);
    mpc_sync(ALLGRP);
    printf("ready\n");
    fflush(stdout);
    if (strncmp(words[1], "zero-", 5) == 0)
        wait_for_zero(words[1]);
    else if (strncmp(words[1], "long-", 5) == 0)
        go_on(words[1]);
    else
        wait_for_ever(words[1]);
    return 0;
}
