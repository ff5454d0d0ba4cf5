/* Several threads of each task use one window: counters, sums and requests. Any number of tasks. */
#include <pthread.h>

#include "mpi_test.h"

enum { kThreads = 3, kRounds = 200 };
static MPI_Win window;
static int rank, size;

static void* work(void* argument) {
    const long one = 1;
    for (int i = 0; i < kRounds; ++i) {
        const int target = (rank + i) % size;
        long ticket, sum;
        MPI_Request request;
        CHECK_OK(MPI_Fetch_and_op(&one, &ticket, MPI_LONG, target, 0, MPI_SUM, window));
        CHECK_OK(MPI_Win_flush(target, window));
        CHECK_OK(MPI_Accumulate(&one, 1, MPI_LONG, target, 1, 1, MPI_LONG, MPI_SUM, window));
        if (i % 7 == 0) CHECK_OK(MPI_Win_flush_all(window));
        CHECK_OK(MPI_Rget(&sum, 1, MPI_LONG, target, 1, 1, MPI_LONG, window, &request));
        CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        CHECK(ticket >= 0 && sum > 0);
    }
    return argument;
}

static void test_window(long* memory) {
    pthread_t threads[kThreads];
    long sums[2];
    memory[0] = memory[1] = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_OK(MPI_Win_lock_all(0, window));
    for (int i = 0; i < kThreads; ++i) CHECK_INT(pthread_create(&threads[i], NULL, work, NULL), 0);
    for (int i = 0; i < kThreads; ++i) pthread_join(threads[i], NULL);
    CHECK_OK(MPI_Win_unlock_all(window));
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_OK(MPI_Allreduce(memory, sums, 2, MPI_LONG, MPI_SUM, MPI_COMM_WORLD));
    CHECK_INT(sums[0], (long)kThreads * kRounds * size);
    CHECK_INT(sums[1], (long)kThreads * kRounds * size);
    CHECK_OK(MPI_Win_free(&window));
}

int main(int argc, char** argv) {
    long own[2], *allocated;
    int level;
    CHECK_OK(MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level));
    CHECK_INT(level, MPI_THREAD_MULTIPLE);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    CHECK_OK(MPI_Win_create(own, sizeof own, sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &window));
    test_window(own);
    CHECK_OK(MPI_Win_allocate(sizeof own, sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &allocated,
                              &window));
    test_window(allocated);
    MPI_Finalize();
    return 0;
}
