// What Open MPI's library for Fortran (libmpi_mpifh.so.40, of version 4.1) reads and writes in the
// objects behind handles, beside calls of functions. Offsets in bytes; the members are at the
// places where Open MPI's library for C has them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "interface/predefined.hpp"

namespace poe::mpi::foreign {

namespace layout {

inline constexpr std::size_t kCommFlags = 0xe8;     // bit 0: an inter-communicator
inline constexpr std::size_t kCommLocal = 0xf8;     // the address of the local group
inline constexpr std::size_t kCommRemote = 0x100;   // the address of the remote group
inline constexpr std::size_t kCommKeys = 0x110;     // the address of the table of attributes,
inline constexpr std::size_t kDatatypeKeys = 0xd0;  // which here is the object itself
inline constexpr std::size_t kWinKeys = 0xf0;
inline constexpr std::size_t kGroupSize = 0x10;      // the number of members
inline constexpr std::size_t kGroupNumber = 0x18;    // the number in Fortran
inline constexpr std::size_t kRequestNumber = 0x68;  // the number in Fortran
inline constexpr std::size_t kGrequestOfC = 0xc0;    // a byte: 0 if the functions are of Fortran
inline constexpr std::size_t kOpFlags = 0x54;        // bit 1: the function is of Fortran
inline constexpr std::uint32_t kOfFortran = 2;

// Where the groups of a communicator are in its object.
inline constexpr std::size_t kLocalGroup = 0x180;
inline constexpr std::size_t kRemoteGroup = 0x1a0;

template <typename Value>
void put(void* object, std::size_t offset, Value value) noexcept {
    std::memcpy(static_cast<char*>(object) + offset, &value, sizeof value);
}
template <typename Value>
Value get(const void* object, std::size_t offset) noexcept {
    Value value;
    std::memcpy(&value, static_cast<const char*>(object) + offset, sizeof value);
    return value;
}

// The sizes of a communicator are set when Fortran asks for it. 0: not yet.
inline void forget_sizes(void* comm) noexcept {
    put(comm, kLocalGroup + kGroupSize, 0);
}
inline bool has_sizes(const void* comm) noexcept {
    return get<int>(comm, kLocalGroup + kGroupSize) != 0;
}

// Sets the members of an object of zeros that do not change.
inline void set_members(ForeignObject& object) noexcept {
    char* const address = reinterpret_cast<char*>(&object);
    switch (object.kind) {
        case Kind::kComm:
            put(address, kCommLocal, address + kLocalGroup);
            put(address, kCommRemote, address + kRemoteGroup);
            put(address, kCommKeys, address);
            break;
        case Kind::kDatatype:
            put(address, kDatatypeKeys, address);
            break;
        case Kind::kWin:
            put(address, kWinKeys, address);
            break;
        case Kind::kGroup:
            put(address, kGroupNumber, object.fortran);
            break;
        case Kind::kRequest:
            put(address, kRequestNumber, object.fortran);
            put(address, kGrequestOfC, char{1});
            break;
        default:
            break;
    }
}

}  // namespace layout
}  // namespace poe::mpi::foreign
