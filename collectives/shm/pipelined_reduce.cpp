// Reductions that pass from slot to slot; see pipelined_reduce.hpp.
#include "collectives/shm/pipelined_reduce.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace poe::collectives {
namespace {

// The number of polls for a sum before a member yields: about the time of another task's turn on
// this core. A member that ran ahead and gave up its core at every call would complete one call per
// turn.
constexpr int kSpinsInChain = 32;
constexpr Bytes kLeastPiece = 4096;
// If there are at most kShortSum bytes and kMostOfOne members, the root adds up all contributions,
// because that is faster than to pass sums along a tree.
constexpr Bytes kShortSum = 1024;
constexpr std::uint32_t kMostOfOne = 32;

// If each member has a core, the last member waits for its first piece until all others have added
// to it, so short pieces keep all of them busy earlier. Otherwise longer pieces cost fewer turns on
// a core.
Bytes piece_of(const Shape& shape, Bytes room, bool oversubscribed) {
    if (shape.bytes <= room) room = std::max(shape.bytes, Bytes{1});
    if (shape.element == 0) return room;
    Bytes piece = room;
    if (!oversubscribed)
        piece = std::clamp(shape.bytes / shape.n, std::min(kLeastPiece, room), room);
    // The pieces of a long vector begin at a cache line, like the vector, if the element size
    // allows it.
    const Bytes unit = piece >= kLine && kLine % shape.element == 0 ? kLine : shape.element;
    return piece == shape.bytes ? piece : piece / unit * unit;
}

}  // namespace

bool PipelinedReduce::fits(const Shape& shape) noexcept {
    const bool handed_on =
        shape.operation == Operation::kReduce || shape.operation == Operation::kPrefix;
    return handed_on && shape.element > 0;
}

PipelinedReduce::PipelinedReduce(const Shape& shape, const Run& run, GroupSegment& segment,
                                 const Tools& tools, GroupSegment::Host& host, std::uint32_t me)
    : shape_(shape),
      run_(run),
      segment_(segment),
      tools_(tools),
      host_(host),
      me_(me),
      piece_(piece_of(shape, std::min(segment.room(), GroupSegment::common_piece(shape.n)),
                      tools.oversubscribed)) {
    if (shape.operation == Operation::kPrefix) {
        if (me > 0) givers_.push_back(me - 1);
        if (me + 1 < shape.n) taker_ = me + 1;
        return;
    }
    // On either side of the root, a member at distance d has the sum of the members from there
    // outwards, as many as the lowest bit of d says. The root has the sum of all.
    const auto root = static_cast<std::int64_t>(shape.root);
    const std::int64_t distance = me_ - root;
    const bool flat = shape.bytes <= kShortSum && shape.n <= kMostOfOne;
    const std::int64_t lowest = flat ? std::abs(distance) : distance & -distance;
    if (distance != 0)
        taker_ = static_cast<std::uint32_t>(distance > 0 ? me_ - lowest : me_ + lowest);
    if (flat && distance != 0) return;
    for (std::int64_t step = 1; step < shape.n && (distance == 0 || step < lowest);
         step += flat ? 1 : step) {
        const auto add_giver = [&](std::int64_t member) {
            if (member >= 0 && member < shape.n)
                givers_.push_back(static_cast<std::uint32_t>(member));
        };
        if (distance >= 0) add_giver(me_ + step);
        if (distance <= 0) add_giver(me_ - step);
    }
}

void PipelinedReduce::run() {
    const bool prefix = shape_.operation == Operation::kPrefix;
    Bytes from = 0;
    do {
        const Bytes bytes = std::min(piece_, shape_.bytes - from);
        const std::uint64_t call = segment_.acquire_for(taker_, host_);
        const bool ends = taker_ == kNobody;
        std::byte* result = run_.result + from;
        std::byte* slot = segment_.slot_of(me_, call);
        std::byte* sum = ends || prefix ? result : slot;
        add(run_.given + from, call, sum, bytes);
        // Copies from the result, not from the slot, which may already be in transfer to another
        // core.
        if (prefix && !ends && bytes > 0) tools_.into_slots(slot, result, bytes);
        segment_.publish_to(taker_, call, host_);
        segment_.release(call, host_);
        from += bytes;
    } while (from < shape_.bytes);
}

// Combines the own contribution with the sums of the members that give to this member.
void PipelinedReduce::add(const std::byte* own, std::uint64_t call, std::byte* sum, Bytes bytes) {
    if (givers_.empty() && bytes > 0) {
        if (shape_.operation == Operation::kReduce) {
            tools_.into_slots(sum, own, bytes);
        } else {
            std::memmove(sum, own, bytes);
        }
    }
    for (const std::uint32_t giver : givers_) {
        segment_.await_from(giver, call, kSpinsInChain, host_);
        const std::byte* its = segment_.slot_of(giver, call);
        const bool before = giver < me_;
        reduce_to(run_.reduction, sum, before ? its : own, before ? own : its, bytes,
                  tools_.scratch);
        own = sum;
    }
}

}  // namespace poe::collectives
