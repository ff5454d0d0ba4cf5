/* Messages of several threads at once (MPI 5.0, sections 3.5, 3.8 and 11.6): a thread that waits holds
 * up no other thread, messages of one thread stay in order, and a task may send to itself. */
#include <stdint.h>

#include "threads_test.h"

enum { kRounds = 12, kLongest = 200000 };

static int length_of(int thread, int round) {
    static const int lengths[] = {0, 1, 7, 64, 1000, 20000, 70000, kLongest};
    return lengths[(thread + round) % 8];
}

static void fill(unsigned char* data, int n, int seed) {
    for (int i = 0; i < n; ++i) data[i] = (unsigned char)(seed * 31 + i * 7);
}

static void check_data(const unsigned char* data, int n, int seed) {
    for (int i = 0; i < n; ++i) CHECK_INT(data[i], (unsigned char)(seed * 31 + i * 7));
}

/* A ring of messages of all lengths. */
static void ring(MPI_Comm comm, int tag, int thread) {
    const int to = (threads_rank + 1) % threads_size;
    const int from = (threads_rank + threads_size - 1) % threads_size;
    unsigned char* sent = malloc(kLongest + 1);
    unsigned char* received = malloc(kLongest + 1);
    for (int round = 0; round < kRounds; ++round) {
        const int n = length_of(thread, round);
        MPI_Request request;
        MPI_Status status;
        int count = -1;
        fill(sent, n, threads_rank + thread + round);
        if (round % 3 == 0) {
            CHECK_OK(MPI_Isend(sent, n, MPI_BYTE, to, tag, comm, &request));
            CHECK_OK(MPI_Recv(received, kLongest, MPI_BYTE, from, tag, comm, &status));
        } else if (round % 3 == 1) {
            CHECK_OK(MPI_Irecv(received, kLongest, MPI_BYTE, from, tag, comm, &request));
            CHECK_OK(MPI_Send(sent, n, MPI_BYTE, to, tag, comm));
        } else {
            CHECK_OK(MPI_Irecv(received, kLongest, MPI_BYTE, from, tag, comm, &request));
            CHECK_OK(MPI_Ssend(sent, n, MPI_BYTE, to, tag, comm));
        }
        CHECK_OK(MPI_Wait(&request, round % 3 == 0 ? MPI_STATUS_IGNORE : &status));
        CHECK_INT(status.MPI_SOURCE, from);
        CHECK_INT(status.MPI_TAG, tag);
        CHECK_OK(MPI_Get_count(&status, MPI_BYTE, &count));
        CHECK_INT(count, n);
        check_data(received, n, from + thread + round);
    }
    free(sent);
    free(received);
}

static void own_communicators(int thread) {
    ring(threads_comms[thread], 5, thread);
}

static void own_tags(int thread) {
    ring(MPI_COMM_WORLD, 100 + thread, thread);
}

/* Pairs of threads of one task: one sends to the own task in all modes, the other receives. */
static void to_itself(int thread) {
    const int tag = 200 + thread / 2;
    int* data = malloc(kLongest * sizeof(int));
    for (int round = 0; round < kRounds; ++round) {
        const int n = length_of(thread / 2, round);
        if (thread % 2 == 0) {
            for (int i = 0; i < n; ++i) data[i] = i + round;
            if (round % 2 == 0) {
                CHECK_OK(MPI_Ssend(data, n, MPI_INT, 0, tag, MPI_COMM_SELF));
            } else {
                CHECK_OK(MPI_Send(data, n, MPI_INT, 0, tag, MPI_COMM_SELF));
            }
        } else {
            MPI_Status status;
            if (round % 3 == 0) CHECK_OK(MPI_Probe(0, tag, MPI_COMM_SELF, &status));
            CHECK_OK(MPI_Recv(data, kLongest, MPI_INT, round % 2 ? 0 : MPI_ANY_SOURCE, tag,
                              MPI_COMM_SELF, &status));
            for (int i = 0; i < n; ++i) CHECK_INT(data[i], i + round);
        }
    }
    free(data);
}

