/* Requests: completing one and several, persistent ones, cancelling, freeing, matched probes,
 * buffered sends, generalized requests. Any number of tasks. */
#include "mpi_test.h"

static int rank, size;

static int next(void) {
    return (rank + 1) % size;
}
static int before(void) {
    return (rank + size - 1) % size;
}

enum { kMany = 2000 };

/* Thousands of requests, started in one order and matched in another. */
static void test_many(void) {
    static int in[kMany], out[kMany];
    static MPI_Request requests[2 * kMany];
    static MPI_Status statuses[2 * kMany];
    for (int round = 0; round < 3; ++round) {
        for (int i = 0; i < kMany; ++i) {
            in[i] = -1;
            CHECK_OK(MPI_Irecv(&in[i], 1, MPI_INT, before(), i, MPI_COMM_WORLD, &requests[i]));
        }
        for (int i = kMany - 1; i >= 0; --i) {
            out[i] = rank * 10000 + i + round;
            CHECK_OK(
                MPI_Isend(&out[i], 1, MPI_INT, next(), i, MPI_COMM_WORLD, &requests[kMany + i]));
        }
        CHECK_OK(MPI_Waitall(2 * kMany, requests, statuses));
        for (int i = 0; i < kMany; ++i) {
            CHECK_INT(in[i], before() * 10000 + i + round);
            CHECK_INT(statuses[i].MPI_TAG, i);
            CHECK_INT(statuses[i].MPI_SOURCE, before());
            CHECK(requests[i] == MPI_REQUEST_NULL);
        }
    }
}

enum { kSome = 60 };

static void start_some(int* in, int* out, MPI_Request* requests) {
    for (int i = 0; i < kSome; ++i) {
        in[i] = -1;
        out[i] = rank + i * 3;
        MPI_Irecv(&in[i], 1, MPI_INT, before(), i, MPI_COMM_WORLD, &requests[2 * i]);
    }
    for (int i = 0; i < kSome; ++i) {
        if (i % 2) {
            MPI_Isend(&out[i], 1, MPI_INT, next(), i, MPI_COMM_WORLD, &requests[2 * i + 1]);
        } else {
            MPI_Issend(&out[i], 1, MPI_INT, next(), i, MPI_COMM_WORLD, &requests[2 * i + 1]);
        }
    }
}

/* The status and contents of the request with this index. */
static void check_some(const int* in, int index, const MPI_Status* status) {
    if (index % 2) return;
    CHECK_INT(status->MPI_TAG, index / 2);
    CHECK_INT(status->MPI_SOURCE, before());
    CHECK_INT(in[index / 2], before() + index / 2 * 3);
}

static void test_several(void) {
    int in[kSome], out[kSome], flag, index, count;
    MPI_Request requests[2 * kSome];
    MPI_Status statuses[2 * kSome], status;
    int indices[2 * kSome], seen[2 * kSome];
    for (int way = 0; way < 6; ++way) {
        start_some(in, out, requests);
        memset(seen, 0, sizeof seen);
        int left = 2 * kSome;
        while (left > 0) {
            count = 0;
            flag = 0;
            switch (way) {
                case 0:
                    CHECK_OK(MPI_Waitany(2 * kSome, requests, &indices[0], &statuses[0]));
                    count = 1;
                    break;
                case 1:
                    CHECK_OK(MPI_Testany(2 * kSome, requests, &indices[0], &flag, &statuses[0]));
                    if (flag) count = 1;
                    break;
                case 2:
                    CHECK_OK(MPI_Waitsome(2 * kSome, requests, &count, indices, statuses));
                    CHECK(count > 0);
                    break;
                case 3:
                    CHECK_OK(MPI_Testsome(2 * kSome, requests, &count, indices, statuses));
                    break;
                case 4:
                    CHECK_OK(MPI_Testall(2 * kSome, requests, &flag, statuses));
                    if (flag) count = 2 * kSome;
                    for (int i = 0; i < count; ++i) indices[i] = i;
                    break;
                case 5:
                    for (int i = 0; i < 2 * kSome; ++i) {
                        if (requests[i] == MPI_REQUEST_NULL) continue;
                        CHECK_OK(MPI_Test(&requests[i], &flag, &status));
                        if (!flag) continue;
                        indices[count] = i;
                        statuses[count++] = status;
                    }
                    break;
            }
            for (int i = 0; i < count; ++i) {
                CHECK(!seen[indices[i]]);
                seen[indices[i]] = 1;
                CHECK(requests[indices[i]] == MPI_REQUEST_NULL);
                check_some(in, indices[i], &statuses[i]);
            }
            left -= count;
        }
        CHECK_OK(MPI_Waitany(2 * kSome, requests, &index, &status));
        CHECK_INT(index, MPI_UNDEFINED);
        CHECK_INT(status.MPI_SOURCE, MPI_ANY_SOURCE);
        CHECK_INT(status.MPI_TAG, MPI_ANY_TAG);
        CHECK_OK(MPI_Testsome(2 * kSome, requests, &count, indices, statuses));
        CHECK_INT(count, MPI_UNDEFINED);
        CHECK_OK(MPI_Testany(2 * kSome, requests, &index, &flag, &status));
        CHECK(flag && index == MPI_UNDEFINED);
        CHECK_OK(MPI_Testall(2 * kSome, requests, &flag, statuses));
        CHECK(flag);
    }
    MPI_Request none = MPI_REQUEST_NULL;
    status.MPI_ERROR = -3;
    CHECK_OK(MPI_Wait(&none, &status));
    CHECK_INT(status.MPI_SOURCE, MPI_ANY_SOURCE);
    CHECK_INT(status.MPI_TAG, MPI_ANY_TAG);
    CHECK_INT(status.MPI_ERROR, MPI_SUCCESS);
    status.MPI_ERROR = -3;
    CHECK_OK(MPI_Request_get_status(none, &flag, &status));
    CHECK(flag);
    CHECK_INT(status.MPI_ERROR, MPI_SUCCESS);
    CHECK_OK(MPI_Waitall(0, NULL, MPI_STATUSES_IGNORE));
}

