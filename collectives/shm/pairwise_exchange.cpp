// Long calls between pairs of members; see pairwise_exchange.hpp.
#include "collectives/shm/pairwise_exchange.hpp"

#include <algorithm>
#include <chrono>

namespace poe::collectives {
namespace {

std::uint64_t now_ns() {
    return static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
}

}  // namespace

bool PairwiseExchange::fits(const Shape& shape) noexcept {
    if (shape.n < 2 || !shape.is_regular()) return false;
    switch (shape.operation) {
        case Operation::kIndex:
        case Operation::kShift:
            return true;
        case Operation::kConcat:
            return shape.n == 2;
        case Operation::kCombine:
            return shape.n == 2 && shape.element > 0 && kLine % shape.element == 0;
        default:
            return false;
    }
}

PairwiseExchange::PairwiseExchange(const Shape& shape, const Run& run, GroupSegment& segment,
                                   const Tools& tools, GroupSegment::Host& host, std::uint32_t me)
    : shape_(shape),
      run_(run),
      segment_(segment),
      stores_(tools.stores),
      non_temporal_(tools.non_temporal),
      reach_(kCoreCache / tools.tasks_per_core),
      host_(host),
      me_(me),
      piece_(segment.room() / kLine * kLine),
      pieces_((shape.bytes + piece_ - 1) / piece_) {}

void PairwiseExchange::run() {
    const std::uint64_t steps = pieces_ * (is(Operation::kIndex) ? shape_.n - 1 : 1);
    const std::uint64_t first_call = segment_.next_call();
    for (std::uint64_t number = 0; number <= steps; ++number) {
        if (number < steps) give(step_of(number));
        // Copies the own part while the others write their pieces.
        if (number == 0) keep_own();
        if (number > 0) take(step_of(number - 1), first_call + number - 1);
    }
}

PairwiseExchange::Step PairwiseExchange::step_of(std::uint64_t number) const noexcept {
    const std::uint64_t round = number / pieces_;
    Step step;
    step.from = number % pieces_ * piece_;
    step.bytes = std::min(piece_, shape_.bytes - step.from);
    if (!is(Operation::kShift)) {
        const auto distance = static_cast<std::uint32_t>(round + 1);
        step.taker = (me_ + distance) % shape_.n;
        step.giver = (me_ + shape_.n - distance) % shape_.n;
        return step;
    }
    const auto other = [&](std::int64_t distance) {
        const std::uint32_t rank = shifted(shape_, me_, distance);
        return rank == shape_.n ? GroupSegment::kNobody : rank;
    };
    step.taker = other(shape_.step);
    step.giver = other(-std::int64_t{shape_.step});
    return step;
}

// Copies what this member contributes to its own result. In a shift, that goes through the slot.
void PairwiseExchange::keep_own() const {
    const Bytes own = me_ * shape_.bytes;
    if (is(Operation::kIndex))
        copy_by(run_.result + own, run_.given + own, shape_.bytes, non_temporal_);
    if (is(Operation::kConcat)) copy_by(run_.result + own, run_.given, shape_.bytes, non_temporal_);
}

std::byte* PairwiseExchange::place(std::uint32_t member, std::uint64_t call, Bytes bytes) const {
    const Bytes length = std::max<Bytes>((bytes + kLine - 1) / kLine, 1) * kLine;
    const Bytes places =
        std::clamp<Bytes>(reach_ / (kStages * length), 1, segment_.room() / length);
    return segment_.slot_of(member, call) + call / kStages % places * length;
}

void PairwiseExchange::give(const Step& step) {
    const std::uint64_t call = segment_.acquire_for(step.taker, host_);
    if (step.taker == GroupSegment::kNobody) return;
    const Bytes block = is(Operation::kIndex) ? step.taker * shape_.bytes : 0;
    pick_ = stores_.choose(step.bytes);
    const std::uint64_t start = pick_.timed ? now_ns() : 0;
    copy_by(place(me_, call, step.bytes), run_.given + block + step.from, step.bytes,
            pick_.store == Store::kNonTemporal);
    if (pick_.timed) stores_.wrote(pick_.store, step.bytes, now_ns() - start);
    store_of(me_, call) = static_cast<std::byte>(pick_.store);
    segment_.publish_to(step.taker, call, host_);
}

void PairwiseExchange::take(const Step& step, std::uint64_t call) {
    if (step.giver != GroupSegment::kNobody) {
        segment_.await_from(step.giver, call, 0, host_);
        const auto store = static_cast<Store>(store_of(step.giver, call));
        const std::uint64_t start = pick_.timed ? now_ns() : 0;
        use(step, place(step.giver, call, step.bytes));
        if (pick_.timed) stores_.read(store, step.bytes, now_ns() - start);
    }
    segment_.release(call, host_);
}

void PairwiseExchange::use(const Step& step, const std::byte* slot) const {
    if (is(Operation::kCombine)) {
        const std::byte* own = run_.given + step.from;
        reduce_to(run_.reduction, run_.result + step.from, me_ == 0 ? own : slot,
                  me_ == 0 ? slot : own, step.bytes, nullptr);
        return;
    }
    const Bytes block = is(Operation::kShift) ? 0 : step.giver * shape_.bytes;
    copy_by(run_.result + block + step.from, slot, step.bytes, non_temporal_);
}

}  // namespace poe::collectives
