/* What the tests of MPI_THREAD_MULTIPLE share: the same function in several threads at once. */
#ifndef THREADS_TEST_H
#define THREADS_TEST_H

#include <pthread.h>

#include "mpi_test.h"

enum { kThreads = 8 };

static int threads_rank, threads_size;
static MPI_Comm threads_comms[kThreads]; /* one for each thread */

struct Thread {
    int number;
    void (*work)(int number);
    pthread_t id;
};

static void* thread_main(void* argument) {
    struct Thread* thread = argument;
    thread->work(thread->number);
    return NULL;
}

/* Runs work(0) to work(kThreads - 1) in threads of their own, and waits for them. */
static void in_threads(void (*work)(int number)) {
    struct Thread threads[kThreads];
    for (int t = 0; t < kThreads; ++t) {
        threads[t].number = t;
        threads[t].work = work;
        if (pthread_create(&threads[t].id, NULL, thread_main, &threads[t]) != 0) abort();
    }
    for (int t = 0; t < kThreads; ++t) pthread_join(threads[t].id, NULL);
}

static inline void begin_threads(int* argc, char*** argv) {
    int provided = -1;
    CHECK_OK(MPI_Init_thread(argc, argv, MPI_THREAD_MULTIPLE, &provided));
    CHECK_INT(provided, MPI_THREAD_MULTIPLE);
    CHECK_OK(MPI_Comm_rank(MPI_COMM_WORLD, &threads_rank));
    CHECK_OK(MPI_Comm_size(MPI_COMM_WORLD, &threads_size));
    for (int t = 0; t < kThreads; ++t) CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &threads_comms[t]));
}

static inline void end_threads(void) {
    for (int t = 0; t < kThreads; ++t) CHECK_OK(MPI_Comm_free(&threads_comms[t]));
    CHECK_OK(MPI_Finalize());
}

#endif
