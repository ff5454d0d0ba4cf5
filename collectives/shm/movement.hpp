// Movement: which bytes go from one member to another in a call. Pure. Staged calls and single-copy
// calls use the same movements; they differ in how they copy the bytes.
#pragma once

#include "collectives/call/call.hpp"

namespace poe::collectives {

struct Movement {
    Bytes from = 0;   // position in what the giver gives (given_in)
    Bytes to = 0;     // position in the taker's result
    Bytes bytes = 0;  // 0: nothing goes
};

// Returns the movement from `giver` to `taker`. In a reduction, every member is a taker and
// combines what it gets.
inline Movement moved(const Shape& shape, std::uint32_t giver, std::uint32_t taker) noexcept {
    const auto root = static_cast<std::uint32_t>(shape.root);
    switch (shape.operation) {
        case Operation::kBcast:
            return {0, 0, giver == root && taker != root ? shape.bytes : 0};
        case Operation::kScatter:
            return {shape.offset(taker), 0, giver == root ? shape.length(taker) : 0};
        case Operation::kGather:
            return {0, shape.offset(giver), taker == root ? shape.length(giver) : 0};
        case Operation::kConcat:
            return {0, shape.offset(giver), shape.length(giver)};
        case Operation::kIndex:
            return {shape.offset(taker), shape.offset(giver), shape.bytes};
        case Operation::kShift:
            return {0, 0, shifted(shape, giver, shape.step) == taker ? shape.bytes : 0};
        default:
            return {0, 0, shape.bytes};
    }
}

// True if one member contributes everything: a broadcast or a scatter.
inline bool is_from_root(const Shape& shape) noexcept {
    return shape.operation == Operation::kBcast || shape.operation == Operation::kScatter;
}

// The data that this member gives: its input, or in a broadcast the result buffer, which the root
// has filled.
inline const std::byte* given_in(const Shape& shape, const Run& run) noexcept {
    return shape.operation == Operation::kBcast ? run.result : run.given;
}

}  // namespace poe::collectives
