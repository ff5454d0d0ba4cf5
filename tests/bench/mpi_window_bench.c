/* mpi_window_bench [-pin cores|one] OPERATION-WINDOW BYTES...: times one-sided communication of task 0 with
 * task 1. One source, compiled with each MPI. How it measures, and what it prints: repetitions.h.
 *
 * WINDOW is "allocated" (MPI_Win_allocate), "created" (MPI_Win_create on memory of the program) or "shared"
 * (MPI_Win_allocate_shared). OPERATION is one of these, and its time includes the completion at the target:
 *
 *   put, get        the operation and MPI_Win_flush
 *   accumulate      the same with a sum of doubles
 *   fetch, swap     MPI_Fetch_and_op and MPI_Compare_and_swap of 8 bytes, and MPI_Win_flush
 *   lock            MPI_Win_lock (exclusive) and MPI_Win_unlock, with no operation between
 *   lockput         the same with a put between
 *   puts            32 puts to different places, then one MPI_Win_flush; time of one put
 *   fence           MPI_Win_fence of both tasks, with a put of task 0 before each
 *   busyput         32 times put while task 1 computes for 100 us between two calls of MPI; time of one put
 *
 * Except in fence and busyput, task 1 waits in a barrier. */
#define _GNU_SOURCE
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TAG = 1, DONE = 2, PUTS = 32 };
static const size_t ROOM = (size_t)4 << 20;

static int tasks, me;
static char *memory, *buffer;
static MPI_Win win;

static void fail(const char* what) {
    fprintf(stderr, "mpi_window_bench: task %d: %s\n", me, what);
    MPI_Abort(MPI_COMM_WORLD, 1);
    exit(1);
}
static void send(const void* data, size_t size, int to, int tag) {
    MPI_Send(data, (int)size, MPI_BYTE, to, tag, MPI_COMM_WORLD);
}
static void receive(void* data, size_t size, int from, int tag) {
    MPI_Recv(data, (int)size, MPI_BYTE, from, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}
static void synchronise(void) {
    MPI_Barrier(MPI_COMM_WORLD);
}

#include "repetitions.h"

static void put(size_t size) {
    if (me != 0) return;
    MPI_Put(buffer, (int)size, MPI_BYTE, 1, 0, (int)size, MPI_BYTE, win);
    MPI_Win_flush(1, win);
}

static void get(size_t size) {
    if (me != 0) return;
    MPI_Get(buffer, (int)size, MPI_BYTE, 1, 0, (int)size, MPI_BYTE, win);
    MPI_Win_flush(1, win);
}

static void accumulate(size_t size) {
    if (me != 0) return;
    const int count = (int)(size / sizeof(double));
    MPI_Accumulate(buffer, count, MPI_DOUBLE, 1, 0, count, MPI_DOUBLE, MPI_SUM, win);
    MPI_Win_flush(1, win);
}

static void fetch(size_t size) {
    static long given = 1, found;
    (void)size;
    if (me != 0) return;
    MPI_Fetch_and_op(&given, &found, MPI_LONG, 1, 0, MPI_SUM, win);
    MPI_Win_flush(1, win);
}

static void swap(size_t size) {
    static long given = 1, compared, found;
    (void)size;
    if (me != 0) return;
    MPI_Compare_and_swap(&given, &compared, &found, MPI_LONG, 1, 0, win);
    MPI_Win_flush(1, win);
}

static void lock(size_t size) {
    (void)size;
    if (me != 0) return;
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, win);
    MPI_Win_unlock(1, win);
}

static void lock_put(size_t size) {
    if (me != 0) return;
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, win);
    MPI_Put(buffer, (int)size, MPI_BYTE, 1, 0, (int)size, MPI_BYTE, win);
    MPI_Win_unlock(1, win);
}

