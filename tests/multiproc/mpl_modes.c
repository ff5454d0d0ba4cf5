/* The modes of collective calls: with and without barriers, and the develop mode, in which the members of
 * a group compare their calls. Argument: which test. */
#include <sched.h>
#include <string.h>
#include <time.h>

#include "mpl_test.h"

static int tasks, me;

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

/* Lets the others go on for 200 turns, or for a millisecond: on a busy core one turn of another
 * program may last several. */
static void be_late(void) {
    struct timespec start, now;
    int turns;
    clock_gettime(CLOCK_MONOTONIC, &start);
    for (turns = 0; turns < 200; ++turns) {
        sched_yield();
        clock_gettime(CLOCK_MONOTONIC, &now);
        if ((now.tv_sec - start.tv_sec) * 1000000000LL + now.tv_nsec - start.tv_nsec > 1000000)
            break;
    }
}

/* The same with each operation that by itself does not wait for a and c. a is late, so that without
 * barriers b would be first. */
static void test_barriers(void) {
    static int given[3], got[3];
    int i, operation, nbytes, one[3], size = sizeof(int);
    for (i = 0; i < 3; ++i) one[i] = size;
    for (i = 0; i < 20; ++i) {
        for (operation = 0; operation < 9; ++operation) {
            int source = DONTCARE, type = DONTCARE, data = 0, id = 0;
            if (me == 0) {
                be_late();
                CHECK(mpc_bsend(&i, sizeof i, 2, 1) == 0);
            }
            if (me == 2) {
                CHECK(mpc_brecv(&data, sizeof data, &source, &type, &nbytes) == 0);
                CHECK(source == 0);
            }
            switch (operation) {
                case 0:
                    CHECK(mpc_bcast(got, 4, 1, ALLGRP) == 0);
                    break;
                case 1:
                    CHECK(mpc_scatter(given, got, 4, 1, ALLGRP) == 0);
                    break;
                case 2:
                    CHECK(mpc_scatterv(given, got, one, 1, ALLGRP) == 0);
                    break;
                case 3:
                    CHECK(mpc_reduce(given, got, 4, 2, i_vadd, ALLGRP) == 0);
                    break;
                case 4:
                    CHECK(mpc_gather(given, got, 4, 2, ALLGRP) == 0);
                    break;
                case 5:
                    CHECK(mpc_gatherv(given, got, one, 0, ALLGRP) == 0);
                    break;
                case 6:
                    CHECK(mpc_prefix(given, got, 4, i_vadd, ALLGRP) == 0);
                    break;
                case 7:
                    CHECK(mpc_shift(given, got, 4, 1, 1, ALLGRP) == 0);
                    break;
                default:
                    CHECK(mpc_igather(given, got, 4, 0, ALLGRP, &id) == 0);
                    CHECK(mpc_collwait(&id) == 0);
            }
            source = DONTCARE;
            if (me == 1) CHECK(mpc_bsend(&i, sizeof i, 2, 1) == 0);
            if (me == 2) {
                CHECK(mpc_brecv(&data, sizeof data, &source, &type, &nbytes) == 0);
                CHECK(source == 1);
            }
            CHECK(mpc_sync(ALLGRP) == 0);
        }
    }
}

/* A broadcast of four bytes from task 0, which is what the library sends to itself, too. c is late, so
 * that without a barrier b would get the root's message first. */
static void test_barrier_of_root_0(void) {
    int i, data = 0, nbytes;
    for (i = 0; i < 20; ++i) {
        int source = DONTCARE, type = DONTCARE;
        CHECK(mpc_sync(ALLGRP) == 0);
        if (me == 2) {
            be_late();
            CHECK(mpc_bsend(&i, sizeof i, 1, 7) == 0);
        }
        CHECK(mpc_bcast(&data, sizeof data, 0, ALLGRP) == 0);
        if (me == 0) CHECK(mpc_bsend(&i, sizeof i, 1, 7) == 0);
        if (me == 1) {
            CHECK(mpc_brecv(&data, sizeof data, &source, &type, &nbytes) == 0);
            CHECK(source == 2);
            source = DONTCARE;
            CHECK(mpc_brecv(&data, sizeof data, &source, &type, &nbytes) == 0);
            CHECK(source == 0);
        }
    }
}

/* The same program without barriers: b may be through with the broadcast before c has begun, and
 * then c gets b's message before the broadcast, and a's, which was sent before it, after it. a
 * sends when c says that it has b's, so that this is the only order; with barriers it would wait
 * for ever. */
