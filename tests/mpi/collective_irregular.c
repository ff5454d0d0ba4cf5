/* Alltoallv, gatherv, scatterv and allgatherv with lengths that change from call to call: short
 * blocks, which travel with their lengths; long ones; calls in which few pairs have long blocks; and
 * calls without any data. Some members take a datatype of the program, with which calls go the
 * general way, and the others a predefined one. */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "mpi_test.h"

static int n, me;

static unsigned mixed(unsigned a, unsigned b, unsigned c) {
    unsigned x = a * 2654435761u ^ b * 2246822519u ^ c * 3266489917u;
    x ^= x >> 15;
    x *= 2246822519u;
    return x ^ x >> 13;
}

static int length(int from, int to, int call) {
    static const int most[] = {0,    8,    8,    60,    300,    300,  300,
                               2000, 9000, 9000, 20000, 150000, 9000, 8};
    const int longest = most[call % 14];
    const unsigned x = mixed((unsigned)from, (unsigned)to, (unsigned)call);
    switch (call / 14 % 4) {
        case 0: /* alike */
            return longest - (int)(x % (unsigned)(longest / 8 + 1));
        case 1: /* a ring */
            return to == (from + 1) % n ? longest : 0;
        case 2: /* any */
            return (int)(x % (unsigned)(longest + 1));
        default: /* one long block */
            return from == call % n && to == (call + 1) % n ? longest : (int)(x % 9);
    }
}

static unsigned char byte_of(int from, int to, int call, int at) {
    return (unsigned char)(from * 31 + to * 17 + call * 7 + at + at / 251);
}

static void exchange(int call) {
    int* out = malloc((size_t)n * 4 * sizeof(int));
    int *in = out + n, *out_at = in + n, *in_at = out_at + n, out_end = 0, in_end = 0;
    for (int other = 0; other < n; ++other) {
        out[other] = length(me, other, call);
        in[other] = length(other, me, call);
        out_at[other] = out_end;
        in_at[other] = in_end;
        out_end += out[other] + call % 3;
        in_end += in[other] + 1;
    }
    unsigned char* given = malloc((size_t)out_end + 1);
    unsigned char* gotten = malloc((size_t)in_end + 1);
    memset(gotten, 0xee, (size_t)in_end + 1);
    for (int other = 0; other < n; ++other)
        for (int i = 0; i < out[other]; ++i) given[out_at[other] + i] = byte_of(me, other, call, i);
    CHECK_OK(
        MPI_Alltoallv(given, out, out_at, MPI_BYTE, gotten, in, in_at, MPI_BYTE, MPI_COMM_WORLD));
    for (int other = 0; other < n; ++other) {
        int right = gotten[in_at[other] + in[other]] == 0xee;
        for (int i = 0; i < in[other]; ++i)
            right = right && gotten[in_at[other] + i] == byte_of(other, me, call, i);
        CHECK(right);
    }
    free(given), free(gotten), free(out);
}

/* Whether a member makes this call with a datatype of the program: one, or all, or none. */
static int in_the_general_way(int call) {
    return call % (n + 2) == n || call % (n + 2) == me;
}

/* Every second byte of the program's memory. */
static MPI_Datatype apart;

/* The bytes of a block, one after the other or each with a byte after it. */
static void put(unsigned char* memory, int step, int from, int to, int call, int bytes) {
    for (int i = 0; i < bytes; ++i) memory[i * step] = byte_of(from, to, call, i);
}
static int is_there(const unsigned char* memory, int step, int from, int to, int call, int bytes) {
    int right = 1;
    for (int i = 0; i < bytes; ++i) {
        right = right && memory[i * step] == byte_of(from, to, call, i);
        right = right && (step == 1 || memory[i * step + 1] == 0xee);
    }
    return right;
}

/* The block of a member in calls with a root: also blocks of equal length, and those next to the
 * longest one that goes through shared memory with its length. */
static int rooted_length(int rank, int call) {
    static const int edges[] = {0, 1, 48, 1064, 1071, 1072, 1073, 1080, 70000};
    static const int alike[] = {8, 1064, 5000, 70000};
    if (call % 7 > 4) return alike[call / 7 % 4];
    return call % 3 == 0 ? edges[mixed((unsigned)rank, (unsigned)call, 1) % 9]
                         : length(rank, rank + 1, call);
}

