// The table of predefined datatypes. Sizes, extents and alignments come from the compiler: each row
// names the C++ type that has the same layout.
#include "mpi/datatype/predefined.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace poe::mpi {
namespace {

__extension__ typedef __int128 Int128;
#ifdef __SIZEOF_FLOAT128__
__extension__ typedef __float128 Float128;
#else
using Float128 = long double;  // binary128 on the processors without __float128
#endif

// Stands for IEEE binary16, which C++20 does not have.
struct Binary16 {
    std::uint16_t bits;
};

template <typename T>
constexpr Element element_of() {
    if constexpr (std::is_same_v<T, Binary16>) return Element::kFloat16;
    if constexpr (std::is_same_v<T, float>) return Element::kFloat32;
    if constexpr (std::is_same_v<T, double>) return Element::kFloat64;
    if constexpr (std::is_same_v<T, long double>) return Element::kLongDouble;
    if constexpr (std::is_same_v<T, Float128>) return Element::kFloat128;
    if constexpr (sizeof(T) == 16) return Element::kInt128;
    constexpr bool kSigned = std::is_signed_v<T>;
    if constexpr (sizeof(T) == 1) return kSigned ? Element::kInt8 : Element::kUint8;
    if constexpr (sizeof(T) == 2) return kSigned ? Element::kInt16 : Element::kUint16;
    if constexpr (sizeof(T) == 4) return kSigned ? Element::kInt32 : Element::kUint32;
    return kSigned ? Element::kInt64 : Element::kUint64;
}

template <typename T>
constexpr PredefinedType one(std::uint32_t code, std::string_view name, TypeClass type_class) {
    return {code,      name,       type_class, element_of<T>(), element_of<T>(), sizeof(T),
            sizeof(T), alignof(T), 0};
}

template <typename First, typename Second>
struct Two {
    First first;
    Second second;
};

template <typename First, typename Second = First>
constexpr PredefinedType two(std::uint32_t code, std::string_view name, TypeClass type_class) {
    using Both = Two<First, Second>;
    return {code,
            name,
            type_class,
            element_of<First>(),
            element_of<Second>(),
            sizeof(First) + sizeof(Second),
            sizeof(Both),
            alignof(Both),
            offsetof(Both, second)};
}

using enum TypeClass;

// The first code and the end of the range of datatypes in the ABI.

constexpr std::array kTypes = {
    one<std::intptr_t>(0x201, "MPI_AINT", kMultiLanguage),
    one<std::int64_t>(0x202, "MPI_COUNT", kMultiLanguage),
    one<std::int64_t>(0x203, "MPI_OFFSET", kMultiLanguage),
    one<std::uint8_t>(0x207, "MPI_PACKED", kPacked),
    one<short>(0x208, "MPI_SHORT", kInteger),
    one<int>(0x209, "MPI_INT", kInteger),
    one<long>(0x20a, "MPI_LONG", kInteger),
    // MPI_LONG_LONG is the standard's synonym of MPI_LONG_LONG_INT.
    one<long long>(0x20b, "MPI_LONG_LONG_INT", kInteger),
    one<unsigned short>(0x20c, "MPI_UNSIGNED_SHORT", kInteger),
    one<unsigned>(0x20d, "MPI_UNSIGNED", kInteger),
    one<unsigned long>(0x20e, "MPI_UNSIGNED_LONG", kInteger),
    one<unsigned long long>(0x20f, "MPI_UNSIGNED_LONG_LONG", kInteger),
    one<float>(0x210, "MPI_FLOAT", kFloating),
    // MPI_C_FLOAT_COMPLEX is the standard's synonym of MPI_C_COMPLEX.
    two<float>(0x212, "MPI_C_COMPLEX", kComplex),
    two<float>(0x213, "MPI_CXX_FLOAT_COMPLEX", kComplex),
    one<double>(0x214, "MPI_DOUBLE", kFloating),
    two<double>(0x216, "MPI_C_DOUBLE_COMPLEX", kComplex),
    two<double>(0x217, "MPI_CXX_DOUBLE_COMPLEX", kComplex),
    one<std::int32_t>(0x218, "MPI_LOGICAL", kLogical),
    one<std::int32_t>(0x219, "MPI_INTEGER", kFortranInteger),
    one<float>(0x21a, "MPI_REAL", kFloating),
    two<float>(0x21b, "MPI_COMPLEX", kComplex),
    one<double>(0x21c, "MPI_DOUBLE_PRECISION", kFloating),
    two<double>(0x21d, "MPI_DOUBLE_COMPLEX", kComplex),
    one<char>(0x21e, "MPI_CHARACTER", kCharacter),
    one<long double>(0x220, "MPI_LONG_DOUBLE", kFloating),
    two<long double>(0x224, "MPI_C_LONG_DOUBLE_COMPLEX", kComplex),
    two<long double>(0x225, "MPI_CXX_LONG_DOUBLE_COMPLEX", kComplex),
    two<float, int>(0x228, "MPI_FLOAT_INT", kPair),
    two<double, int>(0x229, "MPI_DOUBLE_INT", kPair),
    two<long, int>(0x22a, "MPI_LONG_INT", kPair),
    two<int, int>(0x22b, "MPI_2INT", kPair),
    two<short, int>(0x22c, "MPI_SHORT_INT", kPair),
    two<long double, int>(0x22d, "MPI_LONG_DOUBLE_INT", kPair),
    two<float>(0x230, "MPI_2REAL", kPair),
    two<double>(0x231, "MPI_2DOUBLE_PRECISION", kPair),
    two<std::int32_t>(0x232, "MPI_2INTEGER", kPair),
    one<std::uint8_t>(0x238, "MPI_C_BOOL", kLogical),
    one<std::uint8_t>(0x239, "MPI_CXX_BOOL", kLogical),
    one<wchar_t>(0x23c, "MPI_WCHAR", kCharacter),
    one<std::int8_t>(0x240, "MPI_INT8_T", kInteger),
    one<std::uint8_t>(0x241, "MPI_UINT8_T", kInteger),
    one<char>(0x243, "MPI_CHAR", kCharacter),
    one<signed char>(0x244, "MPI_SIGNED_CHAR", kInteger),
    one<unsigned char>(0x245, "MPI_UNSIGNED_CHAR", kInteger),
    one<std::uint8_t>(0x247, "MPI_BYTE", kByte),
    one<std::int16_t>(0x248, "MPI_INT16_T", kInteger),
    one<std::uint16_t>(0x249, "MPI_UINT16_T", kInteger),
    one<std::int32_t>(0x250, "MPI_INT32_T", kInteger),
    one<std::uint32_t>(0x251, "MPI_UINT32_T", kInteger),
    one<std::int64_t>(0x258, "MPI_INT64_T", kInteger),
    one<std::uint64_t>(0x259, "MPI_UINT64_T", kInteger),
    one<std::int8_t>(0x2c0, "MPI_LOGICAL1", kLogical),
    one<std::int8_t>(0x2c1, "MPI_INTEGER1", kFortranInteger),
    one<std::int16_t>(0x2c8, "MPI_LOGICAL2", kLogical),
    one<std::int16_t>(0x2c9, "MPI_INTEGER2", kFortranInteger),
    one<Binary16>(0x2ca, "MPI_REAL2", kFloating),
    one<std::int32_t>(0x2d0, "MPI_LOGICAL4", kLogical),
    one<std::int32_t>(0x2d1, "MPI_INTEGER4", kFortranInteger),
    one<float>(0x2d2, "MPI_REAL4", kFloating),
    two<Binary16>(0x2d3, "MPI_COMPLEX4", kComplex),
    one<std::int64_t>(0x2d8, "MPI_LOGICAL8", kLogical),
    one<std::int64_t>(0x2d9, "MPI_INTEGER8", kFortranInteger),
    one<double>(0x2da, "MPI_REAL8", kFloating),
    two<float>(0x2db, "MPI_COMPLEX8", kComplex),
    one<Int128>(0x2e0, "MPI_LOGICAL16", kLogical),
    one<Int128>(0x2e1, "MPI_INTEGER16", kFortranInteger),
    one<Float128>(0x2e2, "MPI_REAL16", kFloating),
    two<double>(0x2e3, "MPI_COMPLEX16", kComplex),
    two<Float128>(0x2eb, "MPI_COMPLEX32", kComplex),
};

// The index in kTypes of each code, plus 1; 0: no datatype has this code.
constexpr auto kIndex = [] {
    std::array<std::uint8_t, kEndTypeCode - kFirstTypeCode> index{};
    for (std::size_t i = 0; i < kTypes.size(); ++i)
        index[kTypes[i].code - kFirstTypeCode] = static_cast<std::uint8_t>(i + 1);
    return index;
}();

}  // namespace