static void test_nonbarrier(void) {
    int i, data = 0, nbytes;
    /* A group's first call finds out where its members are. */
    CHECK(mpc_bcast(&data, sizeof data, 1, ALLGRP) == 0);
    for (i = 0; i < 200; ++i) {
        int source = DONTCARE, type = i, c = 2, go = 1000 + i;
        if (me == 0) {
            CHECK(mpc_brecv(&data, 0, &c, &go, &nbytes) == 0);
            CHECK(mpc_bsend(&i, sizeof i, 2, i) == 0);
        }
        if (me == 2) {
            CHECK(mpc_brecv(&data, sizeof data, &source, &type, &nbytes) == 0);
            CHECK(source == 1 && data == -i);
            CHECK(mpc_bsend(&data, 0, 0, go) == 0);
        }
        data = me == 1 ? i : -1;
        CHECK(mpc_bcast(&data, sizeof data, 1, ALLGRP) == 0 && data == i);
        data = -i;
        if (me == 1) CHECK(mpc_bsend(&data, sizeof data, 2, i) == 0);
        source = DONTCARE;
        if (me == 2) {
            CHECK(mpc_brecv(&data, sizeof data, &source, &type, &nbytes) == 0);
            CHECK(source == 0 && data == i);
        }
    }
}

static void test_disagree(void) {
    int data = 0;
    CHECK(mpc_bcast(&data, sizeof data, me == 4 ? 2 : 0, ALLGRP) == -1 && mperrno == 117);
    /* All know of it, so all can go on. */
    CHECK(mpc_bcast(&data, sizeof data, 3, ALLGRP) == 0);
}

/* One task calls something else, in each way that there is. */
static void test_differ(const char* how) {
    int x = 0, y[64], other, odd = me == 2;
    CHECK(mpc_partition(ALLGRP, 0, 1, &other) == 0);
    if (strcmp(how, "operation") == 0) {
        CHECK((odd ? mpc_concat(&x, y, 4, ALLGRP) : mpc_combine(&x, y, 4, i_vadd, ALLGRP)) == -1);
    } else if (strcmp(how, "length") == 0) {
        CHECK(mpc_concat(&x, y, odd ? 2 : 4, ALLGRP) == -1);
    } else if (strcmp(how, "function") == 0) {
        CHECK(mpc_combine(&x, y, 4, odd ? i_vmax : i_vadd, ALLGRP) == -1);
    } else if (strcmp(how, "lengths") == 0) {
        int blocks[64];
        for (x = 0; x < tasks; ++x) blocks[x] = odd ? 4 : x == 0 ? 2 : x == 1 ? 6 : 4;
        CHECK(mpc_concatv(&x, y, blocks, ALLGRP) == -1);
    } else if (strcmp(how, "matrix") == 0) {
        int outs[64], ins[64];
        char in[64 * 8];
        for (x = 0; x < tasks; ++x) {
            outs[x] = 4;
            ins[x] = odd && x != me ? 8 : 4;
        }
        CHECK(mpc_indexv(y, outs, in, ins, ALLGRP) == -1);
    } else if (strcmp(how, "grid") == 0) {
        CHECK(mpc_form2dgrid(ALLGRP, odd ? 2 : 1, odd ? 2 : 4, &x, y) == -1);
    } else if (strcmp(how, "making") == 0) {
        CHECK((odd ? mpc_sync(ALLGRP) : mpc_partition(ALLGRP, 0, 0, &x)) == -1);
    } else if (strcmp(how, "list") == 0) {
        int list[4] = {0, odd ? 3 : 1, 2, odd ? 1 : 3};
        CHECK(mpc_group(4, list, 0, &x) == -1);
    } else if (strcmp(how, "long-list") == 0) { /* the difference is beyond what is shown */
        int list[64];
        for (x = 0; x < tasks; ++x) list[x] = tasks - 1 - x;
        if (odd) {
            list[tasks - 1] = 1;
            list[tasks - 2] = 0;
        }
        CHECK(mpc_group(tasks, list, 0, &x) == -1);
    } else if (strcmp(how, "set") == 0) { /* task 3 is named by all but task 2 */
        int list[4] = {0, 1, 2, 3};
        CHECK(mpc_group(odd ? 3 : 4, list, 0, &x) == -1);
        CHECK(mperrno == 117 && mpc_group(4, list, 0, &x) == 0 && mpc_sync(x) == 0);
    } else if (strcmp(how, "refused-list") == 0) {
        int list[4] = {0, 1, 2, 3}, wrong[4] = {0, 1, 2, 2};
        CHECK(mpc_group(4, odd ? wrong : list, 0, &x) == -1);
        CHECK(mperrno == (odd ? 121 : 117));
        CHECK(mpc_group(4, list, 0, &x) == 0 && mpc_sync(x) == 0);
        return;
    } else if (strcmp(how, "refused-grid") == 0) {
        CHECK(mpc_form2dgrid(ALLGRP, 2, odd ? 3 : 2, &x, y) == -1);
        CHECK(mperrno == (odd ? 121 : 117));
        return;
    } else if (strcmp(how, "refused-partition") == 0) {
        CHECK(mpc_partition(ALLGRP, 0, 0, odd ? NULL : &x) == -1);
        CHECK(mperrno == (odd ? 102 : 117));
        return;
    } else if (strcmp(how, "refused-cube") == 0) {
        CHECK(mpc_formsubcube(ALLGRP, odd ? 4 : 1, &x) == -1);
        CHECK(mperrno == (odd ? 121 : 117));
        return;
    } else if (strcmp(how, "step") == 0) {
        CHECK(mpc_shift(&x, y, 4, odd ? 2 : 1, 0, ALLGRP) == -1);
    } else if (strcmp(how, "root") == 0) { /* only one task can see that its root is wrong */
        CHECK(mpc_bcast(&x, 4, odd ? 99 : 0, ALLGRP) == -1);
    } else if (strcmp(how, "buffer") == 0) {
        CHECK(mpc_icombine(&x, odd ? NULL : y, 4, i_vadd, ALLGRP, &other) == -1);
    } else {
        CHECK(mpc_concat(&x, y, 4, odd ? other : ALLGRP) == -1);
    }
    CHECK(mperrno == 117 || (odd && (strcmp(how, "root") == 0 || strcmp(how, "buffer") == 0)));
    CHECK(mpc_sync(ALLGRP) == 0);
}

