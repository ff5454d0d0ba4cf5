// Calls that exchange one cache line per member; see cache_line_exchange.hpp.
#include "collectives/shm/cache_line_exchange.hpp"

#include <cstring>

namespace poe::collectives {
namespace {

// In larger groups it is faster to let one member compute the result for all.
constexpr std::uint32_t kMaxLineMembers = 4;

}  // namespace

bool CacheLineExchange::fits(const Shape& shape, bool barrier) noexcept {
    if (shape.n > kMaxLineMembers || !shape.is_regular()) return false;
    switch (shape.operation) {
        case Operation::kSync:
        case Operation::kCombine:
        case Operation::kConcat:
            return shape.bytes <= kRoom;
        case Operation::kReduce:
        case Operation::kPrefix:
        case Operation::kGather:
        case Operation::kShift:
            return barrier && shape.bytes <= kRoom;
        case Operation::kIndex:
            return shape.bytes * shape.n <= kRoom;
        case Operation::kBcast:
        case Operation::kScatter:
            break;
    }
    return false;
}

// Blocks until `member` has written its line for this call; returns the line's data.
const std::byte* CacheLineExchange::told_by(std::uint32_t member, GroupSegment::Host& host) const {
    const Line& its = line(member);
    const auto over = [&its, call = call_] {
        return its.word.load(std::memory_order_acquire) > call;
    };
    if (!over()) host.wait(over, [member] { return member; });
    return its.data;
}

void CacheLineExchange::run(const Shape& shape, const Run& run, GroupSegment::Host& host,
                            std::byte* scratch) {
    const bool root = static_cast<Rank>(me_) == shape.root;
    const Bytes given = shape.operation == Operation::kIndex ? shape.bytes * shape.n : shape.bytes;
    Line& own = line(me_);
    put(own.data, run.given, given);
    own.word.store(call_ + 1, std::memory_order_release);
    host.fence();
    host.wake_others();
    for (std::uint32_t m = 0; m < members_; ++m) {
        const std::byte* its = told_by(m, host);
        const auto take = [&](bool wanted, Bytes at, const std::byte* from) {
            if (wanted) put(run.result + at, from, shape.bytes);
        };
        const auto add = [&](bool wanted) {
            if (!wanted) return;
            if (m == 0) {
                put(run.result, its, shape.bytes);
            } else {
                reduce_into(run.reduction, run.result, its, shape.bytes, true, scratch);
            }
        };
        switch (shape.operation) {
            case Operation::kReduce:
                add(root);
                break;
            case Operation::kCombine:
                add(true);
                break;
            case Operation::kPrefix:
                add(m <= me_);
                break;
            case Operation::kGather:
                take(root, m * shape.bytes, its);
                break;
            case Operation::kConcat:
                take(true, m * shape.bytes, its);
                break;
            case Operation::kIndex:
                take(true, m * shape.bytes, its + me_ * shape.bytes);
                break;
            case Operation::kShift:
                take(shifted(shape, me_, -std::int64_t{shape.step}) == m, 0, its);
                break;
            default:
                break;
        }
    }
    ++call_;
}

}  // namespace poe::collectives
