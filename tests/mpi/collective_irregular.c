/* Alltoallv with lengths that change from call to call: short blocks, which travel with their
 * lengths; long ones; calls in which few pairs have long blocks; and calls without any data. */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

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
    for (int call = 0; call < 2 * 56; ++call) exchange(call);
    if (n > 1) {
        truncated(40, 2);
        truncated(3000, 7);
        truncated(100000, 11);
    }
    MPI_Finalize();
    return 0;
}
