/* Groups, grids and cubes; the modes of collective calls. Argument: which test. */
#include <string.h>

#include "mpl_test.h"

static int tasks, me;

/* Numbers of groups are unique: every task tells what it has, and with which members. */
static void check_unique(const int* gids, int count) {
    int* all = malloc(sizeof(int) * (size_t)count * (size_t)tasks);
    int* leaders = malloc(sizeof(int) * (size_t)count * (size_t)tasks);
    int* own = malloc(sizeof(int) * (size_t)count);
    int i, j, task;
    for (i = 0; i < count; ++i) CHECK(mpc_gettaskid(0, &own[i], gids[i]) == 0);
    CHECK(mpc_concat(gids, all, sizeof(int) * (size_t)count, ALLGRP) == 0);
    CHECK(mpc_concat(own, leaders, sizeof(int) * (size_t)count, ALLGRP) == 0);
    for (i = 0; i < count * tasks; ++i) {
        for (j = 0; j < i; ++j) {
            /* The same number, then the same group: the same leader, and not twice in a task. */
            if (all[i] == all[j]) CHECK(leaders[i] == leaders[j] && i / count != j / count);
        }
    }
    for (task = 0; task < count * tasks; ++task) CHECK(all[task] != ALLGRP);
    free(all);
    free(leaders);
    free(own);
}

static void test_partitions(void) {
    int even, reversed, size, rank, task, label, gids[3], x, members[64];
    /* The example of the paper: even and odd tasks. */
    CHECK(mpc_partition(ALLGRP, 0, me % 2, &even) == 0);
    CHECK(mpc_getsize(&size, even) == 0 && size == (tasks + 1 - me % 2) / 2);
    CHECK(mpc_getrank(&rank, me, even) == 0 && rank == me / 2);
    CHECK(mpc_gettaskid(0, &task, even) == 0 && task == me % 2);
    CHECK(mpc_getlabel(&label, even) == 0 && label == me % 2);
    CHECK(mpc_getrank(&rank, tasks, even) == -1 && mperrno == 121);
    if (tasks > 1) CHECK(mpc_getrank(&rank, 1 - me % 2, even) == -1);
    /* By key downwards, and all with the same key: ties by rank in the parent. */
    CHECK(mpc_partition(ALLGRP, -me, 7, &reversed) == 0);
    CHECK(mpc_getmembers(members, reversed) == 0);
    for (x = 0; x < tasks; ++x) CHECK(members[x] == tasks - 1 - x);
    gids[0] = even;
    gids[1] = reversed;
    /* A group that its members list, in that order. */
    for (x = 0; x < tasks; ++x) members[x] = (x + tasks / 2) % tasks;
    CHECK(mpc_group(tasks, members, 5, &gids[2]) == 0);
    CHECK(mpc_getrank(&rank, tasks / 2, gids[2]) == 0 && rank == 0);
    check_unique(gids, 3);
    for (x = 0; x < 3; ++x) CHECK(mpc_freegroup(gids[x]) == 0);
    CHECK(mpc_sync(gids[0]) == -1 && mperrno == 108);
    CHECK(mpc_freegroup(ALLGRP) == -1);
}

static void test_many(void) {
    enum { kMany = 10000 };
    static int gids[kMany];
    int i, sum, one = 1, pair[2], partner = me ^ 1;
    for (i = 0; i < kMany; ++i) CHECK(mpc_group(1, &me, i, &gids[i]) == 0);
    for (i = 1; i < kMany; ++i) CHECK(gids[i] != gids[i - 1]);
    for (i = 0; i < kMany; i += 777) {
        CHECK(mpc_combine(&one, &sum, sizeof one, i_vadd, gids[i]) == 0 && sum == 1);
    }
    check_unique(&gids[kMany - 100], 100);
    for (i = 0; i < kMany; ++i) CHECK(mpc_freegroup(gids[i]) == 0);
    if (partner >= tasks) return;
    pair[0] = me < partner ? me : partner;
    pair[1] = me < partner ? partner : me;
    for (i = 0; i < 1000; ++i) CHECK(mpc_group(2, pair, i, &gids[i]) == 0);
    for (i = 0; i < 1000; ++i) {
        CHECK(mpc_combine(&me, &sum, sizeof me, i_vadd, gids[i]) == 0 && sum == me + partner);
        CHECK(mpc_freegroup(gids[i]) == 0);
    }
}

