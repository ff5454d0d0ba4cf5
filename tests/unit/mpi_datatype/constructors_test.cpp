// Every constructor against type maps computed by hand from the definitions of MPI 5.0, chapter 5,
// and the errors that it must report.
#include "tests/unit/mpi_datatype/datatype_support.hpp"

using namespace datatype_tests;

namespace {

// The type of many examples of the standard: a double at 0, a char at 8, with an extent of 16.
constexpr int kDouble = code::kDouble;
constexpr int kChar = 0x243;

Type double_char() {
    Datatype* types[] = {&basic(kDouble), &basic(kChar)};
    return made(type_create_struct, Form::kInt, 2, counts({1, 1}), counts({0, 8}), types);
}

// The oracle's type with these entries.
OracleType map_of(std::vector<std::pair<int, std::int64_t>> entries) {
    OracleType type;
    for (const auto& [code, at] : entries) type.entries.push_back(OracleType::entry(at, code));
    return type;
}

}  // namespace

TEST_CASE("predefined datatypes have the bounds of their C types", "[datatype]") {
    for (const PredefinedType& row : predefined_types()) {
        INFO(row.name);
        Datatype& type = basic(static_cast<int>(row.code));
        CHECK(type.size() == row.size);
        CHECK(type.lower_bound() == 0);
        CHECK(type.extent() == row.extent);
        CHECK(type.name() == row.name);
        CHECK(type.committed());
        CHECK(type_free(type).error_class == kErrType);
    }
    // double and int: 12 bytes of data, padded to the alignment of double.
    CHECK(bounds(basic(code::kDoubleInt)) == Bounds{0, 16, 0, 12});
    CHECK(basic(code::kDoubleInt).map().elements == 2);
    CHECK(bounds(basic(code::kShortInt)) == Bounds{0, 8, 0, 8});
    CHECK(basic(code::kShortInt).size() == 6);
}

TEST_CASE("a structure is padded to its strictest alignment", "[datatype]") {
    const Type type = double_char();
    check_same(*type, map_of({{kDouble, 0}, {kChar, 8}}));
    CHECK(bounds(*type) == Bounds{0, 16, 0, 9});
    CHECK(type->size() == 9);
}

TEST_CASE("contiguous", "[datatype]") {
    const Type old = double_char();
    const Type type = made(type_contiguous, Form::kInt, 3, *old);
    check_same(
        *type,
        map_of({{kDouble, 0}, {kChar, 8}, {kDouble, 16}, {kChar, 24}, {kDouble, 32}, {kChar, 40}}));
    CHECK(bounds(*type) == Bounds{0, 48, 0, 41});
}

TEST_CASE("vector", "[datatype]") {
    const Type old = double_char();
    // Two blocks of three elements, four extents apart.
    const Type type = made(type_vector, Form::kInt, 2, 3, 4, *old);
    check_same(*type, map_of({{kDouble, 0},
                              {kChar, 8},
                              {kDouble, 16},
                              {kChar, 24},
                              {kDouble, 32},
                              {kChar, 40},
                              {kDouble, 64},
                              {kChar, 72},
                              {kDouble, 80},
                              {kChar, 88},
                              {kDouble, 96},
                              {kChar, 104}}));
    // Three blocks of one element, with a negative stride.
    const Type back = made(type_vector, Form::kInt, 3, 1, -2, *old);
    check_same(*back, map_of({{kDouble, 0},
                              {kChar, 8},
                              {kDouble, -32},
                              {kChar, -24},
                              {kDouble, -64},
                              {kChar, -56}}));
    CHECK(bounds(*back) == Bounds{-64, 80, -64, 73});
}

TEST_CASE("hvector", "[datatype]") {
    const Type type = made(type_create_hvector, Form::kInt, 2, 2, 20, basic(code::kInt));
    check_same(*type,
               map_of({{code::kInt, 0}, {code::kInt, 4}, {code::kInt, 20}, {code::kInt, 24}}));
    CHECK(bounds(*type) == Bounds{0, 28, 0, 28});
    // A stride that is not a multiple of the alignment: the extent is rounded up.
    const Type odd = made(type_create_hvector, Form::kInt, 2, 1, 6, basic(code::kInt));
    CHECK(bounds(*odd) == Bounds{0, 12, 0, 10});
}

