// The constants of the MPI 5.0 ABI that this room needs, under names of our own: mpi.h is generated
// for programs, and its macros and names would reach every file that includes it.
#pragma once

namespace poe::mpi {

inline constexpr int kUndefined = -32766;  // MPI_UNDEFINED
inline constexpr int kMaxObjectName = 128;

// Error classes MPI_ERR_...
enum ErrorClass : int {
    kSuccess = 0,
    kErrCount = 2,
    kErrType = 3,
    kErrArg = 13,
    kErrTruncate = 15,
    kErrUnsupportedDatarep = 54,
    kErrValueTooLarge = 59,
};

// MPI_COMBINER_...
enum class Combiner : int {
    kNamed = 101,
    kDup = 102,
    kContiguous = 103,
    kVector = 104,
    kHvector = 105,
    kIndexed = 106,
    kHindexed = 107,
    kIndexedBlock = 108,
    kHindexedBlock = 109,
    kStruct = 110,
    kSubarray = 111,
    kDarray = 112,
    kF90Real = 113,
    kF90Complex = 114,
    kF90Integer = 115,
    kResized = 116,
    kValueIndex = 117,
};

inline constexpr int kOrderC = 12;
inline constexpr int kOrderFortran = 15;
inline constexpr int kDistributeNone = 16;
inline constexpr int kDistributeBlock = 17;
inline constexpr int kDistributeCyclic = 18;
inline constexpr int kDistributeDefaultArgument = 19;

inline constexpr int kTypeclassInteger = 192;
inline constexpr int kTypeclassReal = 193;
inline constexpr int kTypeclassComplex = 194;

// Handles of predefined datatypes that the code names.
namespace code {
inline constexpr int kDatatypeNull = 0x200;
inline constexpr int kPacked = 0x207;
inline constexpr int kShort = 0x208;
inline constexpr int kInt = 0x209;
inline constexpr int kLong = 0x20a;
inline constexpr int kUnsignedLong = 0x20e;
inline constexpr int kFloat = 0x210;
inline constexpr int kDouble = 0x214;
inline constexpr int kInteger = 0x219;
inline constexpr int kReal = 0x21a;
inline constexpr int kDoublePrecision = 0x21c;
inline constexpr int kLongDouble = 0x220;
inline constexpr int kLongDoubleComplex = 0x224;
inline constexpr int kFloatInt = 0x228;
inline constexpr int kDoubleInt = 0x229;
inline constexpr int kLongInt = 0x22a;
inline constexpr int k2Int = 0x22b;
inline constexpr int kShortInt = 0x22c;
inline constexpr int kLongDoubleInt = 0x22d;
inline constexpr int k2Real = 0x230;
inline constexpr int k2DoublePrecision = 0x231;
inline constexpr int k2Integer = 0x232;
inline constexpr int kWchar = 0x23c;
inline constexpr int kByte = 0x247;
inline constexpr int kInteger1 = 0x2c1;
inline constexpr int kInteger2 = 0x2c9;
inline constexpr int kReal2 = 0x2ca;
inline constexpr int kInteger4 = 0x2d1;
inline constexpr int kReal4 = 0x2d2;
inline constexpr int kComplex4 = 0x2d3;
inline constexpr int kInteger8 = 0x2d9;
inline constexpr int kReal8 = 0x2da;
inline constexpr int kComplex8 = 0x2db;
inline constexpr int kInteger16 = 0x2e1;
inline constexpr int kReal16 = 0x2e2;
inline constexpr int kComplex16 = 0x2e3;
inline constexpr int kComplex32 = 0x2eb;
}  // namespace code

}  // namespace poe::mpi
