/* mpl_semantics: what the manual and the paper promise, one function each. Any number of tasks;
 * what needs a partner is left out for one. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "mpl_test.h"

static int tasks, me;

static void queries(void) {
    int value[4] = {9, 9, 9, 9};
    CHECK(mpc_task_query(value, 4, 1) == 0);
    CHECK(value[0] == tasks && value[1] == me);
    CHECK(value[3] >= 1 && value[2] == me % value[3]); /* mpl_run deals tasks to nodes like cards */
    CHECK(mpc_task_query(value, 2, 2) == 0);
    CHECK(value[0] == 0 && value[1] == INT_MAX);
    CHECK(mpc_task_query(value, 4, 3) == 0);
    CHECK(value[0] == DONTCARE && value[1] == ALLMSG && value[2] == NULLTASK && value[3] == ALLGRP);
    CHECK(mpc_task_query(value, 2, 4) == 0);
    CHECK(value[0] > 0 && value[1] > 0);
}

/* Every visible misuse is refused with its own number, and the call after it works. */
static void misuse(void) {
    char byte = 0;
    int source = 0, type = 1, got = 0, value = 0;
    CHECK(mpc_bsend(&byte, 1, tasks, 1) == -1 && mperrno == 104);
    CHECK(mpc_bsend(&byte, 1, -1, 1) == -1 && mperrno == 104);
    CHECK(mpc_bsend(&byte, 1, me, -1) == -1 && mperrno == 106);
    CHECK(mpc_bsend(NULL, 1, me, 1) == -1 && mperrno == 102);
    CHECK(mpc_bsend(&byte, (size_t)-5, me, 1) == -1 && mperrno == 103);
    source = tasks;
    CHECK(mpc_brecv(&byte, 1, &source, &type, &got) == -1 && mperrno == 105);
    source = -2;
    CHECK(mpc_brecv(&byte, 1, &source, &type, &got) == -1 && mperrno == 105);
    source = me;
    type = -7;
    CHECK(mpc_brecv(&byte, 1, &source, &type, &got) == -1 && mperrno == 106);
    type = 1;
    CHECK(mpc_brecv(&byte, 1, NULL, &type, &got) == -1 && mperrno == 102);
    CHECK(mpc_brecv(&byte, 1, &source, NULL, &got) == -1 && mperrno == 102);
    CHECK(mpc_brecv(NULL, 1, &source, &type, &got) == -1 && mperrno == 102);
    CHECK(mpc_brecv(&byte, (size_t)-1, &source, &type, &got) == -1 && mperrno == 103);
    CHECK(mpc_task_query(&value, 1, 0) == -1 && mperrno == 107);
    CHECK(mpc_task_query(&value, 9, 3) == -1 && mperrno == 107);
    CHECK(mpc_task_query(NULL, 1, 3) == -1 && mperrno == 102);
    CHECK(mpc_environ(NULL, &value) == -1 && mperrno == 102);
    CHECK(mpc_sync(77) == -1 && mperrno == 108);
    /* A receive that only this task could satisfy is an error, not a hang. */
    CHECK(mpc_brecv(&byte, 1, &source, &type, &got) == -1 && mperrno == 110);
    value = -3;
    CHECK(mp_bsend(&byte, &value, &me, &type) == -1 && mperrno == 103);
    CHECK(mp_bsend(&byte, NULL, &me, &type) == -1 && mperrno == 102);
}

