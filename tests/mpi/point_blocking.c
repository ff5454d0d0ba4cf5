/* Blocking sends and receives: modes, wildcards, statuses, MPI_PROC_NULL, datatypes, errors. Any
 * number of tasks. */
#include "mpi_test.h"

static int rank, size;

static int next(void) {
    return (rank + 1) % size;
}
static int before(void) {
    return (rank + size - 1) % size;
}

/* Around a ring, so that each task sends and receives; a send to the own rank needs a receive. */
static void test_ring(void) {
    for (int bytes = 0; bytes <= 1 << 20; bytes = bytes == 0 ? 1 : bytes * 4) {
        unsigned char* out = malloc((size_t)bytes + 1);
        unsigned char* in = malloc((size_t)bytes + 1);
        for (int i = 0; i < bytes; ++i) out[i] = (unsigned char)(i * 7 + rank);
        memset(in, 0xee, (size_t)bytes + 1);
        MPI_Request request;
        MPI_Status status;
        CHECK_OK(MPI_Irecv(in, bytes, MPI_BYTE, before(), bytes, MPI_COMM_WORLD, &request));
        CHECK_OK(MPI_Send(out, bytes, MPI_BYTE, next(), bytes, MPI_COMM_WORLD));
        CHECK_OK(MPI_Wait(&request, &status));
        CHECK(request == MPI_REQUEST_NULL);
        CHECK_INT(status.MPI_SOURCE, before());
        CHECK_INT(status.MPI_TAG, bytes);
        int count = -1;
        CHECK_OK(MPI_Get_count(&status, MPI_BYTE, &count));
        CHECK_INT(count, bytes);
        for (int i = 0; i < bytes; ++i) CHECK_INT(in[i], (unsigned char)(i * 7 + before()));
        CHECK_INT(in[bytes], 0xee);
        free(out);
        free(in);
    }
}

