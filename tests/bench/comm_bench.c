/* comm_bench [-pin cores|one] OPERATION BYTES...: times one operation between task 0 and task 1
 * (sync: between all tasks). One source, compiled with MPL and with each MPI (-DUSE_MPI), so that
 * all run through the same loop.
 *
 * A virtual machine's cores are now two threads of one real core, now two real cores, and a cache
 * line takes 30 ns or 170 between them. So before and after each repetition the two tasks hand a
 * line of a shared file (COMM_BENCH_LINE, a path) to and fro, and each repetition belongs to the
 * state that both agree on: near or far. Without the file all are "any". Task 0 prints a line
 * "OPERATION BYTES STATE MEDIAN BEST REPETITIONS" for each state met, times in microseconds.
 *
 *   pingpong    half of a round trip
 *   stream      one way, 64 messages in a row, then an empty answer; time of one message
 *   sendrecv    both send and receive at once, one message each way
 *   exchange    two sends and two receives each, non-blocking, as with two neighbours
 *   unexpected  pingpong of 8 bytes while BYTES (a number) messages wait that nobody asked for
 *   posted      pingpong of 8 bytes while BYTES (a number) receives wait that nobody sends for
 *   sync        barrier of all tasks */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { REPETITIONS = 101, WINDOW = 64, LARGEST = 1 << 23, TAG = 1, LATE = 9 };

static int tasks, me;
static char *out, *in;
static atomic_int* line; /* shared by the two tasks, or null */

static void fail(const char* what);