/* A long message to the own task that no buffer holds: only another thread can receive it. */
static void long_to_itself(int thread) {
    enum { kMany = 3 << 20 };
    if (thread > 1) return;
    char* data = calloc(kMany, 4);
    for (int round = 0; round < 8; ++round) {
        if (thread == 0) {
            CHECK_OK(MPI_Send(data, 4 * kMany, MPI_BYTE, 0, 1, MPI_COMM_SELF));
        } else {
            CHECK_OK(MPI_Recv(data, 4 * kMany, MPI_BYTE, 0, 1, MPI_COMM_SELF, MPI_STATUS_IGNORE));
        }
    }
    free(data);
}

/* One thread waits for a message that comes last, in each of the functions that wait. */
static void blocked_receiver(int thread) {
    const int peer = (threads_rank + 1) % threads_size;
    const int from = (threads_rank + threads_size - 1) % threads_size;
    int data = 0;
    MPI_Request request;
    MPI_Status status;
    int index = -1;
    switch (thread) {
        case 0:
            CHECK_OK(MPI_Recv(&data, 1, MPI_INT, from, 300, MPI_COMM_WORLD, &status));
            break;
        case 1:
            CHECK_OK(MPI_Irecv(&data, 1, MPI_INT, MPI_ANY_SOURCE, 301, MPI_COMM_WORLD, &request));
            CHECK_OK(MPI_Wait(&request, &status));
            break;
        case 2:
            CHECK_OK(MPI_Probe(MPI_ANY_SOURCE, 302, MPI_COMM_WORLD, &status));
            CHECK_OK(MPI_Recv(&data, 1, MPI_INT, from, 302, MPI_COMM_WORLD, &status));
            break;
        case 3:
            CHECK_OK(MPI_Irecv(&data, 1, MPI_INT, from, 303, MPI_COMM_WORLD, &request));
            CHECK_OK(MPI_Waitany(1, &request, &index, &status));
            CHECK_INT(index, 0);
            break;
        case 4:
            data = 4;
            CHECK_OK(MPI_Ssend(&data, 1, MPI_INT, peer, 310, MPI_COMM_WORLD));
            return;
        default: {
            /* Meanwhile these threads do a lot, and the last one ends the waits of all others. */
            for (int i = 0; i < 50; ++i) {
                int sum = 0;
                const int one = 1;
                CHECK_OK(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, threads_comms[thread]));
                CHECK_INT(sum, threads_size);
                CHECK_OK(MPI_Sendrecv(&i, 1, MPI_INT, peer, thread, &data, 1, MPI_INT, from, thread,
                                      threads_comms[thread], MPI_STATUS_IGNORE));
                CHECK_INT(data, i);
            }
            if (thread != kThreads - 1) return;
            for (int to = 0; to < 4; ++to)
                CHECK_OK(MPI_Send(&to, 1, MPI_INT, peer, 300 + to, MPI_COMM_WORLD));
            CHECK_OK(MPI_Recv(&data, 1, MPI_INT, from, 310, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
            CHECK_INT(data, 4);
            return;
        }
    }
    CHECK_INT(data, thread);
    CHECK_INT(status.MPI_SOURCE, from);
}

/* All threads receive from anybody; every message arrives once. */
static int64_t received_sum;
static pthread_mutex_t received_lock = PTHREAD_MUTEX_INITIALIZER;

static void add_received(int64_t amount) {
    pthread_mutex_lock(&received_lock);
    received_sum += amount;
    pthread_mutex_unlock(&received_lock);
}

static void wildcards(int thread) {
    const int half = kThreads / 2;
    int64_t sum = 0;
    for (int i = 0; i < 40; ++i) {
        if (thread < half) {
            const int to = (threads_rank + i) % threads_size;
            const int value = i * (thread + 1);
            CHECK_OK(MPI_Send(&value, 1, MPI_INT, to, 400 + thread, threads_comms[0]));
        } else {
            int value = 0;
            CHECK_OK(MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, threads_comms[0],
                              MPI_STATUS_IGNORE));
            sum += value;
        }
    }
    add_received(sum);
}

