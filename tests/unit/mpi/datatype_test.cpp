// Datatypes through the functions of MPI: handles, forms, attributes, numbers that do not fit an
// int, and errors. What datatypes mean is tested in tests/unit/mpi_datatype.
#include "mpi/datatype/datatype.hpp"

#include <array>
#include <cstring>
#include <mpi.h>
#include <string>

#include <catch2/catch.hpp>

#include "mpi/datatype/abi_constants.hpp"
#include "mpi/object/status.hpp"
#include "tests/unit/mpi/process.hpp"

using namespace poe::mpi;

// The names that the room of datatypes uses for constants of mpi.h.
static_assert(kUndefined == MPI_UNDEFINED && kMaxObjectName == MPI_MAX_OBJECT_NAME);
static_assert(kSuccess == MPI_SUCCESS && kErrCount == MPI_ERR_COUNT && kErrType == MPI_ERR_TYPE &&
              kErrArg == MPI_ERR_ARG && kErrTruncate == MPI_ERR_TRUNCATE &&
              kErrUnsupportedDatarep == MPI_ERR_UNSUPPORTED_DATAREP &&
              kErrValueTooLarge == MPI_ERR_VALUE_TOO_LARGE);
static_assert(kOrderC == MPI_ORDER_C && kOrderFortran == MPI_ORDER_FORTRAN &&
              kDistributeNone == MPI_DISTRIBUTE_NONE && kDistributeBlock == MPI_DISTRIBUTE_BLOCK &&
              kDistributeCyclic == MPI_DISTRIBUTE_CYCLIC &&
              kDistributeDefaultArgument == MPI_DISTRIBUTE_DFLT_DARG);
static_assert(kTypeclassInteger == MPI_TYPECLASS_INTEGER && kTypeclassReal == MPI_TYPECLASS_REAL &&
              kTypeclassComplex == MPI_TYPECLASS_COMPLEX);
static_assert(static_cast<int>(Combiner::kNamed) == MPI_COMBINER_NAMED &&
              static_cast<int>(Combiner::kDup) == MPI_COMBINER_DUP &&
              static_cast<int>(Combiner::kContiguous) == MPI_COMBINER_CONTIGUOUS &&
              static_cast<int>(Combiner::kVector) == MPI_COMBINER_VECTOR &&
              static_cast<int>(Combiner::kHvector) == MPI_COMBINER_HVECTOR &&
              static_cast<int>(Combiner::kIndexed) == MPI_COMBINER_INDEXED &&
              static_cast<int>(Combiner::kHindexed) == MPI_COMBINER_HINDEXED &&
              static_cast<int>(Combiner::kIndexedBlock) == MPI_COMBINER_INDEXED_BLOCK &&
              static_cast<int>(Combiner::kHindexedBlock) == MPI_COMBINER_HINDEXED_BLOCK &&
              static_cast<int>(Combiner::kStruct) == MPI_COMBINER_STRUCT &&
              static_cast<int>(Combiner::kSubarray) == MPI_COMBINER_SUBARRAY &&
              static_cast<int>(Combiner::kDarray) == MPI_COMBINER_DARRAY &&
              static_cast<int>(Combiner::kF90Real) == MPI_COMBINER_F90_REAL &&
              static_cast<int>(Combiner::kF90Complex) == MPI_COMBINER_F90_COMPLEX &&
              static_cast<int>(Combiner::kF90Integer) == MPI_COMBINER_F90_INTEGER &&
              static_cast<int>(Combiner::kResized) == MPI_COMBINER_RESIZED &&
              static_cast<int>(Combiner::kValueIndex) == MPI_COMBINER_VALUE_INDEX);

