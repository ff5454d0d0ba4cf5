/* The synchronisation of windows: fences, post and start, locks, flushes, requests; counters that all tasks
 * increase, a lock that protects a value, a target that computes. Any number of tasks. */
#include "mpi_test.h"

enum { N = 1000 };
static int rank, size;

static void test_fence(MPI_Win win, long* own) {
    long values[N];
    const int right = (rank + 1) % size;
    for (int i = 0; i < N; ++i) values[i] = rank * 10000 + i;
    CHECK_OK(MPI_Win_fence(MPI_MODE_NOPRECEDE, win));
    CHECK_OK(MPI_Put(values, N, MPI_LONG, right, 0, N, MPI_LONG, win));
    CHECK_OK(MPI_Win_fence(0, win));
    const int left = (rank + size - 1) % size;
    for (int i = 0; i < N; ++i) CHECK_INT(own[i], left * 10000 + i);
    long got[N];
    CHECK_OK(MPI_Get(got, N, MPI_LONG, right, 0, N, MPI_LONG, win));
    CHECK_OK(MPI_Win_fence(0, win));
    for (int i = 0; i < N; ++i) CHECK_INT(got[i], values[i]);
    for (int i = 0; i < N; ++i) values[i] = 1;
    for (int r = 0; r < size; ++r)
        CHECK_OK(MPI_Accumulate(values, N, MPI_LONG, r, 0, N, MPI_LONG, MPI_SUM, win));
    CHECK_OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, win));
    for (int i = 0; i < N; ++i) CHECK_INT(own[i], left * 10000 + i + size);
}

static void test_pscw(MPI_Win win, long* own) {
    MPI_Group all, others[2];
    const int right = (rank + 1) % size, left = (rank + size - 1) % size;
    CHECK_OK(MPI_Win_get_group(win, &all));
    CHECK_OK(MPI_Group_incl(all, 1, &right, &others[0]));
    CHECK_OK(MPI_Group_incl(all, 1, &left, &others[1]));
    for (int round = 0; round < 20; ++round) {
        long value = rank * 1000 + round;
        own[0] = -1;
        CHECK_OK(MPI_Win_post(others[1], 0, win));
        CHECK_OK(MPI_Win_start(others[0], 0, win));
        CHECK_OK(MPI_Put(&value, 1, MPI_LONG, right, 0, 1, MPI_LONG, win));
        CHECK_OK(MPI_Win_complete(win));
        if (round % 2 == 0) {
            CHECK_OK(MPI_Win_wait(win));
        } else {
            int over = 0;
            while (!over) CHECK_OK(MPI_Win_test(win, &over));
        }
        CHECK_INT(own[0], left * 1000 + round);
    }
    /* All to all. */
    for (int round = 0; round < 5; ++round) {
        for (int i = 0; i < size; ++i) own[i] = -1;
        CHECK_OK(MPI_Win_post(all, 0, win));
        CHECK_OK(MPI_Win_start(all, 0, win));
        for (int r = 0; r < size; ++r) {
            long value = rank * 1000 + round;
            CHECK_OK(MPI_Put(&value, 1, MPI_LONG, r, rank, 1, MPI_LONG, win));
        }
        CHECK_OK(MPI_Win_complete(win));
        CHECK_OK(MPI_Win_wait(win));
        for (int r = 0; r < size; ++r) CHECK_INT(own[r], r * 1000 + round);
    }
    MPI_Group_free(&all);
    MPI_Group_free(&others[0]);
    MPI_Group_free(&others[1]);
}