#ifdef USE_MPI
#include <mpi.h>
typedef MPI_Request Handle;
static void check(int result) {
    if (result != MPI_SUCCESS) fail("an MPI call failed");
}
static void begin(int* argc, char*** argv) {
    MPI_Init(argc, argv);
    MPI_Comm_size(MPI_COMM_WORLD, &tasks);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
}
static void finish(void) {
    MPI_Finalize();
}
static void abort_all(void) {
    MPI_Abort(MPI_COMM_WORLD, 1);
}
static void send(void* buffer, size_t size, int to, int tag) {
    check(MPI_Send(buffer, (int)size, MPI_BYTE, to, tag, MPI_COMM_WORLD));
}
static void receive(void* buffer, size_t size, int from, int tag) {
    check(MPI_Recv(buffer, (int)size, MPI_BYTE, from, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
}
static void send_receive(size_t size, int other) {
    check(MPI_Sendrecv(out, (int)size, MPI_BYTE, other, TAG, in, (int)size, MPI_BYTE, other, TAG,
                       MPI_COMM_WORLD, MPI_STATUS_IGNORE));
}
static void start_send(void* buffer, size_t size, int to, Handle* handle) {
    check(MPI_Isend(buffer, (int)size, MPI_BYTE, to, TAG, MPI_COMM_WORLD, handle));
}
static void start_receive(void* buffer, size_t size, int from, int tag, Handle* handle) {
    check(MPI_Irecv(buffer, (int)size, MPI_BYTE, from, tag, MPI_COMM_WORLD, handle));
}
static void end(Handle* handle) {
    check(MPI_Wait(handle, MPI_STATUS_IGNORE));
}
static void synchronise(void) {
    check(MPI_Barrier(MPI_COMM_WORLD));
}
#else
#include <mpproto.h>
typedef int Handle;
static void check(int result) {
    if (result != 0) fail("an MPL call failed");
}
static void begin(int* argc, char*** argv) {
    (void)argc, (void)argv;
    mpc_environ(&tasks, &me);
}
static void finish(void) {}
static void abort_all(void) {
    mpc_stopall(1);
}
static void send(void* buffer, size_t size, int to, int tag) {
    check(mpc_bsend(buffer, size, to, tag));
}
static void receive(void* buffer, size_t size, int from, int tag) {
    size_t got;
    check(mpc_brecv(buffer, size, &from, &tag, &got));
}
static void send_receive(size_t size, int other) {
    size_t got;
    check(mpc_bsendrecv(out, size, other, TAG, in, size, &other, &got));
}
static void start_send(void* buffer, size_t size, int to, Handle* handle) {
    check(mpc_send(buffer, size, to, TAG, handle));
}
static int sources[1 << 15], types[1 << 15], next_wanted;
static void start_receive(void* buffer, size_t size, int from, int tag, Handle* handle) {
    next_wanted = (next_wanted + 1) % (1 << 15);
    sources[next_wanted] = from, types[next_wanted] = tag;
    check(mpc_recv(buffer, size, &sources[next_wanted], &types[next_wanted], handle));
}
static void end(Handle* handle) {
    size_t got;
    check(mpc_wait(handle, &got));
}
static void synchronise(void) {
    check(mpc_sync(ALLGRP));
}
#endif

static void fail(const char* what) {
    fprintf(stderr, "comm_bench: task %d: %s\n", me, what);
    abort_all();
    exit(1);
}

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void ping_pong(size_t size) {
    if (me == 0) {
        send(out, size, 1, TAG);
        receive(in, size, 1, TAG);
    } else {
        receive(in, size, 0, TAG);
        send(out, size, 0, TAG);
    }
}

static void stream(size_t size) {
    for (int i = 0; i < WINDOW; ++i) {
        if (me == 0) {
            send(out, size, 1, TAG);
        } else {
            receive(in, size, 0, TAG);
        }
    }
    if (me == 0) {
        receive(in, 0, 1, TAG);
    } else {
        send(out, 0, 0, TAG);
    }
}

static void both_ways(size_t size) {
    send_receive(size, 1 - me);
}

static void exchange(size_t size) {
    Handle handles[4];
    start_receive(in, size, 1 - me, TAG, &handles[0]);
    start_receive(in + LARGEST, size, 1 - me, TAG, &handles[1]);
    start_send(out, size, 1 - me, &handles[2]);
    start_send(out + LARGEST, size, 1 - me, &handles[3]);
    for (int i = 0; i < 4; ++i) end(&handles[i]);
}

static void eight_bytes(size_t size) {
    (void)size;
    ping_pong(8);
}

static void barrier(size_t size) {
    (void)size;
    synchronise();
}

static int by_value(const void* a, const void* b) {
    const double x = *(const double*)a, y = *(const double*)b;
    return x < y ? -1 : x > y;
}

enum { ANY, NEAR, FAR, UNCLEAR, STATES };

static int state_of_line(void) {
    if (line == NULL || me > 1) return ANY;
    enum { TURNS = 200 };
    const double start = now();
    for (int i = 0; i < TURNS; ++i) {
        while (atomic_load_explicit(line, memory_order_acquire) != me) continue;
        atomic_store_explicit(line, 1 - me, memory_order_release);
    }
    const double one_way = (now() - start) / TURNS / 2;
    return one_way < 60e-9 ? NEAR : one_way > 100e-9 ? FAR : UNCLEAR;
}

/* The line that tells near from far, when both have a core of their own. */
static void map_line(void) {
    const char* path = getenv("COMM_BENCH_LINE");
    if (path == NULL) return;
    const int file = open(path, O_RDWR | O_CREAT, 0600);
    if (file < 0 || ftruncate(file, 4096) != 0) fail("cannot open the file of COMM_BENCH_LINE");
    line = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (line == MAP_FAILED) fail("cannot map the file of COMM_BENCH_LINE");
    close(file);
    if (me == 0) atomic_store(line, 0);
    synchronise();
}

/* Seconds of one step, over `count`. Only the first two tasks take part in `pair` operations. */
static double timed(void (*step)(size_t), size_t size, long count) {
    synchronise();
    const double start = now();
    for (long i = 0; i < count; ++i) step(size);
    return (now() - start) / (double)count;
}

static void measure(const char* name, void (*step)(size_t), size_t size, double per_step) {
    /* Task 0 finds how many steps take about 2 ms, and tells. */
    long count = 1;
    for (int round = 0; round < 12; ++round) {
        const double step_time = timed(step, size, count);
        long better = step_time > 0 ? (long)(2e-3 / step_time) : 1;
        if (better > count * 4) better = count * 4;
        if (better < 1) better = 1;
        for (int task = 1; me == 0 && task < tasks; ++task) send(&better, sizeof better, task, TAG);
        if (me != 0) receive(&better, sizeof better, 0, TAG);
        count = better;
    }
    double times[STATES][REPETITIONS];
    int found[STATES] = {0};
    for (int i = 0; i < REPETITIONS; ++i) {
        synchronise();
        const int before = state_of_line();
        const double time = 1e6 * timed(step, size, count) / per_step;
        synchronise();
        const int state = state_of_line();
        if (state == before && state != UNCLEAR) times[state][found[state]++] = time;
    }
    static const char* names[STATES] = {"any", "near", "far", "unclear"};
    for (int state = 0; me == 0 && state < STATES; ++state) {
        if (found[state] == 0) continue;
        qsort(times[state], (size_t)found[state], sizeof times[state][0], by_value);
        printf("%s %zu %s %.4f %.4f %d\n", name, size, names[state], times[state][found[state] / 2],
               times[state][0], found[state]);
    }
    fflush(stdout);
}

/* `number` messages wait at each of the two, or receives, while 8 bytes go to and fro. */
static void crowd(const char* name, size_t number) {
    Handle* handles = malloc((number + 1) * sizeof *handles);
    const int unexpected = strcmp(name, "unexpected") == 0;
    if (handles == NULL) fail("out of memory");
    for (size_t i = 0; i < number; ++i) {
        if (unexpected) {
            send(out, 8, 1 - me, LATE + (int)i);
        } else {
            start_receive(in, 8, 1 - me, LATE + (int)i, &handles[i]);
        }
    }
    measure(name, eight_bytes, number, 2);
    for (size_t i = 0; i < number; ++i) {
        if (unexpected) {
            receive(in, 8, 1 - me, LATE + (int)i);
        } else {
            send(out, 8, 1 - me, LATE + (int)i);
        }
    }
    for (size_t i = 0; !unexpected && i < number; ++i) end(&handles[i]);
    free(handles);
}

static void pin(int cpu) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    if (sched_setaffinity(0, sizeof set, &set) != 0) fail("cannot bind to a core");
}

int main(int argc, char** argv) {
    begin(&argc, &argv);
    int word = 1;
    if (word + 1 < argc && strcmp(argv[word], "-pin") == 0) {
        const long cores = sysconf(_SC_NPROCESSORS_ONLN);
        pin(strcmp(argv[word + 1], "one") == 0 ? 0 : (int)(me % cores));
        word += 2;
    }
    if (word >= argc || tasks < 2) fail("usage: comm_bench [-pin cores|one] OPERATION BYTES...");
    const char* name = argv[word++];
    const size_t room = (size_t)2 * LARGEST;
    out = aligned_alloc(4096, room);
    in = aligned_alloc(4096, room);
    if (out == NULL || in == NULL) fail("out of memory");
    memset(out, me, room);
    memset(in, me, room);
    if (tasks == 2) map_line();
    if (strcmp(name, "sync") == 0) measure(name, barrier, 0, 1);
    for (; word < argc; ++word) {
        const size_t size = strtoul(argv[word], NULL, 10);
        if (strcmp(name, "pingpong") == 0) measure(name, ping_pong, size, 2);
        if (strcmp(name, "stream") == 0) measure(name, stream, size, WINDOW);
        if (strcmp(name, "sendrecv") == 0) measure(name, both_ways, size, 1);
        if (strcmp(name, "exchange") == 0) measure(name, exchange, size, 1);
        if (strcmp(name, "unexpected") == 0 || strcmp(name, "posted") == 0) crowd(name, size);
    }
    finish();
    return 0;
}