/* Matched probes by several threads: each takes the message that it has found. */
static void matched_probes(int thread) {
    const int half = kThreads / 2;
    unsigned char* data = malloc(kLongest);
    int64_t sum = 0;
    for (int i = 0; i < 20; ++i) {
        const int n = length_of(i, 3) % 5000 + 1;
        if (thread < half) {
            fill(data, n, n);
            CHECK_OK(MPI_Send(data, n, MPI_BYTE, (threads_rank + i) % threads_size, 7,
                              threads_comms[1]));
        } else {
            MPI_Message message = MPI_MESSAGE_NULL;
            MPI_Status status;
            int count = -1;
            if (i % 2 == 0) {
                CHECK_OK(MPI_Mprobe(MPI_ANY_SOURCE, 7, threads_comms[1], &message, &status));
            } else {
                int found = 0;
                while (!found)
                    CHECK_OK(MPI_Improbe(MPI_ANY_SOURCE, MPI_ANY_TAG, threads_comms[1], &found,
                                         &message, &status));
            }
            CHECK_OK(MPI_Get_count(&status, MPI_BYTE, &count));
            CHECK_OK(MPI_Mrecv(data, count, MPI_BYTE, &message, MPI_STATUS_IGNORE));
            check_data(data, count, count);
            sum += count;
        }
    }
    add_received(sum);
    free(data);
}

/* Messages of one thread stay in order, whatever the others do. */
static void order(int thread) {
    enum { kMessages = 100 };
    const int to = (threads_rank + 1) % threads_size;
    const int from = (threads_rank + threads_size - 1) % threads_size;
    int sent[kMessages], got[kMessages];
    MPI_Request requests[2 * kMessages];
    for (int i = 0; i < kMessages; ++i) {
        sent[i] = i;
        CHECK_OK(MPI_Irecv(&got[i], 1, MPI_INT, from, thread, MPI_COMM_WORLD, &requests[i]));
    }
    for (int i = 0; i < kMessages; ++i)
        CHECK_OK(
            MPI_Isend(&sent[i], 1, MPI_INT, to, thread, MPI_COMM_WORLD, &requests[kMessages + i]));
    if (thread % 2 == 0) {
        CHECK_OK(MPI_Waitall(2 * kMessages, requests, MPI_STATUSES_IGNORE));
    } else {
        int indices[2 * kMessages], ended = 0;
        for (int done = 0; done < 2 * kMessages; done += ended)
            CHECK_OK(MPI_Waitsome(2 * kMessages, requests, &ended, indices, MPI_STATUSES_IGNORE));
    }
    for (int i = 0; i < kMessages; ++i) CHECK_INT(got[i], i);
}

/* Persistent requests and tests. */
static void persistent(int thread) {
    const int to = (threads_rank + 1) % threads_size;
    const int from = (threads_rank + threads_size - 1) % threads_size;
    int sent = 0, got = -1;
    MPI_Request requests[2];
    CHECK_OK(MPI_Recv_init(&got, 1, MPI_INT, from, 9, threads_comms[thread], &requests[0]));
    CHECK_OK(MPI_Send_init(&sent, 1, MPI_INT, to, 9, threads_comms[thread], &requests[1]));
    for (int round = 0; round < 20; ++round) {
        int flag = 0;
        sent = round + threads_rank;
        CHECK_OK(MPI_Startall(2, requests));
        while (!flag) CHECK_OK(MPI_Testall(2, requests, &flag, MPI_STATUSES_IGNORE));
        CHECK_INT(got, round + from);
    }
    for (int i = 0; i < 2; ++i) CHECK_OK(MPI_Request_free(&requests[i]));
}

/* A request of one thread that another thread ends: a generalized request, a cancelled receive. */
static MPI_Request shared_requests[kThreads];
static pthread_barrier_t shared_ready;

