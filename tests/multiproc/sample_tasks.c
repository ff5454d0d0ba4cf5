/* Programs whose call stacks are known by construction. Each kind of work lasts for a share of the processor time of its
   thread, whatever else the computer does.
     sample_tasks shares MS           short_work 30 %, long_work 70 %; the latter is called through two functions
     sample_tasks until FILE          the same again and again until the file exists
     sample_tasks recursion MS DEPTH  all of the time at the bottom of a recursion
     sample_tasks threads MS          the main thread and two more, each in a function of its own, for the same time
     sample_tasks short_threads MS    one thread after the other, 2 ms each, all in the same function
     sample_tasks child MS            the time is spent in a child process
     sample_tasks frames MS           all of the time below a function with 20 KB of local variables
     sample_tasks sleep MS            sleeps in nanosleep
     sample_tasks faults MS           touches fresh memory: a page fault every few microseconds
   If the variable BEGIN_WHEN names a file, it first sleeps until the file exists.
   Built with -O2 and without frame pointers, as packages are. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define APART __attribute__((noinline, noclone))

static volatile double sink;

static double thread_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return 1e3 * (double)now.tv_sec + 1e-6 * (double)now.tv_nsec;
}

/* Inlined into each kind of work, so that the time belongs to that function. */
static inline __attribute__((always_inline)) void work_until(double end) {
    while (thread_ms() < end)
        for (int i = 1; i < 200000; ++i) sink += 1.0 / i;
}

APART void short_work(double ms) {
    work_until(thread_ms() + ms);
    sink += 1;
}

APART void long_work(double ms) {
    work_until(thread_ms() + ms);
    sink += 2;
}

APART void caller_of_long_work(double ms) {
    long_work(ms);
    sink += 3;
}

APART void shares(double ms) {
    double const begin = thread_ms();
    for (int turn = 1; turn <= 10; ++turn) {
        double const end = begin + ms * turn / 10;
        short_work(0.03 * ms);
        caller_of_long_work(end - thread_ms()); /* whatever the other has left: 70 % */
    }
}

APART void descend(int depth, double ms) {
    if (depth > 0)
        descend(depth - 1, ms);
    else
        short_work(ms);
    sink += depth;
}

APART void big_frame(double ms) {
    char volatile room[20 << 10];
    memset((void*)room, 1, sizeof room);
    long_work(ms);
    sink += room[17];
}

APART void first_thread_work(double ms) {
    work_until(thread_ms() + ms);
    sink += 4;
}
APART void second_thread_work(double ms) {
    work_until(thread_ms() + ms);
    sink += 5;
}

static double thread_time;
static void* first(void* unused) {
    (void)unused;
    first_thread_work(thread_time);
    return NULL;
}
static void* second(void* unused) {
    (void)unused;
    second_thread_work(thread_time);
    return NULL;
}

APART void fault_work(double ms) {
    double const end = thread_ms() + ms;
    while (thread_ms() < end) {
        size_t const bytes = 1 << 22;
        char* const memory =
            mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        for (size_t i = 0; i < bytes; i += 4096) memory[i] = 1;
        munmap(memory, bytes);
    }
}

int main(int argc, char** argv) {
    if (argc < 3) return 2;
    char const* const begin = getenv("BEGIN_WHEN");
    while (begin != NULL && access(begin, F_OK) != 0) usleep(1000);
    double const ms = atof(argv[2]);
    if (strcmp(argv[1], "shares") == 0) {
        shares(ms);
    } else if (strcmp(argv[1], "until") == 0) {
        while (access(argv[2], F_OK) != 0) shares(20);
    } else if (strcmp(argv[1], "recursion") == 0) {
        descend(atoi(argv[3]), ms);
    } else if (strcmp(argv[1], "frames") == 0) {
        big_frame(ms);
    } else if (strcmp(argv[1], "threads") == 0) {
        pthread_t threads[2];
        thread_time = ms;
        short_work(ms);
        pthread_create(&threads[0], NULL, first, NULL);
        pthread_create(&threads[1], NULL, second, NULL);
        pthread_join(threads[0], NULL);
        pthread_join(threads[1], NULL);
    } else if (strcmp(argv[1], "short_threads") == 0) {
        thread_time = 2;
        for (double done = 0; done < ms; done += thread_time) {
            pthread_t thread;
            pthread_create(&thread, NULL, first, NULL);
            pthread_join(thread, NULL);
        }
    } else if (strcmp(argv[1], "child") == 0) {
        if (fork() == 0) {
            short_work(ms);
            _exit(0);
        }
        wait(NULL);
    } else if (strcmp(argv[1], "sleep") == 0) {
        struct timespec const rest = {(time_t)(ms / 1000), (long)(1e6 * (double)((long)ms % 1000))};
        nanosleep(&rest, NULL);
    } else if (strcmp(argv[1], "faults") == 0) {
        fault_work(ms);
    } else {
        return 2;
    }
    puts("done");
    return 0;
}
