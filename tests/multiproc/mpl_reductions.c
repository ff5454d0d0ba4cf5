/* Reductions: the predefined ones, what all tasks must get alike, and functions of old programs. */
#include <string.h>

#include "mpl_test.h"

static int tasks, me;

/* Each predefined reduction, of values that tell it from all others. */
#define REDUCES(FUNCTION, TYPE, VALUE, EXPRESSION)                                          \
    do {                                                                                    \
        TYPE given[COUNT], got[COUNT];                                                      \
        int at, task;                                                                       \
        for (at = 0, task = me; at < COUNT; ++at) given[at] = (TYPE)(VALUE);                \
        CHECK(mpc_combine(given, got, sizeof given, FUNCTION, ALLGRP) == 0);                \
        for (at = 0; at < COUNT; ++at) {                                                    \
            TYPE a, b;                                                                      \
            task = 0;                                                                       \
            for (a = (TYPE)(VALUE), task = 1; task < tasks; ++task, a = (TYPE)(EXPRESSION)) \
                b = (TYPE)(VALUE);                                                          \
            (void)b;                                                                        \
            CHECK(got[at] == a);                                                            \
        }                                                                                   \
    } while (0)
#define NUMBER ((task * 5 + at * 3) % 7 - 2)
#define FACTOR ((task + at) % 3 == 0 ? 2 : -1)
#define BITS (task * 37 + at * 11 + 0x90)
#define TRUTH ((task + at) % 4 == 0 ? 0 : task + at + 1)
static void test_reductions(void) {
    enum { COUNT = 37 };
    REDUCES(i_vadd, int, NUMBER, a + b);
    REDUCES(i_vmul, int, FACTOR, a* b);
    REDUCES(i_vmax, int, NUMBER, a > b ? a : b);
    REDUCES(i_vmin, int, NUMBER, a < b ? a : b);
    REDUCES(s_vadd, float, NUMBER, a + b);
    REDUCES(s_vmul, float, FACTOR, a* b);
    REDUCES(s_vmax, float, NUMBER, a > b ? a : b);
    REDUCES(s_vmin, float, NUMBER, a < b ? a : b);
    REDUCES(d_vadd, double, NUMBER, a + b);
    REDUCES(d_vmul, double, FACTOR, a* b);
    REDUCES(d_vmax, double, NUMBER, a > b ? a : b);
    REDUCES(d_vmin, double, NUMBER, a < b ? a : b);
    REDUCES(b_vand, unsigned char, ~BITS, a& b);
    REDUCES(b_vor, unsigned char, BITS, a | b);
    REDUCES(b_vxor, unsigned char, BITS, a ^ b);
    if (tasks == 1) return; /* a logical that is reduced with none stays what it is */
    REDUCES(l_vand, int, TRUTH, a != 0 && b != 0);
    REDUCES(l_vor, int, TRUTH, a != 0 || b != 0);
    REDUCES(l_vxor, int, TRUTH, (a != 0) != (b != 0));
}

/* Sums of numbers that are rounded are the same bits at all tasks, so that all take the same turn
 * after them; and what is no number stays, wherever it stands. */
static void test_same_bits(void) {
    enum { MOST = 100 };
    static double given[MOST], sums[MOST], all[64 * MOST];
    int count, way, id, i, task, who;
    for (count = 1; count <= MOST; count += 33) {
        size_t bytes = (size_t)count * sizeof(double);
        for (i = 0; i < count; ++i) given[i] = 1e4 / (me * 7 + i + 1);
        for (way = 0; way < 2; ++way) {
            if (way == 0) CHECK(mpc_combine(given, sums, bytes, d_vadd, ALLGRP) == 0);
            if (way == 1) {
                CHECK(mpc_icombine(given, sums, bytes, d_vadd, ALLGRP, &id) == 0);
                CHECK(mpc_collwait(&id) == 0);
            }
            CHECK(mpc_concat(sums, all, bytes, ALLGRP) == 0);
            for (task = 0; task < tasks; ++task)
                CHECK(memcmp(all + task * count, sums, bytes) == 0);
        }
    }
    for (who = 0; who < tasks; ++who) {
        double zero = 0, mine = me == who ? zero / zero : me, most = 0, least = 0;
        CHECK(mpc_combine(&mine, &most, sizeof mine, d_vmax, ALLGRP) == 0);
        CHECK(mpc_combine(&mine, &least, sizeof mine, d_vmin, ALLGRP) == 0);
        CHECK(most != most && least != least);
    }
}

/* A reduction of an old program, which declares the length as a long. */
static void add_doubles_of_old_program(void* one, void* two, void* out, long* len) {
    long i;
    CHECK(*len == 3 * (long)sizeof(double));
    for (i = 0; i < *len / (long)sizeof(double); ++i)
        ((double*)out)[i] = ((double*)one)[i] + ((double*)two)[i];
}

static void test_long_length(void) {
    const double mine[3] = {me, 2.0 * me, 1};
    double sum[3];
    mpl_reduction function;
    /* As a program without prototypes passes it. */
    void (*old)(void*, void*, void*, long*) = add_doubles_of_old_program;
    memcpy(&function, &old, sizeof function);
    CHECK(mpc_combine(mine, sum, sizeof mine, function, ALLGRP) == 0);
    CHECK(sum[0] == tasks * (tasks - 1) / 2.0 && sum[1] == 2 * sum[0] && sum[2] == tasks);
}

int main(void) {
    CHECK(mpc_environ(&tasks, &me) == 0);
    test_reductions();
    test_same_bits();
    test_long_length();
    CHECK(mpc_sync(ALLGRP) == 0);
    return 0;
}
