// Shift: each rank sends to the rank `step` after it, and receives from the rank `step` before it
// (CCL paper, III.A: the send-receive of a cycle). C1 = 1, C2 = m, C3 = m n around the end,
// otherwise m (n - |step|). A rank that receives nothing keeps its result unchanged.
#include <cstdlib>

#include "collectives/schedule/algorithms/algorithms.hpp"

namespace poe::collectives {

Generator shift_direct(const Shape& shape) {
    return [shape](Rank rank, Schedule& into) {
        const auto n = static_cast<std::int64_t>(shape.n);
        const auto target = [&](std::int64_t distance) -> std::int64_t {
            const std::int64_t at = rank + distance;
            if (shape.circular) return (at % n + n) % n;
            return at >= 0 && at < n ? at : -1;
        };
        const std::int64_t to = target(shape.step);
        const std::int64_t from = target(-std::int64_t{shape.step});
        const Place in{Buffer::kInput, 0};
        const Place out{Buffer::kOutput, 0};
        if (to == rank) {
            into.copy(in, out, shape.bytes);
            return;
        }
        if (from >= 0) into.receive(static_cast<Rank>(from), out, shape.bytes, 0);
        if (to >= 0) into.send(static_cast<Rank>(to), in, shape.bytes, 0);
        into.wait();
    };
}

Counts shift_direct_counts(const Shape& shape) {
    const auto distance = static_cast<std::uint64_t>(std::llabs(shape.step));
    const bool nowhere = shape.circular ? distance % shape.n == 0 : distance >= shape.n;
    if (nowhere || distance == 0) return {};
    const std::uint64_t senders = shape.circular ? shape.n : shape.n - distance;
    return {1, shape.bytes, senders * shape.bytes};
}

}  // namespace poe::collectives
