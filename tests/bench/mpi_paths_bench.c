/* mpi_paths_bench [-pin cores|one] OPERATION NUMBER...: times one way to use MPI. One source, compiled
 * with each MPI. How it measures, and what it prints: repetitions.h.
 *
 *   window         NUMBER bytes one way, 64 non-blocking messages in flight; time of one message
 *   twoway         the same in both directions at once; time of a message each way
 *   halo2          the frame of a block of NUMBER x NUMBER doubles, periodic: 4 neighbours
 *   halo3          the same in three dimensions: 6 neighbours
 *   vector         half a round trip of 8192 doubles in blocks of NUMBER, as many skipped between
 *   indexed        the same with gaps of different lengths
 *   face           half a round trip of a face of a cube of 64 doubles; NUMBER is the direction
 *                  across it, 0 the slowest
 *   vector-hand, indexed-hand, face-hand   the same, packed and unpacked by loops into a buffer
 *   reverse        NUMBER receives are posted, and matched in the reverse order; time of one
 *   late           NUMBER messages arrive, and are received in the reverse order; time of one
 *   wildcards      half a round trip of 8 bytes while NUMBER receives with MPI_ANY_SOURCE wait, and
 *                  one with MPI_ANY_TAG
 *   communicators  half a round trip of 8 bytes, each on another of NUMBER communicators */
#define _GNU_SOURCE
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WINDOW = 64, TAG = 1, LATE = 9, ELEMENTS = 8192, CUBE = 64, MOST = 1 << 14 };

static int tasks, me;
static double *out, *in, *packed;
static MPI_Comm comm;
static MPI_Comm* comms;
static MPI_Request* requests;

