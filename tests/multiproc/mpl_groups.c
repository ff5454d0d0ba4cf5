/* Groups, grids and cubes; collective calls of several groups at once. */
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
    int even, reversed, halved, size, rank, task, label, gids[3], x, members[64];
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
    /* Ties by rank in the parent, where that is not the order of tasks. */
    CHECK(mpc_partition(reversed, 0, me % 2, &halved) == 0);
    CHECK(mpc_getsize(&size, halved) == 0 && size == (tasks + 1 - me % 2) / 2);
    CHECK(mpc_getmembers(members, halved) == 0);
    for (x = 0; x < size; ++x) CHECK(members[x] == 2 * (size - 1 - x) + me % 2);
    CHECK(mpc_freegroup(halved) == 0);
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

/* A grid of three dimensions, each of several places, and a subcube: of a group whose ranks are not
 * the tasks' numbers. */
static void test_structures_of_a_group(void) {
    int reversed, dims[3], coords[3], gids[3], members[64], own, cube, d, i;
    if (tasks % 8 != 0) return;
    CHECK(mpc_partition(ALLGRP, -me, 0, &reversed) == 0);
    dims[0] = 2;
    dims[1] = tasks / 4;
    dims[2] = 2;
    CHECK(mpc_formgrid(reversed, 3, dims, gids) == 0);
    own = tasks - 1 - me;
    CHECK(mpc_rank2grid(own, 3, dims, coords) == 0);
    CHECK(coords[0] == own / (2 * dims[1]) && coords[1] == own / 2 % dims[1] &&
          coords[2] == own % 2);
    for (d = 0; d < 3; ++d) {
        int other[3], rank;
        for (i = 0; i < 3; ++i) other[i] = coords[i];
        CHECK(mpc_getmembers(members, gids[d]) == 0);
        for (i = 0; i < dims[d]; ++i) {
            other[d] = i;
            CHECK(mpc_grid2rank(other, 3, dims, &rank) == 0 && members[i] == tasks - 1 - rank);
        }
    }
    check_unique(gids, 3);
    CHECK(mpc_formsubcube(reversed, 5, &cube) == 0);
    CHECK(mpc_getmembers(members, cube) == 0);
    for (i = 0; i < 4; ++i) {
        int rank = (own & ~5) | (i & 1) | (i & 2) << 1;
        CHECK(members[i] == tasks - 1 - rank);
    }
}