/* The order of messages with different modes, received with wildcards. */
static void test_modes(void) {
    if (size < 2) return;
    if (rank == 1) {
        const int sizes[2] = {40 * 2000, 40 * 2000 + 64};
        char* buffer = malloc(4 * (size_t)(sizes[1] + MPI_BSEND_OVERHEAD));
        CHECK_OK(MPI_Buffer_attach(buffer, 4 * (sizes[1] + MPI_BSEND_OVERHEAD)));
        for (int i = 0; i < 40; ++i) {
            int* data = malloc((size_t)(i * 2000 + 4));
            for (int k = 0; k <= i * 500; ++k) data[k] = i + k;
            const int count = i * 500 + 1, tag = 1000 + i;
            switch (i % 3) {
                case 0:
                    CHECK_OK(MPI_Send(data, count, MPI_INT, 0, tag, MPI_COMM_WORLD));
                    break;
                case 1:
                    CHECK_OK(MPI_Ssend(data, count, MPI_INT, 0, tag, MPI_COMM_WORLD));
                    break;
                case 2:
                    CHECK_OK(MPI_Bsend(data, count, MPI_INT, 0, tag, MPI_COMM_WORLD));
                    break;
            }
            memset(data, 0x55, (size_t)(i * 2000 + 4));
            free(data);
        }
        void* detached = NULL;
        int bytes = 0;
        CHECK_OK(MPI_Buffer_detach(&detached, &bytes));
        CHECK(detached == buffer);
        CHECK_INT(bytes, 4 * (sizes[1] + MPI_BSEND_OVERHEAD));
        free(buffer);
    } else if (rank == 0) {
        int* data = malloc(40 * 2000 + 4);
        for (int i = 0; i < 40; ++i) {
            MPI_Status status;
            const int source = i % 2 ? MPI_ANY_SOURCE : 1;
            const int tag = i % 2 ? 1000 + i : MPI_ANY_TAG;
            CHECK_OK(MPI_Recv(data, 20001, MPI_INT, source, tag, MPI_COMM_WORLD, &status));
            CHECK_INT(status.MPI_TAG, 1000 + i);
            CHECK_INT(status.MPI_SOURCE, 1);
            int count = 0;
            MPI_Get_count(&status, MPI_INT, &count);
            CHECK_INT(count, i * 500 + 1);
            for (int k = 0; k <= i * 500; ++k) CHECK_INT(data[k], i + k);
        }
        free(data);
    }
    MPI_Request request;
    int ready = 0;
    if (rank == 0) {
        CHECK_OK(MPI_Irecv(&ready, 1, MPI_INT, 1, 77, MPI_COMM_WORLD, &request));
        CHECK_OK(MPI_Send(NULL, 0, MPI_INT, 1, 78, MPI_COMM_WORLD));
        CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        CHECK_INT(ready, 5);
    } else if (rank == 1) {
        ready = 5;
        CHECK_OK(MPI_Recv(NULL, 0, MPI_INT, 0, 78, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        CHECK_OK(MPI_Rsend(&ready, 1, MPI_INT, 0, 77, MPI_COMM_WORLD));
    }
}

static void check_from_nobody(const MPI_Status* status) {
    int count = -1;
    CHECK_INT(status->MPI_SOURCE, MPI_PROC_NULL);
    CHECK_INT(status->MPI_TAG, MPI_ANY_TAG);
    MPI_Get_count(status, MPI_INT, &count);
    CHECK_INT(count, 0);
}

static void test_nobody(void) {
    int value = 9;
    MPI_Status status;
    CHECK_OK(MPI_Send(&value, 1, MPI_INT, MPI_PROC_NULL, 3, MPI_COMM_WORLD));
    CHECK_OK(MPI_Ssend(&value, 1, MPI_INT, MPI_PROC_NULL, 3, MPI_COMM_WORLD));
    CHECK_OK(MPI_Bsend(&value, 1, MPI_INT, MPI_PROC_NULL, 3, MPI_COMM_WORLD));
    CHECK_OK(MPI_Recv(&value, 1, MPI_INT, MPI_PROC_NULL, MPI_ANY_TAG, MPI_COMM_WORLD, &status));
    check_from_nobody(&status);
    CHECK_INT(value, 9);
    CHECK_OK(MPI_Probe(MPI_PROC_NULL, 4, MPI_COMM_WORLD, &status));
    check_from_nobody(&status);
    int flag = 0;
    CHECK_OK(MPI_Iprobe(MPI_PROC_NULL, 4, MPI_COMM_WORLD, &flag, &status));
    CHECK(flag);
    check_from_nobody(&status);
    MPI_Message message = MPI_MESSAGE_NULL;
    CHECK_OK(MPI_Mprobe(MPI_PROC_NULL, 4, MPI_COMM_WORLD, &message, &status));
    CHECK(message == MPI_MESSAGE_NO_PROC);
    check_from_nobody(&status);
    CHECK_OK(MPI_Mrecv(&value, 1, MPI_INT, &message, &status));
    CHECK(message == MPI_MESSAGE_NULL);
    check_from_nobody(&status);
    MPI_Request requests[2];
    CHECK_OK(MPI_Isend(&value, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &requests[0]));
    CHECK_OK(MPI_Irecv(&value, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &requests[1]));
    MPI_Status statuses[2];
    CHECK_OK(MPI_Waitall(2, requests, statuses));
    check_from_nobody(&statuses[1]);
    CHECK_OK(MPI_Sendrecv(&value, 1, MPI_INT, MPI_PROC_NULL, 0, &value, 1, MPI_INT, MPI_PROC_NULL,
                          0, MPI_COMM_WORLD, &status));
    check_from_nobody(&status);
}

/* A line of tasks: the first has no left neighbour, the last no right one. */
static void test_sendrecv(void) {
    const int left = rank > 0 ? rank - 1 : MPI_PROC_NULL;
    const int right = rank < size - 1 ? rank + 1 : MPI_PROC_NULL;
    enum { kMost = 100000 };
    static int out[kMost], in[kMost];
    for (int n = 1; n <= kMost; n *= 10) {
        for (int i = 0; i < n; ++i) out[i] = rank * 1000 + i, in[i] = -1;
        MPI_Status status;
        CHECK_OK(MPI_Sendrecv(out, n, MPI_INT, right, 11, in, n, MPI_INT, left, 11, MPI_COMM_WORLD,
                              &status));
        CHECK_INT(status.MPI_SOURCE, left);
        for (int i = 0; i < n; ++i) CHECK_INT(in[i], rank > 0 ? (rank - 1) * 1000 + i : -1);
        for (int i = 0; i < n; ++i) in[i] = rank * 7 + i;
        CHECK_OK(MPI_Sendrecv_replace(in, n, MPI_INT, next(), 12, before(), 12, MPI_COMM_WORLD,
                                      &status));
        CHECK_INT(status.MPI_SOURCE, before());
        for (int i = 0; i < n; ++i) CHECK_INT(in[i], before() * 7 + i);
#if MPI_VERSION >= 4
        MPI_Request request;
        CHECK_OK(MPI_Isendrecv_replace(in, n, MPI_INT, before(), 13, next(), 13, MPI_COMM_WORLD,
                                       &request));
        CHECK_OK(MPI_Wait(&request, &status));
        CHECK_INT(status.MPI_SOURCE, next());
        for (int i = 0; i < n; ++i) CHECK_INT(in[i], rank * 7 + i);
        CHECK_OK(MPI_Isendrecv(out, n, MPI_INT, left, 14, in, n, MPI_INT, right, 14, MPI_COMM_WORLD,
                               &request));
        CHECK_OK(MPI_Wait(&request, &status));
        CHECK_INT(status.MPI_SOURCE, right);
        if (right != MPI_PROC_NULL)
            for (int i = 0; i < n; ++i) CHECK_INT(in[i], right * 1000 + i);
#endif
    }
}

/* Columns of a matrix, absolute addresses, and a type with gaps received as another one. */
static void test_types(void) {
    enum { kRows = 300, kColumns = 50 };
    static double from[kRows][kColumns], to[kRows][kColumns];
    for (int i = 0; i < kRows; ++i)
        for (int k = 0; k < kColumns; ++k) from[i][k] = rank + i * 100 + k, to[i][k] = -1;
    for (int block = 1; block < kColumns; block *= 3) {
        MPI_Datatype column;
        CHECK_OK(MPI_Type_vector(kRows, block, kColumns, MPI_DOUBLE, &column));
        CHECK_OK(MPI_Type_commit(&column));
        MPI_Status status;
        CHECK_OK(MPI_Sendrecv(&from[0][1], 1, column, next(), 1, &to[0][2], 1, column, before(), 1,
                              MPI_COMM_WORLD, &status));
        int count = 0;
        MPI_Get_count(&status, MPI_DOUBLE, &count);
        CHECK_INT(count, kRows * block);
        for (int i = 0; i < kRows; ++i) {
            for (int k = 0; k < block && k + 2 < kColumns; ++k)
                CHECK(to[i][k + 2] == before() + i * 100 + k + 1);
            CHECK(to[i][1] == -1);
        }
        MPI_Request requests[2];
        static double packed[kRows * kColumns];
        CHECK_OK(MPI_Irecv(packed, kRows * kColumns, MPI_DOUBLE, before(), 2, MPI_COMM_WORLD,
                           &requests[0]));
        CHECK_OK(MPI_Issend(&from[0][0], 1, column, next(), 2, MPI_COMM_WORLD, &requests[1]));
        CHECK_OK(MPI_Type_free(&column));
        CHECK_OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
        for (int i = 0; i < kRows; ++i)
            for (int k = 0; k < block; ++k) CHECK(packed[i * block + k] == before() + i * 100 + k);
    }
    MPI_Aint places[2];
    int lengths[2] = {2, 3};
    static int first[2], second[3];
    MPI_Get_address(first, &places[0]);
    MPI_Get_address(second, &places[1]);
    MPI_Datatype absolute;
    CHECK_OK(MPI_Type_create_hindexed(2, lengths, places, MPI_INT, &absolute));
    CHECK_OK(MPI_Type_commit(&absolute));
    for (int i = 0; i < 2; ++i) first[i] = rank * 10 + i;
    for (int i = 0; i < 3; ++i) second[i] = rank * 10 + 2 + i;
    int in[5];
    CHECK_OK(MPI_Sendrecv(MPI_BOTTOM, 1, absolute, next(), 3, in, 5, MPI_INT, before(), 3,
                          MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    for (int i = 0; i < 5; ++i) CHECK_INT(in[i], before() * 10 + i);
    CHECK_OK(MPI_Sendrecv(in, 5, MPI_INT, before(), 3, MPI_BOTTOM, 1, absolute, next(), 3,
                          MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    CHECK_INT(second[2], rank * 10 + 4);
    MPI_Type_free(&absolute);
}

static void test_errors(void) {
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    int value = 1, values[4] = {0, 0, 0, 0};
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Status status;
    CHECK_CLASS(MPI_Send(&value, -1, MPI_INT, rank, 0, MPI_COMM_WORLD), MPI_ERR_COUNT);
    CHECK_CLASS(MPI_Send(&value, 1, MPI_DATATYPE_NULL, rank, 0, MPI_COMM_WORLD), MPI_ERR_TYPE);
    CHECK_CLASS(MPI_Send(&value, 1, MPI_INT, size, 0, MPI_COMM_WORLD), MPI_ERR_RANK);
    CHECK_CLASS(MPI_Send(&value, 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD), MPI_ERR_RANK);
    CHECK_CLASS(MPI_Send(&value, 1, MPI_INT, rank, -1, MPI_COMM_WORLD), MPI_ERR_TAG);
    CHECK_CLASS(MPI_Send(&value, 1, MPI_INT, rank, MPI_ANY_TAG, MPI_COMM_WORLD), MPI_ERR_TAG);
    CHECK_CLASS(MPI_Send(&value, 1, MPI_INT, rank, 0, MPI_COMM_NULL), MPI_ERR_COMM);
    CHECK_CLASS(MPI_Recv(&value, 1, MPI_INT, size, 0, MPI_COMM_WORLD, &status), MPI_ERR_RANK);
    CHECK_CLASS(MPI_Irecv(&value, 1, MPI_INT, rank, -7, MPI_COMM_WORLD, &request), MPI_ERR_TAG);
#ifdef MPI_ABI_VERSION
    /* Without a buffer; some implementations then send the message in another way. */
    CHECK_CLASS(MPI_Bsend(values, 4, MPI_INT, rank, 0, MPI_COMM_WORLD), MPI_ERR_BUFFER);
#endif
    MPI_Datatype type;
    MPI_Type_contiguous(2, MPI_INT, &type);
    CHECK_CLASS(MPI_Send(values, 1, type, rank, 0, MPI_COMM_WORLD), MPI_ERR_TYPE);
    MPI_Type_free(&type);
    /* A message that is longer than the buffer, from each function that receives. */
    values[1] = 77;
    CHECK_OK(MPI_Isend(values, 4, MPI_INT, next(), 5, MPI_COMM_WORLD, &request));
    CHECK_CLASS(MPI_Recv(&value, 1, MPI_INT, before(), 5, MPI_COMM_WORLD, &status),
                MPI_ERR_TRUNCATE);
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK_INT(values[1], 77);
    MPI_Request requests[3];
    MPI_Status statuses[3];
    requests[2] = MPI_REQUEST_NULL;
    CHECK_OK(MPI_Irecv(&value, 1, MPI_INT, before(), 6, MPI_COMM_WORLD, &requests[1]));
    CHECK_OK(MPI_Isend(values, 4, MPI_INT, next(), 6, MPI_COMM_WORLD, &requests[0]));
    CHECK_CLASS(MPI_Waitall(3, requests, statuses), MPI_ERR_IN_STATUS);
    CHECK_INT(statuses[0].MPI_ERROR, MPI_SUCCESS);
    CHECK_CLASS(statuses[1].MPI_ERROR, MPI_ERR_TRUNCATE);
    CHECK_INT(statuses[2].MPI_ERROR, MPI_SUCCESS);
    CHECK(requests[1] == MPI_REQUEST_NULL);
    CHECK_CLASS(MPI_Start(&request), MPI_ERR_REQUEST);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    CHECK_INT(MPI_Comm_rank(MPI_COMM_WORLD, &rank), MPI_SUCCESS);
    CHECK_INT(MPI_Comm_size(MPI_COMM_WORLD, &size), MPI_SUCCESS);
    test_ring();
    test_modes();
    test_nobody();
    test_sendrecv();
    test_types();
    test_errors();
    MPI_Finalize();
    return 0;
}
