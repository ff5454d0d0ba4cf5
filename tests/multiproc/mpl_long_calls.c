/* Calls on data of many pieces, more than caches hold, one after the other without a barrier: each
 * block of an index and each shift by all steps, gathers to all, and sums. No argument: all
 * lengths; "short": the least of them. */
#include <string.h>

#include "mpl_test.h"

static const size_t kLengths[] = {40000, 262248, 1200008};
static int tasks, me;

/* Differs between pairs of tasks, calls and places. */
static char byte_of(int from, int to, int call, size_t at) {
    return (char)(from * 31 + to * 7 + call * 13 + (int)(at % 251));
}

static void fill(char* block, int to, int call, size_t bytes) {
    for (size_t i = 0; i < bytes; ++i) block[i] = byte_of(me, to, call, i);
}

static void check_block(const char* block, int from, int to, int call, size_t bytes) {
    for (size_t i = 0; i < bytes; ++i) CHECK(block[i] == byte_of(from, to, call, i));
}

static void indices(char* out, char* in, size_t bytes) {
    for (int call = 0; call < 3; ++call) {
        for (int to = 0; to < tasks; ++to) fill(out + to * bytes, to, call, bytes);
        CHECK(mpc_index(out, in, bytes, ALLGRP) == 0);
        memset(out, 0x55, tasks * bytes);
        for (int from = 0; from < tasks; ++from)
            check_block(in + from * bytes, from, me, call, bytes);
    }
}

static void shifts(char* out, char* in, size_t bytes) {
    for (int step = -tasks; step <= tasks; ++step) {
        for (int flag = 0; flag < 2; ++flag) {
            fill(out, 0, step, bytes);
            memset(in, 1, bytes);
            CHECK(mpc_shift(out, in, bytes, step, flag, ALLGRP) == 0);
            memset(out, 0x55, bytes);
            const int from = me - step;
            if (flag == 0)
                check_block(in, (from + 2 * tasks) % tasks, 0, step, bytes);
            else if (from >= 0 && from < tasks)
                check_block(in, from, 0, step, bytes);
            else
                for (size_t i = 0; i < bytes; ++i) CHECK(in[i] == 1);
        }
    }
}

static void concats(char* out, char* in, size_t bytes) {
    fill(out, 0, 1, bytes);
    CHECK(mpc_concat(out, in, bytes, ALLGRP) == 0);
    memset(out, 0x55, bytes);
    for (int from = 0; from < tasks; ++from) check_block(in + from * bytes, from, 0, 1, bytes);
}

static void sums(size_t bytes) {
    const size_t count = bytes / sizeof(double);
    double* out = malloc(bytes);
    double* in = malloc(bytes);
    CHECK(out != NULL && in != NULL);
    for (size_t i = 0; i < count; ++i) out[i] = me + (double)i;
    CHECK(mpc_combine(out, in, bytes, d_vadd, ALLGRP) == 0);
    for (size_t i = 0; i < count; ++i)
        CHECK(in[i] == tasks * (tasks - 1) / 2.0 + (double)tasks * (double)i);
    CHECK(mpc_prefix(out, in, bytes, d_vadd, ALLGRP) == 0);
    for (size_t i = 0; i < count; ++i) CHECK(in[i] == (me + 1) * me / 2.0 + (me + 1.0) * (double)i);
    free(out);
    free(in);
}

int main(int argc, char** argv) {
    CHECK(mpc_environ(&tasks, &me) == 0);
    const int lengths = argc > 1 && strcmp(argv[1], "short") == 0 ? 1 : 3;
    for (int i = 0; i < lengths; ++i) {
        char* out = malloc(tasks * kLengths[i]);
        char* in = malloc(tasks * kLengths[i]);
        CHECK(out != NULL && in != NULL);
        indices(out, in, kLengths[i]);
        shifts(out, in, kLengths[i]);
        concats(out, in, kLengths[i]);
        sums(kLengths[i]);
        free(out);
        free(in);
    }
    if (me == 0) printf("all calls are right\n");
    return 0;
}