/* Calls by reference are those by value. */
static void test_by_reference(void) {
    static int given[64 * 4], one[64 * 4], other[64 * 4], blocks[64], sizes[64];
    int len = 8, root = tasks - 1, gid = ALLGRP, step = -1, flag = 1, id, done, k, i;
#define BOTH(BY_VALUE, BY_REFERENCE, STARTED)                                   \
    do {                                                                        \
        for (k = 0; k < 2; ++k) {                                               \
            memset(one, 1, sizeof one);                                         \
            memset(other, 1, sizeof other);                                     \
            CHECK(BY_VALUE == 0);                                               \
            if (k == 0) {                                                       \
                CHECK(BY_REFERENCE == 0);                                       \
            } else {                                                            \
                CHECK(STARTED == 0);                                            \
                for (done = 0; done == 0;) CHECK(mp_colltest(&id, &done) == 0); \
            }                                                                   \
            CHECK(memcmp(one, other, sizeof one) == 0);                         \
        }                                                                       \
    } while (0)
    for (i = 0; i < 64 * 4; ++i) given[i] = me * 1000 + i;
    for (i = 0; i < tasks; ++i) blocks[i] = 4 * (i % 3);
    for (i = 0; i < tasks; ++i) sizes[i] = 4 * ((i + me) % 3);
    BOTH((memcpy(one, given, 8), mpc_bcast(one, 8, root, gid)),
         (memcpy(other, given, 8), mp_bcast(other, &len, &root, &gid)),
         (memcpy(other, given, 8), mp_ibcast(other, &len, &root, &gid, &id)));
    BOTH(mpc_reduce(given, one, 8, root, i_vadd, gid),
         mp_reduce(given, other, &len, &root, i_vadd, &gid),
         mp_ireduce(given, other, &len, &root, i_vadd, &gid, &id));
    BOTH(mpc_combine(given, one, 8, i_vmax, gid), mp_combine(given, other, &len, i_vmax, &gid),
         mp_icombine(given, other, &len, i_vmax, &gid, &id));
    BOTH(mpc_prefix(given, one, 8, i_vadd, gid), mp_prefix(given, other, &len, i_vadd, &gid),
         mp_iprefix(given, other, &len, i_vadd, &gid, &id));
    BOTH(mpc_scatter(given, one, 8, root, gid), mp_scatter(given, other, &len, &root, &gid),
         mp_iscatter(given, other, &len, &root, &gid, &id));
    BOTH(mpc_gather(given, one, 8, root, gid), mp_gather(given, other, &len, &root, &gid),
         mp_igather(given, other, &len, &root, &gid, &id));
    BOTH(mpc_concat(given, one, 8, gid), mp_concat(given, other, &len, &gid),
         mp_iconcat(given, other, &len, &gid, &id));
    BOTH(mpc_index(given, one, 8, gid), mp_index(given, other, &len, &gid),
         mp_iindex(given, other, &len, &gid, &id));
    BOTH(mpc_shift(given, one, 8, step, flag, gid),
         mp_shift(given, other, &len, &step, &flag, &gid),
         mp_ishift(given, other, &len, &step, &flag, &gid, &id));
    BOTH(mpc_sync(gid), mp_sync(&gid), mp_isync(&gid, &id));
    BOTH(mpc_scatterv(given, one, blocks, root, gid),
         mp_scatterv(given, other, blocks, &root, &gid),
         mp_iscatterv(given, other, blocks, &root, &gid, &id));
    BOTH(mpc_gatherv(given, one, blocks, root, gid), mp_gatherv(given, other, blocks, &root, &gid),
         mp_igatherv(given, other, blocks, &root, &gid, &id));
    BOTH(mpc_concatv(given, one, blocks, gid), mp_concatv(given, other, blocks, &gid),
         mp_iconcatv(given, other, blocks, &gid, &id));
    BOTH(mpc_indexv(given, sizes, one, sizes, gid), mp_indexv(given, sizes, other, sizes, &gid),
         mp_iindexv(given, sizes, other, sizes, &gid, &id));
#undef BOTH
}

static void test_groups_by_reference(void) {
    int parent = ALLGRP, key = -me, label = me % 2, gid, one[64], other[64], value, again, x = 1;
    int list[64], pair[2], dims[2], coords[2], mask = 0, i, rank = 0, two = 2;
    for (i = 0; i < tasks; ++i) list[i] = (i + 1) % tasks;
    CHECK(mp_group(&tasks, list, &label, &gid) == 0);
    CHECK(mp_getmembers(other, &gid) == 0 &&
          memcmp(other, list, sizeof *list * (size_t)tasks) == 0);
    CHECK(mp_freegroup(&gid) == 0 && mpc_sync(gid) == -1);
    CHECK(mp_partition(&parent, &key, &label, &gid) == 0);
    CHECK(mpc_getsize(&value, gid) == 0 && mp_getsize(&again, &gid) == 0 && value == again);
    CHECK(mpc_getmembers(one, gid) == 0 && mp_getmembers(other, &gid) == 0);
    CHECK(memcmp(one, other, sizeof *one * (size_t)value) == 0);
    CHECK(mpc_getrank(&value, me, gid) == 0 && mp_getrank(&again, &me, &gid) == 0 &&
          value == again);
    CHECK(mp_gettaskid(&rank, &again, &gid) == 0 && again == one[0]);
    CHECK(mp_getlabel(&again, &gid) == 0 && again == me % 2);
    CHECK(mp_form2dgrid(&parent, &x, &tasks, &pair[0], &pair[1]) == 0);
    CHECK(mpc_getsize(&value, pair[0]) == 0 && value == tasks);
    dims[0] = tasks;
    dims[1] = 1;
    CHECK(mp_formgrid(&parent, &two, dims, pair) == 0);
    CHECK(mpc_getsize(&value, pair[0]) == 0 && value == tasks);
    CHECK(mp_rank2grid(&me, &two, dims, coords) == 0 && coords[0] == me && coords[1] == 0);
    CHECK(mp_grid2rank(coords, &two, dims, &again) == 0 && again == me);
    CHECK(mp_rank2gray(&me, &value) == 0 && value == (me ^ me / 2));
    CHECK(mp_gray2rank(&value, &again) == 0 && again == me);
    if ((tasks & (tasks - 1)) == 0) {
        CHECK(mp_formsubcube(&parent, &mask, &gid) == 0);
        CHECK(mpc_getsize(&value, gid) == 0 && value == 1);
    }
}

