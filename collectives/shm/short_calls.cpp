// Short calls in shared memory; see short_calls.hpp.
#include "collectives/shm/short_calls.hpp"

namespace poe::collectives {
namespace {

// In an index of at most this number of members, it is faster if each member sorts its own blocks.
constexpr std::uint32_t kMaxSelfSorted = 4;

// The bytes that each member contributes to a call in which all wait for the last one, and those of its result.
Bytes contribution_to(const Shape& shape) {
    if (shape.operation == Operation::kSync) return 0;
    return shape.operation == Operation::kIndex ? shape.bytes * shape.n : shape.bytes;
}
Bytes result_of(const Shape& shape) {
    return shape.operation == Operation::kCombine ? shape.bytes : contribution_to(shape) * shape.n;
}

// Computes the result from the slots of all members; the last member to arrive does it.
void compute(const Shape& shape, const Run& run, const GroupSegment& segment, std::uint64_t call,
             std::byte* result, std::byte* scratch) {
    const Bytes each = shape.bytes;
    switch (shape.operation) {
        case Operation::kCombine:
            put(result, segment.slot_of(0, call), each);
            for (std::uint32_t r = 1; r < shape.n; ++r)
                reduce_into(run.reduction, result, segment.slot_of(r, call), each, true, scratch);
            break;
        case Operation::kGather:
        case Operation::kConcat:
            for (std::uint32_t r = 0; r < shape.n; ++r)
                put(result + r * each, segment.slot_of(r, call), each);
            break;
        case Operation::kIndex:
            for (std::uint32_t to = 0; to < shape.n; ++to) {
                for (std::uint32_t from = 0; from < shape.n; ++from)
                    put(result + (Bytes{to} * shape.n + from) * each,
                        segment.slot_of(from, call) + to * each, each);
            }
            break;
        default:
            break;
    }
}

}  // namespace

bool fits_short(const Shape& shape) noexcept {
    if (!shape.is_regular()) return false;
    const Bytes each = shape.bytes;
    const bool slot = each <= GroupSegment::kLong.room();
    const bool all = each * shape.n <= GroupSegment::kLong.result;
    switch (shape.operation) {
        case Operation::kSync:
            return true;
        case Operation::kBcast:
            return each <= GroupSegment::kLong.result;
        case Operation::kScatter:
            return all;
        case Operation::kReduce:
        case Operation::kCombine:
            return slot;
        case Operation::kPrefix:
        case Operation::kGather:
        case Operation::kConcat:
        case Operation::kShift:
            return slot && all;
        case Operation::kIndex:
            // If blocks are shorter than a cache line, it is less work if one member sorts them
            // all.
            return shape.n > kMaxSelfSorted && each < kLine &&
                   each * shape.n <= GroupSegment::kLong.room() &&
                   each * shape.n * shape.n <= GroupSegment::kLong.result;
    }
    return false;
}

void shift_short(ShmGroup& group, GroupSegment& segment, const Shape& shape, const Run& run) {
    const auto at = [&](std::int64_t step) {
        const std::uint32_t rank = shifted(shape, group.me(), step);
        return rank == shape.n ? GroupSegment::kNobody : rank;
    };
    const std::uint32_t taker = at(shape.step);
    const std::uint32_t giver = at(-std::int64_t{shape.step});
    const std::uint64_t call = segment.acquire_for(taker, group);
    put(segment.slot_of(group.me(), call), run.given, shape.bytes);
    segment.publish_to(taker, call, group);
    if (giver != GroupSegment::kNobody) {
        segment.await_from(giver, call, group.spins(), group);
        put(run.result, segment.slot_of(giver, call), shape.bytes);
    }
    segment.release(call, group);
}

void gather_short(ShmGroup& group, GroupSegment& segment, const Shape& shape, const Run& run) {
    const auto root = static_cast<std::uint32_t>(shape.root);
    if (group.me() != root) {
        const std::uint64_t call = segment.acquire_for(root, group);
        put(segment.slot_of(group.me(), call), run.given, shape.bytes);
        segment.publish_to(root, call, group);
        segment.release(call, group);
        return;
    }
    const std::uint64_t call = segment.acquire_for(GroupSegment::kNobody, group);
    for (std::uint32_t m = 0; m < shape.n; ++m) {
        if (m != root) segment.await_from(m, call, group.spins(), group);
        put(run.result + m * shape.bytes, m == root ? run.given : segment.slot_of(m, call),
            shape.bytes);
    }
    segment.release(call, group);
}

void swap_short(ShmGroup& group, GroupSegment& segment, const Shape& shape, const Run& run) {
    const std::uint32_t me = group.me();
    const std::uint32_t other = 1 - me;
    const std::uint64_t call = segment.acquire_for(other, group);
    put(segment.slot_of(me, call), run.given, shape.bytes);
    segment.publish_to(other, call, group);
    if (shape.operation == Operation::kConcat)
        put(run.result + me * shape.bytes, run.given, shape.bytes);
    segment.await_from(other, call, group.spins(), group);
    const std::byte* its = segment.slot_of(other, call);
    if (shape.operation == Operation::kConcat) {
        put(run.result + other * shape.bytes, its, shape.bytes);
    } else {
        reduce_to(run.reduction, run.result, me == 0 ? run.given : its, me == 0 ? its : run.given,
                  shape.bytes, group.scratch());
    }
    segment.release(call, group);
}

void publish_from_root(ShmGroup& group, GroupSegment& segment, const Shape& shape, const Run& run) {
    const auto root = static_cast<std::uint32_t>(shape.root);
    const bool scatters = shape.operation == Operation::kScatter;
    const Bytes own = scatters ? group.me() * shape.bytes : 0;
    const Bytes all = scatters ? shape.bytes * shape.n : shape.bytes;
    if (group.me() != root) {
        const std::uint64_t call = segment.await_result(root, group);
        put(run.result, segment.result(call, all) + own, shape.bytes);
        segment.release(call, group);
        return;
    }
    const std::uint64_t call = segment.acquire_result(group);
    put(segment.result(call, all), scatters ? run.given : run.result, all);
    segment.publish_result(call, group);
    if (scatters) put(run.result, run.given + own, shape.bytes);
    segment.release(call, group);
}

[[gnu::hot]] void arrive_and_publish(ShmGroup& group, GroupSegment& segment, const Shape& shape,
                                     const Run& run) {
    const Bytes contribution = contribution_to(shape);
    const Bytes bytes = result_of(shape);
    const std::uint64_t call = segment.acquire_for(GroupSegment::kNobody, group);
    put(segment.slot_of(group.me(), call), run.given, contribution);
    std::byte* const result = segment.result(call, bytes);
    if (segment.arrive(call)) {
        compute(shape, run, segment, call, result, group.scratch());
        segment.publish_result(call, group);
    } else {
        segment.await_last(call, group);
    }
    if (shape.operation == Operation::kIndex) {
        put(run.result, result + group.me() * contribution, contribution);
    } else if (shape.operation != Operation::kGather ||
               static_cast<Rank>(group.me()) == shape.root) {
        put(run.result, result, bytes);
    }
    segment.release(call, group);
}

}  // namespace poe::collectives