TEST_CASE("the numbers of predefined datatypes are those of mpi.h", "[mpi][datatype]") {
    const std::pair<int, MPI_Datatype> pairs[] = {
        {code::kDatatypeNull, MPI_DATATYPE_NULL},
        {code::kPacked, MPI_PACKED},
        {code::kShort, MPI_SHORT},
        {code::kInt, MPI_INT},
        {code::kLong, MPI_LONG},
        {code::kUnsignedLong, MPI_UNSIGNED_LONG},
        {code::kFloat, MPI_FLOAT},
        {code::kDouble, MPI_DOUBLE},
        {code::kInteger, MPI_INTEGER},
        {code::kReal, MPI_REAL},
        {code::kDoublePrecision, MPI_DOUBLE_PRECISION},
        {code::kLongDouble, MPI_LONG_DOUBLE},
        {code::kLongDoubleComplex, MPI_C_LONG_DOUBLE_COMPLEX},
        {code::kFloatInt, MPI_FLOAT_INT},
        {code::kDoubleInt, MPI_DOUBLE_INT},
        {code::kLongInt, MPI_LONG_INT},
        {code::k2Int, MPI_2INT},
        {code::kShortInt, MPI_SHORT_INT},
        {code::kLongDoubleInt, MPI_LONG_DOUBLE_INT},
        {code::k2Real, MPI_2REAL},
        {code::k2DoublePrecision, MPI_2DOUBLE_PRECISION},
        {code::k2Integer, MPI_2INTEGER},
        {code::kWchar, MPI_WCHAR},
        {code::kByte, MPI_BYTE},
        {code::kInteger1, MPI_INTEGER1},
        {code::kInteger2, MPI_INTEGER2},
        {code::kReal2, MPI_REAL2},
        {code::kInteger4, MPI_INTEGER4},
        {code::kReal4, MPI_REAL4},
        {code::kComplex4, MPI_COMPLEX4},
        {code::kInteger8, MPI_INTEGER8},
        {code::kReal8, MPI_REAL8},
        {code::kComplex8, MPI_COMPLEX8},
        {code::kInteger16, MPI_INTEGER16},
        {code::kReal16, MPI_REAL16},
        {code::kComplex16, MPI_COMPLEX16},
        {code::kComplex32, MPI_COMPLEX32},
    };
    for (const auto& [number, handle] : pairs) {
        CHECK(reinterpret_cast<std::uintptr_t>(handle) == static_cast<std::uintptr_t>(number));
    }
}

TEST_CASE("a datatype from its constructor to MPI_Type_free", "[mpi][datatype]") {
    const Process process;
    MPI_Datatype column = MPI_DATATYPE_NULL;
    REQUIRE(MPI_Type_vector(3, 1, 2, MPI_INT, &column) == MPI_SUCCESS);
    const int integer = MPI_Type_toint(column);
    CHECK(integer >= 4096);
    CHECK(MPI_Type_fromint(integer) == column);
    CHECK(MPI_Type_toint(MPI_INT) == 0x209);
    const int matrix[] = {1, 2, 3, 4, 5, 6};
    std::array<int, 3> packed{};
    int position = 0;
    CHECK(MPI_Pack(matrix, 1, column, packed.data(), 12, &position, MPI_COMM_WORLD) ==
          MPI_ERR_TYPE);
    REQUIRE(MPI_Type_commit(&column) == MPI_SUCCESS);
    CHECK(MPI_Pack(matrix, 1, column, packed.data(), 12, &position, MPI_COMM_WORLD) == MPI_SUCCESS);
    CHECK(position == 12);
    CHECK(packed == std::array{1, 3, 5});
    std::array<int, 6> back{};
    MPI_Count from = 0;
    CHECK(MPI_Unpack_c(packed.data(), 12, &from, back.data(), 1, column, MPI_COMM_WORLD) ==
          MPI_SUCCESS);
    CHECK(from == 12);
    CHECK(back == std::array{1, 0, 3, 0, 5, 0});
    int size = 0;
    CHECK(MPI_Pack_size(2, column, MPI_COMM_WORLD, &size) == MPI_SUCCESS);
    CHECK(size == 24);
    MPI_Aint lb = -1;
    MPI_Aint extent = -1;
    CHECK(MPI_Type_get_extent(column, &lb, &extent) == MPI_SUCCESS);
    CHECK(lb == 0);
    CHECK(extent == 20);
    CHECK(MPI_Type_get_true_extent(column, &lb, &extent) == MPI_SUCCESS);
    CHECK(extent == 20);

    MPI_Datatype stale = column;
    CHECK(MPI_Type_free(&column) == MPI_SUCCESS);
    CHECK(column == MPI_DATATYPE_NULL);
    CHECK(MPI_Type_size(stale, &size) == MPI_ERR_TYPE);
    CHECK(MPI_Type_free(&stale) == MPI_ERR_TYPE);
    CHECK(MPI_Type_fromint(integer) == MPI_DATATYPE_NULL);
    MPI_Datatype predefined = MPI_INT;
    CHECK(MPI_Type_free(&predefined) == MPI_ERR_TYPE);
    CHECK(predefined == MPI_INT);
    CHECK(MPI_Type_commit(&predefined) == MPI_SUCCESS);
    CHECK(MPI_Type_size(MPI_DATATYPE_NULL, &size) == MPI_ERR_TYPE);
}

