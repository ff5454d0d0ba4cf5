/* mpl_isolation: a program's own messages and its collective calls do not get in each other's way.
 * Every task fills the buffer memory towards all others with messages that nobody receives yet,
 * short ones and announced ones, so that further ones wait; then all make collective calls, long
 * and short; then they receive what they have sent. */
#include <stdlib.h>
#include <string.h>

#include "mpl_test.h"

enum { MESSAGES = 100, LONGEST = 40000, VECTOR = 20000 };

static int tasks, me;
static char blocks[MESSAGES][LONGEST];

static size_t length_of(int message) {
    return message % 4 == 3 ? LONGEST : (size_t)(message * 10);
}

static void fill(char* block, int from, int to, int message) {
    for (size_t i = 0; i < length_of(message); ++i)
        block[i] = (char)(from * 7 + to * 3 + message + (int)i);
}

/* The same bytes to all: blocks may not be written while their sends are under way. */
static void send_all(int* ids) {
    for (int message = 0; message < MESSAGES; ++message) {
        fill(blocks[message], me, 0, message);
        for (int to = 0; to < tasks; ++to) {
            if (to == me) continue;
            CHECK(mpc_send(blocks[message], length_of(message), to, message,
                           &ids[message * tasks + to]) == 0);
        }
    }
}

static void receive_all(const int* ids) {
    static char got[LONGEST], wanted[LONGEST];
    for (int message = 0; message < MESSAGES; ++message) {
        for (int from = 0; from < tasks; ++from) {
            int source = from, type = message, id = 0;
            size_t length = 0;
            if (from == me) continue;
            CHECK(mpc_brecv(got, sizeof got, &source, &type, &length) == 0);
            CHECK(length == length_of(message));
            fill(wanted, from, 0, message);
            CHECK(memcmp(got, wanted, length) == 0);
            id = ids[message * tasks + from];
            CHECK(mpc_wait(&id, &length) == 0);
        }
    }
}

static void call_collectively(void) {
    static int given[VECTOR], result[VECTOR];
    const size_t lengths[] = {4, 400, 4000, sizeof given};
    for (int round = 0; round < 20; ++round) {
        const size_t bytes = lengths[round % 4];
        const size_t words = bytes / sizeof(int);
        for (size_t i = 0; i < words; ++i) given[i] = me + (int)i;
        CHECK(mpc_combine(given, result, bytes, i_vadd, ALLGRP) == 0);
        for (size_t i = 0; i < words; ++i)
            CHECK(result[i] == tasks * (tasks - 1) / 2 + tasks * (int)i);
        CHECK(mpc_bcast(result, bytes, round % tasks, ALLGRP) == 0);
        CHECK(mpc_shift(given, result, bytes, 1, 0, ALLGRP) == 0);
        for (size_t i = 0; i < words; ++i) CHECK(result[i] == (me + tasks - 1) % tasks + (int)i);
        CHECK(mpc_sync(ALLGRP) == 0);
    }
}

int main(void) {
    int* ids;
    CHECK(mpc_environ(&tasks, &me) == 0);
    ids = calloc((size_t)(MESSAGES * tasks), sizeof *ids);
    CHECK(ids != NULL);
    send_all(ids);
    call_collectively();
    receive_all(ids);
    free(ids);
    return 0;
}