static void fail(const char* what) {
    fprintf(stderr, "mpi_paths_bench: task %d: %s\n", me, what);
    MPI_Abort(MPI_COMM_WORLD, 1);
    exit(1);
}
static void send(const void* buffer, size_t size, int to, int tag) {
    MPI_Send(buffer, (int)size, MPI_BYTE, to, tag, MPI_COMM_WORLD);
}
static void receive(void* buffer, size_t size, int from, int tag) {
    MPI_Recv(buffer, (int)size, MPI_BYTE, from, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}
static void synchronise(void) {
    MPI_Barrier(MPI_COMM_WORLD);
}

#include "repetitions.h"

static void window(size_t size) {
    for (int i = 0; i < WINDOW; ++i)
        if (me == 0) {
            MPI_Isend(out, (int)size, MPI_BYTE, 1, TAG, comm, &requests[i]);
        } else {
            MPI_Irecv(in, (int)size, MPI_BYTE, 0, TAG, comm, &requests[i]);
        }
    MPI_Waitall(WINDOW, requests, MPI_STATUSES_IGNORE);
    if (me == 0) {
        receive(in, 0, 1, TAG);
    } else {
        send(out, 0, 0, TAG);
    }
}

static void two_way(size_t size) {
    for (int i = 0; i < WINDOW; ++i)
        MPI_Irecv(in, (int)size, MPI_BYTE, 1 - me, TAG, comm, &requests[i]);
    for (int i = 0; i < WINDOW; ++i)
        MPI_Isend(out, (int)size, MPI_BYTE, 1 - me, TAG, comm, &requests[WINDOW + i]);
    MPI_Waitall(2 * WINDOW, requests, MPI_STATUSES_IGNORE);
}

/* A block with a frame of one element, and its neighbours on a periodic grid of tasks. */
static int dimensions, below[3], above[3];
static MPI_Datatype faces[3][4]; /* to send to below, above; to receive from below, above */

static void make_halo(int how_many, int n) {
    int parts[3] = {0}, periods[3] = {1, 1, 1}, sizes[3] = {n + 2, n + 2, n + 2};
    dimensions = how_many;
    MPI_Dims_create(tasks, dimensions, parts);
    MPI_Cart_create(MPI_COMM_WORLD, dimensions, parts, periods, 0, &comm);
    for (int d = 0; d < dimensions; ++d) {
        MPI_Cart_shift(comm, d, 1, &below[d], &above[d]);
        const int place[4] = {1, n, 0, n + 1};
        for (int i = 0; i < 4; ++i) {
            int lengths[3] = {n, n, n}, starts[3] = {1, 1, 1};
            lengths[d] = 1;
            starts[d] = place[i];
            MPI_Type_create_subarray(dimensions, sizes, lengths, starts, MPI_ORDER_C, MPI_DOUBLE,
                                     &faces[d][i]);
            MPI_Type_commit(&faces[d][i]);
        }
    }
}

static void exchange_halo(size_t n) {
    (void)n;
    for (int d = 0; d < dimensions; ++d) {
        MPI_Irecv(out, 1, faces[d][2], below[d], 2 * d, comm, &requests[4 * d]);
        MPI_Irecv(out, 1, faces[d][3], above[d], 2 * d + 1, comm, &requests[4 * d + 1]);
    }
    for (int d = 0; d < dimensions; ++d) {
        MPI_Isend(out, 1, faces[d][0], below[d], 2 * d + 1, comm, &requests[4 * d + 2]);
        MPI_Isend(out, 1, faces[d][1], above[d], 2 * d, comm, &requests[4 * d + 3]);
    }
    MPI_Waitall(4 * dimensions, requests, MPI_STATUSES_IGNORE);
}

/* Blocks of a layout: its type, and the same for loops. */
static MPI_Datatype type;
static int blocks, block, places[ELEMENTS];

static void make_layout(const char* name, int number) {
    block = number;
    blocks = ELEMENTS / block;
    for (int i = 0; i < blocks; ++i) places[i] = 2 * block * i;
    if (strncmp(name, "vector", 6) == 0) {
        MPI_Type_vector(blocks, block, 2 * block, MPI_DOUBLE, &type);
    } else if (strncmp(name, "indexed", 7) == 0) {
        static int lengths[ELEMENTS];
        for (int i = 0; i < blocks; ++i) places[i] += i * 7 % block / 2 + i % 2, lengths[i] = block;
        MPI_Type_indexed(blocks, lengths, places, MPI_DOUBLE, &type);
    } else {
        fail("unknown operation");
    }
    MPI_Type_commit(&type);
}

static void make_face(int direction) {
    int sizes[3] = {CUBE, CUBE, CUBE}, lengths[3] = {CUBE, CUBE, CUBE}, starts[3] = {0};
    lengths[direction] = 1;
    starts[direction] = CUBE / 2;
    MPI_Type_create_subarray(3, sizes, lengths, starts, MPI_ORDER_C, MPI_DOUBLE, &type);
    MPI_Type_commit(&type);
    block = direction == 2 ? 1 : CUBE;
    blocks = CUBE * CUBE / block;
    for (int i = 0; i < blocks; ++i)
        places[i] = direction == 0   ? CUBE * CUBE * (CUBE / 2) + CUBE * i
                    : direction == 1 ? CUBE * CUBE * i + CUBE * (CUBE / 2)
                                     : CUBE * i + CUBE / 2;
}

static void typed(size_t number) {
    (void)number;
    for (int turn = 0; turn < 2; ++turn)
        if (turn == me) {
            MPI_Send(out, 1, type, 1 - me, TAG, comm);
        } else {
            MPI_Recv(in, 1, type, 1 - me, TAG, comm, MPI_STATUS_IGNORE);
        }
}

static void by_hand(size_t number) {
    (void)number;
    const int length = block, count = blocks * block;
    for (int turn = 0; turn < 2; ++turn)
        if (turn == me) {
            for (int i = 0; i < blocks; ++i)
                for (int j = 0; j < length; ++j) packed[i * length + j] = out[places[i] + j];
            MPI_Send(packed, count, MPI_DOUBLE, 1 - me, TAG, comm);
        } else {
            MPI_Recv(packed, count, MPI_DOUBLE, 1 - me, TAG, comm, MPI_STATUS_IGNORE);
            for (int i = 0; i < blocks; ++i)
                for (int j = 0; j < length; ++j) in[places[i] + j] = packed[i * length + j];
        }
}

/* Task 1 posts all receives before task 0 sends. */
static void reverse(size_t number) {
    const int n = (int)number;
    if (me == 1) {
        for (int i = 0; i < n; ++i) MPI_Irecv(in + i, 8, MPI_BYTE, 0, LATE + i, comm, &requests[i]);
        send(out, 0, 0, TAG);
        MPI_Waitall(n, requests, MPI_STATUSES_IGNORE);
    } else {
        receive(in, 0, 1, TAG);
        for (int i = n - 1; i >= 0; --i) MPI_Send(out + i, 8, MPI_BYTE, 1, LATE + i, comm);
    }
}

/* Task 0 sends all before task 1 receives. */
static void late(size_t number) {
    const int n = (int)number;
    if (me == 0) {
        for (int i = 0; i < n; ++i) MPI_Send(out + i, 8, MPI_BYTE, 1, LATE + i, comm);
        send(out, 0, 1, TAG);
        receive(in, 0, 1, TAG);
    } else {
        receive(in, 0, 0, TAG);
        for (int i = n - 1; i >= 0; --i)
            MPI_Recv(in + i, 8, MPI_BYTE, 0, LATE + i, comm, MPI_STATUS_IGNORE);
        send(out, 0, 0, TAG);
    }
}

static void ping_pong(size_t number) {
    static size_t next;
    MPI_Comm on = comms[next++ % (comms[1] == MPI_COMM_NULL ? 1 : number)];
    for (int turn = 0; turn < 2; ++turn)
        if (turn == me) {
            MPI_Send(out, 8, MPI_BYTE, 1 - me, TAG, on);
        } else {
            MPI_Recv(in, 8, MPI_BYTE, 1 - me, TAG, on, MPI_STATUS_IGNORE);
        }
}

static void among_wildcards(int number) {
    MPI_Irecv(in, 8, MPI_BYTE, me, MPI_ANY_TAG, comm, &requests[0]);
    for (int i = 1; i <= number; ++i)
        MPI_Irecv(in, 8, MPI_BYTE, MPI_ANY_SOURCE, LATE + i, comm, &requests[i]);
    measure("wildcards", ping_pong, (size_t)number, 2);
    MPI_Send(out, 8, MPI_BYTE, me, LATE, comm);
    for (int i = 1; i <= number; ++i) MPI_Send(out, 8, MPI_BYTE, 1 - me, LATE + i, comm);
    MPI_Waitall(number + 1, requests, MPI_STATUSES_IGNORE);
}

static void run(const char* name, size_t number) {
    const int n = (int)number;
    if (strcmp(name, "window") == 0) {
        measure(name, window, number, WINDOW);
    } else if (strcmp(name, "twoway") == 0) {
        measure(name, two_way, number, WINDOW);
    } else if (strncmp(name, "halo", 4) == 0) {
        make_halo(name[4] - '0', n);
        measure(name, exchange_halo, number, 1);
    } else if (strcmp(name, "reverse") == 0) {
        measure(name, reverse, number, n);
    } else if (strcmp(name, "late") == 0) {
        measure(name, late, number, n);
    } else if (strcmp(name, "wildcards") == 0) {
        among_wildcards(n);
    } else if (strcmp(name, "communicators") == 0) {
        for (int i = 0; i < n; ++i) MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
        measure(name, ping_pong, number, 2);
    } else {
        if (strncmp(name, "face", 4) == 0) {
            make_face(n);
        } else {
            make_layout(name, n);
        }
        measure(name, strstr(name, "-hand") != NULL ? by_hand : typed, number, 2);
    }
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &tasks);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    int word = pin_as_told(argc, argv);
    if (word >= argc || tasks < 2)
        fail("usage: mpi_paths_bench [-pin cores|one] OPERATION NUMBER...");
    const char* name = argv[word++];
    const size_t room = (size_t)4 << 20;
    out = aligned_alloc(4096, room);
    in = aligned_alloc(4096, room);
    packed = aligned_alloc(4096, room);
    requests = calloc(MOST, sizeof *requests);
    comms = calloc(MOST, sizeof *comms);
    if (!out || !in || !packed || !requests || !comms) fail("out of memory");
    memset(out, 0, room);
    memset(in, 0, room);
    memset(packed, 0, room);
    comm = comms[0] = MPI_COMM_WORLD;
    for (int i = 1; i < MOST; ++i) comms[i] = MPI_COMM_NULL;
    if (tasks == 2) map_line();
    for (; word < argc; ++word) run(name, strtoul(argv[word], NULL, 10));
    MPI_Finalize();
    return 0;
}
