// The shared-memory protocol between the members of a group; see group_segment.hpp.
#include "collectives/shm/group_segment.hpp"

#include <algorithm>
#include <bit>

#include "base/check.hpp"

namespace poe::collectives {

GroupSegment::GroupSegment(std::byte* memory, std::uint32_t members, std::uint32_t me,
                           const Sizes& sizes, Host& host)
    : sizes_(sizes),
      members_(members),
      me_(me),
      takers_(sizes.depth, kNobody),
      roots_(reinterpret_cast<Line*>(memory) + 1),
      arrived_(roots_ + 1),
      published_(reinterpret_cast<std::byte*>(arrived_ + sizes.depth)),
      done_(reinterpret_cast<Line*>(published_ + sizes.depth * sizes.published)),
      host_(host),
      slots_(reinterpret_cast<std::byte*>(done_ + members)),
      call_step_(sizes.by_member() ? sizes.slot : members * sizes.slot),
      member_step_(sizes.by_member() ? sizes.slots() : sizes.slot),
      results_(slots_ + members * sizes.slots()),
      seen_done_(members),
      left_(reinterpret_cast<Line*>(memory)) {
    POE_CHECK(std::has_single_bit(sizes.depth), sizes.depth);
}

[[gnu::hot]] void GroupSegment::wait_for(const Word& word, std::uint32_t whose,
                                         std::uint64_t call) const {
    host_.wait(word, call, {*this, whose, call});
}

std::uint32_t GroupSegment::not_arrived(std::uint64_t call) const noexcept {
    for (std::uint32_t m = 0; m < members_; ++m) {
        if (done_[m].begun.load(std::memory_order_relaxed) <= call &&
            done_[m].word.load(std::memory_order_relaxed) <= call)
            return m;
    }
    return members_;
}

// Blocks until `member` has finished call `call` - depth. Returns the number of calls that it has
// finished. The member writes its line in every call, so the line is read only when necessary.
std::uint64_t GroupSegment::await_free(std::uint32_t member, std::uint64_t call) {
    const Word& done = done_[member].word;
    const std::uint64_t last = call - sizes_.depth;
    for (int i = host_.polls_for_room(); i > 0 && done.load(std::memory_order_relaxed) <= last; --i)
        relax();
    await_released(member, last);
    return seen_done_[member] = done.load(std::memory_order_acquire);
}

// Blocks until the own slot is free: no member reads what it contained in call `call` - depth any
// more.
[[gnu::hot]] void GroupSegment::await_slot(std::uint64_t call) {
    const std::uint32_t last = takers_[set_of(call)];
    if (last == kAll) {
        await_room(call);
    } else if (last != kNobody && call >= seen_done_[last] + sizes_.depth) {
        await_free(last, call);
    }
}

bool GroupSegment::has_room(std::uint64_t call) noexcept {
    if (call < all_done_ + sizes_.depth) return true;
    std::uint64_t all = call;
    for (std::uint32_t m = 0; m < members_; ++m)
        all = std::min(all, done_[m].word.load(std::memory_order_acquire));
    all_done_ = all;
    return call < all_done_ + sizes_.depth;
}

std::uint32_t GroupSegment::keeps_room(std::uint64_t call) const noexcept {
    for (std::uint32_t m = 0; m < members_; ++m) {
        if (m != me_ && call >= done_[m].word.load(std::memory_order_acquire) + sizes_.depth)
            return m;
    }
    return members_;
}

// Blocks until all members have finished call `call` - depth.
void GroupSegment::await_room(std::uint64_t call) {
    if (call < all_done_ + sizes_.depth) return;
    std::uint64_t all = call;
    for (std::uint32_t m = 0; m < members_; ++m) {
        if (m != me_) all = std::min(all, await_free(m, call));
    }
    all_done_ = all;
}

void GroupSegment::await_released(std::uint32_t member, std::uint64_t call) {
    const Word& done = done_[member].word;
    if (done.load(std::memory_order_acquire) > call) return;
    begin_waiting();
    await_word(done, member, call);
    end_waiting();
}

[[gnu::hot]] void GroupSegment::publish_slots(std::uint64_t call) noexcept {
    for (std::uint32_t m = 0; m < members_; ++m) {
        if (m != me_) contributed(m, call).store(call + 1, std::memory_order_release);
    }
    host_.fence();
    host_.wake(kAll);
}

std::byte* GroupSegment::result(std::uint64_t call, Bytes bytes) const noexcept {
    if (bytes <= sizes_.published_room()) return reinterpret_cast<std::byte*>(&published(call) + 1);
    return results_ + set_of(call) * sizes_.result;
}

}  // namespace poe::collectives
