// Blocks: a buffer with one block for each member, as in the v and w forms of collective calls.
#pragma once

#include <cstdint>
#include <mpi.h>

#include "mpi/collective/sequence.hpp"
#include "mpi/datatype/counts.hpp"

namespace poe::mpi {

struct Blocks {
    const void* address = nullptr;
    Counts counts = nullptr;
    // In extents of `type`, or in bytes if each block has a datatype of its own. Null: the blocks
    // follow each other.
    Counts displacements = nullptr;
    MPI_Datatype type = MPI_DATATYPE_NULL;
    const MPI_Datatype* types = nullptr;  // null: all blocks have `type`
    const BufferNames* names = &kBufferNames;

    bool in_place() const noexcept { return address == MPI_IN_PLACE; }
};

// The blocks of a sequence's call. Finds the datatype once. Arrays and datatype are looked at only
// if there are blocks: a task without neighbours may leave them out.
class BlockReader {
  public:
    BlockReader(Sequence& sequence, const Blocks& blocks) : sequence_(sequence), blocks_(blocks) {}

    // The data of a block; none after a fault.
    Data operator[](int block);

  private:
    const Datatype* type(int block);
    std::int64_t count(int block) const noexcept { return blocks_.counts[block]; }

    Sequence& sequence_;
    const Blocks& blocks_;
    const Datatype* type_ = nullptr;
};

// `members` blocks of `count` elements each, one after the other.
class EqualBlocks {
  public:
    EqualBlocks(Sequence& sequence, const Buffer& buffer)
        : sequence_(sequence),
          buffer_(buffer),
          type_(sequence.type(buffer.type, buffer.names->type)) {}

    Data operator[](int block) const {
        if (type_ == nullptr) return {};
        return sequence_.data(*type_, buffer_.address, type_->extent() * buffer_.count * block,
                              buffer_.count, *buffer_.names);
    }
    // All blocks as one.
    Data all(int members) const {
        if (type_ == nullptr) return {};
        return sequence_.data(*type_, buffer_.address, 0, buffer_.count * members, *buffer_.names);
    }

  private:
    Sequence& sequence_;
    const Buffer& buffer_;
    const Datatype* type_;
};

// Memory from which CCL reads the data: that of the program if it is contiguous; otherwise scratch
// memory, into which the sequence packs it.
const std::byte* readable(Sequence& sequence, const Data& data);
// What a call in place gives: the data, which are in the memory of its result, or a copy of them if
// a call of this shape does not work in place (Sequence::works_in_place).
const std::byte* given_in_place(Sequence& sequence, const Data& data,
                                const collectives::Shape& shape);
// A copy of the data in scratch memory.
const std::byte* copied(Sequence& sequence, const Data& data);
// Memory into which CCL writes the data: that of the program if it is contiguous, otherwise scratch
// memory. unpack_result() then copies it to the program after the call.
std::byte* writable(Sequence& sequence, const Data& data);
void unpack_result(Sequence& sequence, const Data& data, const std::byte* from);

}  // namespace poe::mpi
