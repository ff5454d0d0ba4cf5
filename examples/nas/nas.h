/* What the kernels share: the class, the random numbers, and the report.
 *
 * The random numbers are x(k+1) = a x(k) mod 2^46, each divided by 2^46. A product of two such
 * numbers modulo 2^64 has the right lower 46 bits, so integers of 64 bits suffice. */
#ifndef NAS_H
#define NAS_H
#include <math.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAS_CLASSES = 3 };
#define NAS_MULTIPLIER UINT64_C(1220703125) /* 5^13 */
#define NAS_SEED UINT64_C(314159265)

static int nas_tasks, nas_me, nas_class;

static inline uint64_t nas_product(uint64_t x, uint64_t y) {
    return x * y & ((UINT64_C(1) << 46) - 1);
}

/* The next number, in (0, 1). */
static inline double nas_random(uint64_t* x) {
    *x = nas_product(*x, NAS_MULTIPLIER);
    return (double)*x * 0x1p-46;
}

/* The state of the generator after `count` numbers. */
static inline uint64_t nas_skip(uint64_t x, uint64_t count) {
    for (uint64_t power = NAS_MULTIPLIER; count > 0; count >>= 1) {
        if (count & 1) x = nas_product(x, power);
        power = nas_product(power, power);
    }
    return x;
}

/* Ends the job with a message of task 0. All tasks call it, and none aborts before the message is out. */
static inline void nas_refuse(const char* kernel, const char* why) {
    if (nas_me == 0) fprintf(stderr, "%s: %s\n", kernel, why);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Abort(MPI_COMM_WORLD, 2);
}

/* Starts MPI and reads the class: S (if none is given), W or A, kept as 0, 1 or 2. */
static inline void nas_begin(int* argc, char*** argv, const char* kernel) {
    MPI_Init(argc, argv);
    MPI_Comm_size(MPI_COMM_WORLD, &nas_tasks);
    MPI_Comm_rank(MPI_COMM_WORLD, &nas_me);
    const char* word = *argc > 1 ? (*argv)[1] : "S";
    const char* found = strlen(word) == 1 ? strchr("SWA", word[0]) : NULL;
    if (found == NULL)
        nas_refuse(kernel, "the class is S, W or A");
    else
        nas_class = (int)(found - "SWA");
    if ((nas_tasks & (nas_tasks - 1)) != 0 || nas_tasks > 16)
        nas_refuse(kernel, "runs with 1, 2, 4, 8 or 16 tasks");
}

/* Ends the job if this task got no memory; returns the memory. */
static inline void* nas_check_memory(void* memory, size_t count, size_t size) {
    if (memory == NULL) {
        fprintf(stderr, "task %d has no memory for %zu elements of %zu bytes\n", nas_me, count,
                size);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    return memory;
}

static inline void* nas_memory(size_t count, size_t size) {
    return nas_check_memory(calloc(count > 0 ? count : 1, size), count, size);
}

static inline int nas_equal(double found, double expected, double relative) {
    return fabs(found - expected) <= relative * fabs(expected);
}

/* All tasks begin the timed part together. */
static inline double nas_start(void) {
    MPI_Barrier(MPI_COMM_WORLD);
    return MPI_Wtime();
}

/* Prints one line with the time of the slowest task, and ends MPI. `wrong` is empty if the result is
 * right, otherwise it says what differs; all tasks have the same. Returns the exit status. */
static inline int nas_end(const char* kernel, double start, double operations, const char* wrong) {
    double took = MPI_Wtime() - start, longest;
    MPI_Reduce(&took, &longest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    if (nas_me == 0)
        printf("%s class %c, %d tasks: %.4f s, %.1f Mop/s, %s%s\n", kernel, "SWA"[nas_class],
               nas_tasks, longest, 1e-6 * operations / longest, wrong[0] ? "WRONG: " : "verified",
               wrong);
    MPI_Finalize();
    return wrong[0] != 0;
}
#endif