static void exchange_with_root(int call) {
    const int root = (call / 3) % n, step = in_the_general_way(call) ? 2 : 1;
    const MPI_Datatype type = step == 2 ? apart : MPI_BYTE;
    const int in_place = call % 5 == 0, mine = rooted_length(me, call);
    int* counts = malloc(2 * (size_t)n * sizeof(int));
    int *at = counts + n, end = 0;
    for (int r = 0; r < n; ++r) {
        counts[r] = rooted_length(r, call);
        at[r] = end;
        end += counts[r] + call % 2;
    }
    const size_t bytes = ((size_t)end + 1) * (size_t)step, own_bytes = ((size_t)mine + 1) * 2;
    unsigned char *all = malloc(bytes), *own = malloc(own_bytes);
#define AT(r) (all + at[r] * step)

    memset(all, 0xee, bytes), memset(own, 0xee, own_bytes);
    put(own, step, me, 0, call, mine);
    if (in_place) put(AT(me), step, me, 0, call, mine);
    CHECK_OK(MPI_Gatherv(in_place && me == root ? MPI_IN_PLACE : own, mine, type,
                         me == root ? all : NULL, counts, at, type, root, MPI_COMM_WORLD));
    for (int r = 0; r < n && me == root; ++r) CHECK(is_there(AT(r), step, r, 0, call, counts[r]));

    memset(all, 0xee, bytes), memset(own, 0xee, own_bytes);
    for (int r = 0; r < n; ++r) put(AT(r), step, root, r, call, counts[r]);
    CHECK_OK(MPI_Scatterv(me == root ? all : NULL, counts, at, type,
                          in_place && me == root ? MPI_IN_PLACE : own, mine, type, root,
                          MPI_COMM_WORLD));
    if (!in_place || me != root) {
        CHECK(is_there(own, step, root, me, call, mine));
        CHECK_INT(own[mine * step], 0xee);
    }

    memset(all, 0xee, bytes), memset(own, 0xee, own_bytes);
    put(own, step, me, 1, call, mine);
    if (in_place) put(AT(me), step, me, 1, call, mine);
    CHECK_OK(MPI_Allgatherv(in_place ? MPI_IN_PLACE : own, mine, type, all, counts, at, type,
                            MPI_COMM_WORLD));
    for (int r = 0; r < n; ++r) CHECK(is_there(AT(r), step, r, 1, call, counts[r]));
    free(all), free(own), free(counts);
}

/* The root of a gatherv, or a member in a scatterv, expects less than is sent. The call after it is
 * right. */
static void truncated_at(int bytes, int call) {
    MPI_Comm copy;
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    MPI_Comm_set_errhandler(copy, MPI_ERRORS_RETURN);
    unsigned char *all = calloc((size_t)n + 1, (size_t)bytes), *own = calloc(1, (size_t)bytes);
    int *counts = malloc(2 * (size_t)n * sizeof(int)), *at = counts + n;
    for (int again = 0; again < 2; ++again) {
        for (int r = 0; r < n; ++r) counts[r] = bytes, at[r] = r * bytes;
        counts[1] = bytes - 4;
        CHECK_CLASS(MPI_Gatherv(own, bytes, MPI_BYTE, all, counts, at, MPI_BYTE, 0, copy),
                    me == 0 ? MPI_ERR_TRUNCATE : MPI_SUCCESS);
        counts[1] = bytes;
        CHECK_CLASS(MPI_Scatterv(all, counts, at, MPI_BYTE, own, me == 1 ? bytes - 4 : bytes,
                                 MPI_BYTE, 0, copy),
                    me == 1 ? MPI_ERR_TRUNCATE : MPI_SUCCESS);
        exchange_with_root(call);
    }
    free(all), free(own), free(counts);
    MPI_Comm_free(&copy);
}

/* The root of gathers is late, so the others are many calls ahead: one of a longer block, many of
 * short ones, and one of a longer block again. */
static void gather_at_late_root(void) {
    enum { kCalls = 33, kLongest = 1000 };
    unsigned char own[kLongest], *all = malloc((size_t)n * kLongest);
    int* counts = malloc(2 * (size_t)n * sizeof(int));
    int* at = counts + n;
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    if (me == 0) usleep(30000);
    for (int call = 0; call < kCalls; ++call) {
        const int bytes = call == 0 || call + 1 == kCalls ? kLongest : 8;
        for (int r = 0; r < n; ++r) counts[r] = bytes, at[r] = r * bytes;
        put(own, 1, me, 0, call, bytes);
        CHECK_OK(MPI_Gatherv(own, bytes, MPI_BYTE, all, counts, at, MPI_BYTE, 0, MPI_COMM_WORLD));
        for (int r = 0; r < n && me == 0; ++r) CHECK(is_there(all + at[r], 1, r, 0, call, bytes));
    }
    free(all), free(counts);
}

/* Task 1 expects less than task 0 sends. The call after it is right. */
static void truncated(int bytes, int call) {
    MPI_Comm pair;
    MPI_Comm_split(MPI_COMM_WORLD, me < 2, 0, &pair);
    if (me < 2) {
        unsigned char* memory = calloc((size_t)bytes + 1, 2);
        int counts[2] = {0, 0}, expected[2] = {0, 0}, places[2] = {0, 0};
        MPI_Comm_set_errhandler(pair, MPI_ERRORS_RETURN);
        counts[1 - me] = bytes;
        expected[1 - me] = me == 1 ? bytes - 4 : bytes;
        CHECK_CLASS(MPI_Alltoallv(memory, counts, places, MPI_BYTE, memory + bytes + 1, expected,
                                  places, MPI_BYTE, pair),
                    me == 1 ? MPI_ERR_TRUNCATE : MPI_SUCCESS);
        free(memory);
    }
    MPI_Comm_free(&pair);
    exchange(call);
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &n);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Type_vector(1, 1, 2, MPI_BYTE, &apart);
    MPI_Datatype both = apart;
    MPI_Type_create_resized(both, 0, 2, &apart);
    MPI_Type_free(&both);
    MPI_Type_commit(&apart);
    for (int call = 0; call < 2 * 56; ++call) exchange(call), exchange_with_root(call);
    gather_at_late_root();
    if (n > 1) {
        truncated_at(40, 1);
        truncated_at(1074, 2);
        truncated_at(100000, 3);
        truncated(40, 2);
        truncated(3000, 7);
        truncated(100000, 11);
    }
    MPI_Type_free(&apart);
    MPI_Finalize();
    return 0;
}
