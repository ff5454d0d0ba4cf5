/* Partitioned communication: a ring in which each task sends to the next one, with all kinds of divisions,
 * orders of partitions, datatypes and restarts; and the errors of wrong arguments. An argument repeats the ring. */
#include "mpi_test.h"

enum { kRounds = 4 };

static int rank, size, next, before;

/* The value of an element; differs between tasks, rounds and elements. */
static int value_of(int task, int round, int element) {
    return task * 1000003 + round * 10007 + element;
}

/* The n-th partition that becomes ready: by turns from the first, from the last, and from the middle. */
static int in_order(int n, int partitions, int round) {
    if (round % 3 == 0) return n;
    if (round % 3 == 1) return partitions - 1 - n;
    return (n + partitions / 2) % partitions;
}

/* Waits until all partitions have arrived, by MPI_Parrived only. */
static void await_each(MPI_Request request, int partitions) {
    for (int p = 0; p < partitions; ++p) {
        int flag = 0;
        while (!flag) CHECK_OK(MPI_Parrived(request, p, &flag));
    }
}

/* `sent` and `received` partitions of the same number of elements in all. */
static void ring(int sent, int received, int elements, MPI_Comm comm) {
    int* const out = calloc((size_t)elements + 1, sizeof(int));
    int* const in = calloc((size_t)elements + 1, sizeof(int));
    MPI_Request requests[2];
    CHECK_OK(MPI_Psend_init(out, sent, elements / sent, MPI_INT, next, 5, comm, MPI_INFO_NULL,
                            &requests[0]));
    CHECK_OK(MPI_Precv_init(in, received, elements / received, MPI_INT, before, 5, comm,
                            MPI_INFO_NULL, &requests[1]));
    for (int round = 0; round < kRounds; ++round) {
        for (int i = 0; i < elements; ++i) in[i] = -1;
        CHECK_OK(MPI_Startall(2, requests));
        for (int n = 0; n < sent; ++n) {
            const int p = in_order(n, sent, round);
            const int length = elements / sent;
            for (int i = p * length; i < (p + 1) * length; ++i) out[i] = value_of(rank, round, i);
            CHECK_OK(MPI_Pready(p, requests[0]));
        }
        if (round % 2 == 0) await_each(requests[1], received);
        if (round % 2 == 0)
            for (int i = 0; i < elements; ++i) CHECK_INT(in[i], value_of(before, round, i));
        MPI_Status statuses[2];
        CHECK_OK(MPI_Waitall(2, requests, statuses));
        CHECK_INT(statuses[1].MPI_SOURCE, before);
        CHECK_INT(statuses[1].MPI_TAG, 5);
        int count = -1;
        CHECK_OK(MPI_Get_count(&statuses[1], MPI_INT, &count));
        CHECK_INT(count, elements);
        for (int i = 0; i < elements; ++i) CHECK_INT(in[i], value_of(before, round, i));
        int flag = 0;
        CHECK_OK(MPI_Parrived(requests[1], received - 1, &flag)); /* inactive: true */
        CHECK_INT(flag, 1);
    }
    CHECK_OK(MPI_Request_free(&requests[0]));
    CHECK_OK(MPI_Request_free(&requests[1]));
    free(out);
    free(in);
}

/* The elements of the sender are every third one of its memory, those of the receiver pairs with a gap. */
static void strided(void) {
    enum { kElements = 240 };
    MPI_Datatype third, pair;
    CHECK_OK(MPI_Type_create_resized(MPI_INT, 0, 3 * sizeof(int), &third));
    CHECK_OK(MPI_Type_commit(&third));
    MPI_Datatype two;
    CHECK_OK(MPI_Type_contiguous(2, MPI_INT, &two));
    CHECK_OK(MPI_Type_create_resized(two, 0, 5 * sizeof(int), &pair));
    CHECK_OK(MPI_Type_commit(&pair));
    CHECK_OK(MPI_Type_free(&two));
    static int out[3 * kElements], in[5 * kElements / 2];
    for (int i = 0; i < 5 * kElements / 2; ++i) in[i] = -7;
    MPI_Request requests[2];
    CHECK_OK(MPI_Precv_init(in, 8, kElements / 2 / 8, pair, before, 6, MPI_COMM_WORLD,
                            MPI_INFO_NULL, &requests[1]));
    CHECK_OK(MPI_Psend_init(out, 12, kElements / 12, third, next, 6, MPI_COMM_WORLD, MPI_INFO_NULL,
                            &requests[0]));
    CHECK_OK(MPI_Type_free(&third)); /* the requests keep their datatypes */
    CHECK_OK(MPI_Type_free(&pair));
    for (int round = 0; round < kRounds; ++round) {
        for (int i = 0; i < kElements; ++i) out[3 * i] = value_of(rank, round, i);
        CHECK_OK(MPI_Startall(2, requests));
        const int list[] = {11, 0, 5};
        CHECK_OK(MPI_Pready_list(3, list, requests[0]));
        CHECK_OK(MPI_Pready_range(1, 4, requests[0]));
        CHECK_OK(MPI_Pready_range(6, 10, requests[0]));
        CHECK_OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
        for (int i = 0; i < kElements; ++i)
            CHECK_INT(in[i / 2 * 5 + i % 2], value_of(before, round, i));
        CHECK_INT(in[2], -7);
    }
    CHECK_OK(MPI_Request_free(&requests[0]));
    CHECK_OK(MPI_Request_free(&requests[1]));
}