static void test_grids(void) {
    int row, column, sum, x, y, i, dims[3], coords[3], gids[3], rank, gray, back, cube;
    x = tasks % 2 == 0 ? 2 : 1;
    y = tasks / x;
    CHECK(mpc_form2dgrid(ALLGRP, x, y, &row, &column) == 0);
    CHECK(mpc_combine(&me, &sum, sizeof me, i_vadd, row) == 0);
    CHECK(sum == y * (me / y) * y + y * (y - 1) / 2);
    CHECK(mpc_combine(&me, &sum, sizeof me, i_vadd, column) == 0);
    CHECK(sum == x * (me % y) + y * x * (x - 1) / 2);
    CHECK(mpc_getrank(&rank, me, row) == 0 && rank == me % y);
    CHECK(mpc_getrank(&rank, me, column) == 0 && rank == me / y);
    check_unique(&row, 1);
    CHECK(mpc_form2dgrid(ALLGRP, x + 1, y, &row, &column) == -1);

    dims[0] = x;
    dims[1] = 1;
    dims[2] = y;
    CHECK(mpc_formgrid(ALLGRP, 3, dims, gids) == 0);
    CHECK(mpc_rank2grid(me, 3, dims, coords) == 0);
    CHECK(mpc_grid2rank(coords, 3, dims, &back) == 0 && back == me);
    CHECK(coords[0] == me / y && coords[1] == 0 && coords[2] == me % y);
    for (i = 0; i < 3; ++i) {
        int size;
        CHECK(mpc_getsize(&size, gids[i]) == 0 && size == dims[i]);
        CHECK(mpc_getrank(&rank, me, gids[i]) == 0 && rank == coords[i]);
    }
    check_unique(gids, 3);
    for (i = 0; i < 1000; ++i) {
        int next, bits;
        CHECK(mpc_rank2gray(i, &gray) == 0 && mpc_gray2rank(gray, &back) == 0 && back == i);
        CHECK(mpc_rank2gray(i + 1, &next) == 0);
        bits = gray ^ next;
        CHECK(bits != 0 && (bits & (bits - 1)) == 0);
    }
    if ((tasks & (tasks - 1)) == 0) {
        int mask = tasks > 2 ? tasks / 2 + 1 : tasks - 1, expected = 0;
        CHECK(mpc_formsubcube(ALLGRP, mask, &cube) == 0);
        for (i = 0; i < tasks; ++i) expected += ((i ^ me) & ~mask) == 0 ? i : 0;
        CHECK(mpc_combine(&me, &sum, sizeof me, i_vadd, cube) == 0 && sum == expected);
        CHECK(mpc_formsubcube(ALLGRP, tasks, &cube) == -1);
    } else {
        CHECK(mpc_formsubcube(ALLGRP, 1, &cube) == -1);
    }
}

static void test_wrong(void) {
    int x = 0, y = 0, list[2], gid;
    list[0] = me;
    list[1] = me;
    CHECK(mpc_group(2, list, 0, &gid) == -1 && mperrno == 121);
    list[1] = tasks;
    CHECK(mpc_group(2, list, 0, &gid) == -1 && mperrno == 121);
    CHECK(mpc_group(0, list, 0, &gid) == -1 && mperrno == 121);
    CHECK(mpc_bcast(&x, 4, tasks, ALLGRP) == -1 && mperrno == 119);
    CHECK(mpc_bcast(NULL, 4, 0, ALLGRP) == -1 && mperrno == 102);
    CHECK(mpc_combine(&x, &y, 3, i_vadd, ALLGRP) == -1 && mperrno == 103);
    CHECK(mpc_combine(&x, &y, 4, NULL, ALLGRP) == -1 && mperrno == 102);
    CHECK(mpc_bcast(&x, (size_t)-1, 0, ALLGRP) == -1 && mperrno == 103);
    CHECK(mpc_collwait(&y) == -1 && mperrno == 120);
    CHECK(mpc_colltest(5, &y) == -1 && mperrno == 120);
    CHECK(mpc_concatv(&x, &y, NULL, ALLGRP) == -1 && mperrno == 102);
    CHECK(mp_bcast(&x, NULL, &y, &y) == -1 && mperrno == 102);
}

/* The program of the CCL paper, III.C: a = 0, b = 1, c = 2. With barriers c gets a's message first.
 */
