// Reductions handed on from slot to slot; see pipelined_reduce.hpp.
#include "collectives/shm/pipelined_reduce.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace poe::collectives {
namespace {

// About the time of a turn of another task on this core: who runs ahead and gives its core away at
// every call gets one call done in a turn.
constexpr int kSpinsInChain = 32;
constexpr Bytes kLeastPiece = 4096;
// Of a few bytes of so many members a root adds all up sooner than they are handed on.
constexpr Bytes kShortSum = 1024;
constexpr std::uint32_t kMostOfOne = 32;

// Where each member has a core the last one has to wait for a piece from all others, so short
// pieces keep all of them at work sooner; else longer ones cost fewer turns.
Bytes piece_of(const Shape& shape, Bytes room, bool oversubscribed) {
    if (shape.bytes <= room) room = std::max(shape.bytes, Bytes{1});
    if (shape.element == 0) return room;
    Bytes piece = room;
    if (!oversubscribed)
        piece = std::clamp(shape.bytes / shape.n, std::min(kLeastPiece, room), room);
    // Pieces of a long vector begin with a line, as it does, wherever elements allow that.
    const Bytes unit = piece >= kLine && kLine % shape.element == 0 ? kLine : shape.element;
    return piece == shape.bytes ? piece : piece / unit * unit;
}

}  // namespace

bool PipelinedReduce::fits(const Shape& shape) noexcept {
    const bool handed_on =
        shape.operation == Operation::kReduce || shape.operation == Operation::kPrefix;
    return handed_on && shape.element > 0;
}

PipelinedReduce::PipelinedReduce(const Shape& shape, const Run& run, GroupSegment& commons,
                                 const Tools& tools, GroupSegment::Host& host, std::uint32_t me)
    : shape_(shape),
      run_(run),
      commons_(commons),
      tools_(tools),
      host_(host),
      me_(me),
      piece_(piece_of(shape, commons.room(), tools.oversubscribed)) {
    if (shape.operation == Operation::kPrefix) {
        if (me > 0) givers_.push_back(me - 1);
        if (me + 1 < shape.n) taker_ = me + 1;
        return;
    }
    // On either side of the root, at a distance d, a member has the sum of the members from there
    // on, as many as d's lowest bit says; the root that of all.
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
        const std::uint64_t call = commons_.enter_for(taker_, host_);
        const bool ends = taker_ == kNobody;
        std::byte* result = run_.result + from;
        std::byte* slot = commons_.slot_of(me_, call);
        std::byte* sum = ends || prefix ? result : slot;
        add(run_.given + from, call, sum, bytes);
        // Not out of the slot, which may be on its way to another core then.
        if (prefix && !ends && bytes > 0) tools_.into_slots(slot, result, bytes);
        commons_.tell_one(taker_, call, host_);
        commons_.through(call, host_);
        from += bytes;
    } while (from < shape_.bytes);
}

// Adds the own to the sums of those who give to this member.
void PipelinedReduce::add(const std::byte* own, std::uint64_t call, std::byte* sum, Bytes bytes) {
    if (givers_.empty() && bytes > 0) {
        if (shape_.operation == Operation::kReduce) {
            tools_.into_slots(sum, own, bytes);
        } else {
            std::memmove(sum, own, bytes);
        }
    }
    for (const std::uint32_t giver : givers_) {
        commons_.await_one(giver, call, kSpinsInChain, host_);
        const std::byte* its = commons_.slot_of(giver, call);
        const bool before = giver < me_;
        reduce_to(run_.reduction, sum, before ? its : own, before ? own : its, bytes,
                  tools_.scratch);
        own = sum;
    }
}

}  // namespace poe::collectives
