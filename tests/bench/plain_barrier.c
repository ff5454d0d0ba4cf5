/* plain_barrier TASKS SECONDS: times the simplest barrier of processes that share cores: a counter in shared memory,
 * and each process that has arrived yields its core until the last one has. It is the limit for a barrier of
 * more tasks than cores. Prints "sync 0 TASKS MEDIAN BEST BATCHES CALLS" like coll_bench.c, in microseconds. */
#define _GNU_SOURCE
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { CALLS = 200, MOST_BATCHES = 1001 };

static struct shared {
    _Alignas(64) atomic_int arrived;
    _Alignas(64) atomic_int passed;
    _Alignas(64) atomic_int over;
} * shared;
static int tasks;

static void barrier(void) {
    const int before = atomic_load(&shared->passed);
    if (atomic_fetch_add(&shared->arrived, 1) + 1 == tasks) {
        atomic_store(&shared->arrived, 0);
        atomic_store(&shared->passed, before + 1);
        return;
    }
    while (atomic_load(&shared->passed) == before) sched_yield();
}

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static int ascending(const void* one, const void* two) {
    const double a = *(const double*)one;
    const double b = *(const double*)two;
    return (a > b) - (a < b);
}

int main(int argc, char** argv) {
    tasks = argc > 1 ? atoi(argv[1]) : 0;
    const double seconds = argc > 2 ? atof(argv[2]) : 0;
    if (tasks < 2 || seconds <= 0)
        return fprintf(stderr, "usage: plain_barrier TASKS SECONDS\n"), 2;
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED) return perror("plain_barrier: mmap"), 1;
    int me = 0;
    for (int task = 1; task < tasks && me == 0; ++task) {
        const pid_t child = fork();
        if (child < 0) return perror("plain_barrier: fork"), 1;
        if (child == 0) me = task;
    }
    static double took[MOST_BATCHES];
    int batches = 0;
    barrier();
    const double start = now();
    for (;;) {
        const double begin = now();
        for (int call = 0; call < CALLS; ++call) barrier();
        took[batches++] = (now() - begin) / CALLS * 1e6;
        if (me == 0)
            atomic_store(&shared->over, batches == MOST_BATCHES || now() - start > seconds);
        barrier();
        if (atomic_load(&shared->over)) break;
        barrier();
    }
    if (me != 0) return 0;
    while (wait(NULL) > 0) {
    }
    qsort(took, (size_t)batches, sizeof *took, ascending);
    printf("sync 0 %d %.4f %.4f %d %d\n", tasks, took[batches / 2], took[0], batches, CALLS);
    return 0;
}
