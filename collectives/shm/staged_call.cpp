// Long collective calls, piece by piece; see staged_call.hpp.
#include "collectives/shm/staged_call.hpp"

#include <algorithm>
#include <chrono>

#include "collectives/shm/movement.hpp"

namespace poe::collectives {
namespace {

// The maximum piece of a broadcast, in bytes. A piece may span the slots of several members.
constexpr Bytes kMostOfRoot = Bytes{64} << 10;
// The part of an index block that is in one piece is a multiple of this number of bytes.
constexpr Bytes kLeastOfBlock = 64;
// Each slice of a reduction begins at a multiple of this number of elements.
constexpr Bytes kElements = 64;
// The tasks of a core write this number of bytes to slots before they reuse a place.
constexpr Bytes kCoreCache = Bytes{2} << 20;
// A member gives in up to three calls before it finishes the first of them.
static_assert(kStages > 3);

// Returns the maximum number of bytes of a block or vector in one piece with all partners; 0: not
// supported.
Bytes common_piece_of(const Shape& shape) {
    const Bytes slot = GroupSegment::common_piece(shape.n);
    switch (shape.operation) {
        case Operation::kBcast:
            return std::min(kMostOfRoot, slot * shape.n);
        case Operation::kIndex:
            return slot / shape.n / kLeastOfBlock * kLeastOfBlock;
        case Operation::kCombine:
            return shape.element > 0 ? slot - slot % shape.element : 0;
        case Operation::kScatter:
        case Operation::kGather:
        case Operation::kConcat:
            return slot;
        default:
            return 0;
    }
}

// Calls work(). Returns the nanoseconds that it took, or 0 if it was not to be timed.
template <typename Work>
std::uint64_t time_of(bool timed, const Work& work) {
    using Clock = std::chrono::steady_clock;
    const Clock::time_point start = timed ? Clock::now() : Clock::time_point{};
    work();
    return timed ? static_cast<std::uint64_t>((Clock::now() - start).count()) : 0;
}

void copy(std::byte* to, const std::byte* from, Bytes bytes, bool non_temporal) {
    if (non_temporal) {
        comm::copy_non_temporal(to, from, bytes);
    } else {
        put(to, from, bytes);
    }
}

// One call of one member.
class StagedCall {
  public:
    StagedCall(Partners partners, CallTools& tools, GroupSegment& segment, const Shape& shape,
               const Run& run, std::span<const ExchangeBlock> blocks, bool non_temporal)
        : tools_(tools),
          segment_(segment),
          shape_(shape),
          run_(run),
          given_(given_in(shape, run)),
          blocks_(blocks),
          non_temporal_(non_temporal),
          pairs_(partners == Partners::kOne),
          in_slices_(!pairs_ && is(Operation::kCombine)),
          n_(shape.n),
          me_(segment.me()),
          piece_(pairs_ ? segment.sizes().room() / kLine * kLine : common_piece_of(shape)) {
        if (is(Operation::kShift)) {
            const auto n = static_cast<std::int64_t>(n_);
            nearest_ = static_cast<std::uint32_t>((shape.step % n + n) % n);
        }
        Bytes longest = shape.bytes;
        if (!shape.offsets.empty()) {
            longest = 0;
            for (std::uint32_t r = 0; r < n_; ++r) longest = std::max(longest, shape.length(r));
        }
        pieces_ = std::max<std::uint64_t>((longest + piece_ - 1) / piece_, 1);
        // If a member shifts to itself, there is nothing to exchange.
        steps_ = nearest_ == 0 ? 0 : pairs_ && is(Operation::kIndex) ? pieces_ * (n_ - 1) : pieces_;
        const std::uint32_t end = is(Operation::kIndex) ? n_ : end_of(0);
        for (std::uint32_t d = nearest_; d < end; ++d)
            gives_ = gives_ || whole(me_, after(d)).bytes > 0;
    }

    void run() {
        const std::uint64_t lag = in_slices_ ? 2 : 1;
        for (std::uint64_t step = 0; step < steps_ + lag; ++step) {
            if (step < steps_) give(step);
            // Copies the own part while the others write their pieces.
            if (step == 0) keep_own();
            if (in_slices_ && step >= 1 && step - 1 < steps_) reduce_slice(step - 1);
            if (step >= lag) take(step - lag);
        }
    }

