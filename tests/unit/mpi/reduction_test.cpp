// Predefined and user operations: which operation is defined on which datatype, and the results.
#include <algorithm>
#include <cmath>
#include <complex>
#include <cstring>
#include <limits>
#include <mpi.h>
#include <vector>

#include <catch2/catch.hpp>

#include "mpi/object/elements.hpp"
#include "mpi/object/operation.hpp"
#include "mpi/object/reductions.hpp"
#include "tests/unit/mpi/process.hpp"

using namespace poe::mpi;

namespace {

template <typename T>
std::vector<T> reduce(MPI_Op op, MPI_Datatype type, std::vector<T> in, std::vector<T> inout) {
    const Process process;
    REQUIRE(MPI_Reduce_local(in.data(), inout.data(), static_cast<int>(in.size()), type, op) ==
            MPI_SUCCESS);
    return inout;
}

template <typename T>
void check_integers(MPI_Datatype type) {
    using V = std::vector<T>;
    const V in{T(1), T(5), T(0), T(12)};
    const V inout{T(2), T(3), T(7), T(10)};
    CHECK(reduce(MPI_SUM, type, in, inout) == V{T(3), T(8), T(7), T(22)});
    CHECK(reduce(MPI_PROD, type, in, inout) == V{T(2), T(15), T(0), T(120)});
    CHECK(reduce(MPI_MAX, type, in, inout) == V{T(2), T(5), T(7), T(12)});
    CHECK(reduce(MPI_MIN, type, in, inout) == V{T(1), T(3), T(0), T(10)});
    CHECK(reduce(MPI_BAND, type, in, inout) == V{T(0), T(1), T(0), T(8)});
    CHECK(reduce(MPI_BOR, type, in, inout) == V{T(3), T(7), T(7), T(14)});
    CHECK(reduce(MPI_BXOR, type, in, inout) == V{T(3), T(6), T(7), T(6)});
    CHECK(reduce(MPI_LAND, type, in, inout) == V{T(1), T(1), T(0), T(1)});
    CHECK(reduce(MPI_LOR, type, in, V{T(0), T(0), T(0), T(3)}) == V{T(1), T(1), T(0), T(1)});
    CHECK(reduce(MPI_LXOR, type, in, inout) == V{T(0), T(0), T(1), T(0)});
}

template <typename T>
void check_floating(MPI_Datatype type) {
    using V = std::vector<T>;
    CHECK(reduce(MPI_SUM, type, V{T(1.5), T(-2)}, V{T(2), T(1)}) == V{T(3.5), T(-1)});
    CHECK(reduce(MPI_PROD, type, V{T(1.5), T(-2)}, V{T(2), T(1)}) == V{T(3), T(-2)});
    CHECK(reduce(MPI_MAX, type, V{T(1.5), T(-2)}, V{T(2), T(-3)}) == V{T(2), T(-2)});
    CHECK(reduce(MPI_MIN, type, V{T(1.5), T(-2)}, V{T(2), T(-3)}) == V{T(1.5), T(-3)});
}

template <typename T>
void check_complex(MPI_Datatype type) {
    using C = std::complex<T>;
    using V = std::vector<C>;
    CHECK(reduce(MPI_SUM, type, V{C(1, 2)}, V{C(3, -5)}) == V{C(4, -3)});
    CHECK(reduce(MPI_PROD, type, V{C(1, 2)}, V{C(3, -5)}) == V{C(13, 1)});
}

// Also checks that equal values take the smaller index, whichever side it comes from.
template <typename Pair>
void check_pairs(MPI_Datatype type) {
    const auto make = [](int value, int index) {
        Pair pair;
        pair.value = static_cast<decltype(pair.value)>(value);
        pair.index = static_cast<decltype(pair.index)>(index);
        return pair;
    };
    const std::vector<Pair> in{make(3, 9), make(7, 4), make(5, 2), make(5, 6), make(-1, 0)};
    const std::vector<Pair> inout{make(4, 1), make(6, 3), make(5, 8), make(5, 1), make(-1, 0)};
    const auto same = [](const Pair& a, const Pair& b) {
        return a.value == b.value && a.index == b.index;
    };
    const auto most = reduce(MPI_MAXLOC, type, in, inout);
    const std::vector<Pair> largest{make(4, 1), make(7, 4), make(5, 2), make(5, 1), make(-1, 0)};
    CHECK(std::ranges::equal(most, largest, same));
    const auto least = reduce(MPI_MINLOC, type, in, inout);
    const std::vector<Pair> smallest{make(3, 9), make(6, 3), make(5, 2), make(5, 1), make(-1, 0)};
    CHECK(std::ranges::equal(least, smallest, same));
}

template <typename Value, typename Index>
struct Two {
    Value value;
    Index index;
    bool operator==(const Two& other) const { return value == other.value && index == other.index; }
};

// Checks that each kernel computes the same in a third array and in the memory of either operand.
// The lengths end within and after what a vector instruction covers.
template <typename T, typename Make>
void check_places(MPI_Datatype handle, Make make) {
    const PredefinedType& type = *find_predefined_type(value_of(handle));
    for (const MPI_Op op : {MPI_SUM, MPI_PROD, MPI_MAX, MPI_MIN, MPI_BAND, MPI_BOR, MPI_BXOR,
                            MPI_LAND, MPI_LOR, MPI_LXOR, MPI_MAXLOC, MPI_MINLOC}) {
        const ReductionKernel kernel = find_kernel(value_of(op), type);
        if (kernel == nullptr) continue;
        for (const std::size_t count : {2u, 6u, 32u, 38u}) {
            INFO(type.name << ", operation " << value_of(op) << ", " << count << " elements");
            std::vector<T> one;
            std::vector<T> two;
            for (std::size_t i = 0; i < count; ++i) {
                one.push_back(make(static_cast<int>(i * 7 % 5)));
                two.push_back(make(static_cast<int>(i * 3 % 4)));
            }
            const std::size_t bytes = count * sizeof(T);
            std::vector<T> third(count);
            kernel(one.data(), two.data(), third.data(), bytes);
            std::vector<T> second = two;
            kernel(one.data(), second.data(), second.data(), bytes);
            CHECK(third == second);
            std::vector<T> first = one;
            kernel(first.data(), two.data(), first.data(), bytes);
            CHECK(third == first);
        }
    }
}
template <typename T>
void check_places(MPI_Datatype type) {
    check_places<T>(type, [](int i) { return static_cast<T>(i); });
}
template <typename Value, typename Index>
void check_places_of_pairs(MPI_Datatype type) {
    check_places<Two<Value, Index>>(type, [](int i) {
        return Two<Value, Index>{static_cast<Value>(i / 2), static_cast<Index>(i)};
    });
}

// The standard's table of operations and classes of datatypes.
bool is_defined(MPI_Op op, TypeClass type_class) {
    using enum TypeClass;
    const bool number =
        type_class == kInteger || type_class == kFortranInteger || type_class == kMultiLanguage;
    if (op == MPI_MAX || op == MPI_MIN) return number || type_class == kFloating;
    if (op == MPI_SUM || op == MPI_PROD)
        return number || type_class == kFloating || type_class == kComplex;
    if (op == MPI_LAND || op == MPI_LOR || op == MPI_LXOR)
        return type_class == kInteger || type_class == kLogical;
    if (op == MPI_BAND || op == MPI_BOR || op == MPI_BXOR) return number || type_class == kByte;
    if (op == MPI_MAXLOC || op == MPI_MINLOC) return type_class == kPair;
    return false;
}

int user_calls = 0;
// The last of two: neither commutative nor symmetric.
void first_minus_second(void* in, void* inout, int* length, MPI_Datatype* type) {
    ++user_calls;
    REQUIRE(*type == MPI_INT);
    for (int i = 0; i < *length; ++i) {
        static_cast<int*>(inout)[i] = static_cast<int*>(in)[i] - static_cast<int*>(inout)[i];
    }
}
void large_sum(void* in, void* inout, MPI_Count* length, MPI_Datatype*) {
    ++user_calls;
    for (MPI_Count i = 0; i < *length; ++i) {
        static_cast<int*>(inout)[i] += static_cast<int*>(in)[i];
    }
}

}  // namespace

