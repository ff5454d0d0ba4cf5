// ExchangeBlock: what two members give each other in an index with blocks of unequal length, as one
// of them sees it. Plain data.
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
