// Long collective calls, piece by piece; see copy_in_out.hpp.
#include "collectives/shm/copy_in_out.hpp"

#include <algorithm>
#include <cstring>

namespace poe::collectives {
namespace {

// The maximum piece of a broadcast, in bytes: its root fills the slots of all members at once.
constexpr Bytes kMostOfRoot = Bytes{64} << 10;
// The part of an index block in one piece is a multiple of this, in bytes.
constexpr Bytes kLeastOfBlock = 64;
// Each slice of a reduction begins at a multiple of this number of elements.
constexpr Bytes kElements = 64;

// Returns the maximum number of bytes of a block or vector in one piece; 0: not supported.
Bytes room_for(const Shape& shape) {
    const Bytes slot = GroupSegment::common_piece(shape.n);
    switch (shape.operation) {
        case Operation::kBcast:
            return std::min(kMostOfRoot, slot * shape.n);
        case Operation::kIndex:
            return slot / shape.n / kLeastOfBlock * kLeastOfBlock;
        case Operation::kCombine:
            return shape.element > 0 ? slot - slot % shape.element : 0;
        case Operation::kSync:
        case Operation::kReduce:
        case Operation::kPrefix:
        case Operation::kShift:
            return 0;
        default:
            return slot;
    }
}

}  // namespace

bool CopyInOut::fits(const Shape& shape) noexcept {
    return shape.matrix.empty() && room_for(shape) > 0;
}

CopyInOut::CopyInOut(const Shape& shape, const Run& run, GroupSegment& segment,
                     const SlotCopy& copy, GroupSegment::Host& host, std::uint32_t me)
    : shape_(shape),
      run_(run),
      segment_(segment),
      copy_(copy),
      host_(host),
      me_(me),
      combines_(shape.operation == Operation::kCombine),
      piece_(room_for(shape)) {}

// In operations with blocks of unequal length, the piece is a part of the block of `rank`.
CopyInOut::Piece CopyInOut::piece_of(std::uint32_t rank, std::uint64_t number) const noexcept {
    const Bytes length = shape_.length(rank);
    const Bytes from = std::min(length, number * piece_);
    return {from, std::min(piece_, length - from)};
}

std::uint64_t CopyInOut::pieces() const noexcept {
    Bytes longest = shape_.bytes;
    if (!shape_.offsets.empty()) {
        longest = 0;
        for (std::uint32_t r = 0; r < shape_.n; ++r) longest = std::max(longest, shape_.length(r));
    }
    return (longest + piece_ - 1) / piece_;
}

void CopyInOut::run() {
    keep_own();
    const std::uint64_t many = pieces();
    first_call_ = segment_.next_call();
    const std::uint64_t lag = combines_ ? 2 : 1;
    for (std::uint64_t step = 0; step < many + lag; ++step) {
        if (step < many) fill(step);
        if (combines_ && step >= 1 && step - 1 < many) work(step - 1);
        if (step >= lag) drain(step - lag);
    }
}

// Copies what this member contributes to its own result.
void CopyInOut::keep_own() const {
    const Bytes at = shape_.offset(me_);
    const Bytes length = shape_.length(me_);
    switch (shape_.operation) {
        case Operation::kScatter:
            if (is_root()) copy_.out(run_.result, run_.given + at, length);
            break;
        case Operation::kGather:
            if (is_root()) copy_.out(run_.result + at, run_.given, length);
            break;
        case Operation::kConcat:
            copy_.out(run_.result + at, run_.given, length);
            break;
        case Operation::kIndex:
            copy_.out(run_.result + at, run_.given + at, length);
            break;
        default:
            break;
    }
}

// True if this member writes to slots.
bool CopyInOut::gives() const noexcept {
    switch (shape_.operation) {
        case Operation::kBcast:
        case Operation::kScatter:
            return is_root();
        case Operation::kGather:
            return !is_root();
        default:
            return true;
    }
}

// Divides the piece of a broadcast among the slots of as many members as it needs.
template <typename Visit>
void CopyInOut::each_slot(const Piece& piece, std::uint64_t call, Visit&& visit) const {
    const Bytes slot = GroupSegment::common_piece(shape_.n);
    for (Bytes at = 0; at < piece.length; at += slot)
        visit(segment_.slot_of(static_cast<std::uint32_t>(at / slot), call), piece.from + at,
              std::min(slot, piece.length - at));
}

void CopyInOut::fill(std::uint64_t number) {
    if (!gives()) {
        segment_.skip();
        return;
    }
    const std::uint64_t call = segment_.acquire(host_);
    std::byte* own = segment_.slot_of(me_, call);
    const Piece piece = piece_of(me_, number);
    switch (shape_.operation) {
        case Operation::kBcast:
            each_slot(piece, call, [&](std::byte* slot, Bytes from, Bytes length) {
                copy_.in(slot, run_.result + from, length);
            });
            break;
        case Operation::kScatter:
            for (std::uint32_t m = 0; m < shape_.n; ++m) {
                const Piece its = piece_of(m, number);
                if (m != me_)
                    copy_.in(segment_.slot_of(m, call), run_.given + shape_.offset(m) + its.from,
                             its.length);
            }
            break;
        case Operation::kIndex:
            for (std::uint32_t m = 0; m < shape_.n; ++m)
                if (m != me_)
                    copy_.in(own + m * piece_, run_.given + shape_.offset(m) + piece.from,
                             piece.length);
            break;
        default:
            copy_.in(own, run_.given + piece.from, piece.length);
    }
    segment_.publish(call, host_);
}

// The second round of a combine: reduces this member's slice of all slots into slot 0.
void CopyInOut::work(std::uint64_t number) {
    const std::uint64_t call = first_call_ + number;
    const Bytes length = piece_of(me_, number).length;
    const Bytes unit = kElements * shape_.element;
    const Bytes slice = (length / shape_.n + unit) / unit * unit;
    const Bytes from = std::min(length, me_ * slice);
    const Bytes bytes = std::min(slice, length - from);
    for (std::uint32_t m = 0; m < shape_.n && bytes > 0; ++m) {
        segment_.await_published(m, call, host_);
        std::byte* sum = segment_.slot_of(0, call) + from;
        if (m > 0)
            reduce_into(run_.reduction, sum, segment_.slot_of(m, call) + from, bytes, true,
                        nullptr);
    }
    segment_.publish_reduced(call, host_);
}

void CopyInOut::drain(std::uint64_t number) {
    const std::uint64_t call = first_call_ + number;
    take(number, call);
    segment_.release(call, host_);
}

void CopyInOut::take(std::uint64_t number, std::uint64_t call) {
    const Piece piece = piece_of(me_, number);
    const auto root = static_cast<std::uint32_t>(shape_.root);
    switch (shape_.operation) {
        case Operation::kBcast:
            if (is_root()) return;
            segment_.await_published(root, call, host_);
            each_slot(piece, call, [&](std::byte* slot, Bytes from, Bytes length) {
                copy_.out(run_.result + from, slot, length);
            });
            return;
        case Operation::kScatter:
            if (is_root()) return;
            segment_.await_published(root, call, host_);
            copy_.out(run_.result + piece.from, segment_.slot_of(me_, call), piece.length);
            return;
        case Operation::kGather:
            if (is_root()) take_all(number, call);
            return;
        case Operation::kConcat:
        case Operation::kIndex:
            take_all(number, call);
            return;
        default:
            for (std::uint32_t m = 0; m < shape_.n; ++m) segment_.await_reduced(m, call, host_);
            copy_.out(run_.result + piece.from, segment_.slot_of(0, call), piece.length);
    }
}

// Copies the pieces of all other members. Each member begins with a different one.
void CopyInOut::take_all(std::uint64_t number, std::uint64_t call) {
    const Bytes column = shape_.operation == Operation::kIndex ? me_ * piece_ : 0;
    for (std::uint32_t i = 1; i < shape_.n; ++i) {
        const std::uint32_t m = (me_ + i) % shape_.n;
        const Piece its = piece_of(m, number);
        segment_.await_published(m, call, host_);
        copy_.out(run_.result + shape_.offset(m) + its.from, segment_.slot_of(m, call) + column,
                  its.length);
    }
}

}  // namespace poe::collectives