/* Read, add one, write: correct only if the lock excludes the others. */
static void test_exclusive(MPI_Win win, long* own) {
    own[0] = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < 50; ++i) {
        long value;
        const int target = i % size;
        CHECK_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, win));
        CHECK_OK(MPI_Get(&value, 1, MPI_LONG, target, 0, 1, MPI_LONG, win));
        CHECK_OK(MPI_Win_flush(target, win));
        ++value;
        CHECK_OK(MPI_Put(&value, 1, MPI_LONG, target, 0, 1, MPI_LONG, win));
        CHECK_OK(MPI_Win_unlock(target, win));
    }
    MPI_Barrier(MPI_COMM_WORLD);
    long expected = 0;
    for (int i = 0; i < 50; ++i) expected += i % size == rank ? size : 0;
    CHECK_OK(MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win));
    CHECK_INT(own[0], expected);
    CHECK_OK(MPI_Win_unlock(rank, win));
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Every ticket is given once. */
static void test_counters(MPI_Win win, long* own) {
    const long one = 1;
    long ticket, sum = 0, all;
    own[0] = own[1] = own[2] = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_OK(MPI_Win_lock_all(0, win));
    for (int i = 0; i < 100; ++i) {
        CHECK_OK(MPI_Fetch_and_op(&one, &ticket, MPI_LONG, 0, 0, MPI_SUM, win));
        CHECK_OK(MPI_Win_flush(0, win));
        sum += ticket;
    }
    /* A lock made of compare and swap, at the last task. */
    const long free_value = 0, taken = rank + 1;
    for (int i = 0; i < 10; ++i) {
        long before = -1, value;
        do {
            CHECK_OK(
                MPI_Compare_and_swap(&taken, &free_value, &before, MPI_LONG, size - 1, 1, win));
            CHECK_OK(MPI_Win_flush(size - 1, win));
        } while (before != 0);
        CHECK_OK(MPI_Get(&value, 1, MPI_LONG, size - 1, 2, 1, MPI_LONG, win));
        CHECK_OK(MPI_Win_flush(size - 1, win));
        ++value;
        CHECK_OK(MPI_Put(&value, 1, MPI_LONG, size - 1, 2, 1, MPI_LONG, win));
        CHECK_OK(MPI_Win_flush(size - 1, win));
        CHECK_OK(
            MPI_Accumulate(&free_value, 1, MPI_LONG, size - 1, 1, 1, MPI_LONG, MPI_REPLACE, win));
        CHECK_OK(MPI_Win_flush(size - 1, win));
    }
    CHECK_OK(MPI_Win_unlock_all(win));
    CHECK_OK(MPI_Allreduce(&sum, &all, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD));
    CHECK_INT(all, 100L * size * (100L * size - 1) / 2);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == size - 1) CHECK_INT(own[2], 10 * size);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* What a program may do with its own window, and what is a race for the thread sanitizer if the library writes there. */
__attribute__((no_sanitize("thread"))) static long value_in_window(const long* place) {
    return *(const volatile long*)place;
}

/* Task 0 does not call MPI until the others have finished their operations on it, and says so by memory. */
static void test_computing_target(MPI_Win win, long* own) {
    const long one = 1;
    for (int i = 0; i < 4; ++i) own[i] = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        while (value_in_window(&own[0]) != size - 1) {
        }
    } else {
        long value;
        CHECK_OK(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win));
        CHECK_OK(MPI_Get(&value, 1, MPI_LONG, 0, 1, 1, MPI_LONG, win));
        CHECK_OK(MPI_Accumulate(&one, 1, MPI_LONG, 0, 0, 1, MPI_LONG, MPI_SUM, win));
        CHECK_OK(MPI_Win_unlock(0, win));
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

