/* Rows of mpi_death_tasks.c: one-sided communication. */
#include "mpi_death_tasks.h"

/* A window of memory of the program, one of memory that MPI allocates, and one whose memory is attached later. On one
 * node, the locks of the first two are in shared memory, and those of the third are messages. */
static MPI_Win window, allocated, dynamic, spare;
static char* part; /* of the window `allocated` */

static void with_handler(MPI_Win made) {
    MPI_Win_set_errhandler(made, handler);
}

static void make_windows(void) {
    MPI_Win_create(memory, kBytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    MPI_Win_allocate(kBytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &part, &allocated);
    MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &dynamic);
    MPI_Win_create(memory, kBytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &spare);
    with_handler(window);
    with_handler(allocated);
    with_handler(dynamic);
    with_handler(spare);
    MPI_Win_fence(0, allocated);
}

/* What the victim does before it dies. */
static void prepare_window(const char* row) {
    if (strcmp(row, "win_complete") == 0) MPI_Win_post(others_group, 0, window);
    if (strcmp(row, "held_lock") == 0) MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, window);
    if (strcmp(row, "held_lock_by_messages") == 0 ||
        strcmp(row, "held_lock_of_a_waiting_task") == 0)
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, dynamic);
}

ROW(kAlone, win_start) {
    return MPI_Win_start(victim_group, 0, window);
}
ROW(kAlone, win_wait) {
    TRY(MPI_Win_post(victim_group, 0, window));
    return MPI_Win_wait(window);
}
ROW(kAlone, win_test) {
    int over = 0;
    TRY(MPI_Win_post(victim_group, 0, window));
    while (!over) TRY(MPI_Win_test(window, &over));
    return MPI_SUCCESS;
}
/* The victim has posted, but not for a second round. */
ROW(kAlone, win_complete) {
    TRY(MPI_Win_start(victim_group, 0, window));
    TRY(MPI_Put(other, kBytes, MPI_BYTE, kVictim, 0, kBytes, MPI_BYTE, window));
    return MPI_Win_complete(window);
}
ROW(kAll, post_and_start) {
    if (rank == kVictim) {
        TRY(MPI_Win_post(others_group, 0, window));
        return MPI_Win_wait(window);
    }
    TRY(MPI_Win_start(victim_group, 0, window));
    TRY(MPI_Put(&rank, 1, MPI_INT, kVictim, 4 * rank, 1, MPI_INT, window));
    return MPI_Win_complete(window);
}

static int lock_and_unlock(int type, int target, MPI_Win of) {
    TRY(MPI_Win_lock(type, target, 0, of));
    return MPI_Win_unlock(target, of);
}