TEST_CASE("names of datatypes", "[mpi][datatype]") {
    const Process process;
    char name[MPI_MAX_OBJECT_NAME];
    int length = -1;
    CHECK(MPI_Type_get_name(MPI_DOUBLE, name, &length) == MPI_SUCCESS);
    CHECK(std::string(name) == "MPI_DOUBLE");
    CHECK(length == 10);
    MPI_Datatype type = MPI_DATATYPE_NULL;
    REQUIRE(MPI_Type_contiguous(3, MPI_INT, &type) == MPI_SUCCESS);
    CHECK(MPI_Type_get_name(type, name, &length) == MPI_SUCCESS);
    CHECK(length == 0);
    CHECK(name[0] == '\0');
    CHECK(MPI_Type_set_name(type, "triple") == MPI_SUCCESS);
    CHECK(MPI_Type_get_name(type, name, &length) == MPI_SUCCESS);
    CHECK(std::string(name) == "triple");
    // A copy has no name.
    MPI_Datatype copy = MPI_DATATYPE_NULL;
    REQUIRE(MPI_Type_dup(type, &copy) == MPI_SUCCESS);
    CHECK(MPI_Type_get_name(copy, name, &length) == MPI_SUCCESS);
    CHECK(length == 0);
    MPI_Type_free(&copy);
    MPI_Type_free(&type);
}

