// The exchange of lengths before an irregular index; see irregular_index.hpp.
#include "collectives/shm/irregular_index.hpp"

#include <algorithm>
#include <limits>

namespace poe::collectives {
namespace {

struct OwnLengths {
    Bytes longest = 0;
    Bytes sum = 0;
};
using Length = std::uint32_t;
constexpr Bytes kLongestLength = std::numeric_limits<Length>::max();

// Blocks begin at multiples of this number of bytes.
constexpr Bytes kBlockStep = 8;
// Longer blocks are moved in pairs, or in pieces that stay in the caches.
constexpr Bytes kMostCarried = Bytes{16} << 10;
// Longer blocks are copied into slots by the method that is cheaper at present.
constexpr Bytes kPlainCopy = 1024;
// Blocks are balanced if their mean length is at least this part of the longest.
constexpr Bytes kLeastShare = 4;

constexpr Bytes step_of(Bytes longest) {
    return (longest + kBlockStep - 1) / kBlockStep * kBlockStep;
}
// The bytes of a slot that the exchange of lengths uses.
constexpr Bytes room_in(const GroupSegment::Sizes& sizes, std::uint32_t members) {
    return sizes.spanned ? GroupSegment::common_piece(members) : sizes.room();
}
constexpr Bytes lengths_at(Bytes room, std::uint32_t members) {
    return room - sizeof(OwnLengths) - members * sizeof(Length);
}

// The parts of a member's slot.
class IndexSlot {
  public:
    IndexSlot(const GroupSegment& segment, Bytes room, std::uint32_t member, std::uint64_t call,
              std::uint32_t members)
        : slot_(segment.slot_of(member, call)), room_(room), members_(members) {}

    OwnLengths& own() const {
        return *reinterpret_cast<OwnLengths*>(slot_ + room_ - sizeof(OwnLengths));
    }
    Length& length_to(std::uint32_t member) const {
        return reinterpret_cast<Length*>(slot_ + lengths_at(room_, members_))[member];
    }
    std::byte* block_to(std::uint32_t member, Bytes longest) const {
        const Bytes end = lengths_at(room_, members_) / kBlockStep * kBlockStep;
        return slot_ + end - (members_ - member) * step_of(longest);
    }

  private:
    std::byte* slot_;
    Bytes room_;
    std::uint32_t members_;
};

}  // namespace

Bytes longest_carried(const GroupSegment::Sizes& sizes, std::uint32_t members) noexcept {
    const Bytes room = lengths_at(room_in(sizes, members), members);
    return std::min(kMostCarried, room / kBlockStep / members * kBlockStep);
}

bool are_balanced(const IndexLengths& lengths, std::uint32_t members) noexcept {
    const Bytes blocks = Bytes{members} * (members - 1);
    return lengths.longest < kLongestLength &&
           lengths.sum * kLeastShare >= lengths.longest * blocks;
}

[[gnu::hot]] IndexLengths exchange_lengths(CallTools& tools, GroupSegment& segment,
                                           std::span<ExchangeBlock> blocks) {
    const auto n = static_cast<std::uint32_t>(blocks.size());
    const std::uint32_t me = segment.me();
    const Bytes room = room_in(segment.sizes(), n);
    const Bytes carried = longest_carried(segment.sizes(), n);
    OwnLengths own;
    for (std::uint32_t m = 0; m < n; ++m) {
        if (m == me) continue;
        own.longest = std::max(own.longest, blocks[m].out_bytes);
        own.sum += blocks[m].out_bytes;
    }
    const std::uint64_t call = segment.acquire(GroupSegment::kAll);
    const IndexSlot mine(segment, room, me, call, n);
    mine.own() = own;
    for (std::uint32_t m = 0; m < n; ++m) {
        const ExchangeBlock& block = blocks[m];
        mine.length_to(m) = static_cast<Length>(std::min(block.out_bytes, kLongestLength));
        if (m == me || own.longest > carried) continue;
        if (block.out_bytes <= kPlainCopy) {
            put(mine.block_to(m, own.longest), block.out, block.out_bytes);
        } else {
            tools.into_slots(mine.block_to(m, own.longest), block.out, block.out_bytes);
        }
    }
    segment.publish(GroupSegment::kAll, call);

    IndexLengths all{own.longest, own.sum, false, {}};
    for (std::uint32_t m = 0; m < n; ++m) {
        if (m == me) continue;
        segment.await(m, call, tools.spins());
        const OwnLengths its = IndexSlot(segment, room, m, call, n).own();
        all.longest = std::max(all.longest, its.longest);
        all.sum += its.sum;
    }
    all.moved = all.longest <= carried;
    for (std::uint32_t m = 0; m < n; ++m) {
        const IndexSlot its(segment, room, m, call, n);
        ExchangeBlock& block = blocks[m];
        const Bytes came = m == me ? block.out_bytes : its.length_to(me);
        if (came > block.in_bytes && all.ok()) all.wrong = {m, came, block.in_bytes};
        block.in_bytes = std::min(came, block.in_bytes);
        if (m == me) block.out_bytes = block.in_bytes;
        if (!all.moved) continue;
        put(block.in, m == me ? block.out : its.block_to(me, its.own().longest), block.in_bytes);
    }
    segment.release(call);
    return all;
}

}  // namespace poe::collectives
