/* Predefined datatypes, operations and other constants, one by one. Each is used in a call whose
   result tells it apart. */
#include <complex.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "check.h"

struct datatype {
    MPI_Datatype handle;
    int size;
    const char* name;
};
#define DATATYPE(name, size) \
    { name, (int)(size), #name }
static const struct datatype datatypes[] = {
    DATATYPE(MPI_CHAR, 1),
    DATATYPE(MPI_SIGNED_CHAR, 1),
    DATATYPE(MPI_UNSIGNED_CHAR, 1),
    DATATYPE(MPI_BYTE, 1),
    DATATYPE(MPI_WCHAR, sizeof(wchar_t)),
    DATATYPE(MPI_SHORT, 2),
    DATATYPE(MPI_UNSIGNED_SHORT, 2),
    DATATYPE(MPI_INT, 4),
    DATATYPE(MPI_UNSIGNED, 4),
    DATATYPE(MPI_LONG, 8),
    DATATYPE(MPI_UNSIGNED_LONG, 8),
    DATATYPE(MPI_FLOAT, 4),
    DATATYPE(MPI_DOUBLE, 8),
    DATATYPE(MPI_LONG_DOUBLE, sizeof(long double)),
    DATATYPE(MPI_LONG_LONG_INT, 8),
    DATATYPE(MPI_UNSIGNED_LONG_LONG, 8),
    DATATYPE(MPI_PACKED, 1),
    DATATYPE(MPI_FLOAT_INT, 8),
    DATATYPE(MPI_DOUBLE_INT, 12),
    DATATYPE(MPI_LONG_INT, 12),
    DATATYPE(MPI_SHORT_INT, 6),
    DATATYPE(MPI_2INT, 8),
    DATATYPE(MPI_LONG_DOUBLE_INT, sizeof(long double) + 4),
    DATATYPE(MPI_COMPLEX, 8),
    DATATYPE(MPI_DOUBLE_COMPLEX, 16),
    DATATYPE(MPI_LOGICAL, 4),
    DATATYPE(MPI_REAL, 4),
    DATATYPE(MPI_DOUBLE_PRECISION, 8),
    DATATYPE(MPI_INTEGER, 4),
    DATATYPE(MPI_2INTEGER, 8),
    DATATYPE(MPI_2REAL, 8),
    DATATYPE(MPI_2DOUBLE_PRECISION, 16),
    DATATYPE(MPI_CHARACTER, 1),
    DATATYPE(MPI_REAL4, 4),
    DATATYPE(MPI_REAL8, 8),
    DATATYPE(MPI_REAL16, 16),
    DATATYPE(MPI_COMPLEX8, 8),
    DATATYPE(MPI_COMPLEX16, 16),
    DATATYPE(MPI_COMPLEX32, 32),
    DATATYPE(MPI_INTEGER1, 1),
    DATATYPE(MPI_INTEGER2, 2),
    DATATYPE(MPI_INTEGER4, 4),
    DATATYPE(MPI_INTEGER8, 8),
    DATATYPE(MPI_INT8_T, 1),
    DATATYPE(MPI_INT16_T, 2),
    DATATYPE(MPI_INT32_T, 4),
    DATATYPE(MPI_INT64_T, 8),
    DATATYPE(MPI_UINT8_T, 1),
    DATATYPE(MPI_UINT16_T, 2),
    DATATYPE(MPI_UINT32_T, 4),
    DATATYPE(MPI_UINT64_T, 8),
    DATATYPE(MPI_C_BOOL, sizeof(bool)),
    DATATYPE(MPI_C_FLOAT_COMPLEX, 8),
    DATATYPE(MPI_C_DOUBLE_COMPLEX, 16),
    DATATYPE(MPI_C_LONG_DOUBLE_COMPLEX, sizeof(long double complex)),
    DATATYPE(MPI_AINT, 8),
    DATATYPE(MPI_OFFSET, 8),
    DATATYPE(MPI_COUNT, 8),
    DATATYPE(MPI_CXX_BOOL, 1),
    DATATYPE(MPI_CXX_FLOAT_COMPLEX, 8),
    DATATYPE(MPI_CXX_DOUBLE_COMPLEX, 16),
    DATATYPE(MPI_CXX_LONG_DOUBLE_COMPLEX, 2 * sizeof(long double)),
};

static void check_datatypes(void) {
    size_t i;
    for (i = 0; i < sizeof datatypes / sizeof *datatypes; ++i) {
        const struct datatype* type = &datatypes[i];
        char name[MPI_MAX_OBJECT_NAME];
        int size = -1, length, integers, addresses, types, combiner = -1;
        MPI_Datatype pair, inner[2], used;
        int lengths[2] = {1, 1}, none[8];
        MPI_Aint places[2] = {0, 64}, no_places[8];
        MPI_Type_size(type->handle, &size);
        if (size != type->size) printf("%s: size %d instead of %d\n", type->name, size, type->size);
        CHECK_EQUAL(size, type->size);
        /* Names of other constants for the same datatype, as in MPICH, are possible. */
        MPI_Type_get_name(type->handle, name, &length);
        CHECK(strncmp(name, "MPI_", 4) == 0);
        if (type->handle != MPI_LONG_LONG_INT && type->handle != MPI_C_FLOAT_COMPLEX &&
            strcmp(name, type->name) != 0)
            printf("%s: name %s\n", type->name, name), ++checks_failed;
        MPI_Type_get_envelope(type->handle, &integers, &addresses, &types, &combiner);
        CHECK_EQUAL(combiner, MPI_COMBINER_NAMED);
        /* The handle comes back as it was. */
        inner[0] = type->handle, inner[1] = MPI_INT;
        MPI_Type_create_struct(2, lengths, places, inner, &pair);
        MPI_Type_get_envelope(pair, &integers, &addresses, &types, &combiner);
        CHECK_EQUAL(combiner, MPI_COMBINER_STRUCT);
        MPI_Type_get_contents(pair, integers, addresses, types, none, no_places, inner);
        CHECK_EQUAL(inner[0], type->handle);
        used = inner[1];
        CHECK_EQUAL(used, MPI_INT);
        MPI_Type_free(&pair);
    }
}

/* Each operation on 6 and 3, and on logical values. */
static void check_operations(void) {
    static const struct {
        MPI_Op op;
        int result;
    } operations[] = {{MPI_MAX, 6},  {MPI_MIN, 3}, {MPI_SUM, 9}, {MPI_PROD, 18}, {MPI_LAND, 1},
                      {MPI_BAND, 2}, {MPI_LOR, 1}, {MPI_BOR, 7}, {MPI_LXOR, 0},  {MPI_BXOR, 5}};
    size_t i;
    struct {
        int value, place;
    } in = {5, 9}, inout = {5, 4};
    for (i = 0; i < sizeof operations / sizeof *operations; ++i) {
        int from = 3, to = 6;
        MPI_Reduce_local(&from, &to, 1, MPI_INT, operations[i].op);
        CHECK_EQUAL(to, operations[i].result);
    }
    MPI_Reduce_local(&in, &inout, 1, MPI_2INT, MPI_MINLOC);
    CHECK_EQUAL(inout.place, 4);
    in.value = 6;
    MPI_Reduce_local(&in, &inout, 1, MPI_2INT, MPI_MAXLOC);
    CHECK_EQUAL(inout.place, 9);
}

static int combiner_of(MPI_Datatype* made) {
    int integers, addresses, types, combiner = -1;
    MPI_Type_get_envelope(*made, &integers, &addresses, &types, &combiner);
    if (combiner != MPI_COMBINER_F90_REAL && combiner != MPI_COMBINER_F90_COMPLEX &&
        combiner != MPI_COMBINER_F90_INTEGER)
        MPI_Type_free(made);
    return combiner;
}

static void check_combiners(void) {
    int two[2] = {1, 1}, places[2] = {0, 4}, sizes[1] = {4}, parts[1] = {2}, starts[1] = {0};
    int kinds[1] = {MPI_DISTRIBUTE_CYCLIC}, arguments[1] = {1}, grid[1] = {2};
    MPI_Aint bytes[2] = {0, 16};
    MPI_Datatype made, pair[2] = {MPI_INT, MPI_CHAR};
    MPI_Type_dup(MPI_INT, &made);
    CHECK_EQUAL(combiner_of(&made), MPI_COMBINER_DUP);
    MPI_Type_contiguous(2, MPI_INT, &made);
    CHECK_EQUAL(combiner_of(&made), MPI_COMBINER_CONTIGUOUS);
    MPI_Type_vector(2, 1, 3, MPI_INT, &made);
    CHECK_EQUAL(combiner_of(&made), MPI_COMBINER_VECTOR);
    MPI_Type_create_hvector(2, 1, 16, MPI_INT, &made);
    CHECK_EQUAL(combiner_of(&made), MPI_COMBINER_HVECTOR);
    MPI_Type_indexed(2, two, places, MPI_INT, &made);
    CHECK_EQUAL(combiner_of(&made), MPI_COMBINER_INDEXED);
    MPI_Type_create_hindexed(2, two, bytes, MPI_INT, &made);
    CHECK_EQUAL(combiner_of(&made), MPI_COMBINER_HINDEXED);
    MPI_Type_create_indexed_block(2, 1, places, MPI_INT, &made);
    CHECK_EQUAL(combiner_of(&made), MPI_COMBINER_INDEXED_BLOCK);
    MPI_Type_create_hindexed_block(2, 1, bytes, MPI_INT, &made);
    CHECK_EQUAL(combiner_of(&made), MPI_COMBINER_HINDEXED_BLOCK);
    MPI_Type_create_struct(2, two, bytes, pair, &made);
    CHECK_EQUAL(combiner_of(&made), MPI_COMBINER_STRUCT);
    MPI_Type_create_subarray(1, sizes, parts, starts, MPI_ORDER_C, MPI_INT, &made);
    CHECK_EQUAL(combiner_of(&made), MPI_COMBINER_SUBARRAY);
    MPI_Type_create_darray(2, 0, 1, sizes, kinds, arguments, grid, MPI_ORDER_C, MPI_INT, &made);
    CHECK_EQUAL(combiner_of(&made), MPI_COMBINER_DARRAY);
    MPI_Type_create_resized(MPI_INT, 0, 16, &made);
    CHECK_EQUAL(combiner_of(&made), MPI_COMBINER_RESIZED);
    MPI_Type_create_f90_real(6, 30, &made);
    CHECK_EQUAL(combiner_of(&made), MPI_COMBINER_F90_REAL);
    MPI_Type_create_f90_complex(6, 30, &made);
    CHECK_EQUAL(combiner_of(&made), MPI_COMBINER_F90_COMPLEX);
    MPI_Type_create_f90_integer(5, &made);
    CHECK_EQUAL(combiner_of(&made), MPI_COMBINER_F90_INTEGER);
    MPI_Type_match_size(MPI_TYPECLASS_REAL, 8, &made);
    CHECK(made == MPI_REAL8 || made == MPI_DOUBLE_PRECISION || made == MPI_DOUBLE);
    MPI_Type_match_size(MPI_TYPECLASS_INTEGER, 2, &made);
    CHECK(made == MPI_INTEGER2 || made == MPI_SHORT);
    MPI_Type_match_size(MPI_TYPECLASS_COMPLEX, 16, &made);
    CHECK(made == MPI_COMPLEX16 || made == MPI_DOUBLE_COMPLEX);
}

static void check_threads(int argc, char** argv) {
    static const int levels[] = {MPI_THREAD_SINGLE, MPI_THREAD_FUNNELED, MPI_THREAD_SERIALIZED,
                                 MPI_THREAD_MULTIPLE};
    const int wanted = levels[argc > 1 ? atoi(argv[1]) : 0];
    int provided = -1, queried = -1, is_main = 0;
    MPI_Init_thread(&argc, &argv, wanted, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &my_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &all);
    MPI_Query_thread(&queried);
    CHECK(provided >= wanted && provided <= MPI_THREAD_MULTIPLE);
    CHECK_EQUAL(queried, provided);
    MPI_Is_thread_main(&is_main);
    CHECK_EQUAL(is_main, 1);
}

int main(int argc, char** argv) {
    check_threads(argc, argv);
    check_datatypes();
    check_operations();
    check_combiners();
    return end();
}
