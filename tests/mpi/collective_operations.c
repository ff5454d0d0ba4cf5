/* Every predefined operation on every predefined datatype on which it is defined, in all reductions. The oracle
   is MPI_Reduce_local, applied to the vectors of all tasks in the order of their ranks. The values are small
   integers, so that all results are exact. Argument: N, to try only every N-th combination. */
#include "mpi_test.h"

enum Class { kInteger, kFloating, kComplex, kByte, kLogical, kAddress, kPair };
enum { kMostElements = 700, kMostBytes = kMostElements * 32, kMostTasks = 16 };

/* The bytes of an element that have a meaning are those of its two parts. */
struct Type {
    MPI_Datatype handle;
    enum Class kind;
    int extent;
    int part;         /* bytes of the first part in memory */
    int significant;  /* bytes of it that have a value */
    int second;       /* where the second part begins; 0: there is none */
    int second_bytes; /* bytes of the second part that have a value */
};

/* Which classes have the operations of a group, in the order of Class. */
static const int operation_of_class[][7] = {
    {1, 1, 1, 0, 0, 1, 0}, /* sum and product */
    {1, 1, 0, 0, 0, 1, 0}, /* maximum and minimum */
    {1, 0, 0, 0, 1, 0, 0}, /* logical */
    {1, 0, 0, 1, 0, 1, 0}, /* of bits */
    {0, 0, 0, 0, 0, 0, 1}, /* with the location */
};

struct Operation {
    MPI_Op handle;
    int group;
};

static int n, me;

static long long small(int rank, int element, int part) {
    return (unsigned)(rank * 7 + element * 5 + part * 3) % 4u;
}

static void store(unsigned char* at, int bytes, int is_real, long long number) {
    if (!is_real) {
        memset(at, 0, (size_t)bytes);
        for (int i = 0; i < bytes && i < 8; ++i) at[i] = (unsigned char)(number >> (8 * i));
    } else if (bytes == sizeof(float)) {
        const float real = (float)number;
        memcpy(at, &real, sizeof real);
    } else if (bytes == sizeof(double)) {
        const double real = (double)number;
        memcpy(at, &real, sizeof real);
    } else {
        const long double real = (long double)number;
        memcpy(at, &real, sizeof real);
    }
}

static int value_is_real(const struct Type* type) {
    return type->kind == kFloating || type->kind == kComplex ||
           (type->kind == kPair &&
            (type->handle == MPI_FLOAT_INT || type->handle == MPI_DOUBLE_INT ||
             type->handle == MPI_LONG_DOUBLE_INT));
}

static void fill(const struct Type* type, unsigned char* vector, int rank, int elements) {
    memset(vector, 0, (size_t)elements * (size_t)type->extent);
    for (int i = 0; i < elements; ++i) {
        unsigned char* at = vector + (size_t)i * (size_t)type->extent;
        const long long number = type->kind == kLogical ? small(rank, i, 0) % 2 : small(rank, i, 0);
        store(at, type->part, value_is_real(type), number);
        if (type->kind == kComplex) store(at + type->second, type->part, 1, small(rank, i, 1));
        if (type->kind == kPair) store(at + type->second, sizeof(int), 0, (rank * 3 + i) % 5);
    }
}

static int differ(const struct Type* type, const unsigned char* one, const unsigned char* two,
                  int elements) {
    int wrong = 0;
    for (int i = 0; i < elements; ++i) {
        const size_t at = (size_t)i * (size_t)type->extent;
        wrong += memcmp(one + at, two + at, (size_t)type->significant) != 0;
        if (type->second > 0)
            wrong += memcmp(one + at + type->second, two + at + type->second,
                            (size_t)type->second_bytes) != 0;
    }
    return wrong;
}

static unsigned char own[kMostBytes], result[kMostBytes], all[kMostBytes];
static unsigned char prefix[kMostTasks][kMostBytes]; /* the reduction of the ranks up to this one */

static void make_prefixes(const struct Type* type, MPI_Op op, int elements) {
    fill(type, prefix[0], 0, elements);
    for (int r = 1; r < n; ++r) {
        fill(type, prefix[r], r, elements);
        if (elements > 0)
            CHECK_OK(MPI_Reduce_local(prefix[r - 1], prefix[r], elements, type->handle, op));
    }
}

static void try_operation(const struct Type* type, MPI_Op op, int elements) {
    make_prefixes(type, op, elements);
    fill(type, own, me, elements);
    const int root = elements % n;
    CHECK_OK(MPI_Reduce(own, result, elements, type->handle, op, root, MPI_COMM_WORLD));
    if (me == root) CHECK_INT(differ(type, result, prefix[n - 1], elements), 0);

    memset(result, 0, sizeof result);
    CHECK_OK(MPI_Allreduce(own, result, elements, type->handle, op, MPI_COMM_WORLD));
    CHECK_INT(differ(type, result, prefix[n - 1], elements), 0);

    memcpy(result, own, (size_t)elements * (size_t)type->extent);
    CHECK_OK(MPI_Allreduce(MPI_IN_PLACE, result, elements, type->handle, op, MPI_COMM_WORLD));
    CHECK_INT(differ(type, result, prefix[n - 1], elements), 0);

    MPI_Request requests[2];
    memset(result, 0, sizeof result);
    CHECK_OK(MPI_Iallreduce(own, result, elements, type->handle, op, MPI_COMM_WORLD, &requests[0]));
    CHECK_OK(MPI_Iscan(own, all, elements, type->handle, op, MPI_COMM_WORLD, &requests[1]));
    CHECK_OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
    CHECK_INT(differ(type, result, prefix[n - 1], elements), 0);
    CHECK_INT(differ(type, all, prefix[me], elements), 0);

    CHECK_OK(MPI_Scan(own, result, elements, type->handle, op, MPI_COMM_WORLD));
    CHECK_INT(differ(type, result, prefix[me], elements), 0);

    memset(result, 0x55, sizeof result);
    memset(all, 0x55, sizeof all);
    CHECK_OK(MPI_Exscan(own, result, elements, type->handle, op, MPI_COMM_WORLD));
    if (me > 0) {
        CHECK_INT(differ(type, result, prefix[me - 1], elements), 0);
    } else {
        CHECK_INT(memcmp(result, all, sizeof all), 0);
    }

    const int block = elements / n;
    const size_t bytes = (size_t)block * (size_t)type->extent;
    CHECK_OK(MPI_Reduce_scatter_block(own, result, block, type->handle, op, MPI_COMM_WORLD));
    CHECK_INT(differ(type, result, prefix[n - 1] + (size_t)me * bytes, block), 0);
}

