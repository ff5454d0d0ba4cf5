// BufferView: the user's memory of one message. It has three forms: contiguous, equal blocks at
// equal distances (the vector calls), and any other layout (layout.hpp). All code below the API
// copies directly between a view and a pipe, so no message is packed first.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "base/copy_block.hpp"
#include "base/types.hpp"
#include "comm/matching/layout.hpp"

namespace poe::comm {

// memcpy without a function call for up to 112 bytes: a few loads and stores, which may overlap.
// `from` and `to` must not overlap.
inline void copy_small(std::byte* to, const std::byte* from, Bytes n) noexcept {
    const auto move = [&](auto unit) {
        constexpr Bytes kUnit = sizeof unit;
        decltype(unit) first;
        decltype(unit) last;
        std::memcpy(&first, from, kUnit);
        std::memcpy(&last, from + n - kUnit, kUnit);
        std::memcpy(to, &first, kUnit);
        std::memcpy(to + n - kUnit, &last, kUnit);
    };
    struct Sixteen {
        std::uint64_t words[2];
    };
    if (n > 32) {
        for (Bytes at = 0; at + 32 < n; at += 32) std::memcpy(to + at, from + at, 32);
        std::memcpy(to + n - 32, from + n - 32, 32);
    } else if (n >= 16) {
        move(Sixteen{});
    } else if (n >= 8) {
        move(std::uint64_t{});
    } else if (n >= 4) {
        move(std::uint32_t{});
    } else if (n > 0) {
        to[0] = from[0];
        to[n / 2] = from[n / 2];
        to[n - 1] = from[n - 1];
    }
}

// memcpy for blocks of a few kilobytes. Use it only if the lines of both blocks are in this core's
// cache or have been prefetched. For more than 2 KB the C library uses an instruction that takes
// long to begin (rep movsb), so blocks up to 4 KB are copied in two pieces, for which it uses
// ordinary loads and stores.
inline void copy_medium(std::byte* to, const std::byte* from, Bytes n) noexcept {
    constexpr Bytes kPiece = 2048;
    if (n > kPiece && n <= 2 * kPiece) {
        std::memcpy(to, from, kPiece);
        to += kPiece;
        from += kPiece;
        n -= kPiece;
    }
    std::memcpy(to, from, n);
}

// Does not own the memory. The caller of the message call owns it and must keep it until the call
// returns or the request has ended.
class BufferView {
  public:
    BufferView() = default;

    // One contiguous block of `size` bytes.
    BufferView(void* start, Bytes size) noexcept
        : start_(static_cast<std::byte*>(start)), size_(size), block_(size), stride_(size) {}

    // `blocks` blocks of `block` bytes whose starts are `stride` bytes apart. Requires stride >=
    // block.
    BufferView(void* start, Bytes block, Bytes stride, Bytes blocks) noexcept
        : start_(static_cast<std::byte*>(start)),
          size_(block * blocks),
          block_(block == stride || blocks == 1 ? size_ : block),
          stride_(block == stride || blocks == 1 ? size_ : stride) {}

    // The first `size` bytes of the packed form of `layout`, whose base address is `base`. Requires
    // size <= layout.size(). The layout must remain valid as long as the memory.
    BufferView(void* base, const Layout& layout, Bytes size) noexcept
        : start_(static_cast<std::byte*>(base)),
          size_(size),
          block_(size == 0 ? 0 : kLayout),
          layout_(&layout) {}

    Bytes size() const noexcept { return size_; }
    // The place of the size in this object, for readers of this process's memory.
    const Bytes& size_place() const noexcept { return size_; }
    std::byte* start() const noexcept { return start_; }
    bool contiguous() const noexcept { return block_ == size_; }
    bool has_layout() const noexcept { return block_ == kLayout; }
    // True if the pieces of a layout at `offset` are so short that the system should not be asked
    // to gather or scatter them: copying them to or from a buffer is faster. Requires offset <
    // size().
    bool scattered(Bytes offset) const noexcept {
        if (!has_layout()) return false;
        Bytes length = 0;
        layout_->piece(start_, offset, length);
        return length < kLeastPiece;
    }

    // Returns the address of byte `offset`, and in `length` the number of contiguous bytes from
    // there. Requires offset < size().
    std::byte* piece(Bytes offset, Bytes& length) const noexcept {
        if (contiguous()) {
            length = size_ - offset;
            return start_ + offset;
        }
        if (has_layout()) {
            std::byte* place = layout_->piece(start_, offset, length);
            length = std::min(length, size_ - offset);
            return place;
        }
        const Bytes inside = offset % block_;
        length = block_ - inside;
        return start_ + offset / block_ * stride_ + inside;
    }

    // Copies n bytes from position `offset` of the view to `to`. Requires offset + n <= size().
    void copy_out(Bytes offset, std::byte* to, Bytes n) const noexcept {
        if (has_layout()) {
            layout_->copy_out(start_, offset, to, n);
            return;
        }
        while (n > 0) {
            Bytes length = 0;
            const std::byte* from = piece(offset, length);
            length = std::min(length, n);
            copy_block(to, from, length);
            to += length;
            offset += length;
            n -= length;
        }
    }

    // Copies n bytes from `from` to position `offset` of the view. Requires offset + n <= size().
    void copy_in(Bytes offset, const std::byte* from, Bytes n) const noexcept {
        if (has_layout()) {
            layout_->copy_in(start_, offset, from, n);
            return;
        }
        while (n > 0) {
            Bytes length = 0;
            std::byte* to = piece(offset, length);
            length = std::min(length, n);
            copy_block(to, from, length);
            from += length;
            offset += length;
            n -= length;
        }
    }

  private:
    static constexpr Bytes kLayout = ~Bytes{0};  // as block_: the third form
    static constexpr Bytes kLeastPiece = 1024;

    std::byte* start_ = nullptr;
    Bytes size_ = 0;
    Bytes block_ = 0;
    union {
        Bytes stride_ = 0;
        const Layout* layout_;  // if block_ is kLayout
    };
};

}  // namespace poe::comm