TEST_CASE("indexed", "[datatype]") {
    const Type old = double_char();
    const Type type = made(type_indexed, Form::kInt, 2, counts({3, 1}), counts({4, 0}), *old);
    check_same(*type, map_of({{kDouble, 64},
                              {kChar, 72},
                              {kDouble, 80},
                              {kChar, 88},
                              {kDouble, 96},
                              {kChar, 104},
                              {kDouble, 0},
                              {kChar, 8}}));
    const Type bytes =
        made(type_create_hindexed, Form::kInt, 2, counts({3, 1}), counts({64, 0}), *old);
    CHECK(addresses(*bytes, 2) == addresses(*type, 2));
    CHECK(bytes->map().signature == type->map().signature);
    const Type narrow = [&] {
        static const int kLengths[] = {3, 1};
        static const int kPlaces[] = {4, 0};
        return made(type_indexed, Form::kInt, 2, Counts(kLengths), Counts(kPlaces), *old);
    }();
    CHECK(addresses(*narrow, 1) == addresses(*type, 1));
}

TEST_CASE("indexed blocks of one length", "[datatype]") {
    const Type type =
        made(type_create_indexed_block, Form::kInt, 3, 2, counts({12, 5, -1}), basic(code::kShort));
    OracleType oracle;
    for (const std::int64_t at : {24, 10, -2}) {
        oracle.append(OracleType::basic(code::kShort), at, 2);
    }
    check_same(*type, oracle);
    const Type bytes = made(type_create_hindexed_block, Form::kInt, 3, 2, counts({24, 10, -2}),
                            basic(code::kShort));
    check_same(*bytes, oracle);
}

TEST_CASE("struct of different types", "[datatype]") {
    const Type old = double_char();
    Datatype* types[] = {&basic(code::kFloat), old.get(), &basic(kChar)};
    const Type type =
        made(type_create_struct, Form::kInt, 3, counts({2, 1, 3}), counts({0, 16, 26}), types);
    check_same(*type, map_of({{code::kFloat, 0},
                              {code::kFloat, 4},
                              {kDouble, 16},
                              {kChar, 24},
                              {kChar, 26},
                              {kChar, 27},
                              {kChar, 28}}));
    CHECK(bounds(*type) == Bounds{0, 32, 0, 29});
}

TEST_CASE("bounds that were set survive in derived types", "[datatype]") {
    // An int at 0 in bounds of -3 to 6; two of them in a row.
    const Type one = made(type_create_resized, Form::kInt, basic(code::kInt), -3, 9);
    CHECK(bounds(*one) == Bounds{-3, 9, 0, 4});
    const Type two = made(type_contiguous, Form::kInt, 2, *one);
    OracleType oracle;
    oracle.append(OracleType::basic(code::kInt).resized(-3, 9), 0, 2);
    check_same(*two, oracle);
    CHECK(bounds(*two) == Bounds{-3, 18, 0, 13});
    // A member with bounds decides the bounds of a structure, also against other members.
    Datatype* types[] = {one.get(), &basic(kDouble)};
    const Type both =
        made(type_create_struct, Form::kInt, 2, counts({1, 1}), counts({0, 100}), types);
    CHECK(bounds(*both) == Bounds{-3, 9, 0, 108});
    // A negative extent puts the copies one before the other.
    const Type down = made(type_create_resized, Form::kInt, basic(code::kInt), 4, -4);
    const Type three = made(type_contiguous, Form::kInt, 3, *down);
    CHECK(addresses(*three, 1) ==
          std::vector<std::int64_t>{0, 1, 2, 3, -4, -3, -2, -1, -8, -7, -6, -5});
    // Resizing again replaces the bounds.
    const Type again = made(type_create_resized, Form::kInt, *one, 0, 4);
    CHECK(bounds(*again) == Bounds{0, 4, 0, 4});
}

TEST_CASE("types without data", "[datatype]") {
    for (const Type& type : {made(type_contiguous, Form::kInt, 0, basic(kDouble)),
                             made(type_vector, Form::kInt, 0, 5, 7, basic(kDouble)),
                             made(type_vector, Form::kInt, 5, 0, 7, basic(kDouble)),
                             made(type_indexed, Form::kInt, 0, nullptr, nullptr, basic(kDouble)),
                             made(type_create_hindexed, Form::kInt, 2, counts({0, 0}),
                                  counts({8, 80}), basic(kDouble)),
                             made(type_create_struct, Form::kInt, 0, nullptr, nullptr, nullptr)}) {
        CHECK(bounds(*type) == Bounds{0, 0, 0, 0});
        CHECK(type->size() == 0);
        CHECK(addresses(*type, 3).empty());
        CHECK(get_elements(*type, 0) == 0);
        CHECK(get_count(*type, 0) == 0);
    }
    // A block of length zero does not count for the bounds.
    const Type type = made(type_create_hindexed, Form::kInt, 3, counts({0, 2, 0}),
                           counts({-800, 8, 800}), basic(kDouble));
    CHECK(bounds(*type) == Bounds{8, 16, 8, 16});
    // Bounds without data.
    const Type empty = made(type_contiguous, Form::kInt, 0, basic(kDouble));
    const Type space = made(type_create_resized, Form::kInt, *empty, -4, 12);
    CHECK(bounds(*space) == Bounds{-4, 12, 0, 0});
    Datatype* types[] = {space.get(), &basic(kChar)};
    const Type padded =
        made(type_create_struct, Form::kInt, 2, counts({1, 1}), counts({0, 0}), types);
    CHECK(bounds(*padded) == Bounds{-4, 12, 0, 1});
}

