// Reductions along a chain; see chained_call.hpp.
#include "collectives/chained_call.hpp"

#include <algorithm>
#include <cstring>

namespace poe::collectives {
namespace {

// About the time of a turn of another task on this core: who runs ahead and gives its core away at
// every call gets one call done in a turn.
constexpr int kLooks = 32;
constexpr Bytes kLeastPiece = 4096;

// Where each member has a core the last one has to wait for a piece from all others, so short
// pieces keep all of them at work sooner; else longer ones cost fewer turns.
Bytes piece_of(const Shape& shape, Bytes room, bool crowded) {
    if (shape.bytes <= room) room = std::max(shape.bytes, Bytes{1});
    if (shape.element == 0) return room;
    Bytes piece = room;
    if (!crowded) piece = std::clamp(shape.bytes / shape.n, std::min(kLeastPiece, room), room);
    // Pieces of a long vector begin with a line, as it does, wherever elements allow that.
    const Bytes unit = piece >= kLine && kLine % shape.element == 0 ? kLine : shape.element;
    return piece == shape.bytes ? piece : piece / unit * unit;
}

}  // namespace

bool ChainedCall::fits(const Shape& shape) noexcept {
    const bool chained =
        shape.operation == Operation::kReduce || shape.operation == Operation::kPrefix;
    return chained && shape.element > 0;
}

ChainedCall::ChainedCall(const Shape& shape, const Run& run, Commons& commons, const Tools& tools,
                         Commons::Host& host, std::uint32_t me)
    : shape_(shape),
      run_(run),
      commons_(commons),
      tools_(tools),
      host_(host),
      me_(me),
      piece_(piece_of(shape, commons.room(), tools.crowded)) {
    const std::uint32_t last = shape.n - 1;
    const std::uint32_t end =
        shape.operation == Operation::kReduce ? static_cast<std::uint32_t>(shape.root) : last;
    if (me <= end && me > 0) lower_ = me - 1;
    if (me >= end && me < last) higher_ = me + 1;
    if (me < end) taker_ = me + 1;
    if (me > end) taker_ = me - 1;
}

void ChainedCall::run() {
    const bool prefix = shape_.operation == Operation::kPrefix;
    Bytes from = 0;
    do {
        const Bytes bytes = std::min(piece_, shape_.bytes - from);
        const std::uint64_t call = commons_.enter_for(taker_, host_);
        const bool ends = taker_ == kNobody;
        std::byte* result = run_.result + from;
        std::byte* slot = commons_.slot_of(me_, call);
        std::byte* sum = ends || prefix ? result : slot;
        add(run_.given + from, call, sum, bytes);
        // Not out of the slot, which may be on its way to another core then.
        if (prefix && !ends && bytes > 0) tools_.into_slots(slot, result, bytes);
        commons_.tell_one(taker_, call, host_);
        commons_.through(call, host_);
        from += bytes;
    } while (from < shape_.bytes);
}

// Adds the own up to the sums of those before it.
void ChainedCall::add(const std::byte* own, std::uint64_t call, std::byte* sum, Bytes bytes) {
    if (lower_ == kNobody && higher_ == kNobody) {
        if (bytes == 0) return;
        if (shape_.operation == Operation::kReduce) {
            tools_.into_slots(sum, own, bytes);
        } else {
            std::memmove(sum, own, bytes);
        }
        return;
    }
    if (lower_ != kNobody) {
        commons_.await_one(lower_, call, kLooks, host_);
        reduce_to(run_.reduction, sum, commons_.slot_of(lower_, call), own, bytes, tools_.scratch);
        own = sum;
    }
    if (higher_ != kNobody) {
        commons_.await_one(higher_, call, kLooks, host_);
        reduce_to(run_.reduction, sum, own, commons_.slot_of(higher_, call), bytes, tools_.scratch);
    }
}

}  // namespace poe::collectives
