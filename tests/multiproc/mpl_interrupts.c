// Messages that move while the task computes: every "computation" here is a loop that makes no MPL
// call until another task's message has changed memory, so it ends only if something else makes
// progress. Argument: "handlers" when interrupts are on from the start, "enable" to switch them on
// first, "timer" for MP_POLLING_INTERVAL, "background" for neither: what every program gets.
#include <dirent.h>
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

// A blocking send of a long message ends although its receiver computes.
static void blocking_sends(void) {
    unsigned char* buffer = calloc(1, kLong);
    if (me % 2 == 0 && me + 1 < tasks) {
        memset(buffer, 77, kLong);
        CHECK(mpc_sync(ALLGRP) == 0);
        CHECK(mpc_bsend(buffer, kLong, me + 1, 3) == 0);
        buffer[0] = 1;
        CHECK(mpc_bsend(buffer, 1, me + 1, 4) == 0);
    } else if (me % 2 == 1) {
        static volatile unsigned char done;
        unsigned char* last = (unsigned char*)&done;
        int id, end, source = me - 1, type = 3, end_source = me - 1, end_type = 4, got = 0;
        CHECK(mpc_recv(buffer, kLong, &source, &type, &id) == 0);
        CHECK(mpc_recv(last, 1, &end_source, &end_type, &end) == 0);
        CHECK(mpc_sync(ALLGRP) == 0);
        // The second message is sent only when the first send has ended.
        compute_until(last, 1);
        CHECK(mpc_wait(&id, &got) == 0 && got == kLong && buffer[kLong - 1] == 77);
        CHECK(mpc_wait(&end, &got) == 0 && got == 1);
    } else {
        CHECK(mpc_sync(ALLGRP) == 0);
    }
    CHECK(mpc_sync(ALLGRP) == 0);
    free(buffer);
}

// A collective call that does not block goes on, too.
static void collective_calls(void) {
    unsigned char* buffer = calloc(1, kLong);
    int id;
    if (me == 0) memset(buffer, 55, kLong);
    CHECK(mpc_ibcast(buffer, kLong, 0, ALLGRP, &id) == 0);
    compute_until(&buffer[kLong - 1], 55);
    CHECK(mpc_collwait(&id) == 0);
    for (int i = 0; i < kLong; i += 999) CHECK(buffer[i] == 55);
    CHECK(mpc_sync(ALLGRP) == 0);
    free(buffer);
}

static int threads(void) {
    DIR* directory = opendir("/proc/self/task");
    int count = 0;
    CHECK(directory != NULL);
    while (readdir(directory) != NULL) ++count;
    closedir(directory);
    return count - 2;  // without . and ..
}

// Short ones, with calls and computation in turn, so that both sides often want the turn at once.
static void turns(int rounds) {
    for (int round = 1; round <= rounds; ++round) {
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

// Without interrupts a handler runs in a call of the task, not while the task computes.
static void handlers_wait(void) {
    int id, in = -1, received, source = before, type = 11, got = 0;
    handled = kRounds - 1;
    value = -1;
    value_source = DONTCARE, value_type = 7;
    CHECK(mpc_rcvncall(&value, sizeof value, &value_source, &value_type, &id, on_value) == 0);
    CHECK(mpc_recv(&in, sizeof in, &source, &type, &received) == 0);
    CHECK(mpc_sync(ALLGRP) == 0);
    int was = handled;
    CHECK(mpc_bsend(&me, sizeof me, next, 7) == 0);
    CHECK(mpc_bsend(&me, sizeof me, next, 11) == 0);
    // The second message of the task before this one has come, so the first one has come, too.
    if (handled == was) {
        compute_until((unsigned char*)&in, (unsigned char)before);
        CHECK(value == before && handled == was);
    }
    CHECK(mpc_wait(&received, &got) == 0 && handled == kRounds);
    source = next, type = 8;
    CHECK(mpc_brecv(&in, sizeof in, &source, &type, &got) == 0 && in == me + 1);
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
    turns(kRounds / 10);
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
    alarm(220);
    if (strcmp(how, "enable") == 0) {
        CHECK(mpc_queryintr() == 0 && mpc_enableintr() == 0);
    }
    if (strcmp(how, "background") == 0) {
        // Calls that block need no thread.
        CHECK(mpc_sync(ALLGRP) == 0);
        CHECK(mpc_queryintr() == 0 && threads() == 1);
    } else if (strcmp(how, "timer") != 0) {
        CHECK(mpc_queryintr() == 1);
    }
    receives();
    turns(strcmp(how, "background") == 0 ? kRounds / 10 : kRounds);
    blocking_sends();
    collective_calls();
    if (strcmp(how, "background") == 0) {
        handlers_wait();
        children();
        CHECK(mpc_sync(ALLGRP) == 0);
        return 0;
    }
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