constexpr std::array<std::uint8_t, kEndTypeCode - kFirstTypeCode> kBytesWithoutGaps = [] {
    std::array<std::uint8_t, kEndTypeCode - kFirstTypeCode> bytes{};
    for (const PredefinedType& type : kTypes)
        if (type.size == type.extent)
            bytes[type.code - kFirstTypeCode] = static_cast<std::uint8_t>(type.size);
    return bytes;
}();

std::size_t element_size(Element element) noexcept {
    switch (element) {
        case Element::kInt8:
        case Element::kUint8:
            return 1;
        case Element::kInt16:
        case Element::kUint16:
        case Element::kFloat16:
            return 2;
        case Element::kInt32:
        case Element::kUint32:
        case Element::kFloat32:
            return 4;
        case Element::kInt64:
        case Element::kUint64:
        case Element::kFloat64:
            return 8;
        case Element::kLongDouble:
            return sizeof(long double);
        case Element::kInt128:
        case Element::kFloat128:
            return 16;
    }
    return 0;
}

std::span<const PredefinedType> predefined_types() noexcept {
    return kTypes;
}

const PredefinedType* find_predefined_type(std::uintptr_t code) noexcept {
    if (code < kFirstTypeCode || code >= kEndTypeCode) return nullptr;
    const std::uint8_t at = kIndex[code - kFirstTypeCode];
    return at == 0 ? nullptr : &kTypes[at - 1];
}

bool is_comparable(const PredefinedType& type) noexcept {
    switch (type.type_class) {
        case TypeClass::kInteger:
        case TypeClass::kFortranInteger:
        case TypeClass::kLogical:
        case TypeClass::kMultiLanguage:
        case TypeClass::kCharacter:
        case TypeClass::kByte:
            return true;
        default:
            return false;
    }
}

}  // namespace poe::mpi