/* Requests with the same arguments match in the order in which they are made, whatever the order of starts. */
static void matched_in_order(void) {
    int out[3], in[3] = {-1, -1, -1};
    MPI_Request sends[3], receives[3];
    for (int i = 0; i < 3; ++i) {
        out[i] = value_of(rank, i, 0);
        CHECK_OK(MPI_Psend_init(&out[i], 1, 1, MPI_INT, next, 7, MPI_COMM_WORLD, MPI_INFO_NULL,
                                &sends[i]));
        CHECK_OK(MPI_Precv_init(&in[i], 1, 1, MPI_INT, before, 7, MPI_COMM_WORLD, MPI_INFO_NULL,
                                &receives[i]));
    }
    for (int i = 2; i >= 0; --i) {
        CHECK_OK(MPI_Start(&sends[i]));
        CHECK_OK(MPI_Pready(0, sends[i]));
    }
    CHECK_OK(MPI_Startall(3, receives));
    CHECK_OK(MPI_Waitall(3, receives, MPI_STATUSES_IGNORE));
    CHECK_OK(MPI_Waitall(3, sends, MPI_STATUSES_IGNORE));
    for (int i = 0; i < 3; ++i) {
        CHECK_INT(in[i], value_of(before, i, 0));
        CHECK_OK(MPI_Request_free(&sends[i]));
        CHECK_OK(MPI_Request_free(&receives[i]));
    }
}

/* Messages of MPI_Send with the same tag are not part of a partitioned communication. */
static void apart_from_sends(void) {
    int out[2] = {rank, rank}, in[2] = {-1, -1}, sent = -rank, received = 1;
    MPI_Request requests[3];
    CHECK_OK(
        MPI_Psend_init(out, 2, 1, MPI_INT, next, 8, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[0]));
    CHECK_OK(
        MPI_Precv_init(in, 1, 2, MPI_INT, before, 8, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[1]));
    CHECK_OK(MPI_Startall(2, requests));
    CHECK_OK(MPI_Irecv(&received, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD,
                       &requests[2]));
    CHECK_OK(MPI_Pready_range(0, 1, requests[0]));
    CHECK_OK(MPI_Send(&sent, 1, MPI_INT, next, 8, MPI_COMM_WORLD));
    CHECK_OK(MPI_Waitall(3, requests, MPI_STATUSES_IGNORE));
    CHECK_INT(received, -before);
    CHECK_INT(in[1], before);
    CHECK_OK(MPI_Request_free(&requests[0]));
    CHECK_OK(MPI_Request_free(&requests[1]));
}

/* A partition of the receiver has arrived when those of the sender that belong to it are ready, also if it has no bytes.
 * A message of a task to itself, so that the order is known. */
static void arrives_when_ready(int sent, int received, int elements) {
    static int out[120], in[120];
    MPI_Request requests[2];
    CHECK_OK(MPI_Psend_init(out, sent, elements / sent, MPI_INT, 0, 13, MPI_COMM_SELF,
                            MPI_INFO_NULL, &requests[0]));
    CHECK_OK(MPI_Precv_init(in, received, elements / received, MPI_INT, 0, 13, MPI_COMM_SELF,
                            MPI_INFO_NULL, &requests[1]));
    for (int round = 0; round < kRounds; ++round) {
        CHECK_OK(MPI_Start(&requests[1]));
        for (int ready = 0; ready <= sent; ++ready) {
            if (ready == 1) CHECK_OK(MPI_Start(&requests[0]));
            if (ready > 0) CHECK_OK(MPI_Pready(ready - 1, requests[0]));
            for (int p = 0; p < received; ++p) {
                const int expected = ((p + 1) * sent + received - 1) / received <= ready;
                int flag = 0;
                do CHECK_OK(MPI_Parrived(requests[1], p, &flag));
                while (!flag && expected);
                CHECK_INT(flag, expected);
            }
        }
        CHECK_OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
    }
    CHECK_OK(MPI_Request_free(&requests[0]));
    CHECK_OK(MPI_Request_free(&requests[1]));
}

