/* Communicators that are made and freed again and again: with lifetimes that follow each other, that
 * overlap, and with messages still under way when the communicator is freed. Neither numbers nor memory
 * may run out, and no message may reach another communicator. Any number of tasks; the argument is the
 * number of communicators of the first kind. */
#include <unistd.h>

#include "mpi_test.h"

static int rank, size;

/* The resident memory of this task in kilobytes. */
static long memory(void) {
    long pages = 0, resident = 0;
    FILE* file = fopen("/proc/self/statm", "r");
    CHECK(file != NULL);
    CHECK_INT(fscanf(file, "%ld %ld", &pages, &resident), 2);
    fclose(file);
    return resident * (sysconf(_SC_PAGESIZE) / 1024);
}

/* A collective call and a message on the communicator. */
static void use(MPI_Comm comm, int number) {
    int in = -1, out = number * 100 + rank, sum = 0, one = 1;
    const int next = (rank + 1) % size, before = (rank + size - 1) % size;
    CHECK_OK(MPI_Sendrecv(&out, 1, MPI_INT, next, 5, &in, 1, MPI_INT, before, 5, comm,
                          MPI_STATUS_IGNORE));
    CHECK_INT(in, number * 100 + before);
    CHECK_OK(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm));
    CHECK_INT(sum, size);
}

#ifdef __SANITIZE_ADDRESS__
#define FREED_MEMORY_STAYS 1
#else
#define FREED_MEMORY_STAYS 0
#endif

static void one_after_the_other(int many) {
    long after_some = 0;
    for (int i = 0; i < many; ++i) {
        MPI_Comm comm;
        CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
        if (i % 64 == 0) use(comm, i % 1000);
        CHECK_OK(MPI_Comm_free(&comm));
        if (i == many / 10) after_some = memory();
    }
    /* Even one byte per communicator would be seen in a long run; the limit is for what grows anyway. The address
     * sanitizer keeps freed memory for a while. */
    CHECK(FREED_MEMORY_STAYS || memory() < after_some + 4096);
}

static void overlapping(int many) {
    enum { kOpen = 40 };
    MPI_Comm open[kOpen];
    for (int i = 0; i < kOpen; ++i) open[i] = MPI_COMM_NULL;
    for (int i = 0; i < many; ++i) {
        /* An order that is neither that of the making nor its reverse. */
        MPI_Comm* place = &open[i * 7 % kOpen];
        if (*place != MPI_COMM_NULL) {
            use(*place, i % 1000);
            CHECK_OK(MPI_Comm_free(place));
        }
        if (i % 3 == 0) {
            CHECK_OK(MPI_Comm_split(MPI_COMM_WORLD, 0, rank, place));
        } else {
            CHECK_OK(MPI_Comm_dup(i % 3 == 1 || open[0] == MPI_COMM_NULL ? MPI_COMM_WORLD : open[0],
                                  place));
        }
    }
    for (int i = 0; i < kOpen; ++i)
        if (open[i] != MPI_COMM_NULL) CHECK_OK(MPI_Comm_free(&open[i]));
}

/* Receives, short and long sends are pending when the communicator is freed. They complete afterwards,
 * each with the message of its own communicator. */
static void with_messages_under_way(int rounds) {
    enum { kAtOnce = 6, kLong = 40000 };
    static int in[kAtOnce][kLong], out[kAtOnce][kLong];
    const int next = (rank + 1) % size, before = (rank + size - 1) % size;
    for (int round = 0; round < rounds; ++round) {
        MPI_Request requests[2 * kAtOnce];
        for (int i = 0; i < kAtOnce; ++i) {
            MPI_Comm comm;
            const int length = i % 2 ? kLong : 1;
            CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
            out[i][length - 1] = (round * kAtOnce + i) * 100 + rank;
            CHECK_OK(MPI_Isend(out[i], length, MPI_INT, next, 9, comm, &requests[2 * i]));
            CHECK_OK(MPI_Irecv(in[i], length, MPI_INT, i % 3 ? before : MPI_ANY_SOURCE, MPI_ANY_TAG,
                               comm, &requests[2 * i + 1]));
            CHECK_OK(MPI_Comm_free(&comm));
            CHECK(comm == MPI_COMM_NULL);
        }
        CHECK_OK(MPI_Waitall(2 * kAtOnce, requests, MPI_STATUSES_IGNORE));
        for (int i = 0; i < kAtOnce; ++i)
            CHECK_INT(in[i][(i % 2 ? kLong : 1) - 1], (round * kAtOnce + i) * 100 + before);
    }
}

int main(int argc, char** argv) {
    const int many = argc > 1 ? atoi(argv[1]) : 2000;
    CHECK_OK(MPI_Init(&argc, &argv));
    CHECK_OK(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    CHECK_OK(MPI_Comm_size(MPI_COMM_WORLD, &size));
    one_after_the_other(many);
    overlapping(300);
    with_messages_under_way(30);
    CHECK_OK(MPI_Finalize());
    return 0;
}