static void test_persistent(void) {
    enum { kLong = 30000 };
    static int in[4][kLong], out[4][kLong];
    MPI_Request requests[8];
    static char buffer[2 * (kLong * 4 + MPI_BSEND_OVERHEAD)];
    MPI_Buffer_attach(buffer, sizeof buffer);
    const int counts[4] = {1, 100, kLong, kLong / 2};
    MPI_Send_init(out[0], counts[0], MPI_INT, next(), 0, MPI_COMM_WORLD, &requests[0]);
    MPI_Ssend_init(out[1], counts[1], MPI_INT, next(), 1, MPI_COMM_WORLD, &requests[1]);
    MPI_Bsend_init(out[2], counts[2], MPI_INT, next(), 2, MPI_COMM_WORLD, &requests[2]);
    MPI_Rsend_init(out[3], counts[3], MPI_INT, next(), 3, MPI_COMM_WORLD, &requests[3]);
    for (int i = 0; i < 4; ++i)
        MPI_Recv_init(in[i], counts[i], MPI_INT, i % 2 ? before() : MPI_ANY_SOURCE, i,
                      MPI_COMM_WORLD, &requests[4 + i]);
    MPI_Status statuses[8];
    /* Inactive requests are complete at once, with an empty status. */
    CHECK_OK(MPI_Waitall(8, requests, statuses));
    for (int i = 0; i < 8; ++i) {
        CHECK(requests[i] != MPI_REQUEST_NULL);
        CHECK_INT(statuses[i].MPI_SOURCE, MPI_ANY_SOURCE);
    }
    for (int round = 0; round < 5; ++round) {
        for (int i = 0; i < 4; ++i) {
            for (int k = 0; k < counts[i]; ++k) out[i][k] = rank + round + k, in[i][k] = -1;
        }
        CHECK_OK(MPI_Startall(4, requests + 4));
        /* The receive of the ready send must be posted. */
        MPI_Sendrecv(NULL, 0, MPI_INT, before(), 99, NULL, 0, MPI_INT, next(), 99, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        for (int i = 1; i < 4; ++i) CHECK_OK(MPI_Start(&requests[i]));
        CHECK_OK(MPI_Startall(1, requests));
        CHECK_OK(MPI_Waitall(8, requests, statuses));
        for (int i = 0; i < 4; ++i) {
            CHECK_INT(statuses[4 + i].MPI_SOURCE, before());
            for (int k = 0; k < counts[i]; ++k) CHECK_INT(in[i][k], before() + round + k);
        }
    }
    for (int i = 0; i < 8; ++i) {
        CHECK_OK(MPI_Request_free(&requests[i]));
        CHECK(requests[i] == MPI_REQUEST_NULL);
    }
    void* detached;
    int bytes;
    CHECK_OK(MPI_Buffer_detach(&detached, &bytes));
}

/* An active request and one that is not persistent are not started; then MPI_Startall starts none. */
static void test_wrong_starts(void) {
    int in[2] = {-1, -1}, out = rank, other = -1;
    MPI_Request requests[3], once;
    CHECK_OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    CHECK_OK(MPI_Send_init(&out, 1, MPI_INT, next(), 700, MPI_COMM_WORLD, &requests[0]));
    CHECK_OK(MPI_Recv_init(&in[0], 1, MPI_INT, before(), 700, MPI_COMM_WORLD, &requests[1]));
    CHECK_OK(MPI_Recv_init(&in[1], 1, MPI_INT, before(), 700, MPI_COMM_WORLD, &requests[2]));
    CHECK_OK(MPI_Irecv(&other, 1, MPI_INT, before(), 701, MPI_COMM_WORLD, &once));
    CHECK_OK(MPI_Start(&requests[1]));
    CHECK_CLASS(MPI_Start(&requests[1]), MPI_ERR_REQUEST);
    CHECK_CLASS(MPI_Start(&once), MPI_ERR_REQUEST);
    MPI_Request none = MPI_REQUEST_NULL;
    CHECK_CLASS(MPI_Start(&none), MPI_ERR_REQUEST);
    CHECK_CLASS(MPI_Startall(2, requests), MPI_ERR_REQUEST);
    /* So only one message is on the way. */
    CHECK_OK(MPI_Start(&requests[0]));
    CHECK_OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
    CHECK_INT(in[0], before());
    CHECK_OK(MPI_Start(&requests[2]));
    CHECK_OK(MPI_Send(&out, 1, MPI_INT, next(), 701, MPI_COMM_WORLD));
    CHECK_OK(MPI_Wait(&once, MPI_STATUS_IGNORE));
    int done = -1;
    CHECK_OK(MPI_Test(&requests[2], &done, MPI_STATUS_IGNORE));
    CHECK_INT(done, 0);
    CHECK_OK(MPI_Cancel(&requests[2]));
    CHECK_OK(MPI_Wait(&requests[2], MPI_STATUS_IGNORE));
    MPI_Request twice[2] = {requests[2], requests[2]};
    CHECK_CLASS(MPI_Startall(2, twice), MPI_ERR_REQUEST);
    CHECK_OK(MPI_Test(&requests[2], &done, MPI_STATUS_IGNORE));
    if (!done) {
        CHECK_OK(MPI_Cancel(&requests[2]));
        CHECK_OK(MPI_Wait(&requests[2], MPI_STATUS_IGNORE));
    }
    for (int i = 0; i < 3; ++i) CHECK_OK(MPI_Request_free(&requests[i]));
    CHECK_OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL));
}

