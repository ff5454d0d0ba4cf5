// CopyBuffer: a buffer for data that the kernel copies from or to another place, if it would be
// slow to copy them from or to their own place directly (copy_block.hpp).
#pragma once

#include <array>
#include <cstdint>

#include "base/types.hpp"

namespace poe {

class CopyBuffer {
  public:
    static constexpr Bytes kBytes = Bytes{32} << 10;

    // `other`: the address at the other end of the kernel's copy, or any number that has the same
    // position within a page. start() has this position, too, which makes the copy fast.
    explicit CopyBuffer(std::uint64_t other) noexcept : other_(other) {}
    CopyBuffer(const CopyBuffer&) = delete;
    CopyBuffer& operator=(const CopyBuffer&) = delete;

    // The first of kBytes bytes.
    std::byte* start() noexcept {
        const auto room = reinterpret_cast<std::uintptr_t>(room_.data());
        return room_.data() + (other_ - room) % kPage;
    }

  private:
    std::uint64_t other_;
    std::array<std::byte, kBytes + kPage> room_;  // not initialised
};

}  // namespace poe
