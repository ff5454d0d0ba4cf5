/* Rows of mpi_death_tasks.c: one-sided communication. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

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

/* Task 0 frees a window while operations of another task on its part are under way: the origin is stopped, so it can
 * neither take an answer nor send data. When MPI_Win_free has returned, task 0 uses the memory for something else: the
 * origin must not get it as a result, and nothing of the origin may arrive in it. */

enum { kOrigin = 2, kHalf = kBytes / 2, kInWindow = 1, kPut = 2, kAfterwards = 3 };

static int consists_of(const char* bytes, int count, char value) {
    for (int i = 0; i < count; ++i)
        if (bytes[i] != value) return 0;
    return 1;
}

static const char* path_of_mark(void) {
    static char name[4096];
    snprintf(name, sizeof name, "%s.freed", path);
    return name;
}

static int is_stopped(int process) {
    char name[64], state = 0;
    snprintf(name, sizeof name, "/proc/%d/stat", process);
    FILE* const stat = fopen(name, "r");
    if (stat == NULL) return 0;
    if (fscanf(stat, "%*d (%*[^)]) %c", &state) != 1) state = 0;
    fclose(stat);
    return state == 'T';
}

/* Stops this task until task 0 has freed the window. A task 0 that waits for this one goes on after a second. */
static void stop_for_a_while(void) {
    const pid_t task = getpid();
    if (fork() == 0) {
        while (!is_stopped(task) && getppid() == task) usleep(1000);
        for (int looks = 0; looks < 1000 && access(path_of_mark(), F_OK) != 0; ++looks)
            usleep(1000);
        kill(task, SIGCONT);
        _exit(0);
    }
    raise(SIGSTOP);
}

static int access_task_0(void) {
    static char sent[kHalf];
    MPI_Aint address;
    MPI_Request request;
    const int process = (int)getpid();
    TRY(MPI_Recv(&address, 1, MPI_AINT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    TRY(MPI_Win_lock_all(MPI_MODE_NOCHECK, dynamic));
    memset(sent, kPut, kHalf);
    TRY(MPI_Rget(other, kHalf, MPI_BYTE, 0, address, kHalf, MPI_BYTE, dynamic, &request));
    TRY(MPI_Put(sent, kHalf, MPI_BYTE, 0, address + kHalf, kHalf, MPI_BYTE, dynamic));
    TRY(MPI_Send(&process, 1, MPI_INT, 0, 0, MPI_COMM_WORLD));
    stop_for_a_while();
    const int got = MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (got == MPI_SUCCESS && !consists_of(other, kHalf, kInWindow)) return MPI_ERR_OTHER;
    MPI_Win_unlock_all(dynamic);
    const int code = MPI_Win_free(&dynamic);
    TRY(MPI_Barrier(side));
    return code;
}

static int free_under_way(void) {
    MPI_Aint address;
    int process, here;
    memset(memory, kInWindow, kBytes);
    TRY(MPI_Win_attach(dynamic, memory, kBytes));
    MPI_Get_address(memory, &address);
    TRY(MPI_Send(&address, 1, MPI_AINT, kOrigin, 0, MPI_COMM_WORLD));
    TRY(MPI_Recv(&process, 1, MPI_INT, kOrigin, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    /* The operations arrived before the message; each look serves them. */
    for (int looks = 0; looks < 100 || !is_stopped(process); ++looks)
        TRY(MPI_Iprobe(kOrigin, 1, MPI_COMM_WORLD, &here, MPI_STATUS_IGNORE));
    const int code = MPI_Win_free(&dynamic);
    memset(memory, kAfterwards, kBytes);
    close(open(path_of_mark(), O_CREAT | O_WRONLY, 0600));
    TRY(MPI_Barrier(side));
    return consists_of(memory, kBytes, kAfterwards) ? code : MPI_ERR_OTHER;
}

ROW(kAlone, win_free_under_way) {
    if (rank == 0 && size > kOrigin) return free_under_way();
    if (rank == kOrigin) return access_task_0();
    const int code = MPI_Win_free(&dynamic);
    TRY(MPI_Barrier(side));
    return code;
}

/* Task 0 has freed a window and uses the memory for something else. The origin has not noticed that the victim has
 * ended, and accesses the part of task 0. */
static int access_what_is_freed(void) {
    TRY(MPI_Recv(&number, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    memset(other, kPut, kBytes);
    TRY(MPI_Win_lock_all(MPI_MODE_NOCHECK, window));
    const int whole = MPI_Put(other, kBytes, MPI_BYTE, 0, 0, kBytes, MPI_BYTE, window);
    const int whole_over = MPI_Win_flush(0, window);
    const int part_of_it = MPI_Put(other, 4, MPI_BYTE, 0, 4, 4, MPI_BYTE, window);
    const int over = MPI_Win_unlock_all(window);
    TRY(MPI_Send(&number, 1, MPI_INT, 0, 0, MPI_COMM_WORLD));
    if (whole == MPI_SUCCESS && whole_over == MPI_SUCCESS) return MPI_ERR_OTHER;
    if (part_of_it == MPI_SUCCESS && over == MPI_SUCCESS) return MPI_ERR_OTHER;
    return MPI_Win_free(&window);
}

ROW(kAlone, access_after_win_free) {
    if (rank == kOrigin) return access_what_is_freed();
    const int code = MPI_Win_free(&window);
    if (rank != 0 || size <= kOrigin) return code;
    memset(memory, kAfterwards, kBytes);
    TRY(MPI_Send(&number, 1, MPI_INT, kOrigin, 0, MPI_COMM_WORLD));
    TRY(MPI_Recv(&number, 1, MPI_INT, kOrigin, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    return consists_of(memory, kBytes, kAfterwards) ? code : MPI_ERR_OTHER;
}
