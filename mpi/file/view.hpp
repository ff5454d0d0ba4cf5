// View: which bytes of a file a task sees, as a stream (MPI 5.0, section 14.3). The stream consists
// of copies of the filetype, one after the other, from a displacement on; it is the packed form of
// a layout whose "memory" is the file. Positions in the stream are in bytes; the program counts in
// etypes.
//
// Pure. Positions in the file are found by descending in the tree of the datatype, so a view costs
// the same however long the file is.
#pragma once

#include <cstdint>
#include <memory>
#include <mpi.h>
#include <span>

#include "base/types.hpp"
#include "mpi/datatype/datatype.hpp"
#include "mpi/datatype/typed_layout.hpp"
#include "mpi/file/representation.hpp"
#include "mpi/object/fault.hpp"

namespace poe::mpi {

// Contiguous bytes of a file.
struct Extent {
    std::int64_t at = 0;
    std::int64_t bytes = 0;
    bool operator==(const Extent&) const = default;
};

// The places of a stream in a file. Does not own the datatype.
struct Stream {
    std::int64_t displacement = 0;
    TypedLayout layout;  // of more filetypes than any file has
    // Positions in the file ascend, and no byte occurs twice. Otherwise only the functions place()
    // and extents() may be used.
    bool ordered = true;
    bool contiguous = true;

    // Where byte `offset` of the stream is, and in `length` how many bytes follow each other from
    // there both in the stream and in the file.
    std::int64_t place(Bytes offset, Bytes& length) const noexcept;
    std::int64_t place(Bytes offset) const noexcept {
        Bytes length = 0;
        return place(offset, length);
    }
    // The bytes [offset, end) of the stream as extents, adjacent ones merged, until `out` is full.
    // Returns how many there are; `offset` advances by their bytes.
    std::size_t extents(Bytes& offset, Bytes end, std::span<Extent> out) const noexcept;
    // The first position in [low, high] of the stream whose place is not before `position` in the
    // file; `high` if there is none. That many bytes of the stream are before `position` if low is
    // 0.
    Bytes find(std::int64_t position, Bytes low, Bytes high) const noexcept;
    // The address that the layout must get so that the byte at `position` of the file is at
    // `memory`.
    std::byte* base_for(std::byte* memory, std::int64_t position) const noexcept;
};

// The stream of a filetype, which must be committed. Without data, the stream has no bytes.
Stream make_stream(std::int64_t displacement, const Datatype& filetype);
// The same from the layout of `count` filetypes, whose tree is `data`.
struct FiletypeShape {
    std::int64_t extent = 0;
    std::int64_t size = 0;
    bool ordered = true;
};
// The largest number of filetypes that a stream can have without a place that exceeds 64 bits.
std::int64_t most_filetypes(std::int64_t displacement, const FiletypeShape& shape) noexcept;
// True if the places of consecutive filetypes ascend without overlap.
bool is_ordered(const Placed& data, std::int64_t extent) noexcept;

// What MPI_File_set_view sets.
struct View {
    std::int64_t displacement = 0;
    TypeReference etype;
    TypeReference filetype;
    const Representation* representation = nullptr;
    TypeReference file_filetype;   // the filetype in the representation
    std::int64_t etype_bytes = 1;  // in the file
    Stream stream;
};

// A view from the arguments of MPI_File_set_view, which must be committed. Refuses an etype without
// data, a filetype that does not consist of etypes, places before the displacement, places that
// descend, and, if the file is opened for writing, places that overlap.
Fault make_view(std::int64_t displacement, Datatype& etype, Datatype& filetype,
                const Representation& how, bool writable, View& view);
// The view of a file that was just opened: bytes from the beginning.
std::shared_ptr<const View> initial_view();

// The stream position of an offset in etypes. Precondition: it does not exceed 64 bits.
inline Bytes stream_position(const View& view, std::int64_t offset) noexcept {
    return static_cast<Bytes>(offset * view.etype_bytes);
}
// The number of etypes that begin before `position` of the file, as MPI_SEEK_END counts them.
std::int64_t etypes_before(const View& view, std::int64_t position) noexcept;

}  // namespace poe::mpi
