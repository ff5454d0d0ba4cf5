/* Waits for windows whose cause is known; poe_diagnosis.py says which. Four tasks.
 *
 *   fence      task 2 computes before a fence
 *   post       task 3 computes before it opens its window to task 0, which waits for tasks 1, 2 and 3
 *   lock       task 2 computes while it holds the exclusive lock of task 0's part, which tasks 1 and 3 want, 1 shared
 *   lock-all   the same, and tasks 1 and 3 lock all parts
 *   shared     all tasks hold shared locks of task 0's part while they compute, so nobody waits
 *   complete   task 2 computes before it ends its accesses to the window of task 1, which waits for 0, 2 and 3
 *
 * The second argument says how many times as long as usual the tasks compute. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int times = 1;

static void compute(double seconds) {
    const double start = MPI_Wtime();
    while (MPI_Wtime() - start < times * seconds) continue;
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int me;
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    long* memory;
    MPI_Win window;
    MPI_Win_allocate(4 * sizeof(long), sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &memory,
                     &window);
    MPI_Group all, origin, targets;
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    const char* how = argc > 1 ? argv[1] : "";
    if (argc > 2) times = atoi(argv[2]);
    const long value = 5;
    const int one = strcmp(how, "complete") == 0;
    MPI_Group_incl(all, 1, &one, &origin);
    MPI_Group_excl(all, 1, &one, &targets);
    MPI_Barrier(MPI_COMM_WORLD);
    if (strcmp(how, "fence") == 0) {
        MPI_Win_fence(0, window);
        if (me == 2) compute(0.1);
        MPI_Put(&value, 1, MPI_LONG, (me + 1) % 4, me, 1, MPI_LONG, window);
        MPI_Win_fence(MPI_MODE_NOSUCCEED, window);
    } else if (strcmp(how, "post") == 0) {
        if (me == 0) {
            MPI_Win_start(targets, 0, window);
            for (int target = 1; target < 4; ++target)
                MPI_Put(&value, 1, MPI_LONG, target, 0, 1, MPI_LONG, window);
            MPI_Win_complete(window);
        } else {
            if (me == 3) compute(0.3);
            MPI_Win_post(origin, 0, window);
            MPI_Win_wait(window);
        }
    } else if (strcmp(how, "lock") == 0 || strcmp(how, "lock-all") == 0) {
        const int all_parts = strcmp(how, "lock-all") == 0;
        if (me == 2) {
            MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, window);
            /* The others learn that the lock is taken. */
            for (int other = 1; other < 4; other += 2)
                MPI_Send(&me, 1, MPI_INT, other, 0, MPI_COMM_WORLD);
            compute(0.1);
            MPI_Put(&value, 1, MPI_LONG, 0, me, 1, MPI_LONG, window);
            MPI_Win_unlock(0, window);
        } else if (me != 0) {
            int holder;
            MPI_Recv(&holder, 1, MPI_INT, 2, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            if (all_parts)
                MPI_Win_lock_all(0, window);
            else
                MPI_Win_lock(me == 1 ? MPI_LOCK_SHARED : MPI_LOCK_EXCLUSIVE, 0, 0, window);
            MPI_Put(&value, 1, MPI_LONG, 0, me, 1, MPI_LONG, window);
            if (all_parts)
                MPI_Win_unlock_all(window);
            else
                MPI_Win_unlock(0, window);
        }
    } else if (strcmp(how, "shared") == 0) {
        MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, window);
        compute(0.02);
        MPI_Put(&value, 1, MPI_LONG, 0, me, 1, MPI_LONG, window);
        MPI_Win_unlock(0, window);
    } else if (me == 1) {
        MPI_Win_post(targets, 0, window);
        MPI_Win_wait(window);
    } else {
        MPI_Win_start(origin, 0, window);
        if (me == 2) compute(0.3);
        MPI_Put(&value, 1, MPI_LONG, 1, me, 1, MPI_LONG, window);
        MPI_Win_complete(window);
    }
    MPI_Group_free(&all);
    MPI_Group_free(&origin);
    MPI_Group_free(&targets);
    MPI_Win_free(&window);
    MPI_Finalize();
    return 0;
}
