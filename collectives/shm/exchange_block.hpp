// ExchangeBlock: the block that a member sends to one other member, and the block that it receives
// from that member, in an index with blocks of unequal length. WrongBlock: a block that does not
// fit its memory. Plain data.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/types.hpp"

namespace poe::collectives {

// The caller owns the memory. Null is allowed with 0 bytes.
struct ExchangeBlock {
    const std::byte* out = nullptr;  // goes to the other member
    Bytes out_bytes = 0;
    std::byte* in = nullptr;  // comes from the other member
    Bytes in_bytes = 0;
};

// A block that is longer than the memory for it; none if the two lengths are equal.
struct WrongBlock {
    std::uint32_t giver = 0;
    Bytes came = 0;
    Bytes expected = 0;

    bool ok() const noexcept { return came == expected; }
};

}  // namespace poe::collectives