TEST_CASE("Integers of C and Fortran are reduced") {
    check_integers<int>(MPI_INT);
    check_integers<long>(MPI_LONG);
    check_integers<short>(MPI_SHORT);
    check_integers<long long>(MPI_LONG_LONG);
    check_integers<unsigned short>(MPI_UNSIGNED_SHORT);
    check_integers<unsigned>(MPI_UNSIGNED);
    check_integers<unsigned long>(MPI_UNSIGNED_LONG);
    check_integers<unsigned long long>(MPI_UNSIGNED_LONG_LONG);
    check_integers<signed char>(MPI_SIGNED_CHAR);
    check_integers<unsigned char>(MPI_UNSIGNED_CHAR);
    check_integers<std::int8_t>(MPI_INT8_T);
    check_integers<std::uint16_t>(MPI_UINT16_T);
    check_integers<std::int64_t>(MPI_INT64_T);
    check_integers<std::uint64_t>(MPI_UINT64_T);
    check_integers<std::int32_t>(MPI_INTEGER);
    check_integers<std::int8_t>(MPI_INTEGER1);
    check_integers<std::int64_t>(MPI_INTEGER8);
    check_integers<Int128>(MPI_INTEGER16);
    check_integers<char>(MPI_CHAR);
    check_integers<MPI_Aint>(MPI_AINT);
    check_integers<MPI_Count>(MPI_COUNT);
    check_integers<MPI_Offset>(MPI_OFFSET);
}

