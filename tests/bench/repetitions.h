/* How comm_bench and mpi_paths_bench measure a step: in repetitions of about 2 ms, until 101 of them
 * or a second are over, at least 5. The file that includes this has defined `tasks`, `me`, TAG,
 * fail(), send(), receive() and synchronise() before.
 *
 * A virtual machine's cores are now two threads of one real core, now two real cores, and a cache
 * line takes 30 ns or 170 between them. So before and after each repetition the two tasks hand a
 * line of a shared file (COMM_BENCH_LINE, a path) to and fro, and each repetition belongs to the
 * state that both agree on: near, far, or middle for between. Without the file all are "any". Task 0 prints a line
 * "OPERATION BYTES STATE MEDIAN BEST REPETITIONS" for each state met, times in microseconds. */
#include <fcntl.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { REPETITIONS = 101, LEAST = 5 };

static atomic_int* line; /* shared by the two tasks, or null */

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int by_value(const void* a, const void* b) {
    const double x = *(const double*)a, y = *(const double*)b;
    return x < y ? -1 : x > y;
}

enum { ANY, NEAR, FAR, MIDDLE, STATES };

static int state_of_line(void) {
    if (line == NULL || me > 1) return ANY;
    enum { TURNS = 200 };
    const double start = now();
    for (int i = 0; i < TURNS; ++i) {
        while (atomic_load_explicit(line, memory_order_acquire) != me) continue;
        atomic_store_explicit(line, 1 - me, memory_order_release);
    }
    const double one_way = (now() - start) / TURNS / 2;
    return one_way < 60e-9 ? NEAR : one_way > 100e-9 ? FAR : MIDDLE;
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
    /* As many repetitions as take a second, at most: task 0 knows. */
    const double length = timed(step, size, count) * (double)count;
    long repetitions = length * REPETITIONS > 1 ? (long)(1 / length) : REPETITIONS;
    if (repetitions < LEAST) repetitions = LEAST;
    for (int task = 1; me == 0 && task < tasks; ++task)
        send(&repetitions, sizeof repetitions, task, TAG);
    if (me != 0) receive(&repetitions, sizeof repetitions, 0, TAG);
    double times[STATES][REPETITIONS];
    int found[STATES] = {0};
    for (long i = 0; i < repetitions; ++i) {
        synchronise();
        const int before = state_of_line();
        const double time = 1e6 * timed(step, size, count) / per_step;
        synchronise();
        const int state = state_of_line();
        if (state == before) times[state][found[state]++] = time;
    }
    static const char* names[STATES] = {"any", "near", "far", "middle"};
    for (int state = 0; me == 0 && state < STATES; ++state) {
        if (found[state] == 0) continue;
        qsort(times[state], (size_t)found[state], sizeof times[state][0], by_value);
        printf("%s %zu %s %.4f %.4f %d\n", name, size, names[state], times[state][found[state] / 2],
               times[state][0], found[state]);
    }
    fflush(stdout);
}

static void pin(int cpu) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    if (sched_setaffinity(0, sizeof set, &set) != 0) fail("cannot bind to a core");
}

/* Obeys "-pin cores|one" at the front of the arguments; the index of the first word after it. */
static int pin_as_told(int argc, char** argv) {
    if (argc < 3 || strcmp(argv[1], "-pin") != 0) return 1;
    const long cores = sysconf(_SC_NPROCESSORS_ONLN);
    pin(strcmp(argv[2], "one") == 0 ? 0 : (int)(me % cores));
    return 3;
}
