/* The data of the tester of collective calls: units of six basic types, in datatypes with and without gaps; memory
 * whose contents are known before and expected after a call; and reductions with their results. A block is a
 * number of units that every datatype divides. Values are small, so that no sum overflows and floating-point
 * sums are exact in any order. */
#ifndef RANDOM_MEMORY_H
#define RANDOM_MEMORY_H

#include "random_groups.h"

enum { kUnit = 6, kPrime = 97, kFiller = 0x5a };
enum Basic { kInt8, kInt16, kInt32, kInt64, kFloat, kDouble, kBasics };
enum { kPlain, kPairs, kTriples, kLayouts };
enum Reduction { kSum, kMax, kMin, kAnd, kXor, kOwnSum, kCompose, kReductions };

/* A datatype of units: how many there are in an element, how far elements are apart, and the places. */
struct Layout {
    int units, extent, at[3];
};
static const struct Layout layouts[kLayouts] = {{1, 1, {0}}, {2, 4, {0, 2}}, {3, 3, {2, 0, 1}}};
struct Type {
    MPI_Datatype handle;
    const struct Layout* layout;
    enum Basic basic;
    int bytes; /* the extent */
};
static struct Type types[kBasics][kLayouts];
static const int unit_bytes[kBasics] = {1, 2, 4, 8, 4, 8};

/* Random numbers of this task alone; those of a call depend on nothing before. */
static uint64_t own_state;
static void seed_own(int number) {
    own_state = shared_state + (uint64_t)(world_rank * 7919 + number) * 0x9e3779b97f4a7c15u;
}
static int draw_own(int below) {
    own_state = own_state * 6364136223846793005u + 1442695040888963407u;
    return (int)((own_state >> 33) % (uint64_t)below);
}

/* The length of a block; long ones are rare, and shorter if there are many. */
static int draw_units(int members) {
    static const int lengths[] = {0, 1, 1, 2, 3, 11, 40, 200};
    const int length = lengths[draw(8)];
    const int is_long = draw(60) == 0;
    return kUnit * (is_long ? 24000 / members : length);
}

static void store(enum Basic basic, void* memory, int unit, long long value) {
    switch (basic) {
        case kInt8:
            ((int8_t*)memory)[unit] = (int8_t)value;
            break;
        case kInt16:
            ((int16_t*)memory)[unit] = (int16_t)value;
            break;
        case kInt32:
            ((int32_t*)memory)[unit] = (int32_t)value;
            break;
        case kInt64:
            ((int64_t*)memory)[unit] = value;
            break;
        case kFloat:
            ((float*)memory)[unit] = (float)value;
            break;
        default:
            ((double*)memory)[unit] = (double)value;
    }
}
static long long load(enum Basic basic, const void* memory, int unit) {
    switch (basic) {
        case kInt8:
            return ((const int8_t*)memory)[unit];
        case kInt16:
            return ((const int16_t*)memory)[unit];
        case kInt32:
            return ((const int32_t*)memory)[unit];
        case kInt64:
            return ((const int64_t*)memory)[unit];
        case kFloat:
            return (long long)((const float*)memory)[unit];
        default:
            return (long long)((const double*)memory)[unit];
    }
}

/* What task `task` contributes to a call. */
static long long unit_value(enum Basic basic, int call, int task, int i) {
    const unsigned mixed = (unsigned)(call * 31 + task * 1009 + i * 7);
    return mixed % (basic == kInt8 ? 8u : 997u);
}

/* --- Memory */

struct Memory {
    char *bytes, *before, *wanted;
    int length;
    int checked; /* bytes that are compared; the rest is undefined */
    const struct Type* type;
};

static void make_memory(struct Memory* memory, const struct Type* type, int elements) {
    memory->type = type;
    memory->length = memory->checked = elements * type->bytes + 32;
    memory->bytes = malloc((size_t)memory->length);
    memory->before = malloc((size_t)memory->length);
    memory->wanted = malloc((size_t)memory->length);
    memset(memory->bytes, kFiller, (size_t)memory->length);
    memset(memory->before, kFiller, (size_t)memory->length);
    memset(memory->wanted, kFiller, (size_t)memory->length);
}
static void free_memory(struct Memory* memory) {
    free(memory->bytes);
    free(memory->before);
    free(memory->wanted);
    memset(memory, 0, sizeof *memory);
}
static void fill_again(struct Memory* memory) {
    memcpy(memory->bytes, memory->before, (size_t)memory->length);
}
static int wrong_bytes(const struct Memory* memory) {
    int wrong = 0;
    for (int i = 0; i < memory->checked; ++i) wrong += memory->bytes[i] != memory->wanted[i];
    return wrong;
}
/* The place of unit i of a block that begins at this element. */
static int unit_place(const struct Layout* layout, int element, int i) {
    return (element + i / layout->units) * layout->extent + layout->at[i % layout->units];
}
static void expect(struct Memory* memory, int element, int i, long long value) {
    store(memory->type->basic, memory->wanted, unit_place(memory->type->layout, element, i), value);
}
static void put(struct Memory* memory, int element, int i, long long value) {
    const int at = unit_place(memory->type->layout, element, i);
    store(memory->type->basic, memory->bytes, at, value);
    store(memory->type->basic, memory->before, at, value);
    store(memory->type->basic, memory->wanted, at, value);
}

/* --- Reductions */