TEST_CASE("Signs count in comparisons, and overflows wrap around") {
    CHECK(reduce<int>(MPI_MAX, MPI_INT, {-1}, {1}) == std::vector{1});
    CHECK(reduce<unsigned>(MPI_MAX, MPI_UNSIGNED, {~0u}, {1}) == std::vector{~0u});
    CHECK(reduce<int>(MPI_SUM, MPI_INT, {std::numeric_limits<int>::max()}, {1}) ==
          std::vector{std::numeric_limits<int>::min()});
    CHECK(reduce<std::int8_t>(MPI_PROD, MPI_INT8_T, {100}, {3}) == std::vector<std::int8_t>{44});
    CHECK(reduce<std::int64_t>(MPI_PROD, MPI_INT64_T, {std::int64_t{1} << 62}, {4}) ==
          std::vector<std::int64_t>{0});
}

TEST_CASE("Floating-point numbers of all sizes are reduced") {
    check_floating<float>(MPI_FLOAT);
    check_floating<double>(MPI_DOUBLE);
    check_floating<long double>(MPI_LONG_DOUBLE);
    check_floating<float>(MPI_REAL);
    check_floating<double>(MPI_DOUBLE_PRECISION);
    check_floating<float>(MPI_REAL4);
    check_floating<double>(MPI_REAL8);
    check_floating<Float128>(MPI_REAL16);
    check_floating<Half>(MPI_REAL2);
    check_complex<float>(MPI_C_COMPLEX);
    check_complex<double>(MPI_C_DOUBLE_COMPLEX);
    check_complex<long double>(MPI_C_LONG_DOUBLE_COMPLEX);
    check_complex<float>(MPI_COMPLEX);
    check_complex<double>(MPI_DOUBLE_COMPLEX);
    check_complex<double>(MPI_CXX_DOUBLE_COMPLEX);
    check_complex<float>(MPI_COMPLEX8);
    check_complex<double>(MPI_COMPLEX16);
}

TEST_CASE("A maximum with NaN is NaN on either side") {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    for (const MPI_Op op : {MPI_MAX, MPI_MIN}) {
        const auto result = reduce<double>(op, MPI_DOUBLE, {nan, 1, nan}, {1, nan, nan});
        CHECK(std::ranges::all_of(result, [](double x) { return std::isnan(x); }));
    }
}

