/* Errors of collective calls: the class that is returned, and that the next call works; and corners that the standard
   allows: null buffers with zero counts, datatypes that differ between the tasks, operations of the program on
   datatypes with unusual bounds. */
#include <stdlib.h>

#include "mpi_test.h"

static int n, me;

static void refuse_arguments(void) {
    int one[2] = {0, 0}, two[64] = {0};
    MPI_Datatype uncommitted;
    MPI_Type_contiguous(2, MPI_INT, &uncommitted);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    CHECK_CLASS(MPI_Bcast(one, 1, MPI_INT, n, MPI_COMM_WORLD), MPI_ERR_ROOT);
    CHECK_CLASS(MPI_Bcast(one, 1, MPI_INT, -1, MPI_COMM_WORLD), MPI_ERR_ROOT);
    CHECK_CLASS(MPI_Bcast(one, -1, MPI_INT, 0, MPI_COMM_WORLD), MPI_ERR_COUNT);
    CHECK_CLASS(MPI_Bcast(one, 1, MPI_DATATYPE_NULL, 0, MPI_COMM_WORLD), MPI_ERR_TYPE);
    CHECK_CLASS(MPI_Bcast(one, 1, uncommitted, 0, MPI_COMM_WORLD), MPI_ERR_TYPE);
    CHECK_CLASS(MPI_Allreduce(one, two, 1, MPI_INT, MPI_OP_NULL, MPI_COMM_WORLD), MPI_ERR_OP);
    CHECK_CLASS(MPI_Allreduce(one, two, 1, MPI_DOUBLE, MPI_BAND, MPI_COMM_WORLD), MPI_ERR_OP);
    CHECK_CLASS(MPI_Allreduce(one, one, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD), MPI_ERR_BUFFER);
    CHECK_CLASS(MPI_Allgather(NULL, 1, MPI_INT, two, 1, MPI_INT, MPI_COMM_WORLD), MPI_ERR_BUFFER);
    /* An error without a communicator is one of MPI_COMM_WORLD, until MPI_COMM_SELF gets a handler. */
    CHECK_CLASS(MPI_Barrier(MPI_COMM_NULL), MPI_ERR_COMM);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    CHECK_CLASS(MPI_Barrier(MPI_COMM_NULL), MPI_ERR_COMM);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    MPI_Type_free(&uncommitted);
    one[0] = me;
    CHECK_OK(MPI_Allreduce(one, two, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    CHECK_INT(two[0], n * (n - 1) / 2);
}

/* The same memory for both buffers. All members are refused, or the root of a rooted call; the others have
   made their call, and the root repeats its own with correct arguments. */
static void refuse_same_memory(void) {
    int out[64], in[64], counts[64], places[64];
    MPI_Request request;
    for (int i = 0; i < n; ++i) out[i] = 10 * me + i, counts[i] = 1, places[i] = i;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    CHECK_CLASS(MPI_Allgather(&out[me], 1, MPI_INT, out, 1, MPI_INT, MPI_COMM_WORLD),
                MPI_ERR_BUFFER);
    CHECK_CLASS(MPI_Allgatherv(&out[me], 1, MPI_INT, out, counts, places, MPI_INT, MPI_COMM_WORLD),
                MPI_ERR_BUFFER);
    CHECK_CLASS(MPI_Alltoall(out, 1, MPI_INT, out, 1, MPI_INT, MPI_COMM_WORLD), MPI_ERR_BUFFER);
    CHECK_CLASS(MPI_Ialltoallv(out, counts, places, MPI_INT, out, counts, places, MPI_INT,
                               MPI_COMM_WORLD, &request),
                MPI_ERR_BUFFER);
    CHECK_CLASS(MPI_Exscan(out, out, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD), MPI_ERR_BUFFER);
    for (int form = 0; form < 4; ++form) {
        for (int attempt = 0; attempt < 2; ++attempt) {
            int* result = attempt == 0 ? out : in;
            int code = MPI_SUCCESS;
            if (form == 0) {
                code = MPI_Gather(out, 1, MPI_INT, result, 1, MPI_INT, 0, MPI_COMM_WORLD);
            } else if (form == 1) {
                code = MPI_Gatherv(out, 1, MPI_INT, result, counts, places, MPI_INT, 0,
                                   MPI_COMM_WORLD);
            } else if (form == 2) {
                code = MPI_Scatter(out, 1, MPI_INT, me == 0 ? result : in, 1, MPI_INT, 0,
                                   MPI_COMM_WORLD);
            } else {
                code = MPI_Scatterv(out, counts, places, MPI_INT, me == 0 ? result : in, 1, MPI_INT,
                                    0, MPI_COMM_WORLD);
            }
            CHECK_CLASS(code, me == 0 && attempt == 0 ? MPI_ERR_BUFFER : MPI_SUCCESS);
            if (me != 0) break;
        }
        if (form >= 2) CHECK_INT(in[0], me);
        for (int i = 0; i < n && form < 2 && me == 0; ++i) CHECK_INT(in[i], 10 * i);
    }
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

static int counts_of_one[64], places_of_one[64];

/* Each member sends one int to each member. */
static int exchange_ints(MPI_Comm comm, const int* counts) {
    int out[64], in[64];
    for (int i = 0; i < n; ++i) out[i] = 100 * me + i;
    const int code = MPI_Alltoallv(out, counts, places_of_one, MPI_INT, in, counts_of_one,
                                   places_of_one, MPI_INT, comm);
    for (int i = 0; i < n && code == MPI_SUCCESS; ++i) CHECK_INT(in[i], 100 * i + me);
    return code;
}

static void repeat_exchange(MPI_Comm* comm, int* code, ...) {
    CHECK_CLASS(*code, MPI_ERR_COUNT);
    CHECK_OK(exchange_ints(*comm, counts_of_one));
}

static void free_communicator(MPI_Comm* comm, int* code, ...) {
    CHECK_CLASS(*code, MPI_ERR_COUNT);
    CHECK_OK(MPI_Comm_free(comm));
}

/* Error handlers that repeat the call with correct arguments, and that free the communicator. */
static void use_communicator_in_handler(void) {
    int wrong[64];
    MPI_Comm comm;
    MPI_Errhandler repeat, free_it;
    for (int i = 0; i < n; ++i) counts_of_one[i] = wrong[i] = 1, places_of_one[i] = i;
    wrong[0] = -1;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_create_errhandler(repeat_exchange, &repeat);
    MPI_Comm_create_errhandler(free_communicator, &free_it);
    MPI_Comm_set_errhandler(comm, repeat);
    const int code = exchange_ints(comm, me == 0 ? wrong : counts_of_one);
    CHECK_CLASS(code, me == 0 ? MPI_ERR_COUNT : MPI_SUCCESS);
    CHECK_OK(exchange_ints(comm, counts_of_one));
    MPI_Comm_set_errhandler(comm, free_it);
    CHECK_CLASS(exchange_ints(comm, wrong), MPI_ERR_COUNT);
    MPI_Errhandler_free(&repeat);
    MPI_Errhandler_free(&free_it);
}

static void pass_nothing(void) {
    int counts[64] = {0};
    CHECK_OK(MPI_Bcast(NULL, 0, MPI_INT, 0, MPI_COMM_WORLD));
    CHECK_OK(MPI_Reduce(NULL, NULL, 0, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD));
    CHECK_OK(MPI_Allreduce(NULL, NULL, 0, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    CHECK_OK(MPI_Gather(NULL, 0, MPI_INT, NULL, 0, MPI_INT, 0, MPI_COMM_WORLD));
    CHECK_OK(MPI_Allgatherv(NULL, 0, MPI_INT, NULL, counts, counts, MPI_INT, MPI_COMM_WORLD));
    int some = 0;
    CHECK_OK(MPI_Alltoallv(NULL, counts, counts, MPI_INT, &some, counts, counts, MPI_INT,
                           MPI_COMM_WORLD));
    CHECK_OK(MPI_Reduce_scatter(NULL, NULL, counts, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
}

/* The root describes its data as a vector, the others as ints. */
static void mix_datatypes(void) {
    MPI_Datatype spread;
    MPI_Type_vector(3, 1, 2, MPI_INT, &spread);
    MPI_Type_commit(&spread);
    int wide[6] = {1, -1, 2, -1, 3, -1}, narrow[3] = {0, 0, 0};
    const int root = n - 1;
    if (me == root) {
        CHECK_OK(MPI_Bcast(wide, 1, spread, root, MPI_COMM_WORLD));
    } else {
        CHECK_OK(MPI_Bcast(narrow, 3, MPI_INT, root, MPI_COMM_WORLD));
        for (int i = 0; i < 3; ++i) CHECK_INT(narrow[i], i + 1);
    }
    MPI_Type_free(&spread);
}

/* Adds what the elements of the datatype contain: an int at -4 and one at 4 from their address. */
static void add_around(void* in, void* inout, int* count, MPI_Datatype* datatype) {
    MPI_Aint lower, extent;
    MPI_Type_get_extent(*datatype, &lower, &extent);
    for (int i = 0; i < *count; ++i) {
        const char* from = (const char*)in + i * extent;
        char* to = (char*)inout + i * extent;
        *(int*)(to - 4) += *(const int*)(from - 4);
        *(int*)(to + 4) += *(const int*)(from + 4);
    }
}

static void reduce_around(MPI_Aint extent, int elements) {
    const int lengths[] = {1, 1};
    const MPI_Aint places[] = {-4, 4};
    MPI_Datatype around, resized;
    MPI_Op add;
    MPI_Type_create_hindexed(2, lengths, places, MPI_INT, &around);
    MPI_Type_create_resized(around, -4, extent, &resized);
    MPI_Type_commit(&resized);
    MPI_Op_create(add_around, 1, &add);
    enum { kInts = 256, kMiddle = 128 };
    int own[kInts], result[kInts];
    for (int i = 0; i < kInts; ++i) {
        own[i] = i + me;
        result[i] = -5;
    }
    CHECK_OK(
        MPI_Allreduce(&own[kMiddle], &result[kMiddle], elements, resized, add, MPI_COMM_WORLD));
    int expected[kInts];
    for (int i = 0; i < kInts; ++i) expected[i] = -5;
    for (int e = 0; e < elements; ++e) {
        for (int side = -1; side <= 1; side += 2) {
            const int at = kMiddle + e * (int)(extent / 4) + side;
            expected[at] = n * at + n * (n - 1) / 2;
        }
    }
    for (int i = 0; i < kInts; ++i) CHECK_INT(result[i], expected[i]);
    MPI_Op_free(&add);
    MPI_Type_free(&around);
    MPI_Type_free(&resized);
}

/* Objects that were freed stay until a call under way has ended. */
static void free_early(void) {
    MPI_Datatype pair;
    MPI_Type_vector(2, 1, 2, MPI_INT, &pair);
    MPI_Type_commit(&pair);
    int data[3] = {me == 0 ? 7 : 0, 99, me == 0 ? 8 : 0};
    MPI_Request request;
    CHECK_OK(MPI_Ibcast(data, 1, pair, 0, MPI_COMM_WORLD, &request));
    MPI_Type_free(&pair);
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK_INT(data[0], 7);
    CHECK_INT(data[1], 99);
    CHECK_INT(data[2], 8);
}

/* Many calls under way at once, completed in another order. */
static void start_many(void) {
    enum { kCalls = 100 };
    int own[kCalls], sums[kCalls];
    MPI_Request requests[kCalls];
    for (int i = 0; i < kCalls; ++i) {
        own[i] = me + i;
        CHECK_OK(
            MPI_Iallreduce(&own[i], &sums[i], 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &requests[i]));
    }
    for (int i = kCalls - 1; i >= 0; --i) CHECK_OK(MPI_Wait(&requests[i], MPI_STATUS_IGNORE));
    for (int i = 0; i < kCalls; ++i) CHECK_INT(sums[i], n * (n - 1) / 2 + n * i);
}

/* Two tasks give different lengths to a call that does not block. Both learn of it, whatever way the messages take. Each
   call has a communicator of its own, because messages of the others may be left in it. */
static void give_different_lengths(void) {
    static const int lengths[] = {2, 200, 4000, 20000, 200000};
    if (n != 2) return;
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; ++i) {
        const int own = lengths[i] / (me + 1);
        int *const out = calloc((size_t)own, sizeof(int)), *const in =
                                                               calloc((size_t)own * 2, sizeof(int));
        MPI_Comm comm;
        MPI_Request request;
        CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
        MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
        CHECK_OK(MPI_Iallgather(out, own, MPI_INT, in, own, MPI_INT, comm, &request));
        CHECK_CLASS(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_ERR_TRUNCATE);
        free(out);
        free(in);
    }
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &n);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    pass_nothing();
    mix_datatypes();
    reduce_around(12, 5);
    reduce_around(16, 5);
    reduce_around(20, 5);
    reduce_around(-16, 5);
    free_early();
    start_many();
    refuse_same_memory();
    refuse_arguments();
    use_communicator_in_handler();
    give_different_lengths();
    MPI_Finalize();
    return 0;
}
