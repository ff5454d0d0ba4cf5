// Pack and unpack: positions, errors, and "external32" against byte sequences written by hand.
#include "mpi/datatype/packing.hpp"

#include <array>
#include <cstring>

#include "tests/unit/mpi_datatype/datatype_support.hpp"

using namespace datatype_tests;

namespace {

using ByteList = std::vector<int>;

template <typename Value>
ByteList external(const Value& value, int code) {
    std::array<unsigned char, 64> buffer{};
    std::int64_t position = 0;
    const ErrorReport error =
        pack_external("external32", &value, 1, basic(code), buffer.data(), buffer.size(), position);
    INFO(error.text);
    REQUIRE(!error);
    std::int64_t size = 0;
    REQUIRE(!pack_external_size("external32", 1, basic(code), size));
    CHECK(size == position);
    // And back.
    Value again{};
    std::int64_t from = 0;
    REQUIRE(!unpack_external("external32", buffer.data(), position, from, &again, 1, basic(code)));
    CHECK(from == position);
    CHECK(again == value);
    return {buffer.begin(), buffer.begin() + position};
}

}  // namespace

TEST_CASE("pack and unpack advance the position", "[datatype]") {
    const Type column = made(type_vector, Form::kInt, 3, 1, 2, basic(code::kInt));
    const int matrix[] = {1, 2, 3, 4, 5, 6};
    std::array<int, 4> packed{};
    std::int64_t position = 4;
    CHECK(pack(matrix, 1, *column, packed.data(), 16, position).error_class == kErrType);
    column->commit();
    REQUIRE(!pack(matrix, 1, *column, packed.data(), 16, position));
    CHECK(position == 16);
    CHECK(packed == std::array{0, 1, 3, 5});
    std::array<int, 6> result{};
    position = 4;
    REQUIRE(!unpack(packed.data(), 16, position, result.data(), 1, *column));
    CHECK(position == 16);
    CHECK(result == std::array{1, 0, 3, 0, 5, 0});
    // A null pointer is a buffer: the datatype then holds absolute addresses.
    const Type absolute =
        made(type_create_hindexed_block, Form::kInt, 1, 2,
             counts({static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(&matrix[2]))}),
             basic(code::kInt));
    absolute->commit();
    position = 0;
    REQUIRE(!pack(nullptr, 1, *absolute, packed.data(), 16, position));
    CHECK(packed == std::array{3, 4, 3, 5});
}

TEST_CASE("wrong positions and buffers are refused", "[datatype]") {
    Datatype& type = basic(code::kInt);
    int value = 7;
    std::array<int, 2> packed{};
    const auto result = [&](std::int64_t count, std::int64_t size, std::int64_t position) {
        const std::int64_t before = position;
        const ErrorReport error = pack(&value, count, type, packed.data(), size, position);
        CHECK(position == before);
        const ErrorReport other = unpack(packed.data(), size, position, &value, count, type);
        CHECK(position == before);
        CHECK(error.error_class == other.error_class);
        return error.error_class;
    };
    CHECK(result(-1, 8, 0) == kErrCount);
    CHECK(result(1, -8, 0) == kErrArg);
    CHECK(result(1, 8, -1) == kErrArg);
    CHECK(result(1, 8, 9) == kErrArg);
    CHECK(result(1, 8, 5) == kErrTruncate);
    std::int64_t position = 0;
    CHECK(pack(&value, 1, type, nullptr, 8, position).error_class == kErrArg);
    CHECK(!pack(nullptr, 0, type, nullptr, 0, position));
    CHECK(pack_external("internal", &value, 1, type, packed.data(), 8, position).error_class ==
          kErrUnsupportedDatarep);
}

TEST_CASE("external32 is big-endian, with the sizes of the standard", "[datatype]") {
    CHECK(external(std::int32_t{0x01020304}, code::kInt) == ByteList{1, 2, 3, 4});
    CHECK(external(std::int16_t{-2}, code::kShort) == ByteList{0xff, 0xfe});
    CHECK(external(std::int64_t{1} << 40, 0x20b) == ByteList{0, 0, 1, 0, 0, 0, 0, 0});
    // long has four bytes; its sign survives.
    CHECK(external(long{-2}, code::kLong) == ByteList{0xff, 0xff, 0xff, 0xfe});
    CHECK(external(0xfffffffeUL, code::kUnsignedLong) == ByteList{0xff, 0xff, 0xff, 0xfe});
    CHECK(external(std::int64_t{3}, 0x201) == ByteList{0, 0, 0, 0, 0, 0, 0, 3});  // MPI_AINT
    CHECK(external(wchar_t{0x20ac}, code::kWchar) == ByteList{0x20, 0xac});
    CHECK(external('A', 0x243) == ByteList{0x41});
    CHECK(external(1.0F, code::kFloat) == ByteList{0x3f, 0x80, 0, 0});
    CHECK(external(-2.0, code::kDouble) == ByteList{0xc0, 0, 0, 0, 0, 0, 0, 0});
    // binary128: sign, 15 bits of exponent, 112 bits of fraction.
    CHECK(external(1.5L, code::kLongDouble) ==
          ByteList{0x3f, 0xff, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0});
    const std::array<float, 2> complex{1.0F, -1.0F};
    CHECK(external(complex, 0x212) == ByteList{0x3f, 0x80, 0, 0, 0xbf, 0x80, 0, 0});
    // A pair has no padding.
    struct Pair {
        double value;
        int index;
        bool operator==(const Pair&) const = default;
    };
    CHECK(external(Pair{-2.0, 1}, code::kDoubleInt) ==
          ByteList{0xc0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1});
    CHECK(external(true, 0x238) == ByteList{1});
}

TEST_CASE("external32 of every predefined datatype has the size of the standard", "[datatype]") {
    for (const PredefinedType& row : predefined_types()) {
        INFO(row.name);
        std::int64_t expected = row.size;
        if (row.code == code::kLong || row.code == code::kUnsignedLong) expected = 4;
        if (row.code == code::kWchar) expected = 2;
        if (row.code == code::kLongInt) expected = 8;
        if (row.code == code::kLongDouble) expected = 16;
        if (row.code == code::kLongDoubleInt) expected = 20;
        std::int64_t size = 0;
        CHECK(!pack_external_size("external32", 3, basic(static_cast<int>(row.code)), size));
        CHECK(size == 3 * expected);
    }
}
