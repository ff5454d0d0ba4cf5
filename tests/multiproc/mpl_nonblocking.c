/* mpl_nonblocking: message ids, waits for one, any and all, status, probe, blocks, handlers. One
 * function each; any number of tasks. Ring neighbours are partners, so one task is its own. */
#include <stdlib.h>
#include <string.h>

#include "mpl_test.h"

static int tasks, me, next, before;

/* Ids end once, and only ids that live are known. */
static void ids(void) {
    int id = 0, source = before, type = 1, value = me, got_value = -1;
    size_t got = 99;
    CHECK(mpc_status(12345) == -2);
    CHECK(mpc_status(0) == -2 && mpc_status(-5) == -2);
    id = 4711;
    CHECK(mpc_wait(&id, &got) == -1 && mperrno == 115);
    id = DONTCARE;
    CHECK(mpc_wait(&id, &got) == -1 && mperrno == 115);
    id = ALLMSG;
    CHECK(mpc_wait(&id, &got) == 0);
    CHECK(mpc_send(&value, sizeof value, next, 1, NULL) == -1 && mperrno == 102);
    CHECK(mpc_recv(&got_value, sizeof got_value, &source, &type, &id) == 0 && id > 0);
    int send_id = 0;
    CHECK(mpc_send(&value, sizeof value, next, 1, &send_id) == 0 && send_id > 0 && send_id != id);
    const int first = id;
    CHECK(mpc_wait(&id, &got) == 0 && got == sizeof value && got_value == before && id == first);
    CHECK(mpc_wait(&id, &got) == -1 && mperrno == 115);
    CHECK(mpc_status(first) == -2);
    CHECK(mpc_wait(&send_id, &got) == 0 && got == sizeof value);
}

/* Status tells again and again until wait ends the id. */
static void status(void) {
    int id, send_id, source = DONTCARE, type = DONTCARE;
    char text[10] = "unchanged";
    CHECK(mpc_recv(text, sizeof text, &source, &type, &id) == 0);
    CHECK(mpc_send("hello", 6, next, 33, &send_id) == 0);
    int count;
    while ((count = mpc_status(id)) == -1) continue;
    CHECK(count == 6 && strcmp(text, "hello") == 0 && source == before && type == 33);
    CHECK(mpc_status(id) == 6);
    int got = 0;
    CHECK(mpc_wait(&id, &got) == 0 && got == 6);
    while (mpc_status(send_id) == -1) continue;
    /* Never waited for: its id must not keep ALLMSG from ending, nor pile up. */
    for (int i = 0; i < 20000; ++i) {
        CHECK(mpc_send(&i, sizeof i, me, 3, &send_id) == 0);
        source = me, type = 3;
        int value;
        CHECK(mpc_brecv(&value, sizeof value, &source, &type, &got) == 0 && value == i);
        CHECK(mpc_status(send_id) == sizeof i);
    }
    int all = ALLMSG;
    CHECK(mpc_wait(&all, &got) == 0);
}

enum { MANY = 500 };

/* Posted receives of one source and type complete in posting order, whatever is waited for first.
 */
static void posting_order(void) {
    static int values[MANY], ids[MANY], sources[MANY], types[MANY];
    for (int i = 0; i < MANY; ++i) {
        sources[i] = i % 3 == 0 ? DONTCARE : before;
        types[i] = i % 5 == 0 ? DONTCARE : 8;
        CHECK(mpc_recv(&values[i], sizeof values[i], &sources[i], &types[i], &ids[i]) == 0);
    }
    CHECK(mpc_sync(ALLGRP) == 0);
    for (int i = 0; i < MANY; ++i) CHECK(mpc_bsend(&i, sizeof i, next, 8) == 0);
    for (int i = MANY; i-- > 0;) {
        int got;
        CHECK(mpc_wait(&ids[i], &got) == 0);
        CHECK(values[i] == i && sources[i] == before && types[i] == 8);
    }
}