static void with_nobody(void) {
    int data[4] = {1, 2, 3, 4}, flag = 0;
    MPI_Request requests[2];
    MPI_Status status;
    CHECK_OK(MPI_Psend_init(data, 4, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD, MPI_INFO_NULL,
                            &requests[0]));
    CHECK_OK(MPI_Precv_init(data, 4, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD, MPI_INFO_NULL,
                            &requests[1]));
    CHECK_OK(MPI_Startall(2, requests));
    CHECK_OK(MPI_Pready_range(0, 3, requests[0]));
    CHECK_OK(MPI_Parrived(requests[1], 3, &flag));
    CHECK_INT(flag, 1);
    CHECK_OK(MPI_Wait(&requests[0], MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Wait(&requests[1], &status));
    CHECK_INT(status.MPI_SOURCE, MPI_PROC_NULL);
    CHECK_INT(data[3], 4);
    CHECK_OK(MPI_Request_free(&requests[0]));
    CHECK_OK(MPI_Request_free(&requests[1]));
}

/* The sender has more bytes than the receiver has room for, and then fewer, which is no error. */
static void sizes_differ(void) {
    static const struct {
        int sent, received, class;
    } cases[] = {{4, 3, MPI_ERR_TRUNCATE}, {2, 3, MPI_SUCCESS}};
    for (int c = 0; c < 2; ++c) {
        int out[4] = {1, 2, 3, 4}, in[4] = {0, 0, 0, 0};
        MPI_Request requests[2];
        CHECK_OK(MPI_Psend_init(out, cases[c].sent, 1, MPI_INT, next, 9, MPI_COMM_WORLD,
                                MPI_INFO_NULL, &requests[0]));
        CHECK_OK(MPI_Precv_init(in, cases[c].received, 1, MPI_INT, before, 9, MPI_COMM_WORLD,
                                MPI_INFO_NULL, &requests[1]));
        CHECK_OK(MPI_Startall(2, requests));
        CHECK_OK(MPI_Pready_range(0, cases[c].sent - 1, requests[0]));
        MPI_Status status;
        CHECK_CLASS(MPI_Wait(&requests[1], &status), cases[c].class);
        CHECK_OK(MPI_Wait(&requests[0], MPI_STATUS_IGNORE));
        const int fits = cases[c].class == MPI_SUCCESS;
        for (int i = 0; i < 4; ++i) CHECK_INT(in[i], fits && i < cases[c].sent ? i + 1 : 0);
        if (fits) {
            int count, arrived = 0;
            CHECK_OK(MPI_Get_count(&status, MPI_INT, &count));
            CHECK_INT(count, cases[c].sent);
            CHECK_OK(MPI_Start(&requests[0]));
            CHECK_OK(MPI_Start(&requests[1]));
            CHECK_OK(MPI_Pready_range(0, cases[c].sent - 1, requests[0]));
            while (!arrived) CHECK_OK(MPI_Parrived(requests[1], cases[c].received - 1, &arrived));
            CHECK_OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
        }
        CHECK_OK(MPI_Request_free(&requests[0]));
        CHECK_OK(MPI_Request_free(&requests[1]));
    }
}

static void wrong_arguments(void) {
    int data[2] = {0, 0}, flag;
    MPI_Request request, other;
    const MPI_Comm comm = MPI_COMM_WORLD;
    CHECK_CLASS(MPI_Psend_init(data, -1, 1, MPI_INT, 0, 0, comm, MPI_INFO_NULL, &request),
                MPI_ERR_ARG);
    CHECK_CLASS(MPI_Psend_init(data, 1, -1, MPI_INT, 0, 0, comm, MPI_INFO_NULL, &request),
                MPI_ERR_COUNT);
    CHECK_CLASS(MPI_Psend_init(data, 1, 1, MPI_DATATYPE_NULL, 0, 0, comm, MPI_INFO_NULL, &request),
                MPI_ERR_TYPE);
    CHECK_CLASS(MPI_Psend_init(data, 1, 1, MPI_INT, size, 0, comm, MPI_INFO_NULL, &request),
                MPI_ERR_RANK);
    CHECK_CLASS(
        MPI_Precv_init(data, 1, 1, MPI_INT, MPI_ANY_SOURCE, 0, comm, MPI_INFO_NULL, &request),
        MPI_ERR_RANK);
    CHECK_CLASS(MPI_Precv_init(data, 1, 1, MPI_INT, 0, MPI_ANY_TAG, comm, MPI_INFO_NULL, &request),
                MPI_ERR_TAG);
    CHECK_CLASS(MPI_Psend_init(data, 1, 1, MPI_INT, 0, 0, MPI_COMM_NULL, MPI_INFO_NULL, &request),
                MPI_ERR_COMM);
    CHECK_CLASS(MPI_Pready(0, MPI_REQUEST_NULL), MPI_ERR_REQUEST);

    CHECK_OK(MPI_Psend_init(data, 2, 1, MPI_INT, next, 10, comm, MPI_INFO_NULL, &request));
    CHECK_OK(MPI_Precv_init(data, 2, 1, MPI_INT, before, 10, comm, MPI_INFO_NULL, &other));
    CHECK_CLASS(MPI_Pready(0, request), MPI_ERR_REQUEST); /* not started */
    CHECK_OK(MPI_Start(&other));
    CHECK_OK(MPI_Start(&request));
    CHECK_CLASS(MPI_Pready(2, request), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Pready(-1, request), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Pready_range(1, 0, request), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Pready_range(-1, 0, request), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Pready_range(0, 2, request), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Pready_list(-1, data, request), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Pready_list(1, NULL, request), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Pready(0, other), MPI_ERR_REQUEST);
    CHECK_CLASS(MPI_Parrived(request, 0, &flag), MPI_ERR_REQUEST);
    CHECK_CLASS(MPI_Parrived(other, 2, &flag), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Cancel(&request), MPI_ERR_REQUEST);
    CHECK_OK(MPI_Pready(1, request));
    CHECK_CLASS(MPI_Pready(1, request), MPI_ERR_ARG); /* twice */
    CHECK_OK(MPI_Pready(0, request));
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Wait(&other, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Request_free(&request));
    CHECK_OK(MPI_Request_free(&other));
    /* A request may be freed without a start. Its tag is used by no other one, because the offer stays. */
    CHECK_OK(MPI_Psend_init(data, 2, 1, MPI_INT, next, 11, comm, MPI_INFO_NULL, &request));
    CHECK_OK(MPI_Request_free(&request));
    CHECK_OK(MPI_Precv_init(data, 2, 1, MPI_INT, before, 12, comm, MPI_INFO_NULL, &request));
    CHECK_OK(MPI_Request_free(&request));
}

int main(int argc, char** argv) {
    CHECK_OK(MPI_Init(&argc, &argv));
    CHECK_OK(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    CHECK_OK(MPI_Comm_size(MPI_COMM_WORLD, &size));
    CHECK_OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    CHECK_OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    next = (rank + 1) % size;
    before = (rank + size - 1) % size;
    static const int divisions[] = {1, 2, 3, 8, 60};
    const int repeats = argc > 1 ? atoi(argv[1]) : 1;
    for (int s = 0; s < 5 * repeats; ++s) {
        for (int r = 0; r < 5; ++r) {
            ring(divisions[s % 5], divisions[r], 120, MPI_COMM_WORLD);
        }
        ring(divisions[s % 5], divisions[4 - s % 5], 120000, MPI_COMM_WORLD);
    }
    ring(2, 3, 0, MPI_COMM_WORLD);
    MPI_Comm copy;
    CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &copy));
    ring(8, 3, 240, copy);
    CHECK_OK(MPI_Comm_free(&copy));
    strided();
    matched_in_order();
    apart_from_sends();
    for (int s = 0; s < 4; ++s) {
        for (int r = 0; r < 4; ++r) {
            arrives_when_ready(divisions[s], divisions[r], 0);
            arrives_when_ready(divisions[s], divisions[r], 120);
        }
    }
    with_nobody();
    sizes_differ();
    wrong_arguments();
    CHECK_OK(MPI_Finalize());
    return 0;
}