TEST_CASE("subarray", "[datatype]") {
    const auto sub = [](int order) {
        return made(type_create_subarray, Form::kInt, 2, counts({4, 6}), counts({2, 3}),
                    counts({1, 2}), order, basic(code::kInt));
    };
    OracleType rows;  // the second index is the fastest
    for (const std::int64_t at : {8, 14}) rows.append(OracleType::basic(code::kInt), at * 4, 3);
    check_same(*sub(kOrderC), rows.resized(0, 96));
    OracleType columns;  // the first index is the fastest
    for (const std::int64_t at : {9, 13, 17}) {
        columns.append(OracleType::basic(code::kInt), at * 4, 2);
    }
    check_same(*sub(kOrderFortran), columns.resized(0, 96));
}

TEST_CASE("darray", "[datatype]") {
    // A vector of ten over three processes, in blocks of two in turn: process 1 has 2, 3, 8, 9.
    const auto part = [](int rank, int kind, int argument) {
        static const int kProcesses[] = {3};
        return made(type_create_darray, Form::kInt, 3, rank, 1, counts({10}), &kind, &argument,
                    kProcesses, kOrderC, basic(code::kInt));
    };
    const auto ints = [](std::vector<std::int64_t> indices) {
        OracleType oracle;
        for (const std::int64_t i : indices) oracle.append(OracleType::basic(code::kInt), 4 * i);
        return oracle.resized(0, 40);
    };
    check_same(*part(1, kDistributeCyclic, 2), ints({2, 3, 8, 9}));
    check_same(*part(2, kDistributeCyclic, 2), ints({4, 5}));
    check_same(*part(0, kDistributeCyclic, kDistributeDefaultArgument), ints({0, 3, 6, 9}));
    check_same(*part(0, kDistributeCyclic, 3), ints({0, 1, 2, 9}));
    check_same(*part(2, kDistributeCyclic, 7), ints({}));
    check_same(*part(1, kDistributeCyclic, 7), ints({7, 8, 9}));
    check_same(*part(0, kDistributeBlock, kDistributeDefaultArgument), ints({0, 1, 2, 3}));
    check_same(*part(2, kDistributeBlock, kDistributeDefaultArgument), ints({8, 9}));
    check_same(*part(1, kDistributeBlock, 8), ints({8, 9}));
    check_same(*part(2, kDistributeBlock, 8), ints({}));
}

TEST_CASE("darray in several dimensions: every element has one owner", "[datatype]") {
    // 5 x 4 x 7 elements over 2 x 1 x 3 processes.
    static const int kKinds[] = {kDistributeCyclic, kDistributeNone, kDistributeBlock};
    static const int kArguments[] = {2, kDistributeDefaultArgument, kDistributeDefaultArgument};
    static const int kProcesses[] = {2, 1, 3};
    for (const int order : {kOrderC, kOrderFortran}) {
        std::vector<int> owners(5 * 4 * 7, -1);
        for (int rank = 0; rank < 6; ++rank) {
            const Type type = made(type_create_darray, Form::kInt, 6, rank, 3, counts({5, 4, 7}),
                                   kKinds, kArguments, kProcesses, order, basic(kChar));
            CHECK(bounds(*type).extent == 140);
            std::int64_t before = -1;
            for (const std::int64_t at : addresses(*type, 1)) {
                CHECK(at > before);  // in the order of memory
                before = at;
                CHECK(owners[static_cast<std::size_t>(at)] == -1);
                owners[static_cast<std::size_t>(at)] = rank;
            }
        }
        for (int a = 0; a < 5; ++a) {
            for (int c = 0; c < 7; ++c) {
                // Row-major ranks: blocks of two in turn, and blocks of ceil(7 / 3).
                const int owner = a / 2 % 2 * 3 + c / 3;
                const int b = 3;
                const int at = order == kOrderC ? (a * 4 + b) * 7 + c : a + 5 * (b + 4 * c);
                CHECK(owners[static_cast<std::size_t>(at)] == owner);
            }
        }
    }
}