ROW(kAlone, win_lock) {
    return lock_and_unlock(MPI_LOCK_SHARED, kVictim, dynamic);
}
ROW(kAlone, win_lock_exclusive) {
    return lock_and_unlock(MPI_LOCK_EXCLUSIVE, kVictim, dynamic);
}
ROW(kAlone, win_lock_all) {
    TRY(MPI_Win_lock_all(0, dynamic));
    return MPI_Win_unlock_all(dynamic);
}
/* The lock of the part of task 0, which the victim holds. If it ends, the lock may be free again. */
ROW(kAlone, held_lock) {
    TRY(lock_and_unlock(MPI_LOCK_EXCLUSIVE, 0, window));
    return then_meet();
}
ROW(kAlone, held_lock_by_messages) {
    TRY(lock_and_unlock(MPI_LOCK_EXCLUSIVE, 0, dynamic));
    return then_meet();
}
ROW(kAlone, held_lock_of_a_waiting_task) {
    for (int task = 0; task < size && rank == 0; ++task)
        if (task != 0 && task != kVictim)
            TRY(MPI_Recv(&number, 1, MPI_INT, task, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    if (rank != 0) {
        TRY(lock_and_unlock(MPI_LOCK_EXCLUSIVE, 0, dynamic));
        TRY(MPI_Send(&number, 1, MPI_INT, 0, 0, MPI_COMM_WORLD));
    }
    return then_meet();
}
/* The victim may hold the lock, or wait for it. */
ROW(kAll, same_lock) {
    TRY(lock_and_unlock(MPI_LOCK_EXCLUSIVE, 0, window));
    return then_meet();
}
ROW(kAll, same_lock_by_messages) {
    TRY(lock_and_unlock(MPI_LOCK_EXCLUSIVE, 0, dynamic));
    return then_meet();
}

/* As long as the victim lives, operations on its part succeed while it does nothing. */
static int begin(void) {
    return MPI_Win_lock(MPI_LOCK_SHARED, kVictim, MPI_MODE_NOCHECK, window);
}
static int end(void) {
    return MPI_Win_unlock(kVictim, window);
}

ROW(kAlone, put) {
    TRY(begin());
    TRY(MPI_Put(&number, 1, MPI_INT, kVictim, 0, 1, MPI_INT, window));
    return end();
}
ROW(kAlone, put_long) {
    TRY(begin());
    TRY(MPI_Put(other, kBytes, MPI_BYTE, kVictim, 0, kBytes, MPI_BYTE, window));
    return end();
}
ROW(kAlone, get) {
    TRY(begin());
    TRY(MPI_Get(&number, 1, MPI_INT, kVictim, 0, 1, MPI_INT, window));
    return end();
}
ROW(kAlone, get_long) {
    TRY(begin());
    TRY(MPI_Get(other, kBytes, MPI_BYTE, kVictim, 0, kBytes, MPI_BYTE, window));
    return end();
}
ROW(kAlone, accumulate) {
    TRY(begin());
    TRY(MPI_Accumulate(&number, 1, MPI_INT, kVictim, 0, 1, MPI_INT, MPI_SUM, window));
    return end();
}
ROW(kAlone, get_accumulate) {
    TRY(begin());
    TRY(MPI_Get_accumulate(&number, 1, MPI_INT, &sum, 1, MPI_INT, kVictim, 0, 1, MPI_INT, MPI_SUM,
                           window));
    return end();
}
ROW(kAlone, fetch_and_op) {
    TRY(begin());
    TRY(MPI_Fetch_and_op(&number, &sum, MPI_INT, kVictim, 0, MPI_SUM, window));
    return end();
}
ROW(kAlone, compare_and_swap) {
    const int expected = 0;
    TRY(begin());
    TRY(MPI_Compare_and_swap(&number, &expected, &sum, MPI_INT, kVictim, 0, window));
    return end();
}
ROW(kAlone, flush) {
    TRY(begin());
    TRY(MPI_Put(&number, 1, MPI_INT, kVictim, 0, 1, MPI_INT, window));
    TRY(MPI_Win_flush(kVictim, window));
    return end();
}
ROW(kAlone, flush_local) {
    TRY(begin());
    TRY(MPI_Put(other, kBytes, MPI_BYTE, kVictim, 0, kBytes, MPI_BYTE, window));
    TRY(MPI_Win_flush_local(kVictim, window));
    return end();
}
ROW(kAlone, flush_all) {
    TRY(MPI_Win_lock_all(MPI_MODE_NOCHECK, window));
    for (int target = 0; target < size; ++target)
        TRY(MPI_Put(&number, 1, MPI_INT, target, 4 * rank, 1, MPI_INT, window));
    TRY(MPI_Win_flush_all(window));
    return MPI_Win_unlock_all(window);
}

static int end_after(MPI_Request request) {
    TRY(MPI_Wait(&request, MPI_STATUS_IGNORE));
    return end();
}

ROW(kAlone, rput) {
    MPI_Request request;
    TRY(begin());
    TRY(MPI_Rput(other, kBytes, MPI_BYTE, kVictim, 0, kBytes, MPI_BYTE, window, &request));
    return end_after(request);
}
ROW(kAlone, rget) {
    MPI_Request request;
    TRY(begin());
    TRY(MPI_Rget(other, kBytes, MPI_BYTE, kVictim, 0, kBytes, MPI_BYTE, window, &request));
    return end_after(request);
}
ROW(kAlone, raccumulate) {
    MPI_Request request;
    TRY(begin());
    TRY(MPI_Raccumulate(&number, 1, MPI_INT, kVictim, 0, 1, MPI_INT, MPI_SUM, window, &request));
    return end_after(request);
}
ROW(kAlone, rget_accumulate) {
    MPI_Request request;
    TRY(begin());
    TRY(MPI_Rget_accumulate(&number, 1, MPI_INT, &sum, 1, MPI_INT, kVictim, 0, 1, MPI_INT, MPI_SUM,
                            window, &request));
    return end_after(request);
}

ROW(kAll, win_fence) {
    return MPI_Win_fence(0, window);
}
ROW(kAll, put_and_fence) {
    const int next = (rank + 1) % size;
    TRY(MPI_Put(other, kBytes, MPI_BYTE, next, 0, kBytes, MPI_BYTE, allocated));
    return MPI_Win_fence(0, allocated);
}
ROW(kAll, accumulate_and_fence) {
    const int many = kBytes / sizeof(int);
    TRY(MPI_Accumulate(&number, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_SUM, allocated));
    TRY(MPI_Accumulate(other, many, MPI_INT, 0, 0, many, MPI_INT, MPI_SUM, allocated));
    return MPI_Win_fence(0, allocated);
}

static int free_window(int code, MPI_Win* made) {
    if (code != MPI_SUCCESS) return code;
    with_handler(*made);
    return MPI_Win_free(made);
}

ROW(kAll, win_create) {
    MPI_Win made = MPI_WIN_NULL;
    return free_window(MPI_Win_create(memory, kBytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &made),
                       &made);
}
ROW(kAll, win_allocate) {
    MPI_Win made = MPI_WIN_NULL;
    void* base;
    return free_window(MPI_Win_allocate(100, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &made),
                       &made);
}
ROW(kAll, win_allocate_shared) {
    MPI_Win made = MPI_WIN_NULL;
    void* base;
    return free_window(MPI_Win_allocate_shared(100, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &made),
                       &made);
}
ROW(kAll, win_create_dynamic) {
    MPI_Win made = MPI_WIN_NULL;
    return free_window(MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &made), &made);
}
ROW(kAlone, win_free) {
    TRY(MPI_Win_free(&spare));
    return then_meet();
}
