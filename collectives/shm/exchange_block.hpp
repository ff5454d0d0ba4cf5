// ExchangeBlock: the block that a member sends to one other member, and the block that it receives
// from that member, in an index with blocks of unequal length. Plain data.
#pragma once

#include <cstddef>

#include "base/types.hpp"

namespace poe::collectives {

// The caller owns the memory. Null is allowed with 0 bytes.
struct ExchangeBlock {
    const std::byte* out = nullptr;  // goes to the other member
    Bytes out_bytes = 0;
    std::byte* in = nullptr;  // comes from the other member
    Bytes in_bytes = 0;
};

}  // namespace poe::collectives
