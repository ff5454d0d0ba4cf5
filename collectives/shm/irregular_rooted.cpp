// Irregular gathers and scatters in shared memory; see irregular_rooted.hpp.
#include "collectives/shm/irregular_rooted.hpp"

#include <algorithm>

namespace poe::collectives {
namespace {

constexpr auto kNobody = GroupSegment::kNobody;

constexpr Bytes longest_in(const GroupSegment::Sizes& sizes) {
    return sizes.room() - sizeof(Bytes);
}
// The longest block that goes with its length. The sizes of slots for short data do not depend on
// the number of members.
constexpr Bytes kLongestWithLength = longest_in(GroupSegment::short_of(2));
static_assert(kLongestWithLength % sizeof(Bytes) == 0);
static_assert(kLongestRootedBlock == longest_in(GroupSegment::kLong));
static_assert(kLongestRootedBlock % sizeof(Bytes) == 0);

bool is_in_longer(Bytes bytes) {
    return bytes > kLongestWithLength && bytes <= kLongestRootedBlock;
}

// The place of a block that ends `end` bytes after the beginning of its slot, or before that.
std::byte* block_in(std::byte* slot, Bytes end, Bytes bytes) {
    constexpr Bytes kUnit = sizeof(Bytes);
    return slot + end - (bytes + kUnit - 1) / kUnit * kUnit;
}

// The slots of one member in one call.
class Slots {
  public:
    Slots(const RootedSegments& segments, std::uint32_t member, std::uint64_t short_call,
          std::uint64_t long_call)
        : shorter_(segments.shorter.slot_of(member, short_call)),
          longer_(segments.longer.slot_of(member, long_call)) {}

    Bytes length() const { return *reinterpret_cast<Bytes*>(shorter_ + kLongestWithLength); }
    void write(RootedBlock& block) const {
        *reinterpret_cast<Bytes*>(shorter_ + kLongestWithLength) = block.bytes;
        block.follows = block.bytes > kLongestRootedBlock ? block.bytes : 0;
        if (block.follows == 0) put(place(block.bytes), block.memory, block.bytes);
    }
    void read(std::uint32_t giver, RootedBlock& block, WrongBlock& wrong) const {
        const Bytes came = length();
        block.follows = came > kLongestRootedBlock ? came : 0;
        if (block.follows > 0) return;
        if (came > block.bytes && wrong.ok()) wrong = {giver, came, block.bytes};
        block.bytes = std::min(came, block.bytes);
        put(block.memory, place(came), block.bytes);
    }

  private:
    std::byte* place(Bytes bytes) const {
        return is_in_longer(bytes) ? block_in(longer_, kLongestRootedBlock, bytes)
                                   : block_in(shorter_, kLongestWithLength, bytes);
    }

    std::byte* shorter_;
    std::byte* longer_;
};

}  // namespace

// Members that write nothing also call acquire(). It waits until the taker of what the own slot had
// in an earlier call has finished that call, and the segment then forgets this taker.

[[gnu::hot]] WrongBlock gather_blocks(CallTools& tools, const RootedSegments& segments,
                                      std::uint32_t root, std::span<RootedBlock> blocks) {
    auto& [shorter, longer] = segments;
    WrongBlock wrong;
    const std::uint32_t me = shorter.me();
    const std::uint32_t taker = me == root ? kNobody : root;
    const std::uint32_t long_taker = is_in_longer(blocks.front().bytes) ? taker : kNobody;
    const std::uint64_t short_call = shorter.acquire(taker);
    const std::uint64_t long_call = longer.acquire(long_taker);
    if (me != root) Slots(segments, me, short_call, long_call).write(blocks.front());
    longer.publish(long_taker, long_call);
    shorter.publish(taker, short_call);
    for (std::uint32_t m = 0; m < blocks.size() && me == root; ++m) {
        if (m == me) continue;
        const Slots its(segments, m, short_call, long_call);
        shorter.await(m, short_call, tools.spins());
        if (is_in_longer(its.length())) longer.await(m, long_call);
        its.read(m, blocks[m], wrong);
    }
    longer.release(long_call);
    shorter.release(short_call);
    return wrong;
}

[[gnu::hot]] WrongBlock scatter_blocks(CallTools& tools, const RootedSegments& segments,
                                       std::uint32_t root, std::span<RootedBlock> blocks) {
    auto& [shorter, longer] = segments;
    WrongBlock wrong;
    const std::uint32_t me = shorter.me();
    bool gives_longer = false;
    for (std::uint32_t m = 0; m < blocks.size() && me == root; ++m)
        gives_longer = gives_longer || (m != me && is_in_longer(blocks[m].bytes));
    const std::uint64_t short_call =
        me == root ? shorter.acquire_all(kNobody) : shorter.acquire(kNobody);
    const std::uint64_t long_call =
        gives_longer ? longer.acquire_all(kNobody) : longer.acquire(kNobody);
    if (me == root) {
        for (std::uint32_t m = 0; m < blocks.size(); ++m) {
            if (m != me) Slots(segments, m, short_call, long_call).write(blocks[m]);
        }
        if (gives_longer) longer.publish_slots(long_call);
        shorter.publish_slots(short_call);
    } else {
        const Slots own(segments, me, short_call, long_call);
        shorter.await_own_slot(root, short_call, tools.spins());
        if (is_in_longer(own.length())) longer.await_own_slot(root, long_call, 0);
        own.read(root, blocks.front(), wrong);
    }
    longer.release(long_call);
    shorter.release(short_call);
    return wrong;
}

}  // namespace poe::collectives
