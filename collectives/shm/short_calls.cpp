// Short calls in shared memory; see short_calls.hpp.
#include "collectives/shm/short_calls.hpp"

#include <algorithm>

namespace poe::collectives {

void collect(const Shape& shape, const Run& run, const GroupSegment& segment, std::uint64_t call,
             std::uint32_t member, std::byte* result, std::byte* scratch) {
    std::uint32_t last = shape.n - 1;  // of a sum
    switch (shape.operation) {
        case Operation::kSync:
            return;
        case Operation::kPrefix:
            last = member;
            break;
        case Operation::kReduce:
            if (static_cast<Rank>(member) != shape.root) return;
            break;
        case Operation::kCombine:
            break;
        case Operation::kShift: {
            const std::uint32_t giver = shifted(shape, member, -std::int64_t{shape.step});
            if (giver < shape.n) put(result, segment.slot_of(giver, call), shape.bytes);
            return;
        }
        default: {
            if (shape.operation == Operation::kGather && static_cast<Rank>(member) != shape.root)
                return;
            const Bytes from = shape.operation == Operation::kIndex ? member * shape.bytes : 0;
            for (std::uint32_t m = 0; m < shape.n; ++m)
                put(result + shape.offset(m), segment.slot_of(m, call) + from, shape.length(m));
            return;
        }
    }
    const std::byte* sum = segment.slot_of(0, call);
    if (last == 0) put(result, sum, shape.bytes);
    for (std::uint32_t m = 1; m <= last; ++m) {
        reduce_to(run.reduction, result, sum, segment.slot_of(m, call), shape.bytes, scratch);
        sum = result;
    }
}

Bytes contribution_of(const Shape& shape, std::uint32_t member) noexcept {
    switch (shape.operation) {
        case Operation::kIndex:
            return shape.bytes * shape.n;
        case Operation::kGather:
        case Operation::kConcat:
            return shape.length(member);
        default:
            return shape.bytes;
    }
}

Bytes contribution_to(const Shape& shape) noexcept {
    if (is_from_root(shape)) return 0;
    return shape.operation == Operation::kIndex ? shape.bytes * shape.n : shape.longest_block();
}

Bytes published_in(const Shape& shape) noexcept {
    switch (shape.operation) {
        case Operation::kBcast:
        case Operation::kReduce:
        case Operation::kCombine:
            return shape.bytes;
        case Operation::kScatter:
        case Operation::kGather:
        case Operation::kConcat:
            return shape.span(0, shape.n);
        default:
            return contribution_to(shape) * shape.n;
    }
}

bool fits_short(const Shape& shape) noexcept {
    if (!shape.matrix.empty() || contribution_to(shape) > GroupSegment::kLong.room() ||
        published_in(shape) > GroupSegment::kLong.result)
        return false;
    // In an index, one member sorts all blocks if they are shorter than a cache line, because that
    // is less work.
    return shape.operation != Operation::kIndex ||
           (shape.n > kMaxLineMembers && shape.bytes < kLine);
}

bool fits_cache_lines(const Shape& shape, bool barrier) noexcept {
    switch (shape.operation) {
        case Operation::kSync:
        case Operation::kCombine:
        case Operation::kConcat:
        case Operation::kIndex:
            break;
        default:
            if (!barrier || is_from_root(shape)) return false;
    }
    return shape.n <= kMaxLineMembers && shape.matrix.empty() &&
           contribution_to(shape) <= GroupSegment::short_of(shape.n).room();
}

[[gnu::hot]] void exchange_slots(CallTools& tools, GroupSegment& segment, const Shape& shape,
                                 const Run& run) {
    const std::uint32_t me = segment.me();
    const std::uint64_t call = segment.acquire(GroupSegment::kAll);
    put(segment.slot_of(me, call), run.given, contribution_of(shape, me));
    segment.publish(GroupSegment::kAll, call);
    for (std::uint32_t m = 0; m < shape.n; ++m) {
        if (m != me) segment.await(m, call, tools.spins());
    }
    collect(shape, run, segment, call, me, run.result, tools.scratch.data());
    segment.release(call);
}

// A sync by arrival. This member writes nothing, and no call before this one reads its slots any
// more when all have arrived. Not inlined, because it needs much less stack than its caller.
[[gnu::hot, gnu::noinline]] static void sync_by_arrival(GroupSegment& segment) {
    const std::uint64_t call = segment.begin(GroupSegment::kNobody);
    if (segment.arrive(call)) {
        segment.publish_result(call);
    } else {
        segment.await_result(call, GroupSegment::kAll);
    }
    segment.release(call);
}

// The member whose result the last one to arrive computes. In operations other than gather and
// index all members get the same.
static std::uint32_t one_of(const Shape& shape, std::uint32_t me) noexcept {
    return shape.operation == Operation::kGather ? static_cast<std::uint32_t>(shape.root) : me;
}

[[gnu::hot]] bool contribute(CallTools& tools, GroupSegment& segment, const Shape& shape,
                             const Run& run, std::uint64_t call) {
    const bool index = shape.operation == Operation::kIndex;
    const std::uint32_t me = segment.me();
    const Bytes contribution = contribution_of(shape, me);
    put(segment.slot_of(me, call), run.given, contribution);
    if (!segment.arrive(call)) return false;
    // In an index, the results of all members follow each other.
    std::byte* its = segment.result(call, published_in(shape));
    std::uint32_t member = index ? 0 : one_of(shape, me);
    const std::uint32_t end = index ? shape.n : member + 1;
    for (; member < end; ++member, its += contribution)
        collect(shape, run, segment, call, member, its, tools.scratch.data());
    segment.publish_result(call);
    return true;
}

[[gnu::hot]] void take_published(GroupSegment& segment, const Shape& shape, const Run& run,
                                 std::uint64_t call) {
    const std::uint32_t me = segment.me();
    const Bytes bytes = published_in(shape);
    const std::byte* const result = segment.result(call, bytes);
    if (shape.operation == Operation::kIndex) {
        const Bytes own = contribution_of(shape, me);
        put(run.result, result + me * own, own);
    } else if (me == one_of(shape, me)) {
        put(run.result, result, bytes);
    }
}

[[gnu::hot]] void arrive_and_publish(CallTools& tools, GroupSegment& segment, const Shape& shape,
                                     const Run& run) {
    if (shape.operation == Operation::kSync) return sync_by_arrival(segment);
    const std::uint64_t call = segment.acquire(GroupSegment::kNobody);
    if (!contribute(tools, segment, shape, run, call))
        segment.await_result(call, GroupSegment::kAll);
    take_published(segment, shape, run, call);
    segment.release(call);
}

void give_to_one(CallTools& tools, GroupSegment& segment, const Shape& shape, const Run& run) {
    const std::uint32_t me = segment.me();
    const bool shift = shape.operation == Operation::kShift;
    const std::uint32_t to =
        shift ? shifted(shape, me, shape.step) : static_cast<std::uint32_t>(shape.root);
    const std::uint32_t taker = to == me || to == shape.n ? GroupSegment::kNobody : to;
    const std::uint64_t call = segment.acquire(taker);
    if (taker != GroupSegment::kNobody) {
        put(segment.slot_of(me, call), run.given, contribution_of(shape, me));
        segment.publish(taker, call);
    }
    // The members that give to this one: those from `m` on, before `end`.
    std::uint32_t m = shift ? shifted(shape, me, -std::int64_t{shape.step}) : 0;
    const std::uint32_t end = shift ? std::min(m + 1, shape.n) : to == me ? shape.n : 0;
    for (; m < end; ++m) {
        if (m != me) segment.await(m, call, tools.spins());
        put(run.result + (shift ? 0 : shape.offset(m)),
            m == me ? run.given : segment.slot_of(m, call), contribution_of(shape, m));
    }
    segment.release(call);
}

void publish_as_root(GroupSegment& segment, const Shape& shape, const Run& run,
                     std::uint64_t call) {
    const Bytes all = published_in(shape);
    put(segment.result(call, all), given_in(shape, run), all);
    segment.publish_result(call);
}

void take_from_root(GroupSegment& segment, const Shape& shape, const Run& run, std::uint64_t call) {
    const std::uint32_t me = segment.me();
    const bool scatter = shape.operation == Operation::kScatter;
    const Bytes own = scatter ? shape.offset(me) : 0;
    const Bytes bytes = scatter ? shape.length(me) : shape.bytes;
    if (static_cast<Rank>(me) != shape.root) {
        put(run.result, segment.result(call, published_in(shape)) + own, bytes);
    } else if (scatter) {
        put(run.result, run.given + own, bytes);
    }
}

void publish_from_root(CallTools&, GroupSegment& segment, const Shape& shape, const Run& run) {
    const auto root = static_cast<std::uint32_t>(shape.root);
    const bool is_root = segment.me() == root;
    const std::uint64_t call =
        is_root ? segment.acquire_all(GroupSegment::kNobody) : segment.begin(GroupSegment::kNobody);
    if (is_root) {
        publish_as_root(segment, shape, run, call);
    } else {
        segment.await_result(call, root);
    }
    take_from_root(segment, shape, run, call);
    segment.release(call);
}

}  // namespace poe::collectives
