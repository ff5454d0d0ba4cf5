/* mpl_allocations: a collective call like an earlier one builds nothing and allocates nothing.
 * All ten operations and the irregular ones, several lengths each, blocking and not, in
 * blocks of calls.
 *
 * What comes before it is asked for is kept in memory that is used again; more than ever before of
 * it may come in any call, since tasks run ahead of each other as the scheduler lets them. So not
 * every block must be without an allocation, but one of them. */
#include <stdlib.h>
#include <string.h>

#include "mpl_test.h"

enum { BLOCKS = 60, CALLS = 15, LONGEST = 100000 };

#include "counted_allocations.h"

static int tasks, me, failed;
static char *given, *result;

/* Blocks for the irregular operations: of each task, and between this one and each. */
enum { MOST_TASKS = 16 };
static int lengths[MOST_TASKS], column[MOST_TASKS];

static void set_lengths(size_t bytes) {
    for (int i = 0; i < tasks; ++i) {
        lengths[i] = (int)bytes / (1 + i % 3);
        column[i] = (int)bytes / (1 + (i + me) % 4);
    }
}

static void swap(void* one, void* two, void* out, int* bytes) {
    (void)two;
    memcpy(out, one, (size_t)*bytes);
}

static const char* const names[] = {"bcast",    "reduce",  "combine", "prefix", "scatter",
                                    "gather",   "concat",  "index",   "shift",  "sync",
                                    "scatterv", "gatherv", "concatv", "indexv"};

static void call(int operation, size_t bytes, int users) {
    void (*function)(void*, void*, void*, int*) = users ? swap : i_vadd;
    switch (operation) {
        case 0:
            CHECK(mpc_bcast(result, bytes, 0, ALLGRP) == 0);
            break;
        case 1:
            CHECK(mpc_reduce(given, result, bytes, tasks - 1, function, ALLGRP) == 0);
            break;
        case 2:
            CHECK(mpc_combine(given, result, bytes, function, ALLGRP) == 0);
            break;
        case 3:
            CHECK(mpc_prefix(given, result, bytes, function, ALLGRP) == 0);
            break;
        case 4:
            CHECK(mpc_scatter(given, result, bytes, 0, ALLGRP) == 0);
            break;
        case 5:
            CHECK(mpc_gather(given, result, bytes, 0, ALLGRP) == 0);
            break;
        case 6:
            CHECK(mpc_concat(given, result, bytes, ALLGRP) == 0);
            break;
        case 7:
            CHECK(mpc_index(given, result, bytes, ALLGRP) == 0);
            break;
        case 8:
            CHECK(mpc_shift(given, result, bytes, 1, 0, ALLGRP) == 0);
            break;
        case 9:
            CHECK(mpc_sync(ALLGRP) == 0);
            break;
        case 10:
            CHECK(mpc_scatterv(given, result, lengths, 0, ALLGRP) == 0);
            break;
        case 11:
            CHECK(mpc_gatherv(given, result, lengths, 0, ALLGRP) == 0);
            break;
        case 12:
            CHECK(mpc_concatv(given, result, lengths, ALLGRP) == 0);
            break;
        case 13:
            CHECK(mpc_indexv(given, column, result, column, ALLGRP) == 0);
            break;
        default:
            CHECK(0);
    }
}

static void start_and_wait(size_t bytes) {
    int id = -1;
    CHECK(mpc_icombine(given, result, bytes, i_vadd, ALLGRP, &id) == 0);
    CHECK(mpc_collwait(&id) == 0);
}

/* Until all tasks have had a block of calls without allocations. */
static void check(const char* what, int operation, size_t bytes, int users) {
    unsigned long fewest = ~0ul, first = allocations;
    int block = 0;
    for (int bad = 1; bad > 0 && block < BLOCKS; ++block) {
        unsigned long before = allocations;
        int own;
        for (int i = 0; i < CALLS; ++i) {
            if (operation < 0) {
                start_and_wait(bytes);
            } else {
                call(operation, bytes, users);
            }
            CHECK(mpc_sync(ALLGRP) == 0);
        }
        before = allocations - before;
        if (before < fewest) fewest = before;
        own = fewest > 0;
        CHECK(mpc_combine(&own, &bad, sizeof own, i_vadd, ALLGRP) == 0);
    }
    if (fewest != 0) {
        fprintf(stderr,
                "task %d: %s of %zu bytes%s: at least %lu allocations in %d calls, %lu in %d\n", me,
                what, bytes, users ? " with a function of the user's" : "", fewest, CALLS,
                allocations - first, block * CALLS);
        failed = 1;
    }
}

int main(void) {
    const size_t sizes[] = {8, 4000, 40000, LONGEST};
    CHECK(mpc_environ(&tasks, &me) == 0);
    given = calloc((size_t)tasks, LONGEST);
    result = calloc((size_t)tasks, LONGEST);
    CHECK(tasks <= MOST_TASKS && given != NULL && result != NULL);
    CHECK(allocations > 2); /* those of the library are counted */
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; ++i) {
        set_lengths(sizes[i]);
        for (int operation = 0; operation < 14; ++operation) {
            check(names[operation], operation, sizes[i], 0);
            if (operation >= 1 && operation <= 3) check(names[operation], operation, sizes[i], 1);
        }
        check("icombine", -1, sizes[i], 0);
    }
    free(given);
    free(result);
    CHECK(!failed);
    return 0;
}