static MPI_Op own_sum, composition;

static MPI_Op operation_of(enum Reduction reduction) {
    const MPI_Op operations[] = {MPI_SUM,  MPI_MAX, MPI_MIN,    MPI_BAND,
                                 MPI_BXOR, own_sum, composition};
    return operations[reduction];
}
static int allows(enum Reduction reduction, enum Basic basic) {
    return (reduction != kAnd && reduction != kXor) || basic < kFloat;
}
/* Predefined operations need predefined datatypes. */
static int layout_of(enum Reduction reduction) {
    return reduction == kCompose ? kPairs : reduction == kOwnSum ? kTriples : kPlain;
}

/* A pair (a, b) stands for x -> a x + b modulo a prime; the right one follows the left one. */
static void compose(const long long* left, const long long* right, long long* out) {
    const long long a = left[0] * right[0] % kPrime;
    const long long b = (left[1] * right[0] + right[1]) % kPrime;
    out[0] = a;
    out[1] = b;
}

static long long combine(enum Reduction reduction, long long left, long long right) {
    switch (reduction) {
        case kMax:
            return left > right ? left : right;
        case kMin:
            return left < right ? left : right;
        case kAnd:
            return left & right;
        case kXor:
            return left ^ right;
        default:
            return left + right;
    }
}

/* Unit i of the reduction of what the first `n` of these tasks contribute. */
static long long reduced(enum Reduction reduction, enum Basic basic, int call, const int* tasks,
                         int n, int i) {
    if (reduction != kCompose) {
        long long all = unit_value(basic, call, tasks[0], i);
        for (int r = 1; r < n; ++r)
            all = combine(reduction, all, unit_value(basic, call, tasks[r], i));
        return all;
    }
    const int even = i / 2 * 2;
    long long pair[2] = {unit_value(basic, call, tasks[0], even),
                         unit_value(basic, call, tasks[0], even + 1)};
    for (int r = 1; r < n; ++r) {
        const long long next[2] = {unit_value(basic, call, tasks[r], even),
                                   unit_value(basic, call, tasks[r], even + 1)};
        compose(pair, next, pair);
    }
    return pair[i % 2];
}

/* The datatype that the library passes to an operation of the program is the one of the call. */
static const struct Type* type_of(MPI_Datatype handle, int layout) {
    for (int basic = 0; basic < kBasics; ++basic) {
        if (types[basic][layout].handle == handle) return &types[basic][layout];
    }
    CHECK(!"the operation gets the datatype of the call");
    return NULL;
}
static void add_triples(void* in, void* inout, int* count, MPI_Datatype* datatype) {
    const struct Type* type = type_of(*datatype, kTriples);
    for (int i = 0; i < 3 * *count; ++i)
        store(type->basic, inout, i, load(type->basic, in, i) + load(type->basic, inout, i));
}
static void compose_pairs(void* in, void* inout, int* count, MPI_Datatype* datatype) {
    const struct Type* type = type_of(*datatype, kPairs);
    for (int i = 0; i < *count; ++i) {
        const int first = unit_place(type->layout, i, 0), second = unit_place(type->layout, i, 1);
        const long long left[2] = {load(type->basic, in, first), load(type->basic, in, second)};
        const long long right[2] = {load(type->basic, inout, first),
                                    load(type->basic, inout, second)};
        long long out[2];
        compose(left, right, out);
        store(type->basic, inout, first, out[0]);
        store(type->basic, inout, second, out[1]);
    }
}

/* --- Datatypes and operations of the program */

static void make_types(void) {
    const MPI_Datatype basics[kBasics] = {MPI_INT8_T,  MPI_INT16_T, MPI_INT32_T,
                                          MPI_INT64_T, MPI_FLOAT,   MPI_DOUBLE};
    const int lengths[2] = {1, 2}, places[2] = {2, 0};
    for (int basic = 0; basic < kBasics; ++basic) {
        for (int layout = 0; layout < kLayouts; ++layout) {
            struct Type* type = &types[basic][layout];
            *type = (struct Type){basics[basic], &layouts[layout], (enum Basic)basic,
                                  layouts[layout].extent * unit_bytes[basic]};
        }
        MPI_Datatype pair;
        CHECK_OK(MPI_Type_vector(2, 1, 2, basics[basic], &pair));
        CHECK_OK(
            MPI_Type_create_resized(pair, 0, 4 * unit_bytes[basic], &types[basic][kPairs].handle));
        CHECK_OK(MPI_Type_free(&pair));
        CHECK_OK(
            MPI_Type_indexed(2, lengths, places, basics[basic], &types[basic][kTriples].handle));
        CHECK_OK(MPI_Type_commit(&types[basic][kPairs].handle));
        CHECK_OK(MPI_Type_commit(&types[basic][kTriples].handle));
    }
    CHECK_OK(MPI_Op_create(add_triples, 1, &own_sum));
    CHECK_OK(MPI_Op_create(compose_pairs, 0, &composition));
}

static void free_types(void) {
    for (int basic = 0; basic < kBasics; ++basic) {
        CHECK_OK(MPI_Type_free(&types[basic][kPairs].handle));
        CHECK_OK(MPI_Type_free(&types[basic][kTriples].handle));
    }
    CHECK_OK(MPI_Op_free(&own_sum));
    CHECK_OK(MPI_Op_free(&composition));
}

#endif