static void test_cancel(void) {
    int value = 3, flag = 0;
    MPI_Request request;
    MPI_Status status;
    CHECK_OK(MPI_Irecv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 500, MPI_COMM_WORLD, &request));
    CHECK_OK(MPI_Cancel(&request));
    CHECK_OK(MPI_Wait(&request, &status));
    CHECK_OK(MPI_Test_cancelled(&status, &flag));
    CHECK(flag);
    CHECK_INT(value, 3);
    /* A receive that has matched is not cancelled. */
    int out = 8;
    CHECK_OK(MPI_Irecv(&value, 1, MPI_INT, rank, 501, MPI_COMM_WORLD, &request));
    CHECK_OK(MPI_Send(&out, 1, MPI_INT, rank, 501, MPI_COMM_WORLD));
    CHECK_OK(MPI_Cancel(&request));
    CHECK_OK(MPI_Wait(&request, &status));
    CHECK_OK(MPI_Test_cancelled(&status, &flag));
    CHECK(!flag);
    CHECK_INT(value, 8);
    CHECK_OK(MPI_Recv_init(&value, 1, MPI_INT, MPI_ANY_SOURCE, 502, MPI_COMM_WORLD, &request));
    CHECK_OK(MPI_Start(&request));
    CHECK_OK(MPI_Cancel(&request));
    CHECK_OK(MPI_Wait(&request, &status));
    CHECK_OK(MPI_Test_cancelled(&status, &flag));
    CHECK(flag);
    CHECK_OK(MPI_Start(&request));
    CHECK_OK(MPI_Send(&out, 1, MPI_INT, rank, 502, MPI_COMM_WORLD));
    CHECK_OK(MPI_Wait(&request, &status));
    CHECK_INT(status.MPI_SOURCE, rank);
    CHECK_OK(MPI_Request_free(&request));
}

