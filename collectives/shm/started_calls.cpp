// Short calls that do not block; see started_calls.hpp.
#include "collectives/shm/started_calls.hpp"

#include <algorithm>

#include "collectives/shm/short_calls.hpp"

namespace poe::collectives {
namespace {

// How the data go.
enum class Way : std::uint8_t {
    kFromRoot,     // the root publishes a result
    kLastArrival,  // the last member to arrive publishes the result
    kSlots,        // each member reads the slots of those whose data it needs
};

bool has_room_for_result(const GroupSegment::Sizes& sizes, const Shape& shape) noexcept {
    return published_in(shape) <= std::max(sizes.result, sizes.published_room());
}

Way way_of(const GroupSegment::Sizes& sizes, const Shape& shape) noexcept {
    if (is_from_root(shape)) return Way::kFromRoot;
    const bool has_common_result =
        shape.operation == Operation::kSync || shape.operation == Operation::kCombine ||
        shape.operation == Operation::kConcat || shape.operation == Operation::kIndex;
    return has_common_result && shape.n > kMaxLineMembers && has_room_for_result(sizes, shape)
               ? Way::kLastArrival
               : Way::kSlots;
}

// True if no member waits for data that depend on its own contribution.
bool is_one_way(const Shape& shape) noexcept {
    switch (shape.operation) {
        case Operation::kReduce:
        case Operation::kGather:
        case Operation::kPrefix:
        case Operation::kShift:
            return true;
        default:
            return is_from_root(shape);
    }
}

// The members whose slots a member reads, from `first` on, before `end`. It may be among them.
struct Givers {
    std::uint32_t first = 0;
    std::uint32_t end = 0;
};

Givers givers_of(const Shape& shape, std::uint32_t member) noexcept {
    switch (shape.operation) {
        case Operation::kReduce:
        case Operation::kGather:
            return {0, static_cast<Rank>(member) == shape.root ? shape.n : 0};
        case Operation::kShift: {
            const std::uint32_t giver = shifted(shape, member, -std::int64_t{shape.step});
            return {giver, std::min(giver + 1, shape.n)};
        }
        case Operation::kPrefix:
            return {0, member};
        default:
            return {0, shape.n};
    }
}

// The member or the members that read the slot of this one.
std::uint32_t taker_of(const Shape& shape, std::uint32_t member) noexcept {
    std::uint32_t taker = GroupSegment::kAll;
    if (shape.operation == Operation::kReduce || shape.operation == Operation::kGather) {
        taker = static_cast<std::uint32_t>(shape.root);
    } else if (shape.operation == Operation::kShift) {
        taker = shifted(shape, member, shape.step);
    }
    return taker == member || taker == shape.n ? GroupSegment::kNobody : taker;
}

}  // namespace

bool StartedCalls::fits(const GroupSegment::Sizes& sizes, const Shape& shape) noexcept {
    if (!shape.matrix.empty() || contribution_to(shape) > sizes.room()) return false;
    // Several calls share a cache line, which pays only if members run ahead.
    if (sizes.by_member() && !is_one_way(shape)) return false;
    return !is_from_root(shape) || has_room_for_result(sizes, shape);
}

// Begins the call if it may. Returns true if it has begun.
bool StartedCalls::begin(std::uint64_t call, const Shape& shape, const Run& run) {
    if (!may_begin(call)) {
        if (!waits_for_room_) segment_.begin_waiting();
        waits_for_room_ = true;
        // A member may have finished before it could see that this one waits.
        if (!may_begin(call)) return false;
    }
    if (waits_for_room_) segment_.end_waiting();
    waits_for_room_ = false;
    const std::uint32_t me = segment_.me();
    segment_.begin(GroupSegment::kAll);
    switch (way_of(segment_.sizes(), shape)) {
        case Way::kFromRoot:
            if (static_cast<Rank>(me) == shape.root) publish_as_root(segment_, shape, run, call);
            break;
        case Way::kLastArrival:
            contribute(tools_, segment_, shape, run, call);
            break;
        case Way::kSlots:
            put(segment_.slot_of(me, call), run.given, contribution_of(shape, me));
            segment_.publish(taker_of(shape, me), call);
            break;
    }
    return true;
}

// True if what this member needs has been published. `next`: see StartedCall.
bool StartedCalls::is_complete(std::uint64_t call, const Shape& shape,
                               std::uint32_t& next) const noexcept {
    const std::uint32_t me = segment_.me();
    switch (way_of(segment_.sizes(), shape)) {
        case Way::kFromRoot:
            return static_cast<Rank>(me) == shape.root || segment_.has_result(call);
        case Way::kLastArrival:
            return segment_.has_result(call);
        case Way::kSlots:
            break;
    }
    const Givers givers = givers_of(shape, me);
    next = std::max(next, givers.first);
    while (next < givers.end && (next == me || segment_.has_published(next, call))) ++next;
    return next >= givers.end;
}

// Precondition: is_complete().
void StartedCalls::end(std::uint64_t call, const Shape& shape, const Run& run) {
    const std::uint32_t me = segment_.me();
    switch (way_of(segment_.sizes(), shape)) {
        case Way::kFromRoot:
            take_from_root(segment_, shape, run, call);
            break;
        case Way::kLastArrival:
            take_published(segment_, shape, run, call);
            break;
        case Way::kSlots:
            collect(shape, run, segment_, call, me, run.result, tools_.scratch.data());
            break;
    }
    const std::size_t depth = ended_.size();
    ended_[call % depth] = true;
    while (ended_[released_ % depth]) {
        ended_[released_ % depth] = false;
        segment_.release(released_++);
    }
}

std::uint32_t StartedCalls::awaited(std::uint64_t call, const Shape& shape,
                                    std::uint32_t next) const noexcept {
    switch (way_of(segment_.sizes(), shape)) {
        case Way::kFromRoot:
            return static_cast<std::uint32_t>(shape.root);
        case Way::kLastArrival:
            return segment_.not_arrived(call);
        case Way::kSlots:
            break;
    }
    return std::min(next, shape.n);
}

}  // namespace poe::collectives
