// Messages that move while the task computes: every "computation" here is a loop that makes no MPL
// call until another task's message has changed memory, so it ends only if something else makes
// progress. Argument: "handlers" when interrupts are on from the start, "enable" to switch them on
// first, "timer" for MP_POLLING_INTERVAL.
#include <mpproto.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "mpl_test.h"

enum { kLong = 3000000, kRounds = 200, kStorm = 2000 };

static int tasks, me, next, before;

// That these loops read what another thread writes is their very purpose.
#define RACES __attribute__((no_sanitize("thread"), noinline))

RACES static void compute_until(const volatile unsigned char* byte, unsigned char value) {
    while (*byte != value) continue;
}

RACES static void compute_while_below(const volatile int* count, int enough) {
    while (*count < enough) continue;
}

// A long message waits for its receiver: the sender's call ends although the receiver computes.
static void receives(void) {
    unsigned char* in = calloc(1, kLong);
    unsigned char* out = calloc(1, kLong);
    for (int round = 1; round <= 5; ++round) {
        int from, to, source = before, type = round, got = 0;
        memset(out, round, kLong);
        CHECK(mpc_recv(in, kLong, &source, &type, &from) == 0);
        CHECK(mpc_send(out, kLong, next, round, &to) == 0);
        compute_until(&in[kLong - 1], (unsigned char)round);
        CHECK(mpc_wait(&from, &got) == 0 && got == kLong);
        CHECK(mpc_wait(&to, &got) == 0 && got == kLong);
        for (int i = 0; i < kLong; i += 999) CHECK(in[i] == round);
        CHECK(mpc_sync(ALLGRP) == 0);
    }
    free(in);
    free(out);
}

// Short ones, with calls and computation in turn, so that both sides often want the turn at once.
static void turns(void) {
    for (int round = 1; round <= kRounds; ++round) {
        unsigned char in = 0, out = (unsigned char)(round % 250 + 1);
        int id, source = before, type = 5, got = 0;
        CHECK(mpc_recv(&in, 1, &source, &type, &id) == 0);
        if (round % 7 == 0) usleep((unsigned)(round % 5) * 300);
        CHECK(mpc_bsend(&out, 1, next, 5) == 0);
        if (round % 2 == 0) compute_until(&in, out);
        CHECK(mpc_wait(&id, &got) == 0 && got == 1 && in == out);
    }
    CHECK(mpc_sync(ALLGRP) == 0);
}

static volatile int handled;
static volatile int locked;
static int value, value_source, value_type;

// Runs on whatever thread; answers, receives again.
static void on_value(int* id) {
    int got = 0, answer = value + 1;
    CHECK(!locked);
    CHECK(mpc_wait(id, &got) == 0 && got == (int)sizeof value && value_source == before);
    CHECK(mpc_bsend(&answer, sizeof answer, value_source, 8) == 0);
    if (handled + 1 < kRounds) {
        value_source = DONTCARE, value_type = 7;
        CHECK(mpc_rcvncall(&value, sizeof value, &value_source, &value_type, id, on_value) == 0);
    }
    ++handled;
}

static void handlers(void) {
    int id, old = -1;
    value_source = DONTCARE, value_type = 7;
    CHECK(mpc_rcvncall(&value, sizeof value, &value_source, &value_type, &id, on_value) == 0);
    for (int round = 0; round < kRounds; ++round) {
        int answer = 0, source = next, type = 8, got = 0;
        CHECK(mpc_lockrnc(1, &old) == 0);
        locked = 1;
        locked = 0;
        CHECK(mpc_lockrnc(0, &old) == 0 && old == 1);
        CHECK(mpc_bsend(&round, sizeof round, next, 7) == 0);
        // Blocking calls hold handlers off, and the neighbour's answer comes from one.
        compute_while_below(&handled, round + 1);
        CHECK(mpc_brecv(&answer, sizeof answer, &source, &type, &got) == 0 && answer == round + 1);
    }
    CHECK(mpc_sync(ALLGRP) == 0);
}

// Many at once: all are handled, one after the other, in the order of the sender.
static volatile int storm_seen;
static int storm_value, storm_source, storm_type;

static void on_storm(int* id) {
    int got = 0;
    CHECK(mpc_wait(id, &got) == 0 && storm_value == storm_seen);
    if (storm_value + 1 < kStorm) {
        storm_source = before, storm_type = 9;
        CHECK(mpc_rcvncall(&storm_value, sizeof storm_value, &storm_source, &storm_type, id,
                           on_storm) == 0);
    }
    ++storm_seen;
}

static void storm(void) {
    int id;
    storm_source = before, storm_type = 9;
    CHECK(mpc_rcvncall(&storm_value, sizeof storm_value, &storm_source, &storm_type, &id,
                       on_storm) == 0);
    for (int i = 0; i < kStorm; ++i) CHECK(mpc_bsend(&i, sizeof i, next, 9) == 0);
    compute_while_below(&storm_seen, kStorm);
    CHECK(mpc_sync(ALLGRP) == 0);
}

// A child process has no progress thread, may not use MPL, and disturbs nobody by ending.
static void children(void) {
    const pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        int ignored;
        fclose(stderr);
        exit(mpc_environ(&ignored, &ignored) == -1 && mperrno == 100 ? 0 : 1);
    }
    int status = 1;
    CHECK(waitpid(child, &status, 0) == child && status == 0);
    turns();
}

// A handler that ends the task, from whatever thread.
static void on_end(int* id) {
    int got = 0;
    mpc_wait(id, &got);
    exit(0);
}

static void end_in_handler(void) {
    static int number;
    int id, source = DONTCARE, type = 99;
    CHECK(mpc_bsend(&me, sizeof me, next, 99) == 0);
    CHECK(mpc_rcvncall(&number, sizeof number, &source, &type, &id, on_end) == 0);
    for (;;) continue;
}

int main(int count, char** words) {
    const char* how = count > 1 ? words[1] : "handlers";
    CHECK(mpc_environ(&tasks, &me) == 0);
    next = (me + 1) % tasks;
    before = (me + tasks - 1) % tasks;
    alarm(100);
    if (strcmp(how, "enable") == 0) {
        CHECK(mpc_queryintr() == 0 && mpc_enableintr() == 0);
    }
    if (strcmp(how, "timer") != 0) CHECK(mpc_queryintr() == 1);
    receives();
    turns();
    if (strcmp(how, "enable") == 0) {
        CHECK(mpc_disableintr() == 0 && mpc_queryintr() == 0);
        CHECK(mpc_sync(ALLGRP) == 0);
        CHECK(mpc_enableintr() == 0 && mpc_setintrdelay(50) == 0);
    }
    handlers();
    storm();
    if (strcmp(how, "timer") != 0) children();
    end_in_handler();
    return 1;
}