  private:
    bool is(Operation operation) const noexcept { return shape_.operation == operation; }
    // The partners of a step are at the distances nearest_of() to end_of() - 1, in ranks. This
    // member gives to the partners at these distances after it and takes from those before it.
    std::uint32_t nearest_of(std::uint64_t step) const noexcept {
        return nearest_ + static_cast<std::uint32_t>(step / pieces_);
    }
    std::uint32_t end_of(std::uint64_t step) const noexcept {
        return pairs_ ? nearest_of(step) + 1 : n_;
    }
    std::uint32_t after(std::uint32_t distance) const noexcept { return (me_ + distance) % n_; }
    // What goes from one member to another. This member knows the addresses in its own memory only.
    struct Piece {
        const std::byte* from = nullptr;
        std::byte* to = nullptr;
        Bytes bytes = 0;
    };
    // All bytes from `giver` to `taker`, one of which is this member.
    Piece whole(std::uint32_t giver, std::uint32_t taker) const noexcept {
        if (!blocks_.empty()) {
            const ExchangeBlock& block = blocks_[giver == me_ ? taker : giver];
            return {block.out, block.in, giver == me_ ? block.out_bytes : block.in_bytes};
        }
        const Movement all = moved(shape_, giver, taker);
        if (all.bytes == 0) return {};
        return {given_ + all.from, run_.result + all.to, all.bytes};
    }
    // The bytes that move in a step.
    Piece piece_of(std::uint64_t step, std::uint32_t giver, std::uint32_t taker) const noexcept {
        const Piece all = whole(giver, taker);
        const Bytes done = step % pieces_ * piece_;
        if (done >= all.bytes) return {};
        return {all.from + done, all.to + done, std::min(piece_, all.bytes - done)};
    }
    // The place of these bytes in a slot.
    std::byte* place(std::uint32_t giver, std::uint32_t taker, std::uint64_t call,
                     Bytes bytes) const {
        if (pairs_) {
            const Bytes length = std::max<Bytes>((bytes + kLine - 1) / kLine, 1) * kLine;
            const Bytes places = std::clamp<Bytes>(
                kCoreCache / tools_.tasks_per_core / (kStages * length), 1, piece_ / length);
            return segment_.slot_of(giver, call) + call / kStages % places * length;
        }
        switch (shape_.operation) {
            case Operation::kBcast:
                return segment_.slot_of(0, call);
            case Operation::kScatter:
                return segment_.slot_of(taker, call);
            case Operation::kIndex:
                return segment_.slot_of(giver, call) + taker * piece_;
            default:
                return segment_.slot_of(giver, call);
        }
    }
    // In a combine there is nothing to copy: the own part is added to the others'.
    void keep_own() const {
        const Piece own = whole(me_, me_);
        if (!is(Operation::kCombine)) copy(own.to, own.from, own.bytes, non_temporal_);
    }

    void give(std::uint64_t step) {
        pick_ = {Store::kOrdinary, false};
        std::uint32_t taker = GroupSegment::kAll;
        if (pairs_) taker = gives_ ? after(nearest_of(step)) : GroupSegment::kNobody;
        const std::uint64_t call = pairs_   ? segment_.acquire(taker)
                                   : gives_ ? segment_.acquire_all(taker)
                                            : segment_.begin(taker);
        first_call_ = call - step;
        if (!gives_) return;
        const bool same_for_all =
            is(Operation::kBcast) || is(Operation::kConcat) || is(Operation::kCombine);
        for (std::uint32_t d = nearest_of(step); d < end_of(step); ++d) {
            const Piece piece = piece_of(step, me_, after(d));
            if (piece.bytes > 0)
                write(place(me_, after(d), call, piece.bytes), piece.from, piece.bytes, call);
            if (same_for_all) break;
        }
        segment_.publish(taker, call);
    }

    void write(std::byte* slot, const std::byte* from, Bytes bytes, std::uint64_t call) {
        if (!pairs_) return tools_.into_slots(slot, from, bytes);
        pick_ = tools_.stores.choose(bytes);
        const std::uint64_t took = time_of(
            pick_.timed, [&] { copy(slot, from, bytes, pick_.store == Store::kNonTemporal); });
        if (pick_.timed) tools_.stores.wrote(pick_.store, bytes, took);
        // The taker learns how the piece was written, by a byte after the longest piece.
        segment_.slot_of(me_, call)[piece_] = static_cast<std::byte>(pick_.store);
    }

