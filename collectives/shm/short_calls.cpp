// Short calls in shared memory; see short_calls.hpp.
#include "collectives/shm/short_calls.hpp"

#include <algorithm>

namespace poe::collectives {
namespace {

// In larger groups it is faster to let one member compute the result for all.
constexpr std::uint32_t kMaxLineMembers = 4;

// Computes what `member` gets from the slots of all members, in rank order.
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

// The bytes that this member writes to its slot.
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

}  // namespace

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

[[gnu::hot]] void arrive_and_publish(CallTools& tools, GroupSegment& segment, const Shape& shape,
                                     const Run& run) {
    if (shape.operation == Operation::kSync) return sync_by_arrival(segment);
    const bool index = shape.operation == Operation::kIndex;
    const std::uint32_t me = segment.me();
    // The member that gets the result. In operations other than gather and index all members get
    // the same.
    const std::uint32_t one =
        shape.operation == Operation::kGather ? static_cast<std::uint32_t>(shape.root) : me;
    const Bytes contribution = contribution_of(shape, me);
    const Bytes bytes = published_in(shape);
    const std::uint64_t call = segment.acquire(GroupSegment::kNobody);
    put(segment.slot_of(me, call), run.given, contribution);
    std::byte* const result = segment.result(call, bytes);
    if (segment.arrive(call)) {
        // In an index, the results of all members follow each other.
        std::uint32_t member = index ? 0 : one;
        const std::uint32_t end = index ? shape.n : one + 1;
        for (std::byte* its = result; member < end; ++member, its += contribution)
            collect(shape, run, segment, call, member, its, tools.scratch.data());
        segment.publish_result(call);
    } else {
        segment.await_result(call, GroupSegment::kAll);
    }
    if (index) {
        put(run.result, result + me * contribution, contribution);
    } else if (me == one) {
        put(run.result, result, bytes);
    }
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

void publish_from_root(CallTools&, GroupSegment& segment, const Shape& shape, const Run& run) {
    const auto root = static_cast<std::uint32_t>(shape.root);
    const bool scatter = shape.operation == Operation::kScatter;
    const Bytes own = scatter ? shape.offset(segment.me()) : 0;
    const Bytes bytes = scatter ? shape.length(segment.me()) : shape.bytes;
    const Bytes all = published_in(shape);
    const bool is_root = segment.me() == root;
    const std::uint64_t call =
        is_root ? segment.acquire_all(GroupSegment::kNobody) : segment.begin(GroupSegment::kNobody);
    std::byte* const result = segment.result(call, all);
    if (is_root) {
        put(result, given_in(shape, run), all);
        segment.publish_result(call);
        if (scatter) put(run.result, run.given + own, bytes);
    } else {
        segment.await_result(call, root);
        put(run.result, result + own, bytes);
    }
    segment.release(call);
}

}  // namespace poe::collectives