static int query(void* state, MPI_Status* status) {
    (void)state;
    MPI_Status_set_elements(status, MPI_INT, 3);
    MPI_Status_set_cancelled(status, 0);
    status->MPI_SOURCE = MPI_UNDEFINED;
    status->MPI_TAG = MPI_UNDEFINED;
    return MPI_SUCCESS;
}
static int nothing_to_free(void* state) {
    (void)state;
    return MPI_SUCCESS;
}
static int nothing_to_cancel(void* state, int complete) {
    (void)state;
    (void)complete;
    return MPI_SUCCESS;
}

static void requests_of_others(int thread) {
    int data = 0;
    MPI_Status status;
    if (thread % 2 == 0) {
        if (thread % 4 == 0) {
            CHECK_OK(MPI_Grequest_start(query, nothing_to_free, nothing_to_cancel, NULL,
                                        &shared_requests[thread]));
        } else {
            CHECK_OK(MPI_Irecv(&data, 1, MPI_INT, MPI_ANY_SOURCE, 500 + thread, MPI_COMM_WORLD,
                               &shared_requests[thread]));
        }
    }
    pthread_barrier_wait(&shared_ready);
    if (thread % 2 == 0) {
        MPI_Request request = shared_requests[thread];
        CHECK_OK(MPI_Wait(&request, &status));
        int count = -1, cancelled = -1;
        CHECK_OK(MPI_Test_cancelled(&status, &cancelled));
        CHECK_INT(cancelled, thread % 4 != 0);
        CHECK_OK(MPI_Get_count(&status, MPI_INT, &count));
        if (thread % 4 == 0) CHECK_INT(count, 3);
    } else if ((thread - 1) % 4 == 0) {
        CHECK_OK(MPI_Grequest_complete(shared_requests[thread - 1]));
    } else {
        CHECK_OK(MPI_Cancel(&shared_requests[thread - 1]));
    }
}

static void buffered(int thread) {
    int got = -1;
    MPI_Request request;
    const int to = (threads_rank + 1) % threads_size;
    const int from = (threads_rank + threads_size - 1) % threads_size;
    for (int i = 0; i < 20; ++i) {
        CHECK_OK(MPI_Ibsend(&i, 1, MPI_INT, to, 600 + thread, MPI_COMM_WORLD, &request));
        CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        CHECK_OK(MPI_Recv(&got, 1, MPI_INT, from, 600 + thread, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        CHECK_INT(got, i);
        if (i % 7 == 0) CHECK_OK(MPI_Buffer_flush());
    }
}

int main(int argc, char** argv) {
    int flag = 0, level = -1;
    begin_threads(&argc, &argv);
    CHECK_OK(MPI_Query_thread(&level));
    CHECK_INT(level, MPI_THREAD_MULTIPLE);
    CHECK_OK(MPI_Is_thread_main(&flag));
    CHECK_INT(flag, 1);

    in_threads(own_communicators);
    in_threads(own_tags);
    in_threads(to_itself);
    in_threads(long_to_itself);
    in_threads(blocked_receiver);
    in_threads(order);
    in_threads(persistent);

    received_sum = 0;
    in_threads(wildcards);
    int64_t sum = 0, expected = 0;
    CHECK_OK(MPI_Allreduce(&received_sum, &sum, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD));
    for (int t = 0; t < kThreads / 2; ++t)
        for (int i = 0; i < 40; ++i) expected += (int64_t)threads_size * i * (t + 1);
    CHECK_INT(sum, expected);

    received_sum = 0;
    in_threads(matched_probes);
    expected = 0;
    CHECK_OK(MPI_Allreduce(&received_sum, &sum, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD));
    for (int i = 0; i < 20; ++i)
        expected += (int64_t)threads_size * (kThreads / 2) * (length_of(i, 3) % 5000 + 1);
    CHECK_INT(sum, expected);

    pthread_barrier_init(&shared_ready, NULL, kThreads);
    in_threads(requests_of_others);

    enum { kBuffer = 1 << 20 };
    void* buffer = malloc(kBuffer);
    int size = 0;
    CHECK_OK(MPI_Buffer_attach(buffer, kBuffer));
    in_threads(buffered);
    CHECK_OK(MPI_Buffer_detach(&buffer, &size));
    CHECK_INT(size, kBuffer);
    free(buffer);
    end_threads();
    return 0;
}