    // The second round of a combine: reduces this member's slice of all slots into slot 0.
    void reduce_slice(std::uint64_t step) {
        const std::uint64_t call = first_call_ + step;
        const Bytes length = piece_of(step, me_, me_).bytes;
        const Bytes unit = kElements * shape_.element;
        const Bytes slice = (length / n_ + unit) / unit * unit;
        const Bytes from = std::min(length, me_ * slice);
        const Bytes bytes = std::min(slice, length - from);
        for (std::uint32_t m = 0; m < n_ && bytes > 0; ++m) {
            segment_.await(m, call);
            std::byte* const sum = segment_.slot_of(0, call) + from;
            if (m > 0)
                reduce_to(run_.reduction, sum, sum, segment_.slot_of(m, call) + from, bytes,
                          nullptr);
        }
        segment_.publish_reduced(call);
    }

    void take(std::uint64_t step) {
        const std::uint64_t call = first_call_ + step;
        if (in_slices_) {
            for (std::uint32_t m = 0; m < n_; ++m) segment_.await_reduced(m, call);
            const Piece piece = piece_of(step, me_, me_);
            copy(piece.to, segment_.slot_of(0, call), piece.bytes, non_temporal_);
        } else {
            for (std::uint32_t d = nearest_of(step); d < end_of(step); ++d)
                take_from((me_ + n_ - d) % n_, step, call);
        }
        segment_.release(call);
    }

    void take_from(std::uint32_t giver, std::uint64_t step, std::uint64_t call) {
        const Piece piece = piece_of(step, giver, me_);
        if (piece.bytes == 0) return;
        segment_.await(giver, call);
        const std::byte* const slot = place(giver, me_, call, piece.bytes);
        const bool timed = pairs_ && pick_.timed;
        const std::uint64_t took = time_of(timed, [&] {
            if (is(Operation::kCombine)) {
                const std::byte* own = piece.from;
                reduce_to(run_.reduction, piece.to, me_ == 0 ? own : slot, me_ == 0 ? slot : own,
                          piece.bytes, nullptr);
            } else {
                copy(piece.to, slot, piece.bytes, non_temporal_);
            }
        });
        if (timed)
            tools_.stores.read(static_cast<Store>(segment_.slot_of(giver, call)[piece_]),
                               piece.bytes, took);
    }

    CallTools& tools_;
    GroupSegment& segment_;
    const Shape& shape_;
    const Run& run_;
    const std::byte* given_;
    std::span<const ExchangeBlock> blocks_;  // if not empty, an index of these
    bool non_temporal_;
    bool pairs_;
    bool in_slices_;      // a combine among all
    bool gives_ = false;  // this member writes to slots
    std::uint32_t n_;
    std::uint32_t me_;
    std::uint32_t nearest_ = 1;  // the distance of the nearest partner in step 0
    Bytes piece_;                // of a block: the maximum length in bytes
    std::uint64_t pieces_ = 0;   // of the longest block
    std::uint64_t steps_ = 0;
    std::uint64_t first_call_ = 0;                          // the number of the call of step 0
    NonTemporalTuner::Pick pick_{Store::kOrdinary, false};  // for the last piece given to a pair
};

}  // namespace

bool fits_staged(const Shape& shape, Partners partners) noexcept {
    if (partners == Partners::kAll) return shape.matrix.empty() && common_piece_of(shape) > 0;
    const bool adds =
        shape.operation == Operation::kCombine && shape.element > 0 && kLine % shape.element == 0;
    const bool two = shape.n == 2 && (adds || shape.operation == Operation::kConcat);
    return shape.is_regular() &&
           (two || shape.operation == Operation::kIndex || shape.operation == Operation::kShift);
}

void run_staged(Partners partners, CallTools& tools, GroupSegment& segment, const Shape& shape,
                const Run& run, bool non_temporal) {
    StagedCall(partners, tools, segment, shape, run, {}, non_temporal).run();
}

void run_staged_index(Partners partners, CallTools& tools, GroupSegment& segment, Bytes longest,
                      std::span<const ExchangeBlock> blocks, bool non_temporal) {
    Shape shape;
    shape.operation = Operation::kIndex;
    shape.n = static_cast<std::uint32_t>(blocks.size());
    shape.bytes = longest;
    const Run none;
    StagedCall(partners, tools, segment, shape, none, blocks, non_temporal).run();
}

}  // namespace poe::collectives
