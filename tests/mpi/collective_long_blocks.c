/* Alltoallv and alltoallw with blocks of very different lengths, the longest of which go over a
 * network in several pieces: contiguous, with gaps, in place, between two groups, non-blocking and
 * persistent. Each byte says from whom it comes, for whom it is and where in the block it was. */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#include "mpi_test.h"

static int n, me;

/* Of no, a few and many pieces; some are exactly one or two pieces long. */
static int length(int from, int to, int round) {
    static const int lengths[] = {0, 1, 100, 32767, 32768, 32769, 65536, 100001, 0, 200};
    return lengths[(from * 7 + to * 3 + round) % 10];
}

static unsigned char byte_of(int from, int to, int at) {
    return (unsigned char)(from * 31 + to * 17 + at + at / 251);
}

/* A datatype of `count` bytes, each followed by a gap of one. */
static MPI_Datatype with_gaps(int count) {
    MPI_Datatype type;
    MPI_Type_vector(count, 1, 2, MPI_BYTE, &type);
    MPI_Type_commit(&type);
    return type;
}

struct blocks {
    int *counts, *starts;
    MPI_Datatype* types;
    unsigned char* memory;
    int stride; /* 1, or 2 with gaps */
    int total;
};

static struct blocks make(int outgoing, int round, int stride) {
    struct blocks made;
    int at = 0;
    made.counts = malloc((size_t)n * sizeof(int));
    made.starts = malloc((size_t)n * sizeof(int));
    made.types = malloc((size_t)n * sizeof(MPI_Datatype));
    made.stride = stride;
    for (int other = 0; other < n; ++other) {
        const int bytes = outgoing ? length(me, other, round) : length(other, me, round);
        made.counts[other] = bytes;
        made.starts[other] = at;
        made.types[other] = stride == 1 || bytes == 0 ? MPI_BYTE : with_gaps(bytes);
        at += bytes * stride;
    }
    made.total = at;
    made.memory = malloc((size_t)at + 1);
    memset(made.memory, 0xee, (size_t)at + 1);
    for (int other = 0; outgoing && other < n; ++other)
        for (int i = 0; i < made.counts[other]; ++i)
            made.memory[made.starts[other] + i * stride] = byte_of(me, other, i);
    return made;
}

static void release(struct blocks* blocks) {
    for (int other = 0; other < n; ++other)
        if (blocks->types[other] != MPI_BYTE) MPI_Type_free(&blocks->types[other]);
    free(blocks->counts), free(blocks->starts), free(blocks->types), free(blocks->memory);
}

static void look(const struct blocks* in) {
    for (int other = 0; other < n; ++other)
        for (int i = 0; i < in->counts[other] * in->stride; ++i) {
            const unsigned char found = in->memory[in->starts[other] + i];
            const unsigned char wanted =
                i % in->stride == 0 ? byte_of(other, me, i / in->stride) : 0xee;
            if (found != wanted) {
                CHECK(found == wanted);
                return;
            }
        }
}

static void clear(struct blocks* in) {
    memset(in->memory, 0xee, (size_t)in->total + 1);
}

static void check_vectors(int round) {
    struct blocks out = make(1, round, 1), in = make(0, round, 1);
    MPI_Request request;
    MPI_Alltoallv(out.memory, out.counts, out.starts, MPI_BYTE, in.memory, in.counts, in.starts,
                  MPI_BYTE, MPI_COMM_WORLD);
    look(&in);
    clear(&in);
    MPI_Ialltoallv(out.memory, out.counts, out.starts, MPI_BYTE, in.memory, in.counts, in.starts,
                   MPI_BYTE, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    look(&in);
    MPI_Alltoallv_init(out.memory, out.counts, out.starts, MPI_BYTE, in.memory, in.counts,
                       in.starts, MPI_BYTE, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    for (int i = 0; i < 3; ++i) {
        clear(&in);
        MPI_Start(&request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        look(&in);
    }
    MPI_Request_free(&request);
    release(&out), release(&in);
}

/* One element of a type of its own for each block. */
static void check_types(int round, int out_stride, int in_stride) {
    struct blocks out = make(1, round, out_stride), in = make(0, round, in_stride);
    int* out_counts = malloc((size_t)n * sizeof(int));
    int* in_counts = malloc((size_t)n * sizeof(int));
    MPI_Request request;
    for (int other = 0; other < n; ++other) {
        out_counts[other] = out.types[other] == MPI_BYTE ? out.counts[other] : 1;
        in_counts[other] = in.types[other] == MPI_BYTE ? in.counts[other] : 1;
    }
    MPI_Alltoallw(out.memory, out_counts, out.starts, out.types, in.memory, in_counts, in.starts,
                  in.types, MPI_COMM_WORLD);
    look(&in);
    MPI_Alltoallw_init(out.memory, out_counts, out.starts, out.types, in.memory, in_counts,
                       in.starts, in.types, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    for (int i = 0; i < 2; ++i) {
        clear(&in);
        MPI_Start(&request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        look(&in);
    }
    MPI_Request_free(&request);
    free(out_counts), free(in_counts);
    release(&out), release(&in);
}

/* Both directions of a pair have the same length. */
static void check_in_place(void) {
    enum { kBlock = 70000 };
    int* counts = malloc((size_t)n * sizeof(int));
    int* starts = malloc((size_t)n * sizeof(int));
    unsigned char* memory = malloc((size_t)n * kBlock);
    for (int other = 0; other < n; ++other) {
        counts[other] = (me + other) % 2 == 0 ? kBlock : 10;
        starts[other] = other * kBlock;
        for (int i = 0; i < counts[other]; ++i) memory[starts[other] + i] = byte_of(me, other, i);
    }
    MPI_Alltoallv(MPI_IN_PLACE, NULL, NULL, MPI_DATATYPE_NULL, memory, counts, starts, MPI_BYTE,
                  MPI_COMM_WORLD);
    for (int other = 0; other < n; ++other)
        for (int i = 0; i < counts[other]; ++i)
            if (memory[starts[other] + i] != byte_of(other, me, i)) {
                CHECK(!"a byte is wrong after an alltoallv in place");
                other = n - 1;
                break;
            }
    free(counts), free(starts), free(memory);
}

/* Each member of one group sends 80000 bytes to each member of the other. */
static void check_between_groups(void) {
    enum { kBlock = 80000 };
    MPI_Comm half, both;
    int others;
    if (n < 2) return;
    MPI_Comm_split(MPI_COMM_WORLD, me % 2, me, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - me % 2, 5, &both);
    MPI_Comm_remote_size(both, &others);
    unsigned char* out = malloc((size_t)others * kBlock);
    unsigned char* in = malloc((size_t)others * kBlock);
    for (int r = 0; r < others; ++r)
        for (int i = 0; i < kBlock; ++i) out[r * kBlock + i] = byte_of(me, r * 2 + 1 - me % 2, i);
    MPI_Alltoall(out, kBlock, MPI_BYTE, in, kBlock, MPI_BYTE, both);
    for (int r = 0; r < others; ++r)
        for (int i = 0; i < kBlock; ++i)
            if (in[r * kBlock + i] != byte_of(r * 2 + 1 - me % 2, me, i)) {
                CHECK(!"a byte is wrong after an alltoall between groups");
                i = kBlock, r = others;
            }
    free(out), free(in);
    MPI_Comm_free(&both);
    MPI_Comm_free(&half);
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &n);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    for (int round = 0; round < 10; ++round) {
        check_vectors(round);
        check_types(round, 1 + round % 2, 1 + round / 2 % 2);
    }
    check_in_place();
    check_between_groups();
    MPI_Finalize();
    return 0;
}
