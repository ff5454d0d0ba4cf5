// Scatter and gather without a tree: the root exchanges messages with each rank directly, all at
// once. C1 = n - 1, C2 = m (n - 1), C3 = m (n - 1) (CCL paper, IV.B). Nothing is copied.
#include "collectives/schedule/algorithms/algorithms.hpp"

namespace poe::collectives {
namespace {

int round_of(std::uint32_t n, std::uint32_t root, std::uint32_t member) {
    return static_cast<int>((member + n - root) % n) - 1;
}

}  // namespace

Generator scatter_direct(const Shape& shape) {
    return [shape](Rank rank, Schedule& into) {
        const auto root = static_cast<std::uint32_t>(shape.root);
        const auto own = static_cast<std::uint32_t>(rank);
        const Place out{Buffer::kOutput, 0};
        if (own != root) {
            into.receive(shape.root, out, shape.length(own), round_of(shape.n, root, own));
            into.wait();
            return;
        }
        for (std::uint32_t step = 1; step < shape.n; ++step) {
            const std::uint32_t to = (root + step) % shape.n;
            into.send(static_cast<Rank>(to), {Buffer::kInput, shape.offset(to)}, shape.length(to),
                      round_of(shape.n, root, to));
        }
        into.copy({Buffer::kInput, shape.offset(root)}, out, shape.length(root));
        into.wait();
    };
}

Generator gather_direct(const Shape& shape) {
    return [shape](Rank rank, Schedule& into) {
        const auto root = static_cast<std::uint32_t>(shape.root);
        const auto own = static_cast<std::uint32_t>(rank);
        const Place in{Buffer::kInput, 0};
        if (own != root) {
            into.send(shape.root, in, shape.length(own), round_of(shape.n, root, own));
            into.wait();
            return;
        }
        for (std::uint32_t step = 1; step < shape.n; ++step) {
            const std::uint32_t from = (root + step) % shape.n;
            into.receive(static_cast<Rank>(from), {Buffer::kOutput, shape.offset(from)},
                         shape.length(from), round_of(shape.n, root, from));
        }
        into.copy(in, {Buffer::kOutput, shape.offset(root)}, shape.length(root));
        into.wait();
    };
}

Counts scatter_direct_counts(const Shape& shape) {
    const std::uint64_t others = shape.n - 1;
    return {others, others * shape.bytes, others * shape.bytes};
}

}  // namespace poe::collectives