static void puts_then_flush(size_t size) {
    if (me != 0) return;
    for (int i = 0; i < PUTS; ++i)
        MPI_Put(buffer, (int)size, MPI_BYTE, 1, (MPI_Aint)(i * (MPI_Aint)size), (int)size, MPI_BYTE,
                win);
    MPI_Win_flush(1, win);
}

static void fence(size_t size) {
    if (me == 0) MPI_Put(buffer, (int)size, MPI_BYTE, 1, 0, (int)size, MPI_BYTE, win);
    MPI_Win_fence(0, win);
}

/* Task 1 computes until task 0 has ended its operations and says so by a message. */
static void puts_to_busy(size_t size) {
    if (me == 0) {
        for (int i = 0; i < PUTS; ++i) put(size);
        send(buffer, 0, 1, DONE);
        return;
    }
    for (int over = 0; !over;) {
        const double start = now();
        while (now() - start < 100e-6) continue;
        MPI_Iprobe(0, DONE, MPI_COMM_WORLD, &over, MPI_STATUS_IGNORE);
    }
    receive(buffer, 0, 0, DONE);
}

typedef void Step(size_t);
static const struct {
    const char* name;
    Step* step;
    int per_step;
    int passive; /* inside of MPI_Win_lock_all */
} operations[] = {{"put", put, 1, 1},
                  {"get", get, 1, 1},
                  {"accumulate", accumulate, 1, 1},
                  {"fetch", fetch, 1, 1},
                  {"swap", swap, 1, 1},
                  {"lock", lock, 1, 0},
                  {"lockput", lock_put, 1, 0},
                  {"puts", puts_then_flush, PUTS, 1},
                  {"fence", fence, 1, 0},
                  {"busyput", puts_to_busy, PUTS, 1}};

static void make_window(const char* kind) {
    const MPI_Aint size = (MPI_Aint)ROOM;
    if (strcmp(kind, "created") == 0) {
        memory = aligned_alloc(4096, ROOM);
        if (memory == NULL) fail("out of memory");
        memset(memory, 0, ROOM);
        MPI_Win_create(memory, size, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    } else if (strcmp(kind, "allocated") == 0) {
        MPI_Win_allocate(size, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
        memset(memory, 0, ROOM);
    } else if (strcmp(kind, "shared") == 0) {
        MPI_Win_allocate_shared(size, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
        memset(memory, 0, ROOM);
    } else {
        fail("a window is allocated, created or shared");
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

static void run(const char* name, size_t size) {
    const size_t known = sizeof operations / sizeof *operations;
    const char* window = strchr(name, '-');
    if (window == NULL || size > ROOM)
        fail("usage: mpi_window_bench [-pin cores|one] OPERATION-WINDOW BYTES...");
    for (size_t i = 0; i < known; ++i) {
        if (strlen(operations[i].name) != (size_t)(window - name) ||
            strncmp(operations[i].name, name, (size_t)(window - name)) != 0)
            continue;
        make_window(window + 1);
        if (operations[i].passive && me == 0) MPI_Win_lock_all(0, win);
        if (operations[i].step == fence) MPI_Win_fence(MPI_MODE_NOPRECEDE, win);
        measure(name, operations[i].step, size, operations[i].per_step);
        if (operations[i].step == fence) MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
        if (operations[i].passive && me == 0) MPI_Win_unlock_all(win);
        MPI_Win_free(&win);
        return;
    }
    fail("no such operation");
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &tasks);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    int word = pin_as_told(argc, argv);
    if (word >= argc || tasks != 2)
        fail("usage: mpi_window_bench [-pin cores|one] OPERATION-WINDOW BYTES... (2 tasks)");
    const char* name = argv[word++];
    buffer = aligned_alloc(4096, ROOM);
    if (buffer == NULL) fail("out of memory");
    memset(buffer, 0, ROOM);
    map_line();
    for (; word < argc; ++word) run(name, strtoul(argv[word], NULL, 10));
    MPI_Finalize();
    return 0;
}
