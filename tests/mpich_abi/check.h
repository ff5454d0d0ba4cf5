/* What the programs of this folder share. They are compiled by MPICH's own compiler script and run on POE's library.
   Each counts the checks that fail and prints one line per task at its end. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int checks_failed;
static int my_rank, all;

#define CHECK(condition)                                                              \
    do {                                                                              \
        if (!(condition)) {                                                           \
            printf("task %d, line %d: %s is false\n", my_rank, __LINE__, #condition); \
            ++checks_failed;                                                          \
        }                                                                             \
    } while (0)
#define CHECK_EQUAL(found, expected)                                                          \
    do {                                                                                      \
        long long found_ = (long long)(found), expected_ = (long long)(expected);             \
        if (found_ != expected_) {                                                            \
            printf("task %d, line %d: %s is %lld (%#llx) instead of %lld (%#llx)\n", my_rank, \
                   __LINE__, #found, found_, found_, expected_, expected_);                   \
            ++checks_failed;                                                                  \
        }                                                                                     \
    } while (0)
#define CLASS_OF(call) class_of(call)

__attribute__((unused)) static int class_of(int code) {
    int error_class = -1;
    MPI_Error_class(code, &error_class);
    return error_class;
}

__attribute__((unused)) static void begin(int* argc, char*** argv) {
    MPI_Init(argc, argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &my_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &all);
}

static int end(void) {
    MPI_Finalize();
    printf("task %d of %d: %d checks failed\n", my_rank, all, checks_failed);
    return checks_failed != 0;
}