/* Groups of random tasks, made one after the other. In some rounds one task leaves out another one, or
 * names one twice; then the call fails at all tasks, and after a barrier the next one succeeds. */
static void test_random_lists(void) {
    unsigned long long state = 12345;
    int round, i;
    for (round = 0; round < 400; ++round) {
        int list[64], own[64], size = 0, own_size, bad, how, gid, sum, expected = 0, in = 0, ends;
#define RANDOM(LIMIT)                                                 \
    (state = state * 6364136223846793005ULL + 1442695040888963407ULL, \
     (int)((state >> 33) % (unsigned)(LIMIT)))
        for (i = 0; i < tasks; ++i)
            if (RANDOM(3) != 0) list[size++] = i;
        bad = size > 0 ? list[RANDOM(size)] : -1;
        how = size < 3 ? 0 : RANDOM(4); /* 1: leaves one out, 2: names one twice */
        own_size = size;
        for (i = 0; i < size; ++i) {
            own[i] = list[i];
            expected += list[i];
            in = in || list[i] == me;
        }
        i = RANDOM(64);
        ends = RANDOM(2); /* the round ends after an error */
        if (me == bad && (how == 1 || how == 2)) {
            int at = 0, other = i % size;
            while (list[other] == bad) other = (other + 1) % size;
            if (how == 2) {
                own[other] = bad;
            } else {
                for (own_size = 0; at < size; ++at)
                    if (at != other) own[own_size++] = list[at];
            }
        }
        if (how == 1 || how == 2) {
            if (in) {
                CHECK(mpc_group(own_size, own, 0, &gid) == -1);
                CHECK(mperrno == (how == 2 && me == bad ? 121 : 117));
            }
            /* A task that was left out does not know yet that the call has failed. */
            CHECK(mpc_sync(ALLGRP) == 0);
            if (ends) continue;
        }
        if (!in) continue;
        CHECK(mpc_group(size, list, 0, &gid) == 0);
        CHECK(mpc_combine(&me, &sum, sizeof me, i_vadd, gid) == 0 && sum == expected);
        CHECK(mpc_freegroup(gid) == 0);
#undef RANDOM
    }
}

int main(int argc, char** argv) {
    const char* test = argc > 1 ? argv[1] : "";
    CHECK(mpc_environ(&tasks, &me) == 0);
    if (strcmp(test, "barrier") == 0) {
        test_barrier();
        test_barriers();
        test_barrier_of_root_0();
    } else if (strcmp(test, "nonbarrier") == 0) {
        test_nonbarrier();
    } else if (strcmp(test, "disagree") == 0) {
        test_disagree();
    } else if (strcmp(test, "lists") == 0) {
        test_random_lists();
    } else {
        CHECK(argc > 2 && strcmp(test, "differ") == 0);
        test_differ(argv[2]);
    }
    CHECK(mpc_sync(ALLGRP) == 0);
    return 0;
}
