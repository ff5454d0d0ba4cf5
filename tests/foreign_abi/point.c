/* Point-to-point communication: wildcards, statuses alone and in arrays, probes, persistent and
   cancelled requests. */
#include "check.h"

enum { kMessages = 100 };

static void check_status(const MPI_Status* status, int source, int tag, int ints) {
    int count = -1, elements = -1, cancelled = -1;
    CHECK_EQUAL(status->MPI_SOURCE, source);
    CHECK_EQUAL(status->MPI_TAG, tag);
    MPI_Get_count(status, MPI_INT, &count);
    CHECK_EQUAL(count, ints);
    MPI_Get_elements(status, MPI_INT, &elements);
    CHECK_EQUAL(elements, ints);
    MPI_Test_cancelled(status, &cancelled);
    CHECK_EQUAL(cancelled, 0);
}

static void ring(void) {
    int next = (my_rank + 1) % all, before = (my_rank + all - 1) % all;
    int out[3] = {my_rank, 7, -1}, in[8] = {0};
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Status status;
    memset(&status, 0x5a, sizeof status);
    MPI_Irecv(in, 8, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &request);
    CHECK(request != MPI_REQUEST_NULL);
    MPI_Send(out, 3, MPI_INT, next, 40 + my_rank, MPI_COMM_WORLD);
    MPI_Wait(&request, &status);
    CHECK_EQUAL(request, MPI_REQUEST_NULL);
    check_status(&status, before, 40 + before, 3);
    CHECK_EQUAL(in[0], before);
    /* A function with one status leaves MPI_ERROR alone. */
    CHECK_EQUAL(status.MPI_ERROR, 0x5a5a5a5a);
    MPI_Sendrecv(out, 2, MPI_INT, next, 1, in, 8, MPI_INT, before, MPI_ANY_TAG, MPI_COMM_WORLD,
                 &status);
    check_status(&status, before, 1, 2);
    MPI_Sendrecv(out, 2, MPI_INT, next, 1, in, 8, MPI_INT, before, 1, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    /* Nobody. */
    MPI_Send(out, 3, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD);
    MPI_Recv(in, 8, MPI_INT, MPI_PROC_NULL, 3, MPI_COMM_WORLD, &status);
    check_status(&status, MPI_PROC_NULL, MPI_ANY_TAG, 0);
    /* The status of a null request is empty. */
    MPI_Wait(&request, &status);
    check_status(&status, MPI_ANY_SOURCE, MPI_ANY_TAG, 0);
}

static void test_leaves_status(void) {
    MPI_Status status;
    MPI_Request request;
    int flag = 1, in = 0;
    status.MPI_SOURCE = 77;
    status.MPI_TAG = 78;
    MPI_Irecv(&in, 1, MPI_INT, my_rank, 5, MPI_COMM_WORLD, &request);
    MPI_Test(&request, &flag, &status);
    CHECK_EQUAL(flag, 0);
    CHECK_EQUAL(status.MPI_SOURCE, 77);
    CHECK_EQUAL(status.MPI_TAG, 78);
    CHECK(request != MPI_REQUEST_NULL);
    MPI_Cancel(&request);
    MPI_Wait(&request, &status);
    MPI_Test_cancelled(&status, &flag);
    CHECK_EQUAL(flag, 1);
    CHECK_EQUAL(request, MPI_REQUEST_NULL);
}

/* More requests than the small arrays on the stack hold. */
static void many(void) {
    static int in[kMessages][2], out[kMessages];
    MPI_Request requests[2 * kMessages];
    MPI_Status statuses[2 * kMessages];
    int indices[2 * kMessages], done = 0, i, next = (my_rank + 1) % all,
                                before = (my_rank + all - 1) % all;
    memset(statuses, 0x5a, sizeof statuses);
    for (i = 0; i < kMessages; ++i) {
        MPI_Irecv(in[i], 2, MPI_INT, before, i, MPI_COMM_WORLD, &requests[i]);
        out[i] = 1000 * my_rank + i;
    }
    for (i = 0; i < kMessages; ++i)
        MPI_Issend(&out[i], 1, MPI_INT, next, i, MPI_COMM_WORLD, &requests[kMessages + i]);
    MPI_Waitall(2 * kMessages, requests, statuses);
    for (i = 0; i < kMessages; ++i) {
        check_status(&statuses[i], before, i, 1);
        CHECK_EQUAL(in[i][0], 1000 * before + i);
        CHECK_EQUAL(requests[i], MPI_REQUEST_NULL);
        CHECK_EQUAL(requests[kMessages + i], MPI_REQUEST_NULL);
    }
    for (i = 0; i < kMessages; ++i)
        MPI_Irecv(in[i], 2, MPI_INT, MPI_ANY_SOURCE, i, MPI_COMM_WORLD, &requests[i]);
    for (i = 0; i < kMessages; ++i) MPI_Send(&out[i], 1, MPI_INT, next, i, MPI_COMM_WORLD);
    while (done < kMessages) {
        int some = 0, j;
        MPI_Waitsome(kMessages, requests, &some, indices, statuses);
        CHECK(some > 0 && some <= kMessages);
        for (j = 0; j < some; ++j) {
            check_status(&statuses[j], before, indices[j], 1);
            CHECK_EQUAL(requests[indices[j]], MPI_REQUEST_NULL);
        }
        done += some;
    }
    MPI_Waitsome(kMessages, requests, &done, indices, MPI_STATUSES_IGNORE);
    CHECK_EQUAL(done, MPI_UNDEFINED);
}

static void any(void) {
    MPI_Request requests[3];
    MPI_Status status;
    int in[3], out = 9, index = -1, flag = 0;
    requests[0] = MPI_REQUEST_NULL;
    MPI_Irecv(&in[1], 1, MPI_INT, my_rank, 1, MPI_COMM_WORLD, &requests[1]);
    MPI_Irecv(&in[2], 1, MPI_INT, my_rank, 2, MPI_COMM_WORLD, &requests[2]);
    MPI_Send(&out, 1, MPI_INT, my_rank, 2, MPI_COMM_WORLD);
    MPI_Waitany(3, requests, &index, &status);
    CHECK_EQUAL(index, 2);
    check_status(&status, my_rank, 2, 1);
    MPI_Testany(3, requests, &index, &flag, &status);
    CHECK_EQUAL(flag, 0);
    CHECK_EQUAL(index, MPI_UNDEFINED);
    MPI_Testall(3, requests, &flag, MPI_STATUSES_IGNORE);
    CHECK_EQUAL(flag, 0);
    MPI_Send(&out, 1, MPI_INT, my_rank, 1, MPI_COMM_WORLD);
    MPI_Request_get_status(requests[1], &flag, &status);
    while (!flag) MPI_Request_get_status(requests[1], &flag, &status);
    check_status(&status, my_rank, 1, 1);
    CHECK(requests[1] != MPI_REQUEST_NULL);
    MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
    CHECK_EQUAL(requests[1], MPI_REQUEST_NULL);
    MPI_Waitany(3, requests, &index, &status);
    CHECK_EQUAL(index, MPI_UNDEFINED);
}

static void probes(void) {
    MPI_Status status;
    MPI_Message message = MPI_MESSAGE_NULL;
    int out[5] = {0}, in[5], flag = 0, next = (my_rank + 1) % all,
        before = (my_rank + all - 1) % all;
    MPI_Request request;
    MPI_Isend(out, 5, MPI_INT, next, 6, MPI_COMM_WORLD, &request);
    MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
    check_status(&status, before, 6, 5);
    while (!flag) MPI_Iprobe(MPI_ANY_SOURCE, 6, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    MPI_Mprobe(before, MPI_ANY_TAG, MPI_COMM_WORLD, &message, &status);
    check_status(&status, before, 6, 5);
    CHECK(message != MPI_MESSAGE_NULL && message != MPI_MESSAGE_NO_PROC);
    MPI_Mrecv(in, 5, MPI_INT, &message, &status);
    check_status(&status, before, 6, 5);
    CHECK_EQUAL(message, MPI_MESSAGE_NULL);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Mprobe(MPI_PROC_NULL, 0, MPI_COMM_WORLD, &message, &status);
    CHECK_EQUAL(message, MPI_MESSAGE_NO_PROC);
    check_status(&status, MPI_PROC_NULL, MPI_ANY_TAG, 0);
    MPI_Mrecv(in, 5, MPI_INT, &message, MPI_STATUS_IGNORE);
    CHECK_EQUAL(message, MPI_MESSAGE_NULL);
}

static void persistent(void) {
    MPI_Request requests[2];
    MPI_Status statuses[2];
    int out = my_rank, in = -1, i, next = (my_rank + 1) % all, before = (my_rank + all - 1) % all;
    MPI_Recv_init(&in, 1, MPI_INT, before, MPI_ANY_TAG, MPI_COMM_WORLD, &requests[0]);
    MPI_Send_init(&out, 1, MPI_INT, next, 8, MPI_COMM_WORLD, &requests[1]);
    for (i = 0; i < 3; ++i) {
        MPI_Request same = requests[0];
        in = -1;
        MPI_Startall(2, requests);
        MPI_Waitall(2, requests, statuses);
        check_status(&statuses[0], before, 8, 1);
        CHECK_EQUAL(in, before);
        CHECK_EQUAL(requests[0], same);
    }
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
    CHECK_EQUAL(requests[0], MPI_REQUEST_NULL);
}

/* MPICH's header says that a message needs 96 bytes beside its data. */
static void buffered(void) {
    enum { kBuffered = 20, kBytes = kBuffered * (sizeof(int) + MPI_BSEND_OVERHEAD) };
    static char memory[kBytes];
    void* found = NULL;
    int i, in, size = 0;
    MPI_Buffer_attach(memory, kBytes);
    for (i = 0; i < kBuffered; ++i) MPI_Bsend(&i, 1, MPI_INT, my_rank, 300 + i, MPI_COMM_WORLD);
    for (i = 0; i < kBuffered; ++i) {
        MPI_Recv(&in, 1, MPI_INT, my_rank, 300 + i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK_EQUAL(in, i);
    }
    MPI_Buffer_detach(&found, &size);
    CHECK(found == memory);
    CHECK_EQUAL(size, kBytes);
}

static void made_statuses(void) {
    MPI_Status status, copy;
    MPI_Fint fortran[MPI_F_STATUS_SIZE];
    int count = 0, flag = 0;
    MPI_Count large = 0;
    memset(&status, 0, sizeof status);
    status.MPI_SOURCE = MPI_ANY_SOURCE;
    status.MPI_ERROR = MPI_ERR_OTHER;
    MPI_Status_set_elements(&status, MPI_DOUBLE, 11);
    MPI_Status_set_cancelled(&status, 1);
    MPI_Get_count(&status, MPI_DOUBLE, &count);
    CHECK_EQUAL(count, 11);
    MPI_Get_count(&status, MPI_LONG_DOUBLE, &count);
    CHECK_EQUAL(count, MPI_UNDEFINED);
    MPI_Test_cancelled(&status, &flag);
    CHECK_EQUAL(flag, 1);
    MPI_Status_set_elements_x(&status, MPI_BYTE, 0x123456789aLL);
    MPI_Get_elements_x(&status, MPI_BYTE, &large);
    CHECK_EQUAL(large, 0x123456789aLL);
    MPI_Status_c2f(&status, fortran);
    CHECK_EQUAL(fortran[MPI_F_SOURCE], MPI_ANY_SOURCE);
    CHECK_EQUAL(fortran[MPI_F_ERROR], MPI_ERR_OTHER);
    MPI_Status_f2c(fortran, &copy);
    CHECK(memcmp(&status, &copy, sizeof status) == 0);
}

int main(int argc, char** argv) {
    begin(&argc, &argv);
    ring();
    test_leaves_status();
    many();
    any();
    probes();
    persistent();
    buffered();
    made_statuses();
    return end();
}
