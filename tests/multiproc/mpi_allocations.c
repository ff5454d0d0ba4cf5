/* mpi_allocations: a non-blocking or neighbourhood collective call of MPI that is like an earlier
 * one allocates nothing. mpl_allocations.c has the same test of MPL.
 *
 * What the message layer needs is kept in memory that is used again, and any block of calls may
 * need more of it than ever before. So not every block must be without an allocation, but one. A
 * task that has waited for long takes long messages into buffers, which are not kept; so blocks of
 * LONGEST bytes are not counted. What a call needs for itself is found with shorter messages. */
#include "mpi_test.h"

enum { BLOCKS = 60, CALLS = 15, LONGEST = 40000, AT_ONCE = 3 };

#define COUNTED_BELOW LONGEST
#include "counted_allocations.h"

static int tasks, me, failed;
static MPI_Comm ring, world;
static char *given, *results[AT_ONCE];
static MPI_Request repeated;

static const char* const names[] = {"Ibcast",     "Ireduce",           "Iallreduce",
                                    "Iscan",      "Igather",           "Iscatter",
                                    "Iallgather", "Ialltoall",         "Ibarrier",
                                    "Bcast_init", "Neighbor_alltoall", "Ineighbor_alltoall"};
enum { OPERATIONS = sizeof names / sizeof *names, PERSISTENT = 9, BLOCKING = 10 };

/* Starts a call that uses one of the results; the blocking one leaves no request. */
static void start(int operation, int bytes, char* result, MPI_Request* request) {
    const int ints = bytes / (int)sizeof(int);
    switch (operation) {
        case 0:
            CHECK_OK(MPI_Ibcast(result, bytes, MPI_BYTE, 0, world, request));
            break;
        case 1:
            CHECK_OK(MPI_Ireduce(given, result, ints, MPI_INT, MPI_SUM, 0, world, request));
            break;
        case 2:
            CHECK_OK(MPI_Iallreduce(given, result, ints, MPI_INT, MPI_SUM, world, request));
            break;
        case 3:
            CHECK_OK(MPI_Iscan(given, result, ints, MPI_INT, MPI_SUM, world, request));
            break;
        case 4:
            CHECK_OK(
                MPI_Igather(given, bytes, MPI_BYTE, result, bytes, MPI_BYTE, 0, world, request));
            break;
        case 5:
            CHECK_OK(
                MPI_Iscatter(given, bytes, MPI_BYTE, result, bytes, MPI_BYTE, 0, world, request));
            break;
        case 6:
            CHECK_OK(
                MPI_Iallgather(given, bytes, MPI_BYTE, result, bytes, MPI_BYTE, world, request));
            break;
        case 7:
            CHECK_OK(
                MPI_Ialltoall(given, bytes, MPI_BYTE, result, bytes, MPI_BYTE, world, request));
            break;
        case 8:
            CHECK_OK(MPI_Ibarrier(world, request));
            break;
        case PERSISTENT:
            CHECK_OK(MPI_Start(&repeated));
            CHECK_OK(MPI_Wait(&repeated, MPI_STATUS_IGNORE));
            break;
        case BLOCKING:
            CHECK_OK(MPI_Neighbor_alltoall(given, bytes, MPI_BYTE, result, bytes, MPI_BYTE, ring));
            break;
        default:
            CHECK_OK(MPI_Ineighbor_alltoall(given, bytes, MPI_BYTE, result, bytes, MPI_BYTE, ring,
                                            request));
            break;
    }
}

/* Until all tasks have had a block of calls without allocations. */
static void check(int operation, int bytes, int at_once) {
    unsigned long fewest = ~0ul;
    int block = 0;
    for (int bad = 1; bad > 0 && block < BLOCKS; ++block) {
        unsigned long before = allocations;
        int own;
        for (int i = 0; i < CALLS; ++i) {
            MPI_Request requests[AT_ONCE];
            for (int k = 0; k < at_once; ++k) {
                requests[k] = MPI_REQUEST_NULL;
                start(operation, bytes, results[k], &requests[k]);
            }
            for (int k = 0; k < at_once; ++k) CHECK_OK(MPI_Wait(&requests[k], MPI_STATUS_IGNORE));
            CHECK_OK(MPI_Barrier(world));
        }
        before = allocations - before;
        if (before < fewest) fewest = before;
        own = fewest > 0;
        CHECK_OK(MPI_Allreduce(&own, &bad, 1, MPI_INT, MPI_SUM, world));
    }
    if (fewest == 0) return;
    fprintf(stderr, "task %d: %s of %d bytes, %d at once: at least %lu allocations in %d calls\n",
            me, names[operation], bytes, at_once, fewest, CALLS * at_once);
    failed = 1;
}

int main(int argc, char** argv) {
    const int sizes[] = {8, 4000, LONGEST}, periodic = 1;
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &tasks);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &world));
    CHECK_OK(MPI_Cart_create(world, 1, &tasks, &periodic, 0, &ring));
    given = calloc((size_t)(tasks + 1), LONGEST);
    for (int k = 0; k < AT_ONCE; ++k) results[k] = calloc((size_t)(tasks + 1), LONGEST);
    CHECK(given != NULL && results[AT_ONCE - 1] != NULL);
    CHECK(allocations > 2); /* those of the library are counted */
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; ++i) {
        CHECK_OK(
            MPI_Bcast_init(results[0], sizes[i], MPI_BYTE, 0, world, MPI_INFO_NULL, &repeated));
        for (int operation = 0; operation < OPERATIONS; ++operation) {
            check(operation, sizes[i], 1);
            check(operation, sizes[i], AT_ONCE);
        }
        CHECK_OK(MPI_Request_free(&repeated));
    }
    free(given);
    for (int k = 0; k < AT_ONCE; ++k) free(results[k]);
    MPI_Comm_free(&ring);
    MPI_Comm_free(&world);
    CHECK(!failed);
    MPI_Finalize();
    return 0;
}
