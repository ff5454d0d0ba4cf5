/* Collective calls of the most common kind, which skip the general way (mpi/collective/plain_call.hpp): the results, while some
   members take the general way in the same call; reductions whose operation changes; and errors between right calls. */
#include "mpi_test.h"

#define CALLS 60
#define LONGEST 3000

static int n, me;
static MPI_Datatype pair; /* two integers; a datatype of the program is no plain call */

static int value(int call, int rank, int i) {
    return call * 31 + rank * 7 + i;
}

/* A different member in each call, or all, or none. */
static int in_the_general_way(int call) {
    return call % (n + 2) == n || call % (n + 2) == me;
}

/* Sets the datatype for 2 * half integers. */
static int elements(int call, int half, MPI_Datatype* type) {
    *type = in_the_general_way(call) ? pair : MPI_INT;
    return in_the_general_way(call) ? half : 2 * half;
}

static void fill(int* vector, int call, int rank, int count) {
    for (int i = 0; i < count; ++i) vector[i] = value(call, rank, i);
}

static void check(const int* vector, int call, int rank, int first, int count) {
    for (int i = 0; i < count; ++i) CHECK_INT(vector[i], value(call, rank, first + i));
}

static void move_data(int half) {
    static int out[2 * LONGEST * 16], in[2 * LONGEST * 16];
    const int length = 2 * half;
    for (int call = 0; call < CALLS; ++call) {
        const int root = call % n;
        MPI_Datatype type;
        const int count = elements(call, half, &type);
        fill(in, call, me, length);
        CHECK_OK(MPI_Bcast(in, count, type, root, MPI_COMM_WORLD));
        check(in, call, root, 0, length);

        fill(out, call, me, length);
        CHECK_OK(MPI_Gather(out, count, type, in, count, type, root, MPI_COMM_WORLD));
        for (int r = 0; r < n && me == root; ++r) check(in + r * length, call, r, 0, length);

        CHECK_OK(MPI_Allgather(out, count, type, in, count, type, MPI_COMM_WORLD));
        for (int r = 0; r < n; ++r) check(in + r * length, call, r, 0, length);

        fill(out, call, me, n * length);
        CHECK_OK(MPI_Scatter(out, count, type, in, count, type, root, MPI_COMM_WORLD));
        check(in, call, root, me * length, length);

        CHECK_OK(MPI_Alltoall(out, count, type, in, count, type, MPI_COMM_WORLD));
        for (int r = 0; r < n; ++r) check(in + r * length, call, r, me * length, length);

        if (call % 7 == 0) CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    }
}

static void take_last(void* in, void* inout, int* count, MPI_Datatype* type) {
    (void)in, (void)inout, (void)count, (void)type;
}

/* Sums, maxima and an operation of the program, on integers and on real numbers. */
static void reduce_data(void) {
    MPI_Op last;
    MPI_Op_create(take_last, 0, &last);
    for (int call = 0; call < CALLS; ++call) {
        const int root = call % n, repeat = call % 3 + 1;
        for (int again = 0; again < repeat; ++again) {
            int sum = -1, given = value(call, me, again), largest = -1, prefix = -1, lasts = -1;
            double real = -1, real_given = 0.5 * me;
            int own = me;
            CHECK_OK(MPI_Allreduce(&given, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
            CHECK_INT(sum, n * value(call, 0, again) + 7 * n * (n - 1) / 2);
            if (in_the_general_way(call)) {
                CHECK_OK(MPI_Allreduce(MPI_IN_PLACE, &own, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD));
                largest = own;
            } else {
                CHECK_OK(MPI_Allreduce(&own, &largest, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD));
            }
            CHECK_INT(largest, n - 1);
            CHECK_OK(MPI_Reduce(&real_given, &real, 1, MPI_DOUBLE, MPI_SUM, root, MPI_COMM_WORLD));
            if (me == root) CHECK(real == 0.25 * n * (n - 1));
            CHECK_OK(MPI_Scan(&given, &prefix, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
            CHECK_INT(prefix, (me + 1) * value(call, 0, again) + 7 * me * (me + 1) / 2);
            CHECK_OK(MPI_Allreduce(&given, &lasts, 1, MPI_INT, last, MPI_COMM_WORLD));
            CHECK_INT(lasts, value(call, n - 1, again));
        }
    }
    MPI_Op_free(&last);
}

/* Errors after right calls of the same shape. All members are refused, so the next call works. */
static void refuse(void) {
    int one = 1, sum = 0;
    MPI_Comm copy, gone;
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    MPI_Comm_set_errhandler(copy, MPI_ERRORS_RETURN);
    for (int again = 0; again < 3; ++again) {
        CHECK_OK(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, copy));
        CHECK_INT(sum, n);
        CHECK_CLASS(MPI_Allreduce(&one, &one, 1, MPI_INT, MPI_SUM, copy), MPI_ERR_BUFFER);
        CHECK_CLASS(MPI_Allreduce(&one, NULL, 1, MPI_INT, MPI_SUM, copy), MPI_ERR_BUFFER);
        CHECK_CLASS(MPI_Allreduce(&one, &sum, -1, MPI_INT, MPI_SUM, copy), MPI_ERR_COUNT);
        CHECK_CLASS(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_OP_NULL, copy), MPI_ERR_OP);
        CHECK_CLASS(MPI_Bcast(&one, 1, MPI_INT, n, copy), MPI_ERR_ROOT);
        CHECK_CLASS(MPI_Bcast(NULL, 1, MPI_INT, 0, copy), MPI_ERR_BUFFER);
        CHECK_CLASS(MPI_Reduce(&one, &sum, 1, MPI_INT, MPI_SUM, -1, copy), MPI_ERR_ROOT);
        CHECK_CLASS(MPI_Gather(&one, 1, MPI_INT, &sum, 1, MPI_INT, n, copy), MPI_ERR_ROOT);
        CHECK_OK(MPI_Barrier(copy));
    }
    gone = copy;
    MPI_Comm_free(&copy);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    CHECK_CLASS(MPI_Barrier(gone), MPI_ERR_COMM);
    CHECK_CLASS(MPI_Barrier(MPI_COMM_NULL), MPI_ERR_COMM);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

int main(int argc, char** argv) {
    const int halves[] = {1, 3, 40, LONGEST};
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &n);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Type_contiguous(2, MPI_INT, &pair);
    MPI_Type_commit(&pair);
    for (int i = 0; i < 4; ++i) move_data(halves[i]);
    reduce_data();
    refuse();
    MPI_Type_free(&pair);
    MPI_Finalize();
    return 0;
}