TEST_CASE("Half precision is exact where it can be and rounds to even") {
    for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
        Half half;
        half.bits = static_cast<std::uint16_t>(bits);
        const auto value = static_cast<float>(half);
        if (std::isnan(value)) {
            if (!std::isnan(static_cast<float>(Half(value)))) FAIL("NaN is lost");
        } else if (Half(value).bits != bits) {
            FAIL(bits);
        }
    }
    CHECK(static_cast<float>(Half(1.0f + 0x1p-11f)) == 1.0f);
    CHECK(static_cast<float>(Half(1.0f + 3 * 0x1p-11f)) == 1.0f + 0x1p-9f);
    CHECK(static_cast<float>(Half(65504.0f)) == 65504.0f);
    CHECK(static_cast<float>(Half(65519.9f)) == 65504.0f);
    CHECK(std::isinf(static_cast<float>(Half(65520.0f))));
    CHECK(std::isinf(static_cast<float>(Half(1e10f))));
    CHECK(static_cast<float>(Half(0x1p-25f)) == 0.0f);
    CHECK(static_cast<float>(Half(0x1.8p-25f)) == 0x1p-24f);
    CHECK(static_cast<float>(Half(-0x1p-24f)) == -0x1p-24f);
}

TEST_CASE("Logical values become 0 or 1") {
    CHECK(reduce<std::int32_t>(MPI_LAND, MPI_LOGICAL, {1, 0, -1}, {1, 1, 2}) ==
          std::vector{1, 0, 1});
    CHECK(reduce<std::int32_t>(MPI_LXOR, MPI_LOGICAL, {1, 0, -1}, {1, 1, 2}) ==
          std::vector{0, 1, 0});
    CHECK(reduce<std::uint8_t>(MPI_LOR, MPI_C_BOOL, {1, 0}, {0, 0}) ==
          std::vector<std::uint8_t>{1, 0});
    CHECK(reduce<Int128>(MPI_LOR, MPI_LOGICAL16, {1, 0}, {0, 0}) == std::vector<Int128>{1, 0});
    CHECK(reduce<std::uint8_t>(MPI_BXOR, MPI_BYTE, {0xf0}, {0x3c}) ==
          std::vector<std::uint8_t>{0xcc});
}

TEST_CASE("Extrema are located in pairs") {
    check_pairs<Two<float, int>>(MPI_FLOAT_INT);
    check_pairs<Two<double, int>>(MPI_DOUBLE_INT);
    check_pairs<Two<long, int>>(MPI_LONG_INT);
    check_pairs<Two<int, int>>(MPI_2INT);
    check_pairs<Two<short, int>>(MPI_SHORT_INT);
    check_pairs<Two<long double, int>>(MPI_LONG_DOUBLE_INT);
    check_pairs<Two<float, float>>(MPI_2REAL);
    check_pairs<Two<double, double>>(MPI_2DOUBLE_PRECISION);
    check_pairs<Two<std::int32_t, std::int32_t>>(MPI_2INTEGER);
}

TEST_CASE("A result goes into a third array or into the memory of either operand") {
    check_places<std::int8_t>(MPI_INT8_T);
    check_places<std::uint16_t>(MPI_UINT16_T);
    check_places<int>(MPI_INT);
    check_places<std::uint64_t>(MPI_UINT64_T);
    check_places<Int128>(MPI_INTEGER16);
    check_places<std::uint8_t>(MPI_C_BOOL);
    check_places<std::uint8_t>(MPI_BYTE);
    check_places<Half>(MPI_REAL2);
    check_places<float>(MPI_FLOAT);
    check_places<double>(MPI_DOUBLE);
    check_places<long double>(MPI_LONG_DOUBLE);
    check_places<Float128>(MPI_REAL16);
    check_places<float>(MPI_C_COMPLEX);
    check_places<double>(MPI_C_DOUBLE_COMPLEX);
    check_places_of_pairs<short, int>(MPI_SHORT_INT);
    check_places_of_pairs<double, int>(MPI_DOUBLE_INT);
    check_places_of_pairs<long double, int>(MPI_LONG_DOUBLE_INT);
    check_places_of_pairs<float, float>(MPI_2REAL);
}

