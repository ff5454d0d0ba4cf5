// TypedLayout: `count` copies of a committed datatype as a Layout, which the message layer moves
// without packing. A small value: one is made for each call, and nothing is allocated.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <sys/uio.h>

#include "base/types.hpp"
#include "comm/matching/layout.hpp"
#include "mpi/datatype/node.hpp"

namespace poe::mpi {

// Does not own the nodes: the datatype must stay as long as the layout does (see TypeReference).
// A copy at any offset takes time proportional to the depth of the tree of nodes and to the
// logarithm of the number of blocks, and then to the number of bytes and blocks that it moves.
class TypedLayout final : public comm::Layout {
  public:
    TypedLayout() = default;
    // `count` copies of `data`, `extent` bytes apart. `data` comes from erase_types(). Requires
    // count >= 0.
    TypedLayout(const Placed& data, std::int64_t count, std::int64_t extent) noexcept;

    Bytes size() const noexcept override { return size_; }
    void copy_out(const std::byte* base, Bytes offset, std::byte* to,
                  Bytes n) const noexcept override;
    void copy_in(std::byte* base, Bytes offset, const std::byte* from,
                 Bytes n) const noexcept override;
    std::byte* piece(std::byte* base, Bytes offset, Bytes& length) const noexcept override;

    // The whole message in one of the forms that a BufferView knows: `blocks` blocks of `block`
    // bytes, the first at base + displacement, `stride` bytes apart. Contiguous: blocks is 1.
    struct Strided {
        std::int64_t displacement = 0;
        Bytes block = 0;
        std::int64_t stride = 0;
        std::int64_t blocks = 0;
    };
    // True if the message has this form. A message without bytes has it, with no blocks.
    bool strided(Strided& form) const noexcept;

    // Fills `out` with the contiguous pieces that begin at `offset` of the packed form, merging
    // adjacent ones, until the end of the message or of `out`. Returns the number of pieces, and in
    // `bytes` their total length.
    std::size_t pieces(std::byte* base, Bytes offset, std::span<iovec> out,
                       Bytes& bytes) const noexcept;

  private:
    const Node* child_ = nullptr;  // null: no data
    std::int64_t at_ = 0;          // the displacement of the first copy
    std::int64_t count_ = 0;
    std::int64_t stride_ = 0;
    Bytes size_ = 0;
    bool contiguous_ = false;
};

}  // namespace poe::mpi
