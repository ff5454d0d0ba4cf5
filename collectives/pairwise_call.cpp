// Long calls between pairs of members; see pairwise_call.hpp.
#include "collectives/pairwise_call.hpp"

#include <algorithm>

namespace poe::collectives {

bool PairwiseCall::fits(const Shape& shape) noexcept {
    if (shape.n < 2) return false;
    if (shape.operation == Operation::kIndex) return shape.matrix.empty();
    return shape.operation == Operation::kShift;
}

PairwiseCall::PairwiseCall(const Shape& shape, const Run& run, Commons& commons,
                           const SlotCopy& copy, Commons::Host& host, std::uint32_t me)
    : shape_(shape),
      run_(run),
      commons_(commons),
      copy_(copy),
      host_(host),
      me_(me),
      piece_(commons.room() / kLine * kLine),
      pieces_((shape.bytes + piece_ - 1) / piece_) {}

void PairwiseCall::run() {
    keep_own();
    const std::uint64_t steps = pieces_ * (is_index() ? shape_.n - 1 : 1);
    const std::uint64_t first_call = commons_.next_call();
    for (std::uint64_t number = 0; number <= steps; ++number) {
        if (number < steps) give(step_of(number));
        if (number > 0) take(step_of(number - 1), first_call + number - 1);
    }
}

PairwiseCall::Step PairwiseCall::step_of(std::uint64_t number) const noexcept {
    const std::uint64_t round = number / pieces_;
    Step step;
    step.from = number % pieces_ * piece_;
    step.bytes = std::min(piece_, shape_.bytes - step.from);
    if (is_index()) {
        const auto distance = static_cast<std::uint32_t>(round + 1);
        step.taker = (me_ + distance) % shape_.n;
        step.giver = (me_ + shape_.n - distance) % shape_.n;
        return step;
    }
    const auto other = [&](std::int64_t distance) {
        const std::uint32_t rank = shifted(shape_, me_, distance);
        return rank == shape_.n ? Commons::kNobody : rank;
    };
    step.taker = other(shape_.step);
    step.giver = other(-std::int64_t{shape_.step});
    return step;
}

// What a member gives to itself in an index. In a shift it goes through the slot.
void PairwiseCall::keep_own() const {
    if (!is_index()) return;
    const Bytes own = me_ * shape_.bytes;
    copy_.out(run_.result + own, run_.given + own, shape_.bytes);
}

void PairwiseCall::give(const Step& step) {
    const std::uint64_t call = commons_.enter_for(step.taker, host_);
    if (step.taker == Commons::kNobody) return;
    const Bytes block = is_index() ? step.taker * shape_.bytes : 0;
    copy_.in(commons_.slot_of(me_, call), run_.given + block + step.from, step.bytes);
    commons_.tell_one(step.taker, call, host_);
}

void PairwiseCall::take(const Step& step, std::uint64_t call) {
    if (step.giver != Commons::kNobody) {
        const Bytes block = is_index() ? step.giver * shape_.bytes : 0;
        commons_.await_one(step.giver, call, 0, host_);
        copy_.out(run_.result + block + step.from, commons_.slot_of(step.giver, call), step.bytes);
    }
    commons_.through(call, host_);
}

}  // namespace poe::collectives