#define INTEGER(handle, type) \
    { handle, kInteger, sizeof(type), sizeof(type), sizeof(type), 0, 0 }
#define ADDRESS(handle, type) \
    { handle, kAddress, sizeof(type), sizeof(type), sizeof(type), 0, 0 }
#define REAL(handle, type, significant) \
    { handle, kFloating, sizeof(type), sizeof(type), significant, 0, 0 }
#define COMPLEX(handle, type, significant) \
    { handle, kComplex, 2 * sizeof(type), sizeof(type), significant, sizeof(type), significant }
#define PAIR(handle, type, significant)                                                         \
    {                                                                                           \
        handle, kPair, sizeof(struct {                                                          \
            type a;                                                                             \
            int b;                                                                              \
        }),                                                                                     \
            sizeof(type), significant, sizeof(type) > sizeof(int) ? sizeof(type) : sizeof(int), \
            sizeof(int)                                                                         \
    }

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &n);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    CHECK(n <= kMostTasks);
    const int extended = sizeof(long double) == 16 ? 10 : (int)sizeof(long double);
    const struct Type types[] = {
        INTEGER(MPI_SIGNED_CHAR, signed char),
        INTEGER(MPI_UNSIGNED_CHAR, unsigned char),
        INTEGER(MPI_SHORT, short),
        INTEGER(MPI_UNSIGNED_SHORT, unsigned short),
        INTEGER(MPI_INT, int),
        INTEGER(MPI_UNSIGNED, unsigned),
        INTEGER(MPI_LONG, long),
        INTEGER(MPI_UNSIGNED_LONG, unsigned long),
        INTEGER(MPI_LONG_LONG, long long),
        INTEGER(MPI_UNSIGNED_LONG_LONG, unsigned long long),
        INTEGER(MPI_INT8_T, char),
        INTEGER(MPI_INT16_T, short),
        INTEGER(MPI_INT32_T, int),
        INTEGER(MPI_INT64_T, long),
        INTEGER(MPI_UINT8_T, char),
        INTEGER(MPI_UINT16_T, short),
        INTEGER(MPI_UINT32_T, int),
        INTEGER(MPI_UINT64_T, long),
        ADDRESS(MPI_AINT, MPI_Aint),
        ADDRESS(MPI_OFFSET, MPI_Offset),
        ADDRESS(MPI_COUNT, MPI_Count),
        REAL(MPI_FLOAT, float, 4),
        REAL(MPI_DOUBLE, double, 8),
        REAL(MPI_LONG_DOUBLE, long double, extended),
        COMPLEX(MPI_C_FLOAT_COMPLEX, float, 4),
        COMPLEX(MPI_C_DOUBLE_COMPLEX, double, 8),
        COMPLEX(MPI_C_LONG_DOUBLE_COMPLEX, long double, extended),
        {MPI_BYTE, kByte, 1, 1, 1, 0, 0},
        {MPI_C_BOOL, kLogical, 1, 1, 1, 0, 0},
        PAIR(MPI_FLOAT_INT, float, 4),
        PAIR(MPI_DOUBLE_INT, double, 8),
        PAIR(MPI_LONG_INT, long, 8),
        PAIR(MPI_2INT, int, 4),
        PAIR(MPI_SHORT_INT, short, 2),
        PAIR(MPI_LONG_DOUBLE_INT, long double, extended),
    };
    const struct Operation operations[] = {
        {MPI_SUM, 0},  {MPI_PROD, 0}, {MPI_MAX, 1}, {MPI_MIN, 1},  {MPI_LAND, 2},   {MPI_LOR, 2},
        {MPI_LXOR, 2}, {MPI_BAND, 3}, {MPI_BOR, 3}, {MPI_BXOR, 3}, {MPI_MINLOC, 4}, {MPI_MAXLOC, 4},
    };
    const int counts[] = {1, 17, kMostElements};
    const int every = argc > 1 ? atoi(argv[1]) : 1;
    int combination = 0, tried = 0;
    CHECK(every > 0);
    for (size_t t = 0; t < sizeof types / sizeof *types; ++t) {
        for (size_t o = 0; o < sizeof operations / sizeof *operations; ++o) {
            if (!operation_of_class[operations[o].group][types[t].kind]) continue;
            for (size_t c = 0; c < sizeof counts / sizeof *counts; ++c) {
                if (combination++ % every != 0) continue;
                try_operation(&types[t], operations[o].handle, counts[c]);
                ++tried;
            }
        }
    }
    CHECK(tried == (combination + every - 1) / every && tried > 40);
    MPI_Finalize();
    return 0;
}