static void test_requests(MPI_Win win, long* own) {
    long values[8], got[8], before[8];
    MPI_Request requests[8];
    for (int i = 0; i < 8 * size; ++i) own[i] = 7;
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_OK(MPI_Win_lock_all(0, win));
    const int right = (rank + 1) % size;
    for (int i = 0; i < 8; ++i) {
        values[i] = rank * 10 + i;
        CHECK_OK(
            MPI_Rput(&values[i], 1, MPI_LONG, right, 8 * rank + i, 1, MPI_LONG, win, &requests[i]));
    }
    CHECK_OK(MPI_Waitall(8, requests, MPI_STATUSES_IGNORE));
    CHECK_OK(MPI_Win_flush_all(win));
    for (int i = 0; i < 8; ++i)
        CHECK_OK(MPI_Rget_accumulate(&values[i], 1, MPI_LONG, &before[i], 1, MPI_LONG, right,
                                     8 * rank + i, 1, MPI_LONG, MPI_SUM, win, &requests[i]));
    CHECK_OK(MPI_Waitall(8, requests, MPI_STATUSES_IGNORE));
    for (int i = 0; i < 8; ++i)
        CHECK_OK(MPI_Raccumulate(&values[i], 1, MPI_LONG, right, 8 * rank + i, 1, MPI_LONG, MPI_SUM,
                                 win, &requests[i]));
    CHECK_OK(MPI_Waitall(8, requests, MPI_STATUSES_IGNORE));
    CHECK_OK(MPI_Win_flush_local_all(win));
    CHECK_OK(MPI_Rget(got, 8, MPI_LONG, right, 8 * rank, 8, MPI_LONG, win, &requests[0]));
    CHECK_OK(MPI_Wait(&requests[0], MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Rput(values, 1, MPI_LONG, MPI_PROC_NULL, 0, 1, MPI_LONG, win, &requests[0]));
    CHECK_OK(MPI_Wait(&requests[0], MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Win_unlock_all(win));
    for (int i = 0; i < 8; ++i) {
        CHECK_INT(before[i], values[i]);
        CHECK_INT(got[i], 3 * values[i]);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Longer than any message that travels at once. */
static void test_long_data(void) {
    const MPI_Aint count = 300000;
    double *own, *values = malloc(sizeof(double) * (size_t)count),
                 *got = malloc(sizeof(double) * (size_t)count);
    MPI_Win win;
    CHECK_OK(MPI_Win_create(own = calloc((size_t)count, sizeof(double)), count * 8, 8,
                            MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    for (MPI_Aint i = 0; i < count; ++i) values[i] = (double)(rank + 1) * (double)i, got[i] = -1;
    const int right = (rank + 1) % size, left = (rank + size - 1) % size;
    CHECK_OK(MPI_Win_fence(0, win));
    CHECK_OK(MPI_Put_c(values, count, MPI_DOUBLE, right, 0, count, MPI_DOUBLE, win));
    CHECK_OK(MPI_Win_fence(0, win));
    for (MPI_Aint i = 0; i < count; ++i) CHECK(own[i] == (double)(left + 1) * (double)i);
    MPI_Barrier(MPI_COMM_WORLD); /* the left neighbour changes `own` next */
    CHECK_OK(MPI_Get_accumulate(values, (int)count, MPI_DOUBLE, got, (int)count, MPI_DOUBLE, right,
                                0, (int)count, MPI_DOUBLE, MPI_SUM, win));
    CHECK_OK(MPI_Win_fence(0, win));
    for (MPI_Aint i = 0; i < count; ++i) {
        CHECK(got[i] == values[i]);
        CHECK(own[i] == 2 * (double)(left + 1) * (double)i);
    }
    CHECK_OK(MPI_Win_free(&win));
    free(own);
    free(values);
    free(got);
}

static void test_dynamic(void) {
    MPI_Win win;
    long data[4] = {1, 2, 3, 4};
    MPI_Aint address, *all = malloc(sizeof(MPI_Aint) * (size_t)size);
    long value = -1, new_value = 100 + rank;
    CHECK_OK(MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    CHECK_OK(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
    CHECK_OK(MPI_Win_attach(win, data, sizeof data));
    MPI_Get_address(data, &address);
    CHECK_OK(MPI_Allgather(&address, 1, MPI_AINT, all, 1, MPI_AINT, MPI_COMM_WORLD));
    const int right = (rank + 1) % size, left = (rank + size - 1) % size;
    CHECK_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, right, 0, win));
    CHECK_OK(MPI_Get(&value, 1, MPI_LONG, right, MPI_Aint_add(all[right], 16), 1, MPI_LONG, win));
    CHECK_OK(MPI_Put(&new_value, 1, MPI_LONG, right, all[right], 1, MPI_LONG, win));
    CHECK_OK(MPI_Win_unlock(right, win));
    CHECK_INT(value, 3);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_INT(data[0], 100 + left);
    /* Beyond what is attached: the target refuses it. */
    CHECK_OK(MPI_Win_lock(MPI_LOCK_SHARED, right, 0, win));
    int first =
        MPI_Put(&new_value, 1, MPI_LONG, right, MPI_Aint_add(all[right], 28), 1, MPI_LONG, win);
    int second = MPI_Win_unlock(right, win), found = 0;
    MPI_Error_class(first != MPI_SUCCESS ? first : second, &found);
    CHECK_INT(found, MPI_ERR_RMA_RANGE);
    CHECK_OK(MPI_Win_detach(win, data));
    CHECK_OK(MPI_Win_free(&win));
    free(all);
}

static void test_window(MPI_Win win, long* own) {
    test_fence(win, own);
    test_pscw(win, own);
    test_exclusive(win, own);
    test_counters(win, own);
    test_computing_target(win, own);
    test_requests(win, own);
}

static void fill(char* bytes, int length, int salt) {
    for (int i = 0; i < length; ++i) bytes[i] = (char)((i * 7 + salt * 31) % 127);
}

/* Contiguous bytes of many lengths: each way that data take has some of its own, with short puts to the same place before
 * and after, which take effect in this order. */
static void test_lengths(void) {
    static const int lengths[] = {1,    8,    9,     511,   512,   513,   4095,
                                  4096, 4097, 16384, 16385, 70001, 300000};
    enum { ROOM = 300008 };
    char *memory = malloc(ROOM), *given = malloc(ROOM), *got = malloc(ROOM);
    const int right = (rank + 1) % size, left = (rank + size - 1) % size;
    MPI_Win win;
    CHECK_OK(MPI_Win_create(memory, ROOM, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; ++i) {
        const int length = lengths[i];
        const char marks[2] = {(char)(rank % 100), (char)(rank % 100 + 1)};
        memset(memory, -1, ROOM);
        MPI_Barrier(MPI_COMM_WORLD);
        CHECK_OK(MPI_Win_lock(MPI_LOCK_SHARED, right, 0, win));
        for (int round = 0; round < 20; ++round) {
            fill(given, length, rank + round);
            CHECK_OK(MPI_Put(&marks[0], 1, MPI_CHAR, right, 4, 1, MPI_CHAR, win));
            CHECK_OK(MPI_Put(given, length, MPI_CHAR, right, 4, length, MPI_CHAR, win));
            CHECK_OK(MPI_Put(&marks[1], 1, MPI_CHAR, right, 3 + length, 1, MPI_CHAR, win));
            CHECK_OK(MPI_Get(got, length, MPI_CHAR, right, 4, length, MPI_CHAR, win));
            CHECK_OK(MPI_Win_flush(right, win));
            given[length - 1] = marks[1];
            CHECK(memcmp(got, given, (size_t)length) == 0);
        }
        CHECK_OK(MPI_Win_unlock(right, win));
        MPI_Barrier(MPI_COMM_WORLD);
        fill(given, length, left + 19);
        given[length - 1] = (char)(left % 100 + 1);
        CHECK(memcmp(memory + 4, given, (size_t)length) == 0);
        CHECK_INT(memory[3], -1);
        CHECK_INT(memory[4 + length], -1);
    }
    CHECK_OK(MPI_Win_free(&win));
    free(memory);
    free(given);
    free(got);
}

int main(int argc, char** argv) {
    long memory[N], *own;
    MPI_Win win;
    CHECK_OK(MPI_Init(&argc, &argv));
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    CHECK_OK(
        MPI_Win_create(memory, sizeof memory, sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    test_window(win, memory);
    CHECK_OK(MPI_Win_free(&win));
    CHECK_OK(
        MPI_Win_allocate(sizeof memory, sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &own, &win));
    test_window(win, own);
    CHECK_OK(MPI_Win_free(&win));
    test_long_data();
    test_lengths();
    test_dynamic();
    MPI_Finalize();
    return 0;
}