/* DONTCARE gives every message once; ALLMSG ends all. Small and large ones. */
static void any_and_all(void) {
    static char out[MANY], in[MANY];
    int send_ids[MANY / 10], ids[MANY / 10], seen[MANY / 10] = {0}, got;
    static int sources[MANY], types[MANY];
    const size_t large = 300000;
    char *big_out = malloc(large), *big_in = malloc(large);
    CHECK(big_out != NULL && big_in != NULL);
    memset(big_out, me + 1, large);
    for (int i = 0; i < MANY / 10; ++i) {
        out[i] = (char)i;
        sources[i] = before, types[i] = i;
        CHECK(mpc_recv(&in[i], 1, &sources[i], &types[i], &ids[i]) == 0);
    }
    for (int i = MANY / 10; i-- > 0;) CHECK(mpc_send(&out[i], 1, next, i, &send_ids[i]) == 0);
    for (int ended = 0; ended < MANY / 5; ++ended) {
        int id = DONTCARE;
        CHECK(mpc_wait(&id, &got) == 0 && got == 1);
        for (int i = 0; i < MANY / 10; ++i) {
            if (id == ids[i]) {
                CHECK(seen[i] == 0 && in[i] == (char)i);
                seen[i] = 1;
            }
        }
    }
    for (int i = 0; i < MANY / 10; ++i) CHECK(seen[i] == 1);
    int source = before, type = 900, id, send_id, all = ALLMSG;
    CHECK(mpc_recv(big_in, large, &source, &type, &id) == 0);
    CHECK(mpc_send(big_out, large, next, 900, &send_id) == 0);
    CHECK(mpc_wait(&all, &got) == 0);
    CHECK(source == before && big_in[0] == (char)(before + 1) && big_in[large - 1] == big_in[0]);
    CHECK(mpc_status(id) == -2 && mpc_status(send_id) == -2);
    free(big_out);
    free(big_in);
}

/* Probe tells what a receive would get and takes nothing. */
static void probing(void) {
    int source = DONTCARE, type = 78, got = 0;
    CHECK(mpc_probe(&source, &type, &got) == 0 && got == -1 && source == DONTCARE && type == 78);
    type = 77;
    CHECK(mpc_bsend("first", 6, next, 77) == 0);
    CHECK(mpc_bsend("second one", 11, next, 77) == 0);
    do {
        CHECK(mpc_probe(&source, &type, &got) == 0);
    } while (got == -1);
    CHECK(source == before && type == 77 && got == 6);
    long wide = 0;
    CHECK(mpc_probe(&source, &type, &wide) == 0 && wide == 6);
    char text[20];
    CHECK(mpc_brecv(text, sizeof text, &source, &type, &got) == 0 && strcmp(text, "first") == 0);
    CHECK(mpc_brecv(text, sizeof text, &source, &type, &got) == 0 && got == 11);
}

static void exchange(void) {
    enum { LARGE = 200000 };
    static char out[LARGE], in[LARGE];
    memset(out, me, sizeof out);
    for (int round = 0; round < 3; ++round) {
        int source = before;
        unsigned long got = 0;
        const size_t size = round == 0 ? 0 : round == 1 ? 10 : LARGE;
        CHECK(mpc_bsendrecv(out, size, next, 5, in, sizeof in, &source, &got) == 0);
        CHECK(got == size && source == before && (size == 0 || in[size - 1] == (char)before));
    }
}

/* Blocks arrive as bytes; gaps are not touched; pack and unpack agree with them. */
static void blocks(void) {
    enum { COUNT = 700, GAP = 3 };
    const size_t lengths[] = {1, 7, 64, 5000};
    for (int round = 0; round < 4; ++round) {
        const size_t length = lengths[round], stride = length + GAP;
        char *out = malloc(COUNT * stride), *in = malloc(COUNT * stride),
             *plain = malloc(COUNT * length);
        CHECK(out != NULL && in != NULL && plain != NULL);
        for (size_t i = 0; i < COUNT * stride; ++i) out[i] = (char)(i * 31 + (size_t)me);
        int source = before, type = 4, id, got;
        memset(in, 'x', COUNT * stride);
        CHECK(mpc_send(out, 0, next, 3, &id) == 0);
        CHECK(mpc_wait(&id, &got) == 0);
        if (me % 2 == 0) CHECK(mpc_sync(ALLGRP) == 0);
        /* Odd and even tasks in different order: one of the two finds the message waiting. */
        if (me == next) {
            CHECK(mpc_bvsend(out, length, stride, COUNT, next, 4) == 0);
        } else if (me % 2 == 0) {
            CHECK(mpc_bvsend(out, length, stride, COUNT, next, 4) == 0);
        }
        if (me % 2 != 0) CHECK(mpc_sync(ALLGRP) == 0);
        CHECK(mpc_bvrecv(in, length, stride, COUNT, &source, &type, &got) == 0);
        if (me != next && me % 2 != 0) {
            CHECK(mpc_bvsend(out, length, stride, COUNT, next, 4) == 0);
        }
        CHECK((size_t)got == COUNT * length);
        CHECK(mpc_pack(in, plain, length, stride, COUNT) == 0);
        for (size_t block = 0; block < COUNT; ++block) {
            for (size_t i = 0; i < stride; ++i) {
                const char want = (char)((block * stride + i) * 31 + (size_t)before);
                if (i < length) {
                    CHECK(in[block * stride + i] == want && plain[block * length + i] == want);
                } else {
                    CHECK(in[block * stride + i] == 'x');
                }
            }
        }
        memset(in, 'y', COUNT * stride);
        CHECK(mpc_unpack(plain, in, length, stride, COUNT) == 0);
        CHECK(mpc_pack(in, out, length, stride, COUNT) == 0);
        CHECK(memcmp(out, plain, COUNT * length) == 0 && in[length] == 'y');
        source = before, type = 3;
        CHECK(mpc_brecv(NULL, 0, &source, &type, &got) == 0);
        free(out);
        free(in);
        free(plain);
    }
    CHECK(mpc_bvsend(&me, 8, 4, 2, next, 1) == -1 && mperrno == 103);
    CHECK(mpc_bvsend(&me, 8, (size_t)-8, 2, next, 1) == -1 && mperrno == 103);
    CHECK(mpc_bvsend(&me, 8, 8, (size_t)-2, next, 1) == -1 && mperrno == 103);
}