TEST_CASE("types of Fortran 90", "[datatype]") {
    Datatype* first = nullptr;
    Datatype* second = nullptr;
    CHECK(!type_create_f90_real(15, 300, first));
    CHECK(!type_create_f90_real(15, 300, second));
    CHECK(first == second);
    CHECK(first->size() == 8);
    CHECK(type_free(*first).error_class == kErrType);
    CHECK(!type_create_f90_real(6, kUndefined, first));
    CHECK(first->size() == 4);
    CHECK(!type_create_f90_real(kUndefined, 38, first));
    CHECK(first->size() == 8);
    CHECK(!type_create_f90_real(33, 4931, first));
    CHECK(first->size() == 16);
    CHECK(!type_create_f90_complex(15, 307, first));
    CHECK(first->size() == 16);
    CHECK(type_create_f90_real(34, 1, first).error_class == kErrArg);
    CHECK(type_create_f90_real(kUndefined, kUndefined, first).error_class == kErrArg);
    const int sizes[][2] = {{2, 1}, {4, 2}, {9, 4}, {18, 8}, {38, 16}};
    for (const auto& [range, size] : sizes) {
        CHECK(!type_create_f90_integer(range, first));
        CHECK(first->size() == size);
    }
    CHECK(type_create_f90_integer(39, first).error_class == kErrArg);
    CHECK(!type_match_size(kTypeclassComplex, 16, first));
    CHECK(first == &basic(code::kComplex16));
    CHECK(type_match_size(kTypeclassReal, 3, first).error_class == kErrArg);
    CHECK(type_match_size(7, 4, first).error_class == kErrArg);
}

TEST_CASE("pairs of value and index", "[datatype]") {
    Datatype* pair = nullptr;
    CHECK(!type_get_value_index(basic(kDouble), basic(code::kInt), pair));
    CHECK(pair == &basic(code::kDoubleInt));
    CHECK(!type_get_value_index(basic(code::kInt), basic(kDouble), pair));
    CHECK(pair == nullptr);
}

TEST_CASE("wrong arguments are refused", "[datatype]") {
    Datatype& old = basic(code::kInt);
    CHECK(error_of(type_contiguous, Form::kInt, -1, old) == kErrCount);
    CHECK(error_of(type_vector, Form::kInt, -1, 1, 1, old) == kErrCount);
    CHECK(error_of(type_vector, Form::kInt, 1, -1, 1, old) == kErrArg);
    CHECK(error_of(type_create_hvector, Form::kInt, 1, -1, 1, old) == kErrArg);
    CHECK(error_of(type_indexed, Form::kInt, 1, nullptr, counts({0}), old) == kErrArg);
    CHECK(error_of(type_indexed, Form::kInt, 2, counts({1, -1}), counts({0, 0}), old) == kErrArg);
    CHECK(error_of(type_create_hindexed, Form::kInt, 1, counts({1}), nullptr, old) == kErrArg);
    CHECK(error_of(type_create_struct, Form::kInt, 1, counts({1}), counts({1}), nullptr) ==
          kErrArg);
    const auto sub = [&](int ndims, Large sizes, Large subsizes, Large starts, int order) {
        return error_of(type_create_subarray, Form::kInt, ndims, counts(sizes), counts(subsizes),
                        counts(starts), order, old);
    };
    CHECK(sub(0, {4}, {2}, {1}, kOrderC) == kErrArg);
    CHECK(sub(1, {0}, {2}, {1}, kOrderC) == kErrArg);
    CHECK(sub(1, {4}, {5}, {0}, kOrderC) == kErrArg);
    CHECK(sub(1, {4}, {0}, {0}, kOrderC) == kErrArg);
    CHECK(sub(1, {4}, {2}, {3}, kOrderC) == kErrArg);
    CHECK(sub(1, {4}, {2}, {-1}, kOrderC) == kErrArg);
    CHECK(sub(1, {4}, {2}, {1}, 99) == kErrArg);
    const auto array = [&](int size, int rank, std::int64_t elements, int kind, int argument,
                           int processes) {
        return error_of(type_create_darray, Form::kInt, size, rank, 1, counts({elements}), &kind,
                        &argument, &processes, kOrderC, old);
    };
    CHECK(array(0, 0, 10, kDistributeBlock, 5, 2) == kErrArg);
    CHECK(array(2, 2, 10, kDistributeBlock, 5, 2) == kErrArg);
    CHECK(array(2, 0, 0, kDistributeBlock, 5, 2) == kErrArg);
    CHECK(array(2, 0, 10, 77, 5, 2) == kErrArg);
    CHECK(array(2, 0, 10, kDistributeBlock, 4, 2) == kErrArg);
    CHECK(array(2, 0, 10, kDistributeCyclic, 0, 2) == kErrArg);
    CHECK(array(2, 0, 10, kDistributeNone, 5, 2) == kErrArg);
    CHECK(array(2, 0, 10, kDistributeBlock, 5, 3) == kErrArg);
}