/* Messages to oneself are kept, in order, and found by wildcards. */
static void to_oneself(void) {
    int values[3] = {10, 20, 30}, source, type, got;
    for (int i = 0; i < 3; ++i) CHECK(mpc_bsend(&values[i], sizeof(int), me, 5 + i % 2) == 0);
    int value = 0;
    source = me, type = 6;
    CHECK(mpc_brecv(&value, sizeof value, &source, &type, &got) == 0 && value == 20);
    source = DONTCARE, type = DONTCARE;
    CHECK(mpc_brecv(&value, sizeof value, &source, &type, &got) == 0 && value == 10);
    CHECK(source == me && type == 5 && got == (int)sizeof(int));
    source = me, type = DONTCARE;
    CHECK(mpc_brecv(&value, sizeof value, &source, &type, (int*)NULL) == 0 && value == 30);
    CHECK(mpc_bsend(NULL, 0, me, 0) == 0);
    source = me, type = 0;
    CHECK(mpc_brecv(NULL, 0, &source, &type, &got) == 0 && got == 0);
    /* Beyond the buffer memory it can never be received: refused. */
    int limit[2];
    CHECK(mpc_task_query(limit, 2, 4) == 0);
    char* large = calloc(1, (size_t)limit[1] + 1);
    CHECK(large != NULL);
    const size_t size = (size_t)limit[1] + 1;
    CHECK(mpc_bsend(large, size, me, 1) == -1 && mperrno == 109);
    /* A non-blocking send leaves it in the program's buffer until a receive takes it. */
    char* in = calloc(1, size);
    int first, second;
    long bytes = 0;
    CHECK(in != NULL);
    large[0] = 'f', large[size - 1] = 'l';
    CHECK(mpc_send(large, size, me, 1, &first) == 0 && mpc_status(first) == -1);
    CHECK(mpc_send(large, 3, me, 1, &second) == 0);
    source = me, type = 1;
    CHECK(mpc_probe(&source, &type, &bytes) == 0 && bytes == (long)size);
    CHECK(mpc_brecv(in, size, &source, &type, &bytes) == 0 && bytes == (long)size);
    CHECK(in[0] == 'f' && in[size - 1] == 'l');
    CHECK(mpc_wait(&first, &bytes) == 0 && bytes == (long)size);
    CHECK(mpc_brecv(in, 3, &source, &type, &bytes) == 0 && bytes == 3 &&
          mpc_wait(&second, &bytes) == 0);
    /* The same into a receive that is posted later, with both waited for at once. */
    CHECK(mpc_send(large, size, me, 1, &first) == 0 &&
          mpc_recv(in, size, &source, &type, &second) == 0);
    first = ALLMSG;
    CHECK(mpc_wait(&first, &bytes) == 0);
    /* A wait for a message that only this task could receive would never end: an error. */
    CHECK(mpc_send(large, size, me, 1, &first) == 0);
    CHECK(mpc_wait(&first, &bytes) == -1 && mperrno == 109);
    CHECK(mpc_send(large, size, me, 1, &first) == 0);
    first = DONTCARE;
    CHECK(mpc_wait(&first, &bytes) == -1 && mperrno == 109);
    source = me, type = 1;
    CHECK(mpc_probe(&source, &type, &bytes) == 0 && bytes == -1);
    free(in);
    free(large);
}

/* example2 of the SP2 paper: both send first. Works as far as the buffer memory reaches. */
static void both_send_first(size_t size) {
    const int other = me ^ 1;
    if (other >= tasks) return;
    char *out = malloc(size), *in = malloc(size);
    CHECK(out != NULL && in != NULL);
    memset(out, 'a' + me % 26, size);
    CHECK(mpc_bsend(out, size, other, 1) == 0);
    int source = other, type = 1;
    size_t got = 0;
    CHECK(mpc_brecv(in, size, &source, &type, &got) == 0 && got == size);
    CHECK(in[0] == 'a' + other % 26 && in[size - 1] == 'a' + other % 26);
    free(out);
    free(in);
}

static int eager_limit_is_default(void) {
    int limits[2];
    CHECK(mpc_task_query(limits, 2, 4) == 0);
    return limits[0] == 64 << 10 && limits[1] >= 4 << 20;
}

/* Sends up to the eager limit return without the receiver, also after messages that were handed
 * over to receivers who waited for them. */
static void sends_return_without_receiver(size_t size) {
    enum { EXCHANGES = 150, FIRST = 70 };
    const int other = me ^ 1;
    if (other >= tasks) return;
    char *out = malloc(size), *in = malloc(size);
    int i, source = other, type = 13;
    size_t got = 0;
    CHECK(out != NULL && in != NULL);
    for (i = 0; i < EXCHANGES; ++i) {
        memset(out, 'a' + i % 26, size);
        if (me < other) CHECK(mpc_bsend(out, size, other, 13) == 0);
        CHECK(mpc_brecv(in, size, &source, &type, &got) == 0 && got == size);
        CHECK(in[0] == 'a' + i % 26 && in[size / 2] == in[0] && in[size - 1] == in[0]);
        if (me > other) CHECK(mpc_bsend(out, size, other, 13) == 0);
    }
    for (i = 0; i < FIRST; ++i) {
        memset(out, 'A' + i % 26, size);
        CHECK(mpc_bsend(out, size, other, 13) == 0);
    }
    for (i = 0; i < FIRST; ++i) {
        CHECK(mpc_brecv(in, size, &source, &type, &got) == 0 && got == size);
        CHECK(in[0] == 'A' + i % 26 && in[size / 2] == in[0] && in[size - 1] == in[0]);
    }
    free(out);
    free(in);
}

/* A later message of the same sender can be received first, also before a large one. */
static void later_one_first(void) {
    const size_t size = 1 << 20;
    char* large = malloc(size);
    int source, type, got, small = 0;
    CHECK(large != NULL);
    if (tasks > 1 && me == 1) {
        memset(large, 'x', size);
        CHECK(mpc_bsend(large, size, 0, 11) == 0);
        small = 7;
        CHECK(mpc_bsend(&small, sizeof small, 0, 12) == 0);
    } else if (tasks > 1 && me == 0) {
        source = 1, type = 12;
        CHECK(mpc_brecv(&small, sizeof small, &source, &type, &got) == 0 && small == 7);
        source = DONTCARE, type = 11;
        CHECK(mpc_brecv(large, size, &source, &type, &got) == 0 && got == (int)size);
        CHECK(large[0] == 'x' && large[size - 1] == 'x' && source == 1);
    }
    free(large);
}