/* A message that is too long is cut; an error only when asked for. */
static void overflow(void) {
    char text[4] = "";
    int source = before, type = 6, got = 0, was = -1;
    CHECK(mpc_bsend("long", 5, next, 6) == 0);
    CHECK(mpc_brecv(text, 2, &source, &type, &got) == 0 && got == 2 && text[2] == 0);
    CHECK(mpc_task_set(1, 1) == 0);
    CHECK(mpc_task_query(&was, 1, 5) == 0 && was == 1);
    CHECK(mpc_bsend("long", 5, next, 6) == 0);
    CHECK(mpc_brecv(text, 2, &source, &type, &got) == -1 && mperrno == 116 && text[1] == 'o');
    CHECK(mpc_task_set(0, 1) == 0);
    CHECK(mpc_task_set(2, 1) == -1 && mpc_task_set(1, 9) == -1);
}

static int calls, handler_source, handler_type, handler_value;

static void on_message(int* id) {
    int got = 0;
    ++calls;
    CHECK(handler_source == before && handler_type == 12);
    CHECK(mpc_wait(id, &got) == 0 && got == (int)sizeof handler_value && handler_value == calls);
    if (calls < 10) {
        handler_source = DONTCARE, handler_type = 12;
        CHECK(mpc_rcvncall(&handler_value, sizeof handler_value, &handler_source, &handler_type, id,
                           on_message) == 0);
    }
}

static void handlers(void) {
    int id, old = -1, source = me, type = 1, got;
    calls = 0;
    handler_source = before, handler_type = DONTCARE;
    CHECK(mpc_rcvncall(&handler_value, sizeof handler_value, &handler_source, &handler_type, &id,
                       NULL) == -1);
    handler_type = 12;
    CHECK(mpc_lockrnc(1, &old) == 0 && old == 0);
    CHECK(mpc_rcvncall(&handler_value, sizeof handler_value, &handler_source, &handler_type, &id,
                       on_message) == 0);
    for (int i = 1; i <= 10; ++i) CHECK(mpc_bsend(&i, sizeof i, next, 12) == 0);
    CHECK(mpc_sync(ALLGRP) == 0);
    CHECK(mpc_bsend(&id, sizeof id, me, 1) == 0);
    CHECK(mpc_brecv(&id, sizeof id, &source, &type, &got) == 0);
    CHECK(calls == 0);
    CHECK(mpc_lockrnc(0, &old) == 0 && old == 1);
    while (calls < 10) mpc_status(0);
}

/* A non-blocking index of unequal blocks does not wait for the other tasks, whatever algorithm the
 * user names: here task 0 must return before any other task calls it. */
static void index_without_waiting(void) {
    int* lengths = malloc((size_t)tasks * sizeof(int));
    int* out = malloc((size_t)tasks * sizeof(int));
    int* in = malloc((size_t)tasks * sizeof(int));
    int id = 0, token = 1, source = 0, type = 71;
    size_t got = 0;
    for (int i = 0; i < tasks; ++i) lengths[i] = sizeof(int), out[i] = 100 * me + i, in[i] = -1;
    if (me != 0) CHECK(mpc_brecv(&token, sizeof token, &source, &type, &got) == 0);
    CHECK(mpc_iindexv(out, lengths, in, lengths, ALLGRP, &id) == 0);
    for (int to = 1; me == 0 && to < tasks; ++to)
        CHECK(mpc_bsend(&token, sizeof token, to, type) == 0);
    CHECK(mpc_collwait(&id) == 0);
    for (int i = 0; i < tasks; ++i) CHECK(in[i] == 100 * i + me);
    free(lengths), free(out), free(in);
}

int main(void) {
    CHECK(mpc_environ(&tasks, &me) == 0);
    next = (me + 1) % tasks;
    before = (me + tasks - 1) % tasks;
    ids();
    status();
    posting_order();
    any_and_all();
    probing();
    if (tasks > 1) exchange();
    if (tasks % 2 == 0 || tasks == 1) blocks();
    overflow();
    handlers();
    index_without_waiting();
    CHECK(mpc_sync(ALLGRP) == 0);
    return 0;
}
