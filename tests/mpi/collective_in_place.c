/* Collective calls with MPI_IN_PLACE, with blocks of all lengths, so that they take all paths: what
 * a member gives is in the memory of what it gets. Each call is made three times, because repeated
 * calls take a shorter way. */
#include <stdlib.h>

#include "mpi_test.h"

#define TIMES 3

static int n, me;

static int value(int rank, int i) {
    return rank * 7919 + i * 131 + i / 64 + 65536;
}

static void fill(int* vector, int rank, int first, int count) {
    for (int i = 0; i < count; ++i) vector[i] = value(rank, first + i);
}

static void check(const int* vector, int rank, int first, int count) {
    for (int i = 0; i < count; ++i) CHECK_INT(vector[i], value(rank, first + i));
}

/* The sum of the ranks 0 to last. */
static void check_sum(const int* vector, int last, int count) {
    const int ranks = (last + 1) * last / 2;
    for (int i = 0; i < count; ++i)
        CHECK_INT(vector[i], (last + 1) * value(0, i) + ranks * (value(1, 0) - value(0, 0)));
}

/* An element stands for the function x -> factor * x + summand of 16-bit numbers. To apply one
 * function after the other is associative, but not commutative. */
static unsigned composed(unsigned first, unsigned then) {
    const unsigned factor = then >> 16, summand = then & 0xffff;
    return (first >> 16) * factor << 16 | (((first & 0xffff) * factor + summand) & 0xffff);
}

static void compose(void* in, void* inout, int* count, MPI_Datatype* type) {
    const unsigned* const first = in;
    unsigned* const then = inout;
    (void)type;
    for (int i = 0; i < *count; ++i) then[i] = composed(first[i], then[i]);
}

static void check_composed(const int* vector, int last, int count) {
    for (int i = 0; i < count; ++i) {
        unsigned expected = (unsigned)value(0, i);
        for (int r = 1; r <= last; ++r) expected = composed(expected, (unsigned)value(r, i));
        CHECK_INT(vector[i], (int)expected);
    }
}

static void reduce(int* memory, int count, MPI_Op op, void (*expect)(const int*, int, int)) {
    for (int again = 0; again < TIMES; ++again) {
        const int root = (again + 1) % n;
        fill(memory, me, 0, count);
        CHECK_OK(MPI_Allreduce(MPI_IN_PLACE, memory, count, MPI_INT, op, MPI_COMM_WORLD));
        expect(memory, n - 1, count);
        fill(memory, me, 0, count);
        CHECK_OK(MPI_Scan(MPI_IN_PLACE, memory, count, MPI_INT, op, MPI_COMM_WORLD));
        expect(memory, me, count);
        fill(memory, me, 0, count);
        CHECK_OK(MPI_Exscan(MPI_IN_PLACE, memory, count, MPI_INT, op, MPI_COMM_WORLD));
        if (me > 0) expect(memory, me - 1, count);
        fill(memory, me, 0, count);
        CHECK_OK(MPI_Reduce(me == root ? MPI_IN_PLACE : memory, memory, count, MPI_INT, op, root,
                            MPI_COMM_WORLD));
        if (me == root) expect(memory, n - 1, count);
    }
}

static void move(int* memory, int count, const int* counts, const int* starts) {
    int* const own = memory + (size_t)me * (size_t)count;
    for (int again = 0; again < TIMES; ++again) {
        const int root = (again + n - 1) % n;
        fill(own, me, 0, count);
        CHECK_OK(MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, memory, count, MPI_INT,
                               MPI_COMM_WORLD));
        for (int r = 0; r < n; ++r) check(memory + (size_t)r * (size_t)count, r, 0, count);

        fill(own, me, 1, count);
        if (me == root) {
            CHECK_OK(MPI_Gather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, memory, count, MPI_INT, root,
                                MPI_COMM_WORLD));
            for (int r = 0; r < n; ++r) check(memory + (size_t)r * (size_t)count, r, 1, count);
        } else {
            CHECK_OK(
                MPI_Gather(own, count, MPI_INT, NULL, 0, MPI_DATATYPE_NULL, root, MPI_COMM_WORLD));
        }

        if (me == root) {
            fill(memory, root, 0, n * count);
            CHECK_OK(MPI_Scatter(memory, count, MPI_INT, MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, root,
                                 MPI_COMM_WORLD));
            check(memory, root, 0, n * count);
        } else {
            CHECK_OK(
                MPI_Scatter(NULL, 0, MPI_DATATYPE_NULL, own, count, MPI_INT, root, MPI_COMM_WORLD));
            check(own, root, me * count, count);
        }

        fill(memory, me, 0, n * count);
        CHECK_OK(MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, memory, count, MPI_INT,
                              MPI_COMM_WORLD));
        for (int r = 0; r < n; ++r) check(memory + (size_t)r * (size_t)count, r, me * count, count);

        fill(memory + starts[me], me, 2, counts[me]);
        CHECK_OK(MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, memory, counts, starts, MPI_INT,
                                MPI_COMM_WORLD));
        for (int r = 0; r < n; ++r) check(memory + starts[r], r, 2, counts[r]);
    }
}

int main(int argc, char** argv) {
    const int lengths[] = {1, 2, 13, 250, 1500, 5000, 20000, 70000};
    MPI_Op composing;
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &n);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Op_create(compose, 0, &composing);
    for (size_t k = 0; k < sizeof lengths / sizeof *lengths; ++k) {
        const int count = lengths[k];
        int* const memory = malloc((size_t)n * (size_t)count * sizeof(int));
        int* const counts = malloc(2 * (size_t)n * sizeof(int));
        int* const starts = counts + n;
        for (int r = 0, end = 0; r < n; ++r) {
            counts[r] = r % 2 ? count : count - count / 3;
            starts[r] = end;
            end += counts[r];
        }
        reduce(memory, count, MPI_SUM, check_sum);
        reduce(memory, count, composing, check_composed);
        move(memory, count, counts, starts);
        free(counts);
        free(memory);
    }
    MPI_Op_free(&composing);
    MPI_Finalize();
    return 0;
}
