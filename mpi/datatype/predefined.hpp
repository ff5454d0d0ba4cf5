// The predefined datatypes: for each its handle's number, name, size, extent, alignment and the
// kind of its elements. Pure data, separate from the datatypes that programs derive, because
// reductions need only this much.
//
// The sizes of the Fortran types are those of gfortran with its default kinds.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace poe::mpi {

// The groups of datatypes for which the standard defines the predefined operations (MPI 5.0,
// sections 6.9.2 and 6.9.4), and two groups for which it defines none.
enum class TypeClass : std::uint8_t {
    kInteger,         // C integers
    kFortranInteger,  // INTEGER of all kinds
    kFloating,        // C and Fortran
    kLogical,         // C, C++ and Fortran
    kComplex,         // C, C++ and Fortran
    kByte,            // MPI_BYTE
    kMultiLanguage,   // MPI_AINT, MPI_OFFSET, MPI_COUNT
    kPair,            // a value and an index, for MPI_MINLOC and MPI_MAXLOC
    kCharacter,       // MPI_CHAR, MPI_CHARACTER, MPI_WCHAR
    kPacked,          // MPI_PACKED
};

// How one element is stored. The parts of a complex number are two elements of this kind.
enum class Element : std::uint8_t {
    kInt8,
    kInt16,
    kInt32,
    kInt64,
    kInt128,
    kUint8,
    kUint16,
    kUint32,
    kUint64,
    kFloat16,     // IEEE binary16
    kFloat32,     // float
    kFloat64,     // double
    kLongDouble,  // long double of the processor
    kFloat128,    // IEEE binary128
};

// The number of bytes that an element takes in memory.
std::size_t element_size(Element element) noexcept;

struct PredefinedType {
    std::uint32_t code;     // the value of the handle, as in mpi.h
    std::string_view name;  // as MPI_Type_get_name returns it
    TypeClass type_class;
    Element element;  // of a pair: the element of its value
    Element second;   // of a pair: the element of its index; otherwise as `element`
    // All in bytes. The extent of a pair includes the padding of the corresponding C structure, its
    // size does not.
    std::uint16_t size;
    std::uint16_t extent;
    std::uint16_t alignment;
    std::uint16_t
        second_offset;  // of the second value of a pair or the second part of a complex number
};

// All predefined datatypes except MPI_DATATYPE_NULL, in the order of their codes.
std::span<const PredefinedType> predefined_types() noexcept;

// The datatype with this code, or null if there is none.
const PredefinedType* find_predefined_type(std::uintptr_t code) noexcept;

// True if MPI_Compare_and_swap is defined on the datatype (MPI 5.0, section 12.3.4).
bool is_comparable(const PredefinedType& type) noexcept;

// The codes of all predefined datatypes are in [first, end).
inline constexpr std::uint32_t kFirstTypeCode = 0x200;
inline constexpr std::uint32_t kEndTypeCode = 0x300;

// See bytes_without_gaps(); by code, from kFirstTypeCode on.
extern const std::array<std::uint8_t, kEndTypeCode - kFirstTypeCode> kBytesWithoutGaps;

// The number of bytes of an element if elements in memory have no gaps between or in them. 0 if
// they have, and if the code is that of no predefined datatype.
inline std::size_t bytes_without_gaps(std::uintptr_t code) noexcept {
    return code < kFirstTypeCode || code >= kEndTypeCode ? 0
                                                         : kBytesWithoutGaps[code - kFirstTypeCode];
}

}  // namespace poe::mpi
