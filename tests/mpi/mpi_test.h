/* What the test programs of MPI share. A check that fails names file, line and task, and ends the
 * job with exit code 1. The programs use MPI only, so that they can be run with any implementation. */
#ifndef MPI_TEST_H
#define MPI_TEST_H

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int test_task(void) {
    int rank = -1;
    int active = 0;
    MPI_Initialized(&active);
    if (active) MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    return rank;
}

static void test_failed(const char* file, int line, const char* what, long long is,
                        long long expected, int numbers) {
    if (numbers) {
        fprintf(stderr, "%s:%d: task %d: %s is %lld instead of %lld\n", file, line, test_task(),
                what, is, expected);
    } else {
        fprintf(stderr, "%s:%d: task %d: not true: %s\n", file, line, test_task(), what);
    }
    fflush(stderr);
    MPI_Abort(MPI_COMM_WORLD, 1);
    exit(1);
}

/* The condition is true. */
#define CHECK(condition)                                                        \
    do {                                                                        \
        if (!(condition)) test_failed(__FILE__, __LINE__, #condition, 0, 0, 0); \
    } while (0)

/* Two integers are equal; prints both if they are not. */
#define CHECK_INT(value, expected)                                              \
    do {                                                                        \
        const long long test_is = (long long)(value);                           \
        const long long test_expected = (long long)(expected);                  \
        if (test_is != test_expected)                                           \
            test_failed(__FILE__, __LINE__, #value, test_is, test_expected, 1); \
    } while (0)

/* The call succeeds. */
#define CHECK_OK(call) CHECK_INT(call, MPI_SUCCESS)

/* The call returns an error of this class. The error handler must return errors. */
#define CHECK_CLASS(call, expected)                                            \
    do {                                                                       \
        int test_class = MPI_SUCCESS;                                          \
        const int test_code = (call);                                          \
        MPI_Error_class(test_code, &test_class);                               \
        if (test_class != (expected))                                          \
            test_failed(__FILE__, __LINE__, #call, test_class, (expected), 1); \
    } while (0)

#endif
