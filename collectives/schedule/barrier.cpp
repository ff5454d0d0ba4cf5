// Barriers around operations that do not synchronize; see barrier.hpp.
#include "collectives/schedule/barrier.hpp"

#include "collectives/schedule/algorithms/algorithms.hpp"

namespace poe::collectives {
namespace {

enum class Remedy { kNone, kSyncIn, kSyncOut, kSync };

// Blocks that may be empty do not synchronize, because messages without data are omitted.
Remedy remedy(const Shape& shape) {
    if (shape.operation == Operation::kSync) return Remedy::kNone;
    if (shape.bytes == 0 || !shape.is_regular()) return Remedy::kSync;
    switch (shape.operation) {
        case Operation::kBcast:
        case Operation::kScatter:
            return Remedy::kSyncIn;
        case Operation::kReduce:
        case Operation::kGather:
        case Operation::kPrefix:
            return Remedy::kSyncOut;
        case Operation::kShift:
            return Remedy::kSync;
        case Operation::kCombine:
        case Operation::kConcat:
        case Operation::kIndex:
        case Operation::kSync:
            break;
    }
    return Remedy::kNone;
}

}  // namespace

Generator with_barrier(const Shape& shape, Generator generate) {
    const Remedy how = remedy(shape);
    if (how == Remedy::kNone) return generate;
    // A prefix depends on all ranks only at the last rank.
    const std::uint32_t root = shape.operation == Operation::kPrefix
                                   ? shape.n - 1
                                   : static_cast<std::uint32_t>(shape.root);
    return [how, root, shape, generate = std::move(generate)](Rank rank, Schedule& into) {
        const auto member = static_cast<std::uint32_t>(rank);
        const SplitRule half = split_in_half();
        if (how == Remedy::kSyncIn) sync_in(into, {shape.n}, root, member, half);
        if (how == Remedy::kSync) sync_dissemination(shape)(rank, into);
        generate(rank, into);
        if (how == Remedy::kSyncOut) sync_out(into, {shape.n}, root, member, half);
    };
}

}  // namespace poe::collectives