TEST_CASE("decoding a structure", "[mpi][datatype]") {
    const Process process;
    MPI_Datatype inner = MPI_DATATYPE_NULL;
    REQUIRE(MPI_Type_contiguous(2, MPI_INT, &inner) == MPI_SUCCESS);
    const int lengths[] = {1, 3};
    const MPI_Aint places[] = {0, 16};
    const MPI_Datatype types[] = {inner, MPI_DOUBLE};
    MPI_Datatype outer = MPI_DATATYPE_NULL;
    REQUIRE(MPI_Type_create_struct(2, lengths, places, types, &outer) == MPI_SUCCESS);
    MPI_Datatype kept = inner;
    REQUIRE(MPI_Type_free(&inner) == MPI_SUCCESS);

    int integers = 0;
    int addresses = 0;
    int datatypes = 0;
    int combiner = 0;
    CHECK(MPI_Type_get_envelope(outer, &integers, &addresses, &datatypes, &combiner) ==
          MPI_SUCCESS);
    CHECK(std::array{integers, addresses, datatypes, combiner} ==
          std::array{3, 2, 2, int{MPI_COMBINER_STRUCT}});
    int found_integers[3];
    MPI_Aint found_addresses[2];
    MPI_Datatype found_types[2];
    CHECK(MPI_Type_get_contents(outer, 3, 2, 2, found_integers, found_addresses, found_types) ==
          MPI_SUCCESS);
    CHECK(found_integers[2] == 3);
    CHECK(found_addresses[1] == 16);
    CHECK(found_types[0] == kept);
    CHECK(found_types[1] == MPI_DOUBLE);
    CHECK(MPI_Type_free(&found_types[0]) == MPI_SUCCESS);
    CHECK(MPI_Type_free(&outer) == MPI_SUCCESS);
    // Now nothing holds the inner type.
    CHECK(MPI_Type_free(&kept) == MPI_ERR_TYPE);

    // The large form is decoded by the large functions only.
    MPI_Datatype large = MPI_DATATYPE_NULL;
    REQUIRE(MPI_Type_contiguous_c(MPI_Count{1} << 40, MPI_INT, &large) == MPI_SUCCESS);
    CHECK(MPI_Type_get_envelope(large, &integers, &addresses, &datatypes, &combiner) ==
          MPI_ERR_TYPE);
    MPI_Count numbers[4];
    CHECK(MPI_Type_get_envelope_c(large, &numbers[0], &numbers[1], &numbers[2], &numbers[3],
                                  &combiner) == MPI_SUCCESS);
    CHECK(numbers[2] == 1);
    int size = 0;
    CHECK(MPI_Type_size(large, &size) == MPI_SUCCESS);
    CHECK(size == MPI_UNDEFINED);
    MPI_Count bytes = 0;
    CHECK(MPI_Type_size_c(large, &bytes) == MPI_SUCCESS);
    CHECK(bytes == MPI_Count{1} << 42);
    CHECK(MPI_Type_size_x(large, &bytes) == MPI_SUCCESS);
    CHECK(bytes == MPI_Count{1} << 42);
    MPI_Type_free(&large);
}

TEST_CASE("elements of a status", "[mpi][datatype]") {
    const Process process;
    MPI_Status status;
    set_status(status, 0, 0, 12);
    int count = 0;
    CHECK(MPI_Get_count(&status, MPI_INT, &count) == MPI_SUCCESS);
    CHECK(count == 3);
    CHECK(MPI_Get_count(&status, MPI_DOUBLE, &count) == MPI_SUCCESS);
    CHECK(count == MPI_UNDEFINED);
    CHECK(MPI_Get_elements(&status, MPI_2INT, &count) == MPI_SUCCESS);
    CHECK(count == 3);
    CHECK(MPI_Status_set_elements(&status, MPI_DOUBLE_INT, 3) == MPI_SUCCESS);
    CHECK(received_bytes(status) == 20);
    CHECK(MPI_Status_set_elements_x(&status, MPI_BYTE, MPI_Count{1} << 40) == MPI_SUCCESS);
    CHECK(MPI_Get_elements(&status, MPI_BYTE, &count) == MPI_SUCCESS);
    CHECK(count == MPI_UNDEFINED);
    MPI_Count large = 0;
    CHECK(MPI_Get_elements_x(&status, MPI_BYTE, &large) == MPI_SUCCESS);
    CHECK(large == MPI_Count{1} << 40);
}

namespace {

int deletions = 0;
int copy_result = MPI_SUCCESS;
int copy_attribute(MPI_Datatype, int, void*, void* value, void* out, int* flag) {
    *static_cast<void**>(out) = value;
    *flag = 1;
    return copy_result;
}
int delete_result = MPI_SUCCESS;
int delete_attribute(MPI_Datatype, int, void*, void*) {
    ++deletions;
    return delete_result;
}

}  // namespace