/* A message longer than the buffer is cut, whatever protocol carries it. */
static void cut(size_t size, size_t room) {
    char *out = malloc(size), *in = malloc(room + 1);
    CHECK(out != NULL && in != NULL);
    if (tasks > 1 && me == 1) {
        memset(out, 'y', size);
        CHECK(mpc_bsend(out, size, 0, 1) == 0);
    } else if (tasks > 1 && me == 0) {
        int source = 1, type = 1, got = -1;
        memset(in, 'z', room + 1);
        CHECK(mpc_brecv(in, room, &source, &type, &got) == 0 && got == (int)room);
        CHECK(in[room] == 'z' && (room == 0 || (in[0] == 'y' && in[room - 1] == 'y')));
    }
    free(out);
    free(in);
}

/* Wildcards never match the messages of mpc_sync: all but task 0 are in it while 0 receives. */
static void sync_is_apart(void) {
    int value = 42, source, type, got, other;
    /* The last task sends only after all others have told it that they go into the barrier next. */
    if (me != 0 && me != tasks - 1) CHECK(mpc_bsend(&me, sizeof me, tasks - 1, 8) == 0);
    if (me == tasks - 1) {
        for (int i = 1; i < tasks - 1; ++i) {
            source = i, type = 8;
            CHECK(mpc_brecv(&other, sizeof other, &source, &type, &got) == 0 && other == i);
        }
        CHECK(mpc_bsend(&value, sizeof value, 0, 0) == 0);
    }
    source = type = DONTCARE;
    if (me == 0) {
        CHECK(mpc_brecv(&value, sizeof value, &source, &type, &got) == 0);
        CHECK(source == tasks - 1 && type == 0 && got == (int)sizeof value && value == 42);
    }
    CHECK(mpc_sync(ALLGRP) == 0);
}

/* Nobody leaves the barrier before everybody has come: the counter each task reads next is
 * complete. */
static void sync_holds(void) {
    for (int round = 0; round < 50; ++round) {
        int value = round, sum = 0, source, type = 3, got;
        CHECK(mpc_bsend(&value, sizeof value, 0, type) == 0);
        CHECK(mpc_sync(ALLGRP) == 0);
        if (me == 0) {
            for (int i = 0; i < tasks; ++i) {
                source = i;
                CHECK(mpc_brecv(&value, sizeof value, &source, &type, &got) == 0);
                sum += value;
            }
            CHECK(sum == round * tasks);
        }
    }
}

/* The whole set by reference. */
static void by_reference(void) {
    int numtask = 0, taskid = -1, len = 4, type = 2, source, got = 0, group = ALLGRP;
    int one = 1, three = 3, constants[3];
    CHECK(mp_environ(&numtask, &taskid) == 0 && numtask == tasks && taskid == me);
    CHECK(mp_task_query(constants, &three, &three) == 0 && constants[0] == DONTCARE);
    CHECK(mp_task_query(constants, &one, &one) == 0 && constants[0] == tasks);
    int value = 99, to = (me + 1) % tasks;
    CHECK(mp_bsend(&value, &len, &to, &type) == 0);
    value = 0;
    source = (me + tasks - 1) % tasks;
    CHECK(mp_brecv(&value, &len, &source, &type, &got) == 0 && value == 99 && got == 4);
    CHECK(mp_sync(&group) == 0);
}

int main(void) {
    CHECK(mpc_environ(&tasks, &me) == 0);
    CHECK(tasks >= 1 && me >= 0 && me < tasks);
    queries();
    misuse();
    to_oneself();
    /* Its wildcards would take messages of those who are further on. */
    CHECK(mpc_sync(ALLGRP) == 0);
    static const size_t sizes[] = {1, 48, 49, 112, 113, 4096, 4097, 65536, 65537, 1 << 20, 3 << 20};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; ++i) both_send_first(sizes[i]);
    /* So many of 32 KB fit into the buffer memory only if that has its default size. */
    if (eager_limit_is_default()) sends_return_without_receiver(32 << 10);
    sends_return_without_receiver(200);
    later_one_first();
    cut(40, 7);
    cut(4000, 100);
    cut(60000, 5000);
    cut(300000, 1000);
    cut(300000, 0);
    CHECK(mpc_sync(ALLGRP) == 0);
    for (int i = 0; i < 100; ++i) sync_is_apart();
    sync_holds();
    by_reference();
    return 0;
}