TEST_CASE("A pair's padding is not written to") {
    Two<short, int> in{3, 1};
    Two<short, int> inout{2, 1};
    auto* bytes = reinterpret_cast<unsigned char*>(&inout);
    bytes[2] = 0xab;
    bytes[3] = 0xcd;
    const Process process;
    REQUIRE(MPI_Reduce_local(&in, &inout, 1, MPI_SHORT_INT, MPI_MAXLOC) == MPI_SUCCESS);
    CHECK(inout.value == 3);
    CHECK(bytes[2] == 0xab);
    CHECK(bytes[3] == 0xcd);
}

TEST_CASE("Every operation is defined on the datatypes of the standard's table") {
    const MPI_Op all[] = {MPI_SUM,    MPI_MIN,    MPI_MAX,     MPI_PROD, MPI_BAND,
                          MPI_BOR,    MPI_BXOR,   MPI_LAND,    MPI_LOR,  MPI_LXOR,
                          MPI_MINLOC, MPI_MAXLOC, MPI_REPLACE, MPI_NO_OP};
    for (const PredefinedType& type : predefined_types()) {
        for (const MPI_Op op : all) {
            INFO(type.name << " and operation " << value_of(op));
            const bool defined = find_kernel(value_of(op), type) != nullptr;
            if (is_defined(op, type.type_class)) {
                CHECK(defined);
            } else {
                // What is more than the table: see reductions.hpp.
                const bool logical = op == MPI_LAND || op == MPI_LOR || op == MPI_LXOR;
                const bool more = (type.code == value_of(MPI_CHAR) && op != MPI_MINLOC &&
                                   op != MPI_MAXLOC && op != MPI_REPLACE && op != MPI_NO_OP) ||
                                  (logical && (type.type_class == TypeClass::kFortranInteger ||
                                               type.type_class == TypeClass::kMultiLanguage ||
                                               type.type_class == TypeClass::kFloating));
                CHECK(defined == more);
            }
        }
    }
}

TEST_CASE("A wrong operation, datatype or buffer is refused") {
    const Process process;
    double in = 1;
    double inout = 2;
    CHECK(MPI_Reduce_local(&in, &inout, 1, MPI_DOUBLE, MPI_BAND) == MPI_ERR_OP);
    CHECK(MPI_Reduce_local(&in, &inout, 1, MPI_DOUBLE, MPI_REPLACE) == MPI_ERR_OP);
    CHECK(MPI_Reduce_local(&in, &inout, 1, MPI_DOUBLE, MPI_OP_NULL) == MPI_ERR_OP);
    CHECK(MPI_Reduce_local(&in, &inout, 1, MPI_DATATYPE_NULL, MPI_SUM) == MPI_ERR_TYPE);
    CHECK(MPI_Reduce_local(&in, &inout, -1, MPI_DOUBLE, MPI_SUM) == MPI_ERR_COUNT);
    CHECK(MPI_Reduce_local(&in, &in, 1, MPI_DOUBLE, MPI_SUM) == MPI_ERR_BUFFER);
    CHECK(MPI_Reduce_local(MPI_IN_PLACE, &inout, 1, MPI_DOUBLE, MPI_SUM) == MPI_ERR_BUFFER);
    CHECK(MPI_Reduce_local(nullptr, nullptr, 0, MPI_DOUBLE, MPI_SUM) == MPI_SUCCESS);
    CHECK(inout == 2);
}

TEST_CASE("Buffers need not be aligned") {
    const Process process;
    alignas(16) char in[64] = {};
    alignas(16) char inout[64] = {};
    const double one = 1.25;
    for (int i = 0; i < 7; ++i) {
        std::memcpy(in + 1 + 8 * i, &one, 8);
        std::memcpy(inout + 1 + 8 * i, &one, 8);
    }
    REQUIRE(MPI_Reduce_local(in + 1, inout + 1, 7, MPI_DOUBLE, MPI_SUM) == MPI_SUCCESS);
    double result = 0;
    std::memcpy(&result, inout + 1 + 8 * 6, 8);
    CHECK(result == 2.5);
}