/* A request that is freed while it is active completes in the background. */
static void test_free(void) {
    enum { kLong = 1 << 18 };
    static int in[kLong], out[kLong];
    MPI_Request request, receive;
    int token = 0, other = 0;
    for (int i = 0; i < kLong; ++i) out[i] = rank ^ i;
    CHECK_OK(MPI_Irecv(in, kLong, MPI_INT, before(), 600, MPI_COMM_WORLD, &receive));
    CHECK_OK(MPI_Isend(out, kLong, MPI_INT, next(), 600, MPI_COMM_WORLD, &request));
    CHECK_OK(MPI_Request_free(&request));
    CHECK(request == MPI_REQUEST_NULL);
    CHECK_OK(MPI_Wait(&receive, MPI_STATUS_IGNORE));
    for (int i = 0; i < kLong; ++i) CHECK_INT(in[i], before() ^ i);
    /* The neighbour has received everything. */
    CHECK_OK(MPI_Sendrecv(&token, 1, MPI_INT, before(), 601, &other, 1, MPI_INT, next(), 601,
                          MPI_COMM_WORLD, MPI_STATUS_IGNORE));
}

static void test_probes(void) {
    static int out[2][20000], in[20000];
    const int counts[2] = {3, 20000};
    for (int way = 0; way < 2; ++way) {
        MPI_Request sends[2];
        for (int i = 0; i < 2; ++i) {
            for (int k = 0; k < counts[i]; ++k) out[i][k] = rank + k + i;
            CHECK_OK(MPI_Isend(out[i], counts[i], MPI_INT, next(), 700 + way, MPI_COMM_WORLD,
                               &sends[i]));
        }
        MPI_Status status;
        int count = 0, flag = 0;
        CHECK_OK(MPI_Probe(before(), MPI_ANY_TAG, MPI_COMM_WORLD, &status));
        CHECK_INT(status.MPI_TAG, 700 + way);
        CHECK_INT(status.MPI_SOURCE, before());
        MPI_Get_count(&status, MPI_INT, &count);
        CHECK_INT(count, 3);
        MPI_Message first = MPI_MESSAGE_NULL, second = MPI_MESSAGE_NULL;
        CHECK_OK(MPI_Mprobe(MPI_ANY_SOURCE, 700 + way, MPI_COMM_WORLD, &first, &status));
        CHECK(first != MPI_MESSAGE_NULL);
        while (!flag)
            CHECK_OK(MPI_Improbe(before(), 700 + way, MPI_COMM_WORLD, &flag, &second, &status));
        MPI_Get_count(&status, MPI_INT, &count);
        CHECK_INT(count, 20000);
        /* No other message is there. */
        CHECK_OK(MPI_Iprobe(MPI_ANY_SOURCE, 700 + way, MPI_COMM_WORLD, &flag, &status));
        CHECK(!flag);
        /* The later message is received first. */
        if (way == 0) {
            CHECK_OK(MPI_Mrecv(in, 20000, MPI_INT, &second, &status));
        } else {
            MPI_Request request;
            CHECK_OK(MPI_Imrecv(in, 20000, MPI_INT, &second, &request));
            CHECK_OK(MPI_Wait(&request, &status));
        }
        CHECK(second == MPI_MESSAGE_NULL);
        CHECK_INT(status.MPI_SOURCE, before());
        for (int k = 0; k < 20000; ++k) CHECK_INT(in[k], before() + k + 1);
        CHECK_OK(MPI_Mrecv(in, 3, MPI_INT, &first, &status));
        MPI_Get_count(&status, MPI_INT, &count);
        CHECK_INT(count, 3);
        for (int k = 0; k < 3; ++k) CHECK_INT(in[k], before() + k);
        CHECK_OK(MPI_Waitall(2, sends, MPI_STATUSES_IGNORE));
    }
}

/* More messages than the buffer holds at once, so its memory is used again and again. A task may be ahead
 * of the next one by as many messages as there are other tasks. */