static void test_barrier(void) {
    int i, data = 0, nbytes;
    for (i = 0; i < 200; ++i) {
        int source = DONTCARE, type = DONTCARE;
        if (me == 0) CHECK(mpc_bsend(&i, sizeof i, 2, i) == 0);
        if (me == 2) {
            CHECK(mpc_brecv(&data, sizeof data, &source, &type, &nbytes) == 0);
            CHECK(source == 0 && type == i);
        }
        data = me == 1 ? i : -1;
        CHECK(mpc_bcast(&data, sizeof data, 1, ALLGRP) == 0 && data == i);
        if (me == 1) CHECK(mpc_bsend(&i, sizeof i, 2, i) == 0);
        source = DONTCARE;
        type = DONTCARE;
        if (me == 2) {
            CHECK(mpc_brecv(&data, sizeof data, &source, &type, &nbytes) == 0);
            CHECK(source == 1 && type == i);
        }
        CHECK(mpc_sync(ALLGRP) == 0);
    }
}

/* Without them b may be through before c has begun, and c gets before the broadcast what b has sent
 * after it: with barriers this would wait for ever. */
static void test_nonbarrier(void) {
    int i, data = 0, nbytes;
    for (i = 0; i < 200; ++i) {
        int source = 1, type = i;
        if (me == 2) {
            CHECK(mpc_brecv(&data, sizeof data, &source, &type, &nbytes) == 0);
            CHECK(data == -i);
        }
        data = me == 1 ? i : -1;
        CHECK(mpc_bcast(&data, sizeof data, 1, ALLGRP) == 0 && data == i);
        data = -i;
        if (me == 1) CHECK(mpc_bsend(&data, sizeof data, 2, i) == 0);
    }
}

static void test_disagree(void) {
    int data = 0;
    CHECK(mpc_bcast(&data, sizeof data, me == 4 ? 2 : 0, ALLGRP) == -1 && mperrno == 117);
    /* All know of it, so all can go on. */
    CHECK(mpc_bcast(&data, sizeof data, 3, ALLGRP) == 0);
}

/* Calls on overlapping groups, under way at once, in an order that would deadlock one after the
 * other: task i waits for its neighbours in a ring of pairs. */
static void test_overlap(void) {
    int left = (me + tasks - 1) % tasks, right = (me + 1) % tasks, pairs[2][2], gids[2], ids[2];
    int k, sums[2];
    if (tasks < 3) return;
    pairs[0][0] = me;
    pairs[0][1] = right;
    pairs[1][0] = left;
    pairs[1][1] = me;
    /* Making the groups is blocking: task 0 begins with the other one. */
    CHECK(mpc_group(2, pairs[me == 0], 0, &gids[me == 0]) == 0);
    CHECK(mpc_group(2, pairs[me != 0], 0, &gids[me != 0]) == 0);
    for (k = 0; k < 2; ++k)
        CHECK(mpc_icombine(&me, &sums[k], sizeof me, i_vadd, gids[k], &ids[k]) == 0);
    CHECK(mpc_collwait(&ids[1]) == 0 && sums[1] == me + left);
    CHECK(mpc_collwait(&ids[0]) == 0 && sums[0] == me + right);
}

/* A call goes on while its task waits for a message: the last task hears of the broadcast by way of
 * others, which wait for a message from it. */
static void test_progress(void) {
    int data = me == 0 ? 77 : 0, id, nbytes, other, word = 0;
    CHECK(mpc_ibcast(&data, sizeof data, 0, ALLGRP, &id) == 0);
    if (me == tasks - 1) {
        CHECK(mpc_collwait(&id) == 0 && data == 77);
        for (other = 0; other < tasks - 1; ++other)
            CHECK(mpc_bsend(&data, sizeof data, other, 1) == 0);
    } else {
        int source = tasks - 1, type = 1;
        CHECK(mpc_brecv(&word, sizeof word, &source, &type, &nbytes) == 0 && word == 77);
        CHECK(mpc_collwait(&id) == 0 && data == 77);
    }
}

int main(int argc, char** argv) {
    const char* test = argc > 1 ? argv[1] : "all";
    CHECK(mpc_environ(&tasks, &me) == 0);
    if (strcmp(test, "barrier") == 0) {
        test_barrier();
    } else if (strcmp(test, "nonbarrier") == 0) {
        test_nonbarrier();
    } else if (strcmp(test, "disagree") == 0) {
        test_disagree();
    } else {
        test_partitions();
        test_many();
        test_grids();
        test_wrong();
        test_overlap();
        test_progress();
    }
    CHECK(mpc_sync(ALLGRP) == 0);
    return 0;
}
