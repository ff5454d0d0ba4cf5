/* The order of operations on windows that are mapped. Two tasks each put a number, flush, and then get the number of
 * the other one: at least one of them must see the number of the same round, because a flush says that the put has
 * taken effect. The same with an accumulate, with a flush of all members, and with a lock and an unlock around each operation.
 * Any number of tasks; an odd one is idle. */
#include <sched.h>

#include "mpi_test.h"

enum { ROUNDS = 50000, LINE = 64 / sizeof(long), WORDS = 4 * LINE };
static int rank, size;
static volatile long* round_of[2]; /* where the two tasks of a pair say that they begin a round */

/* Both tasks leave within some nanoseconds of each other. */
static void begin_together(int me, long round) {
    *round_of[me] = round;
    for (int looks = 1; *round_of[1 - me] < round; ++looks)
        if (looks % 1000 == 0) sched_yield();
}

enum Completion { FLUSH, FLUSH_ALL, UNLOCK, COMPLETIONS };

static void begin(MPI_Win win, int home, enum Completion by) {
    if (by == UNLOCK) CHECK_OK(MPI_Win_lock(MPI_LOCK_SHARED, home, 0, win));
}
static void complete(MPI_Win win, int home, enum Completion by) {
    if (by == FLUSH) CHECK_OK(MPI_Win_flush(home, win));
    if (by == FLUSH_ALL) CHECK_OK(MPI_Win_flush_all(win));
    if (by == UNLOCK) CHECK_OK(MPI_Win_unlock(home, win));
}

static void test_pair(MPI_Win win, int home, int me, int accumulates, enum Completion by) {
    static long seen[2][ROUNDS];
    for (long round = 1; round <= ROUNDS; ++round) {
        const long one = 1;
        begin_together(me, round);
        begin(win, home, by);
        if (accumulates) {
            CHECK_OK(MPI_Accumulate(&one, 1, MPI_LONG, home, me * LINE, 1, MPI_LONG, MPI_SUM, win));
        } else {
            CHECK_OK(MPI_Put(&round, 1, MPI_LONG, home, me * LINE, 1, MPI_LONG, win));
        }
        complete(win, home, by);
        begin(win, home, by);
        CHECK_OK(
            MPI_Get(&seen[me][round - 1], 1, MPI_LONG, home, (1 - me) * LINE, 1, MPI_LONG, win));
        complete(win, home, by);
    }
    const int other = home + 1 - me;
    CHECK_OK(MPI_Sendrecv(seen[me], ROUNDS, MPI_LONG, other, 0, seen[1 - me], ROUNDS, MPI_LONG,
                          other, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    for (long i = 0; i < ROUNDS; ++i) CHECK(seen[0][i] > i || seen[1][i] > i);
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const int home = rank / 2 * 2, me = rank % 2;
    for (int test = 0; test < 2 * COMPLETIONS; ++test) {
        const enum Completion by = (enum Completion)(test / 2);
        long* memory;
        MPI_Win win;
        CHECK_OK(MPI_Win_allocate_shared(WORDS * sizeof(long), sizeof(long), MPI_INFO_NULL,
                                         MPI_COMM_WORLD, &memory, &win));
        memset(memory, 0, WORDS * sizeof(long));
        MPI_Aint bytes;
        int unit;
        long* first;
        CHECK_OK(MPI_Win_shared_query(win, home, &bytes, &unit, &first));
        round_of[0] = first + 2 * LINE;
        round_of[1] = first + 3 * LINE;
        CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
        if (by != UNLOCK) CHECK_OK(MPI_Win_lock_all(0, win));
        if (home + 1 < size) test_pair(win, home, me, test % 2, by);
        if (by != UNLOCK) CHECK_OK(MPI_Win_unlock_all(win));
        CHECK_OK(MPI_Win_free(&win));
    }
    MPI_Finalize();
    return 0;
}