static void test_buffer(void) {
    enum { kBytes = 3000, kMessages = 200 };
    static char out[kBytes], in[kBytes];
    const int room = (size + 2) * (kBytes + MPI_BSEND_OVERHEAD);
    char* buffer = malloc((size_t)room + 1);
    CHECK_OK(MPI_Buffer_attach(buffer + 1, room));
    for (int i = 0; i < kMessages; ++i) {
        memset(out, i, kBytes);
        CHECK_OK(MPI_Bsend(out, kBytes - i, MPI_BYTE, next(), 800, MPI_COMM_WORLD));
        MPI_Status status;
        CHECK_OK(MPI_Recv(in, kBytes, MPI_BYTE, before(), 800, MPI_COMM_WORLD, &status));
        int count;
        MPI_Get_count(&status, MPI_BYTE, &count);
        CHECK_INT(count, kBytes - i);
        CHECK_INT(in[0], (char)i);
        CHECK_INT(in[count - 1], (char)i);
    }
    void* detached;
    int bytes;
    CHECK_OK(MPI_Buffer_detach(&detached, &bytes));
    CHECK(detached == buffer + 1);
    CHECK_INT(bytes, room);
    free(buffer);
}

#if MPI_VERSION > 4 || (MPI_VERSION == 4 && MPI_SUBVERSION >= 1)
static void test_new_buffers(void) {
    enum { kBytes = 100000 };
    static char out[kBytes], in[kBytes], place[kBytes + MPI_BSEND_OVERHEAD];
    void* detached;
    int bytes;
    MPI_Request request, receive;
    CHECK_OK(MPI_Buffer_attach(MPI_BUFFER_AUTOMATIC, 0));
    CHECK_OK(MPI_Irecv(in, kBytes, MPI_BYTE, before(), 801, MPI_COMM_WORLD, &receive));
    memset(out, rank + 1, kBytes);
    CHECK_OK(MPI_Bsend(out, kBytes, MPI_BYTE, next(), 801, MPI_COMM_WORLD));
    memset(out, 0, kBytes);
    CHECK_OK(MPI_Buffer_iflush(&request));
    CHECK_OK(MPI_Wait(&receive, MPI_STATUS_IGNORE));
    CHECK_INT(in[kBytes - 1], before() + 1);
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Buffer_flush());
    /* The buffer of the communicator has precedence. */
    CHECK_OK(MPI_Comm_attach_buffer(MPI_COMM_WORLD, place, sizeof place));
    CHECK_OK(MPI_Bsend(out, kBytes, MPI_BYTE, next(), 802, MPI_COMM_WORLD));
    CHECK_OK(MPI_Recv(in, kBytes, MPI_BYTE, before(), 802, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Comm_iflush_buffer(MPI_COMM_WORLD, &request));
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Comm_detach_buffer(MPI_COMM_WORLD, &detached, &bytes));
    CHECK(detached == place);
    CHECK_OK(MPI_Buffer_detach(&detached, &bytes));
    CHECK(detached == MPI_BUFFER_AUTOMATIC);
}

