// Reductions that pass from slot to slot; see pipelined_reduce.hpp.
#include "collectives/shm/pipelined_reduce.hpp"

#include <algorithm>
#include <cstdlib>

namespace poe::collectives {
namespace {

// The number of polls for a sum before a member yields: about as long as another task uses this
// core. A member that yielded in every call would complete one call each time it runs.
constexpr int kSpinsInChain = 32;
constexpr Bytes kLeastPiece = 4096;
// If there are at most kShortSum bytes and kMostOfOne members, the root adds up all contributions,
// because that is faster than to pass sums along a tree.
constexpr Bytes kShortSum = 1024;
constexpr std::uint32_t kMostOfOne = 32;

// If each member has a core, short pieces are better: the last member gets its first piece only
// after all others have added to it. If members share cores, long pieces are better, because each
// piece costs a switch between tasks.
Bytes piece_of(const Shape& shape, Bytes room, bool shared_cores) {
    if (shape.bytes <= room) room = std::max(shape.bytes, Bytes{1});
    if (shape.element == 0) return room;
    Bytes piece = room;
    if (!shared_cores) piece = std::clamp(shape.bytes / shape.n, std::min(kLeastPiece, room), room);
    // The pieces of a long vector begin at a cache line, like the vector, if the element size
    // allows it.
    const Bytes unit = piece >= kLine && kLine % shape.element == 0 ? kLine : shape.element;
    return piece == shape.bytes ? piece : piece / unit * unit;
}

// The members whose sums a member uses, the nearest first, and the member that uses its sum.
struct Neighbours {
    Neighbours(const Shape& shape, std::uint32_t me) noexcept {
        if (shape.operation == Operation::kPrefix) {
            if (me > 0) givers[many++] = me - 1;
            if (me + 1 < shape.n) taker = me + 1;
            return;
        }
        // On either side of the root, the member at distance d forms the sum of the members at the
        // distances from d on, of as many as the value of the lowest set bit of d. The root forms
        // the sum of all.
        const auto root = static_cast<std::int64_t>(shape.root);
        const std::int64_t distance = me - root;
        const bool flat = shape.bytes <= kShortSum && shape.n <= kMostOfOne;
        const std::int64_t lowest = flat ? std::abs(distance) : distance & -distance;
        if (distance != 0)
            taker = static_cast<std::uint32_t>(distance > 0 ? me - lowest : me + lowest);
        if (flat && distance != 0) return;
        const auto add_giver = [&](std::int64_t member) {
            if (member >= 0 && member < shape.n)
                givers[many++] = static_cast<std::uint32_t>(member);
        };
        for (std::int64_t step = 1; step < shape.n && (distance == 0 || step < lowest);
             step += flat ? 1 : step) {
            if (distance >= 0) add_giver(me + step);
            if (distance <= 0) add_giver(me - step);
        }
    }
    std::uint32_t givers[64];  // up to kMostOfOne, or one for each power of two on either side
    std::uint32_t many = 0;
    std::uint32_t taker = GroupSegment::kNobody;
};

}  // namespace

bool fits_pipelined_reduce(const Shape& shape) noexcept {
    return shape.element > 0 &&
           (shape.operation == Operation::kReduce || shape.operation == Operation::kPrefix);
}

void pipelined_reduce(CallTools& tools, GroupSegment& segment, const Shape& shape, const Run& run) {
    const std::uint32_t me = segment.me();
    const bool prefix = shape.operation == Operation::kPrefix;
    const Neighbours neighbours(shape, me);
    const bool ends = neighbours.taker == GroupSegment::kNobody;
    const Bytes room = std::min(segment.sizes().room(), GroupSegment::common_piece(shape.n));
    const Bytes most = piece_of(shape, room, tools.tasks_per_core > 1);
    Bytes from = 0;
    do {
        const Bytes bytes = std::min(most, shape.bytes - from);
        const std::uint64_t call = segment.acquire(neighbours.taker);
        std::byte* const result = run.result + from;
        std::byte* const slot = segment.slot_of(me, call);
        std::byte* const sum = ends || prefix ? result : slot;
        const std::byte* own = run.given + from;
        if (neighbours.many == 0 && bytes > 0 && !prefix) tools.into_slots(sum, own, bytes);
        if (neighbours.many == 0 && prefix) put(sum, own, bytes);
        for (std::uint32_t i = 0; i < neighbours.many; ++i) {
            const std::uint32_t giver = neighbours.givers[i];
            segment.await(giver, call, kSpinsInChain);
            const std::byte* const its = segment.slot_of(giver, call);
            reduce_to(run.reduction, sum, giver < me ? its : own, giver < me ? own : its, bytes,
                      tools.scratch.data());
            own = sum;
        }
        // Copies from the result, because the slot may already be in transfer to another core.
        if (prefix && !ends && bytes > 0) tools.into_slots(slot, result, bytes);
        segment.publish(neighbours.taker, call);
        segment.release(call);
        from += bytes;
    } while (from < shape.bytes);
}

}  // namespace poe::collectives
