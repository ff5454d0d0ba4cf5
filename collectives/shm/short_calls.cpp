// Short calls in shared memory; see short_calls.hpp.
#include "collectives/shm/short_calls.hpp"

namespace poe::collectives {
namespace {

// In an index of at most this number of members, it is faster if each member sorts its own blocks.
constexpr std::uint32_t kMaxSelfSorted = 4;

// What one member does in a call in which all contribute, and the last to arrive computes the
// result for all.
class AllContribute final : public GroupSegment::Part {
  public:
    AllContribute(const Shape& shape, const Run& run, const GroupSegment& segment, ShmGroup& group)
        : shape_(shape), run_(run), segment_(segment), group_(group) {}

    [[gnu::hot]] void contribute(std::byte* slot) override {
        if (shape_.operation != Operation::kSync) put(slot, run_.given, contribution());
    }

    void combine(std::byte* result) override {
        const Bytes each = shape_.bytes;
        switch (shape_.operation) {
            case Operation::kCombine:
                put(result, segment_.slot(0), each);
                for (std::uint32_t r = 1; r < shape_.n; ++r)
                    reduce_into(run_.reduction, result, segment_.slot(r), each, true,
                                group_.scratch());
                break;
            case Operation::kGather:
            case Operation::kConcat:
                for (std::uint32_t r = 0; r < shape_.n; ++r)
                    put(result + r * each, segment_.slot(r), each);
                break;
            case Operation::kIndex:
                for (std::uint32_t to = 0; to < shape_.n; ++to) {
                    for (std::uint32_t from = 0; from < shape_.n; ++from)
                        put(result + (Bytes{to} * shape_.n + from) * each,
                            segment_.slot(from) + to * each, each);
                }
                break;
            default:
                break;
        }
    }

    [[gnu::hot]] Bytes result_bytes() const override {
        switch (shape_.operation) {
            case Operation::kSync:
                return 0;
            case Operation::kCombine:
                return shape_.bytes;
            default:
                return contribution() * shape_.n;
        }
    }

    [[gnu::hot]] void consume(const std::byte* result) override {
        switch (shape_.operation) {
            case Operation::kSync:
                break;
            case Operation::kGather:
                if (static_cast<Rank>(group_.me()) == shape_.root)
                    put(run_.result, result, result_bytes());
                break;
            case Operation::kIndex:
                put(run_.result, result + group_.me() * contribution(), contribution());
                break;
            default:
                put(run_.result, result, result_bytes());
        }
    }

  private:
    Bytes contribution() const {
        return shape_.operation == Operation::kIndex ? shape_.bytes * shape_.n : shape_.bytes;
    }
    const Shape& shape_;
    const Run& run_;
    const GroupSegment& segment_;
    ShmGroup& group_;
};

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
    AllContribute part(shape, run, segment, group);
    segment.all_contribute(part, group);
}

}  // namespace poe::collectives
