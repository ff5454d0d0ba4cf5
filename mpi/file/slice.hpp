// Slice: a part of the packed form of a layout, as a message.
#pragma once

#include <algorithm>
#include <cstddef>

#include "comm/matching/buffer_view.hpp"
#include "mpi/datatype/typed_layout.hpp"

namespace poe::mpi {

// A small value. The layout is copied; its nodes must stay as long as the slice does.
class Slice final : public comm::Layout {
  public:
    // The bytes [first, first + bytes) of `layout`, whose base address is `base`.
    Slice(std::byte* base, const TypedLayout& layout, Bytes first, Bytes bytes) noexcept
        : base_(base), layout_(layout), first_(first), bytes_(bytes) {}

    Bytes size() const noexcept override { return bytes_; }
    void copy_out(const std::byte* base, Bytes offset, std::byte* to,
                  Bytes n) const noexcept override {
        layout_.copy_out(base, first_ + offset, to, n);
    }
    void copy_in(std::byte* base, Bytes offset, const std::byte* from,
                 Bytes n) const noexcept override {
        layout_.copy_in(base, first_ + offset, from, n);
    }
    std::byte* piece(std::byte* base, Bytes offset, Bytes& length) const noexcept override {
        std::byte* const at = layout_.piece(base, first_ + offset, length);
        length = std::min(length, bytes_ - offset);
        return at;
    }

    // The slice as the message layer sees it. Valid while this object stays where it is.
    comm::BufferView view() const noexcept {
        if (bytes_ == 0) return comm::BufferView(base_, 0);
        Bytes length = 0;
        std::byte* const at = piece(base_, 0, length);
        return length == bytes_ ? comm::BufferView(at, bytes_)
                                : comm::BufferView(base_, *this, bytes_);
    }

  private:
    std::byte* base_;
    TypedLayout layout_;
    Bytes first_;
    Bytes bytes_;
};

}  // namespace poe::mpi
