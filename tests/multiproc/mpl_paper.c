/* The semantics that the paper on the SP2's communication software states with its two examples,
 * and non-interference.
 *
 * Its example 1: a task sends two messages of one type; the other has posted a receive of any type
 * and then receives that type. Either receive may get either message, but each gets one. If both
 * receives select alike, the first posted gets the first sent.
 * Its example 2: two tasks first send to each other, then receive. That ends as long as the
 * messages fit into the buffers; it always ends if one task receives first, or if both post their
 * receives before they send. Non-interference: messages that nobody has asked for, however many, do
 * not keep the one that is asked for.
 */
#include <stdlib.h>

#include "mpl_test.h"

enum { kInts = 10, kMany = 10000 };

static int tasks, me;

static void fill(int* numbers, size_t count, int first) {
    size_t i;
    for (i = 0; i < count; ++i) numbers[i] = first + (int)i;
}

static int holds(const int* numbers, size_t count, int first) {
    size_t i;
    for (i = 0; i < count; ++i)
        if (numbers[i] != first + (int)i) return 0;
    return 1;
}

static void receive_both(int first_type, int second_type, int either) {
    int a[kInts], b[kInts], source = 0, type = first_type, id, bytes = -1;
    int other_source = 0, other_type = second_type;
    CHECK(mpc_recv(a, sizeof a, &source, &type, &id) == 0);
    CHECK(mpc_brecv(b, sizeof b, &other_source, &other_type, &bytes) == 0);
    CHECK(bytes == (int)sizeof b && other_type == 1 && other_source == 0);
    bytes = -1;
    CHECK(mpc_wait(&id, &bytes) == 0);
    CHECK(bytes == (int)sizeof a && type == 1 && source == 0);
    CHECK((holds(a, kInts, 100) && holds(b, kInts, 200)) ||
          (either && holds(a, kInts, 200) && holds(b, kInts, 100)));
}

static void example1(int first_type, int second_type, int either) {
    int a[kInts], b[kInts];
    fill(a, kInts, 100);
    fill(b, kInts, 200);
    if (me == 0) {
        CHECK(mpc_bsend(a, sizeof a, 1, 1) == 0);
        CHECK(mpc_bsend(b, sizeof b, 1, 1) == 0);
    } else if (me == 1) {
        receive_both(first_type, second_type, either);
    }
    CHECK(mpc_sync(ALLGRP) == 0);
}

enum Way { kSendFirst, kOneReceivesFirst, kPostFirst };

static void example2(enum Way way, size_t count) {
    int other = 1 - me, source = other, type = 1, id, bytes = -1;
    size_t length = count * sizeof(int);
    if (me < 2) {
        int* out = malloc(length + 1);
        int* in = malloc(length + 1);
        fill(out, count, me);
        if (way == kPostFirst) {
            CHECK(mpc_recv(in, length, &source, &type, &id) == 0);
            CHECK(mpc_bsend(out, length, other, 1) == 0);
            CHECK(mpc_wait(&id, &bytes) == 0);
        } else if (way == kOneReceivesFirst && me == 1) {
            CHECK(mpc_brecv(in, length, &source, &type, &bytes) == 0);
            CHECK(mpc_bsend(out, length, other, 1) == 0);
        } else {
            CHECK(mpc_bsend(out, length, other, 1) == 0);
            CHECK(mpc_brecv(in, length, &source, &type, &bytes) == 0);
        }
        CHECK(bytes == (int)length && holds(in, count, other));
        free(out);
        free(in);
    }
    CHECK(mpc_sync(ALLGRP) == 0);
}

/* `many` messages of type 1, then one of type 2 that is received first. `length`: of each. */
static void non_interference(int many, size_t length, size_t selected) {
    int i, source = 0, type = 2, id, all = ALLMSG, bytes = -1;
    char* buffer = calloc(1, (length > selected ? length : selected) + 1);
    if (me == 0) {
        for (i = 0; i < many; ++i) {
            if (mpc_send(buffer, length, 1, 1, &id) != 0) CHECK(!"mpc_send");
        }
        CHECK(mpc_send(buffer, selected, 1, 2, &id) == 0);
        CHECK(mpc_wait(&all, &bytes) == 0);
    } else if (me == 1) {
        CHECK(mpc_brecv(buffer, selected, &source, &type, &bytes) == 0);
        CHECK(bytes == (int)selected && source == 0 && type == 2);
        for (i = 0; i < many; ++i) {
            source = type = DONTCARE;
            if (mpc_brecv(buffer, length, &source, &type, &bytes) != 0) CHECK(!"mpc_brecv");
            if (bytes != (int)length || source != 0 || type != 1) CHECK(!"the right message");
        }
        source = type = DONTCARE;
        CHECK(mpc_probe(&source, &type, &bytes) == 0 && bytes == -1);
    }
    free(buffer);
    CHECK(mpc_sync(ALLGRP) == 0);
}

/* Who looks again and again gets on as well as who waits: the long message that task 0 is held up
 * with is taken into the buffers. */
static void looking(size_t length, int with_status) {
    int source = 0, type = 2, id, bytes = -1, number = 7;
    char* buffer = calloc(1, length);
    if (me == 0) {
        CHECK(mpc_bsend(buffer, length, 1, 1) == 0);
        CHECK(mpc_bsend(&number, sizeof number, 1, 2) == 0);
    } else if (me == 1) {
        number = 0;
        if (with_status) {
            CHECK(mpc_recv(&number, sizeof number, &source, &type, &id) == 0);
            while (mpc_status(id) == -1) continue;
            CHECK(mpc_wait(&id, &bytes) == 0);
        } else {
            do {
                CHECK(mpc_probe(&source, &type, &bytes) == 0);
            } while (bytes == -1);
            CHECK(mpc_brecv(&number, sizeof number, &source, &type, &bytes) == 0);
        }
        CHECK(number == 7);
        type = 1;
        CHECK(mpc_brecv(buffer, length, &source, &type, &bytes) == 0 && bytes == (int)length);
    }
    free(buffer);
    CHECK(mpc_sync(ALLGRP) == 0);
}

int main(void) {
    static const size_t counts[] = {1, 10, 1000, 10000, 300000};
    int limits[2], again, many;
    size_t i, eager, room;
    CHECK(mpc_environ(&tasks, &me) == 0 && tasks >= 2);
    CHECK(mpc_task_query(limits, 2, 4) == 0);
    eager = (size_t)limits[0];
    room = (size_t)limits[1];
    for (again = 0; again < 50; ++again) {
        example1(DONTCARE, 1, 1);
        example1(1, DONTCARE, 1);
        example1(1, 1, 0);
        example1(DONTCARE, DONTCARE, 0);
    }
    for (i = 0; i < sizeof counts / sizeof counts[0]; ++i) {
        if (counts[i] * sizeof(int) + 1000 < room) example2(kSendFirst, counts[i]);
        example2(kOneReceivesFirst, counts[i]);
        example2(kPostFirst, counts[i]);
    }
    /* As many as the buffer memory takes, of which each uses more than its bytes. */
    many = room / 512 < kMany ? (int)(room / 512) : kMany;
    non_interference(many, 16, 16);
    non_interference(many, 16, eager + 5000);
    non_interference(many, eager + 1, 16);
    non_interference(many, eager + 1, eager + 5000);
    looking(eager + 2000, 0);
    looking(eager + 2000, 1);
    return 0;
}
