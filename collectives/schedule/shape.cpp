// The names of the operations, and the neighbours in a shift.
#include "collectives/schedule/shape.hpp"

namespace poe::collectives {

const char* name_of(Operation operation) noexcept {
    constexpr const char* kNames[kOperations] = {"bcast",  "reduce", "combine", "prefix", "scatter",
                                                 "gather", "concat", "index",   "shift",  "sync"};
    return kNames[static_cast<std::size_t>(operation)];
}

Transfer transfer_of(const Shape& shape, std::uint32_t rank) noexcept {
    const bool root = static_cast<Rank>(rank) == shape.root;
    const Bytes all = shape.span(0, shape.n);
    switch (shape.operation) {
        case Operation::kBcast:
            return root ? Transfer{shape.bytes, 0} : Transfer{0, shape.bytes};
        case Operation::kReduce:
            return {shape.bytes, root ? shape.bytes : 0};
        case Operation::kScatter:
            return {root ? all : 0, shape.length(rank)};
        case Operation::kGather:
            return {shape.length(rank), root ? all : 0};
        case Operation::kConcat:
            return {shape.length(rank), all};
        case Operation::kIndex: {
            if (shape.matrix.empty()) return {all, all};
            Transfer sum;
            for (std::uint32_t other = 0; other < shape.n; ++other) {
                sum.given += shape.between(rank, other);
                sum.gotten += shape.between(other, rank);
            }
            return sum;
        }
        case Operation::kCombine:
        case Operation::kPrefix:
        case Operation::kShift:
            return {shape.bytes, shape.bytes};
        case Operation::kSync:
            break;
    }
    return {};
}

std::uint32_t shifted(const Shape& shape, std::uint32_t rank, std::int64_t step) noexcept {
    const auto n = static_cast<std::int64_t>(shape.n);
    const std::int64_t at = std::int64_t{rank} + step;
    if (at >= 0 && at < n) return static_cast<std::uint32_t>(at);
    return shape.circular ? static_cast<std::uint32_t>((at % n + n) % n) : shape.n;
}

}  // namespace poe::collectives