TEST_CASE("An operation of the program is applied with the arguments in order") {
    const Process process;
    MPI_Op op = MPI_OP_NULL;
    int commute = -1;
    REQUIRE(MPI_Op_create(first_minus_second, 0, &op) == MPI_SUCCESS);
    REQUIRE(MPI_Op_commutative(op, &commute) == MPI_SUCCESS);
    CHECK(commute == 0);
    user_calls = 0;
    CHECK(reduce<int>(op, MPI_INT, {10, 20}, {1, 2}) == std::vector{9, 18});
    CHECK(user_calls == 1);
    MPI_Op stale = op;
    REQUIRE(MPI_Op_free(&op) == MPI_SUCCESS);
    CHECK(op == MPI_OP_NULL);
    CHECK(MPI_Op_free(&stale) == MPI_ERR_OP);
    CHECK(MPI_Op_free(&op) == MPI_ERR_OP);
    MPI_Op sum = MPI_SUM;
    CHECK(MPI_Op_free(&sum) == MPI_ERR_OP);
    CHECK(MPI_Op_create(nullptr, 1, &op) == MPI_ERR_ARG);
}

TEST_CASE("An operation with large counts is called once, also by the plain function") {
    const Process process;
    MPI_Op op = MPI_OP_NULL;
    REQUIRE(MPI_Op_create_c(large_sum, 1, &op) == MPI_SUCCESS);
    int commute = -1;
    REQUIRE(MPI_Op_commutative(op, &commute) == MPI_SUCCESS);
    CHECK(commute == 1);
    user_calls = 0;
    int in[] = {1, 2};
    int inout[] = {3, 4};
    REQUIRE(MPI_Reduce_local(in, inout, 2, MPI_INT, op) == MPI_SUCCESS);
    REQUIRE(MPI_Reduce_local_c(in, inout, MPI_Count{2}, MPI_INT, op) == MPI_SUCCESS);
    CHECK(inout[1] == 8);
    CHECK(user_calls == 2);
    CHECK(MPI_Reduce_local_c(in, inout, 0, MPI_INT, op) == MPI_SUCCESS);
    REQUIRE(MPI_Op_free(&op) == MPI_SUCCESS);
}

TEST_CASE("A count above the limit of int reaches a function with int counts in parts") {
    Pool<Operation> pool(Kind::kOp);
    Operation& operation = pool.make();
    static std::vector<std::pair<std::uintptr_t, int>> parts;
    parts.clear();
    // Notes addresses and lengths without looking at the memory, and spoils its own copy of the
    // length.
    operation.function = [](void* in, void*, int* length, MPI_Datatype*) {
        parts.emplace_back(reinterpret_cast<std::uintptr_t>(in), *length);
        *length = 0;
    };
    const std::int64_t count = 5'000'000'000;
    apply(handle_of<MPI_Op>(operation), reinterpret_cast<void*>(std::uintptr_t{4096}),
          reinterpret_cast<void*>(std::uintptr_t{8192}), count, MPI_DOUBLE, 8);
    REQUIRE(parts.size() == 3);
    std::uintptr_t next = 4096;
    std::int64_t sum = 0;
    for (const auto& [address, length] : parts) {
        CHECK(address == next);
        next += static_cast<std::uintptr_t>(length) * 8;
        sum += length;
    }
    CHECK(sum == count);
}

TEST_CASE("Predefined operations commute, but for MPI_REPLACE") {
    const Process process;
    for (const MPI_Op op : {MPI_SUM, MPI_MAX, MPI_MINLOC, MPI_LXOR, MPI_BAND}) {
        int commute = 0;
        REQUIRE(MPI_Op_commutative(op, &commute) == MPI_SUCCESS);
        CHECK(commute == 1);
    }
    int commute = 1;
    REQUIRE(MPI_Op_commutative(MPI_REPLACE, &commute) == MPI_SUCCESS);
    CHECK(commute == 0);
}
