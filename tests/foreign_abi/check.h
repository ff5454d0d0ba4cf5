/* What the programs of this folder share. They are compiled by the compiler scripts of MPICH and of Open MPI, and run
   on POE's library. Each counts the checks that fail and prints one line per task at its end. */
/* Open MPI shall declare functions that MPI 3.0 has removed. */
#define OMPI_OMIT_MPI1_COMPAT_DECLS 0
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef OPEN_MPI
/* What its library has and its header only in other configurations. */
extern struct ompi_predefined_datatype_t ompi_mpi_lb, ompi_mpi_ub;
#define MPI_LB OMPI_PREDEFINED_GLOBAL(MPI_Datatype, ompi_mpi_lb)
#define MPI_UB OMPI_PREDEFINED_GLOBAL(MPI_Datatype, ompi_mpi_ub)
#define MPI_F_STATUS_SIZE 6
#define MPI_F_SOURCE 0
#define MPI_F_ERROR 2
#endif

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