TEST_CASE("attributes of datatypes are copied and deleted", "[mpi][datatype]") {
    const Process process;
    int key = MPI_KEYVAL_INVALID;
    REQUIRE(MPI_Type_create_keyval(copy_attribute, delete_attribute, &key, nullptr) == MPI_SUCCESS);
    MPI_Datatype type = MPI_DATATYPE_NULL;
    REQUIRE(MPI_Type_contiguous(3, MPI_INT, &type) == MPI_SUCCESS);
    int value = 7;
    REQUIRE(MPI_Type_set_attr(type, key, &value) == MPI_SUCCESS);
    MPI_Datatype copy = MPI_DATATYPE_NULL;
    REQUIRE(MPI_Type_dup(type, &copy) == MPI_SUCCESS);
    int* found = nullptr;
    int flag = 0;
    CHECK(MPI_Type_get_attr(copy, key, &found, &flag) == MPI_SUCCESS);
    CHECK(flag == 1);
    CHECK(found == &value);
    CHECK(MPI_Type_free(&copy) == MPI_SUCCESS);
    CHECK(deletions == 1);
    // A datatype at the same address has no attributes of the one before.
    MPI_Datatype other = MPI_DATATYPE_NULL;
    REQUIRE(MPI_Type_contiguous(3, MPI_INT, &other) == MPI_SUCCESS);
    CHECK(MPI_Type_get_attr(other, key, &found, &flag) == MPI_SUCCESS);
    CHECK(flag == 0);
    CHECK(MPI_Type_free(&other) == MPI_SUCCESS);
    // If the copy function fails, there is no copy.
    copy_result = MPI_ERR_OTHER;
    copy = type;
    CHECK(MPI_Type_dup(type, &copy) == MPI_ERR_OTHER);
    CHECK(copy == MPI_DATATYPE_NULL);
    // If the delete function fails, the datatype stays.
    delete_result = MPI_ERR_OTHER;
    CHECK(MPI_Type_free(&type) == MPI_ERR_OTHER);
    CHECK(type != MPI_DATATYPE_NULL);
    delete_result = MPI_SUCCESS;
    REQUIRE(MPI_Type_set_attr(type, key, &value) == MPI_SUCCESS);
    CHECK(MPI_Type_free(&type) == MPI_SUCCESS);
    MPI_Type_free_keyval(&key);
}

TEST_CASE("errors of constructors have the standard's classes", "[mpi][datatype]") {
    const Process process;
    MPI_Datatype type = MPI_DATATYPE_NULL;
    CHECK(MPI_Type_contiguous(-1, MPI_INT, &type) == MPI_ERR_COUNT);
    CHECK(MPI_Type_contiguous(1, MPI_DATATYPE_NULL, &type) == MPI_ERR_TYPE);
    CHECK(MPI_Type_contiguous(1, MPI_INT, nullptr) == MPI_ERR_ARG);
    const int lengths[] = {1, 1};
    const MPI_Aint places[] = {0, 16};
    const MPI_Datatype types[] = {MPI_INT, MPI_DATATYPE_NULL};
    CHECK(MPI_Type_create_struct(2, lengths, places, types, &type) == MPI_ERR_TYPE);
    CHECK(MPI_Type_create_struct(-1, lengths, places, types, &type) == MPI_ERR_COUNT);
    CHECK(MPI_Type_create_struct(2, lengths, places, nullptr, &type) == MPI_ERR_ARG);
    MPI_Aint size = 0;
    CHECK(MPI_Pack_external_size("native", 1, MPI_INT, &size) == MPI_ERR_UNSUPPORTED_DATAREP);
    CHECK(MPI_Pack_external_size("external32", 1, MPI_LONG, &size) == MPI_SUCCESS);
    CHECK(size == 4);
    MPI_Datatype pair = MPI_INT;
    CHECK(MPI_Type_get_value_index(MPI_DOUBLE, MPI_INT, &pair) == MPI_SUCCESS);
    CHECK(pair == MPI_DOUBLE_INT);
    CHECK(MPI_Type_get_value_index(MPI_INT, MPI_DOUBLE, &pair) == MPI_SUCCESS);
    CHECK(pair == MPI_DATATYPE_NULL);
    CHECK(type == MPI_DATATYPE_NULL);
}