static void test_wrong(void) {
    int x = 0, y = 0, list[2], outs[64], ins[64], gid;
    list[0] = me;
    list[1] = me;
    CHECK(mpc_group(2, list, 0, &gid) == -1 && mperrno == 121);
    list[1] = tasks;
    CHECK(mpc_group(2, list, 0, &gid) == -1 && mperrno == 121);
    CHECK(mpc_group(0, list, 0, &gid) == -1 && mperrno == 121);
    CHECK(mpc_group(0x7fffffff, list, 0, &gid) == -1 && mperrno == 121);
    CHECK(mpc_shift(&x, &y, 4, 1, 2, ALLGRP) == -1 && mperrno == 107);
    CHECK(mpc_bcast(&x, 4, tasks, ALLGRP) == -1 && mperrno == 119);
    CHECK(mpc_bcast(NULL, 4, 0, ALLGRP) == -1 && mperrno == 102);
    CHECK(mpc_combine(&x, &y, 3, i_vadd, ALLGRP) == -1 && mperrno == 103);
    CHECK(mpc_combine(&x, &y, 4, NULL, ALLGRP) == -1 && mperrno == 102);
    CHECK(mpc_bcast(&x, (size_t)-1, 0, ALLGRP) == -1 && mperrno == 103);
    CHECK(mpc_collwait(&y) == -1 && mperrno == 120);
    CHECK(mpc_colltest(5, &y) == -1 && mperrno == 120);
    CHECK(mpc_concatv(&x, &y, NULL, ALLGRP) == -1 && mperrno == 102);
    CHECK(mp_bcast(&x, NULL, &y, &y) == -1 && mperrno == 102);
    memset(outs, 0, sizeof outs);
    memset(ins, 0, sizeof ins);
    outs[me] = 4;
    CHECK(mpc_indexv(&x, outs, &y, ins, ALLGRP) == -1 && mperrno == 103);
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

/* Two groups of the same tasks, calls on both under way at once, begun in either order. */
static void test_same_members(void) {
    int gids[2], ids[2], sums[2], given[2], list[64], k;
    for (k = 0; k < tasks; ++k) list[k] = k;
    for (k = 0; k < 2; ++k) CHECK(mpc_group(tasks, list, k, &gids[k]) == 0);
    for (k = 0; k < 2; ++k) {
        int which = (me + k) % 2;
        given[which] = which == 0 ? 1 : 100;
        CHECK(mpc_icombine(&given[which], &sums[which], sizeof(int), i_vadd, gids[which],
                           &ids[which]) == 0);
    }
    for (k = 0; k < 2; ++k) CHECK(mpc_collwait(&ids[k]) == 0);
    CHECK(sums[0] == tasks && sums[1] == 100 * tasks);
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

int main(void) {
    CHECK(mpc_environ(&tasks, &me) == 0);
    test_partitions();
    test_many();
    test_grids();
    test_structures_of_a_group();
    test_by_reference();
    test_groups_by_reference();
    test_wrong();
    test_overlap();
    test_same_members();
    test_progress();
    CHECK(mpc_sync(ALLGRP) == 0);
    return 0;
}
