// Data: elements of a datatype in the program's memory, as collective calls see them: contiguous
// memory, which CCL reads and writes directly, or a layout, which is packed into scratch memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mpi.h>

#include "comm/matching/buffer_view.hpp"
#include "mpi/datatype/datatype.hpp"

namespace poe::mpi {

// The parameters that tell a buffer of a call, for messages.
struct BufferNames {
    const char* address;
    const char* count;
    const char* type;
    const char* displacement = "";
};
inline constexpr BufferNames kBufferNames{"buffer", "count", "datatype"};
inline constexpr BufferNames kSendBufferNames{"sendbuf", "sendcount", "sendtype"};
inline constexpr BufferNames kReceiveBufferNames{"recvbuf", "recvcount", "recvtype"};
// With one block for each member.
inline constexpr BufferNames kScatteredNames{"sendbuf", "sendcounts", "sendtype", "displs"};
inline constexpr BufferNames kGatheredNames{"recvbuf", "recvcounts", "recvtype", "displs"};
inline constexpr BufferNames kSendBlockNames{"sendbuf", "sendcounts", "sendtype", "sdispls"};
inline constexpr BufferNames kReceiveBlockNames{"recvbuf", "recvcounts", "recvtype", "rdispls"};
// Each block has a datatype of its own.
inline constexpr BufferNames kSendTypeNames{"sendbuf", "sendcounts", "sendtypes", "sdispls"};
inline constexpr BufferNames kReceiveTypeNames{"recvbuf", "recvcounts", "recvtypes", "rdispls"};
// The operands of a reduction.
inline constexpr BufferNames kOperandNames{"sendbuf", "count", "datatype"};
inline constexpr BufferNames kResultNames{"recvbuf", "count", "datatype"};

// A buffer as the program passes it.
struct Buffer {
    const void* address = nullptr;
    MPI_Count count = 0;
    MPI_Datatype type = MPI_DATATYPE_NULL;
    const BufferNames* names = &kBufferNames;

    bool in_place() const noexcept { return address == MPI_IN_PLACE; }
};

// The address `distance` bytes from `base`, which may be MPI_BOTTOM.
inline std::byte* moved_address(const void* base, std::int64_t distance) noexcept {
    return reinterpret_cast<std::byte*>(reinterpret_cast<std::uintptr_t>(base) +
                                        static_cast<std::uintptr_t>(distance));
}

// Owns neither the memory nor the datatype.
struct Data {
    std::byte* base = nullptr;   // the address that the layout refers to
    std::byte* start = nullptr;  // the first byte, if contiguous
    Bytes bytes = 0;             // of the packed form
    bool contiguous = true;
    TypedLayout layout;  // if not contiguous

    Data() = default;
    // Contiguous memory.
    Data(void* memory, Bytes length) noexcept
        : base(static_cast<std::byte*>(memory)), start(base), bytes(length) {}
    // `count` elements of a committed datatype.
    Data(const Datatype& type, const void* address, std::int64_t count) noexcept;

    // Copies between the memory and its packed form, which has `bytes` bytes.
    void pack(std::byte* to) const noexcept;
    void unpack(const std::byte* from) const noexcept;
    // The data as the message layer sees them. Valid while this object stays where it is.
    comm::BufferView view() const noexcept {
        return contiguous ? comm::BufferView(start, bytes) : comm::BufferView(base, layout, bytes);
    }
};

// Copies `from` to `to`, which have the same number of bytes, through `packed`, memory of that
// length. The types may differ.
void copy_data(const Data& from, const Data& to, std::byte* packed) noexcept;

}  // namespace poe::mpi