/* With messages to the own rank, because other tasks may be ahead. */
static void test_status_of_several(void) {
    int in[2], out = rank, flag = 0, index = 0, count = 0, indices[2];
    MPI_Request requests[2];
    MPI_Status statuses[2];
    MPI_Irecv(&in[0], 1, MPI_INT, rank, 810, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(&in[1], 1, MPI_INT, rank, 811, MPI_COMM_WORLD, &requests[1]);
    CHECK_OK(MPI_Request_get_status_all(2, requests, &flag, statuses));
    CHECK(!flag);
    MPI_Send(&out, 1, MPI_INT, rank, 811, MPI_COMM_WORLD);
    while (!flag) CHECK_OK(MPI_Request_get_status_any(2, requests, &index, &flag, statuses));
    CHECK_INT(index, 1);
    CHECK_OK(MPI_Request_get_status_some(2, requests, &count, indices, statuses));
    CHECK_INT(count, 1);
    CHECK_INT(indices[0], 1);
    CHECK_INT(statuses[0].MPI_TAG, 811);
    MPI_Send(&out, 1, MPI_INT, rank, 810, MPI_COMM_WORLD);
    for (flag = 0; !flag;) CHECK_OK(MPI_Request_get_status_all(2, requests, &flag, statuses));
    CHECK(requests[0] != MPI_REQUEST_NULL);
    CHECK_OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
}
#endif

/* What the functions of the generalized request were called for. */
/* Cancels the request, waits for it, which must not need a receive, and returns whether the send was
 * cancelled. */
static int cancel_send(MPI_Request* request) {
    MPI_Status status;
    int flag = -1;
    CHECK_OK(MPI_Cancel(request));
    CHECK_OK(MPI_Wait(request, &status));
    CHECK_OK(MPI_Test_cancelled(&status, &flag));
    return flag;
}

/* Sends that no receive has matched. The receiver polls in the barrier only. */
static void test_cancel_sends(void) {
    static char large[1 << 20];
    MPI_Request request, first;
    MPI_Status status;
    int number = rank, got = -1;
    /* Announced: synchronous, and long. */
    CHECK_OK(MPI_Issend(&number, 1, MPI_INT, next(), 40, MPI_COMM_WORLD, &request));
    CHECK_INT(cancel_send(&request), 1);
    CHECK(request == MPI_REQUEST_NULL);
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    /* The receiver may take a long message into buffer memory while it waits; then the send completes. */
    memset(large, rank + 1, sizeof large);
    CHECK_OK(MPI_Isend(large, sizeof large, MPI_CHAR, next(), 41, MPI_COMM_WORLD, &request));
    int sent = !cancel_send(&request);
    int comes = -1;
    CHECK_OK(MPI_Sendrecv(&sent, 1, MPI_INT, next(), 42, &comes, 1, MPI_INT, before(), 42,
                          MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    if (comes) {
        CHECK_OK(MPI_Recv(large, sizeof large, MPI_CHAR, before(), 41, MPI_COMM_WORLD, &status));
        CHECK_INT(large[sizeof large - 1], before() + 1);
    }
    int there = -1;
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    CHECK_OK(MPI_Iprobe(before(), MPI_ANY_TAG, MPI_COMM_WORLD, &there, MPI_STATUS_IGNORE));
    CHECK_INT(there, 0);
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    /* The first of two equal messages is cancelled, so the receive gets the second. */
    number = 1000 + rank;
    int second = 2000 + rank;
    CHECK_OK(MPI_Issend(&number, 1, MPI_INT, next(), 43, MPI_COMM_WORLD, &first));
    CHECK_OK(MPI_Issend(&second, 1, MPI_INT, next(), 43, MPI_COMM_WORLD, &request));
    CHECK_INT(cancel_send(&first), 1);
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    CHECK_OK(MPI_Recv(&got, 1, MPI_INT, before(), 43, MPI_COMM_WORLD, &status));
    CHECK_INT(got, 2000 + before());
    CHECK_OK(MPI_Wait(&request, &status));
    CHECK_OK(MPI_Test_cancelled(&status, &got));
    CHECK_INT(got, 0);
    /* A persistent request can be started again after it was cancelled. */
    CHECK_OK(MPI_Ssend_init(&number, 1, MPI_INT, next(), 44, MPI_COMM_WORLD, &request));
    CHECK_OK(MPI_Start(&request));
    CHECK_INT(cancel_send(&request), 1);
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    CHECK_OK(MPI_Start(&request));
    CHECK_OK(MPI_Recv(&got, 1, MPI_INT, before(), 44, MPI_COMM_WORLD, &status));
    CHECK_INT(got, 1000 + before());
    CHECK_OK(MPI_Wait(&request, &status));
    CHECK_OK(MPI_Request_free(&request));
    /* A send that a receive has matched completes. */
    CHECK_OK(MPI_Irecv(&got, 1, MPI_INT, before(), 45, MPI_COMM_WORLD, &first));
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    CHECK_OK(MPI_Issend(&number, 1, MPI_INT, next(), 45, MPI_COMM_WORLD, &request));
    CHECK_INT(cancel_send(&request), 0);
    CHECK_OK(MPI_Wait(&first, &status));
    CHECK_INT(got, 1000 + before());
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
}

/* So many short messages that the receiver has no buffer memory for the last ones. Those that are
 * cancelled do not arrive, all others do, in order. */
static void test_cancel_queued_sends(void) {
    enum { kMost = 4000, kBytes = 4000 };
    static char data[kBytes], received[kBytes];
    static MPI_Request requests[kMost];
    static int kept[kMost], coming[kMost];
    int number = 0, others = 0;
    for (int i = 0; i < kMost; ++i) {
        CHECK_OK(MPI_Isend(data, kBytes, MPI_CHAR, next(), i, MPI_COMM_WORLD, &requests[i]));
    }
    for (int i = 0; i < kMost; ++i) {
        int done = 0;
        CHECK_OK(MPI_Request_get_status(requests[i], &done, MPI_STATUS_IGNORE));
        if (!done && i % 3 == 0 && cancel_send(&requests[i])) continue;
        kept[number++] = i;
    }
    MPI_Request list;
    MPI_Status status;
    CHECK_OK(MPI_Isend(kept, number, MPI_INT, next(), kMost, MPI_COMM_WORLD, &list));
    for (int i = 0;; ++i) {
        CHECK_OK(MPI_Probe(before(), MPI_ANY_TAG, MPI_COMM_WORLD, &status));
        if (status.MPI_TAG == kMost) {
            CHECK_OK(MPI_Get_count(&status, MPI_INT, &others));
            CHECK_INT(others, i);
            break;
        }
        coming[i] = status.MPI_TAG;
        CHECK_OK(MPI_Recv(received, kBytes, MPI_CHAR, before(), status.MPI_TAG, MPI_COMM_WORLD,
                          MPI_STATUS_IGNORE));
    }
    static int expected[kMost];
    CHECK_OK(MPI_Recv(expected, others, MPI_INT, before(), kMost, MPI_COMM_WORLD, &status));
    CHECK(memcmp(coming, expected, sizeof(int) * (size_t)others) == 0);
    CHECK_OK(MPI_Wait(&list, &status));
    CHECK_OK(MPI_Waitall(kMost, requests, MPI_STATUSES_IGNORE));
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
}

static int queries, frees, cancels;

static int query(void* state, MPI_Status* status) {
    ++queries;
    MPI_Status_set_elements(status, MPI_INT, *(int*)state);
    MPI_Status_set_cancelled(status, cancels);
    status->MPI_SOURCE = 4;
    status->MPI_TAG = 5;
    return MPI_SUCCESS;
}
static int release(void* state) {
    (void)state;
    ++frees;
    return MPI_SUCCESS;
}
static int cancel(void* state, int complete) {
    (void)state;
    (void)complete;
    ++cancels;
    return MPI_SUCCESS;
}

static void test_generalized(void) {
    int elements = 17, flag = 1, count = 0;
    MPI_Request request, kept;
    MPI_Status status;
    CHECK_OK(MPI_Grequest_start(query, release, cancel, &elements, &request));
    CHECK_OK(MPI_Test(&request, &flag, &status));
    CHECK(!flag);
    CHECK_OK(MPI_Grequest_complete(request));
    CHECK_OK(MPI_Request_get_status(request, &flag, &status));
    CHECK(flag);
    CHECK_INT(queries, 1);
    CHECK_OK(MPI_Wait(&request, &status));
    CHECK(request == MPI_REQUEST_NULL);
    CHECK_INT(queries, 2);
    CHECK_INT(frees, 1);
    CHECK_INT(status.MPI_SOURCE, 4);
    CHECK_INT(status.MPI_TAG, 5);
    MPI_Get_count(&status, MPI_INT, &count);
    CHECK_INT(count, 17);
    CHECK_OK(MPI_Grequest_start(query, release, cancel, &elements, &request));
    CHECK_OK(MPI_Cancel(&request));
    CHECK_INT(cancels, 1);
    CHECK_OK(MPI_Grequest_complete(request));
    MPI_Request several[2] = {MPI_REQUEST_NULL, request};
    MPI_Status statuses[2];
    CHECK_OK(MPI_Waitall(2, several, statuses));
    MPI_Test_cancelled(&statuses[1], &flag);
    CHECK(flag);
    CHECK_INT(frees, 2);
    /* Freed before its completion. */
    CHECK_OK(MPI_Grequest_start(query, release, cancel, &elements, &request));
    kept = request;
    CHECK_OK(MPI_Request_free(&request));
    CHECK_INT(frees, 2);
    CHECK_OK(MPI_Grequest_complete(kept));
    CHECK_INT(frees, 3);
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    CHECK_OK(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    CHECK_OK(MPI_Comm_size(MPI_COMM_WORLD, &size));
    test_many();
    test_several();
    test_persistent();
    test_wrong_starts();
    test_cancel();
    test_cancel_sends();
    test_cancel_queued_sends();
    test_free();
    test_probes();
    test_buffer();
#if MPI_VERSION > 4 || (MPI_VERSION == 4 && MPI_SUBVERSION >= 1)
    test_new_buffers();
    test_status_of_several();
#endif
    test_generalized();
    MPI_Finalize();
    return 0;
}
