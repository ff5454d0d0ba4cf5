// The shared-memory protocol between the members of a group; see group_segment.hpp.
#include "collectives/shm/group_segment.hpp"

#include <algorithm>
#include <bit>

#include "base/check.hpp"
#include "base/relax.hpp"

namespace poe::collectives {

GroupSegment::GroupSegment(std::byte* memory, std::uint32_t members, std::uint32_t me,
                           const Sizes& sizes)
    : sizes_(sizes),
      members_(members),
      me_(me),
      left_(reinterpret_cast<Line*>(memory)),
      roots_(left_ + 1),
      arrived_(roots_ + 1),
      published_(reinterpret_cast<std::byte*>(arrived_ + sizes.depth)),
      done_(reinterpret_cast<Line*>(published_ + sizes.depth * sizes.published)),
      slots_(reinterpret_cast<std::byte*>(done_ + members)),
      call_step_(sizes.by_member() ? sizes.slot : members * sizes.slot),
      member_step_(sizes.by_member() ? sizes.slots() : sizes.slot),
      results_(slots_ + members * sizes.slots()),
      seen_done_(members),
      takers_(sizes.depth, kNobody) {
    POE_CHECK(std::has_single_bit(sizes.depth), sizes.depth);
}

// Returns a member that has finished fewer than `calls` calls; members_ if there is none.
std::uint32_t GroupSegment::first_behind(std::uint64_t calls) const noexcept {
    for (std::uint32_t m = 0; m < members_; ++m) {
        if (m != me_ && done_[m].word.load(std::memory_order_acquire) < calls) return m;
    }
    return members_;
}

// Returns a member that has not arrived at this call; members_ if all have.
std::uint32_t GroupSegment::not_arrived(std::uint64_t call) const noexcept {
    for (std::uint32_t m = 0; m < members_; ++m) {
        if (done_[m].begun.load(std::memory_order_relaxed) <= call &&
            done_[m].word.load(std::memory_order_relaxed) <= call)
            return m;
    }
    return members_;
}

[[gnu::hot]] void GroupSegment::await_result_word(std::uint64_t call, std::uint32_t root,
                                                  Host& host) const {
    const std::atomic<std::uint64_t>& word = published(call);
    const auto over = [&word, call] { return word.load(std::memory_order_acquire) > call; };
    // std::function does not allocate for a capture of two words.
    if (!over()) {
        if (root == kLast) {
            host.wait(over, [this, call] { return not_arrived(call); });
        } else {
            host.wait(over, [root] { return root; });
        }
    }
}

// Returns the number of calls that a member has finished. Its line changes with every call, so it
// is read only when necessary.
std::uint64_t GroupSegment::calls_of(std::uint32_t member) noexcept {
    return seen_done_[member] = done_[member].word.load(std::memory_order_acquire);
}

std::uint64_t GroupSegment::calls_of_all() noexcept {
    all_done_ = call_;
    for (std::uint32_t m = 0; m < members_; ++m) {
        if (m != me_) all_done_ = std::min(all_done_, calls_of(m));
    }
    return all_done_;
}

// Blocks until all members have finished call - depth.
void GroupSegment::await_room(std::uint64_t call, Host& host) {
    if (call < all_done_ + sizes_.depth || call < calls_of_all() + sizes_.depth) return;
    const std::uint64_t needed = call - sizes_.depth + 1;
    roots_->word.fetch_add(1, std::memory_order_seq_cst);
    host.wait([this, needed] { return first_behind(needed) == members_; },
              [this, needed] { return first_behind(needed); });
    roots_->word.fetch_sub(1, std::memory_order_relaxed);
    calls_of_all();
}

// All members know from the shape where the result is.
std::byte* GroupSegment::result(std::uint64_t call, Bytes bytes) const noexcept {
    std::atomic<std::uint64_t>& word = published(call);
    if (bytes <= sizes_.published_room()) return reinterpret_cast<std::byte*>(&word + 1);
    return results_ + set_of(call) * sizes_.result_for(members_);
}

[[gnu::hot]] void GroupSegment::publish_result(std::uint64_t call, Host& host) noexcept {
    published(call).store(call + 1, std::memory_order_release);
    host.fence();
    host.wake_others();
}

[[gnu::hot]] void GroupSegment::end(std::uint64_t call, Host& host) noexcept {
    done_[me_].word.store(call + 1, std::memory_order_release);
    host.fence();
    if (roots_->word.load(std::memory_order_relaxed) != 0) [[unlikely]]
        host.wake_others();
}

// Blocks until the own slot is free: no member reads its content of call - depth any more.
[[gnu::hot]] void GroupSegment::await_slot(std::uint64_t call, Host& host) {
    if (call < sizes_.depth) return;
    const std::uint32_t last = taker(call);
    if (last == kAll) {
        await_room(call, host);
    } else if (last != kNobody && call >= seen_done_[last] + sizes_.depth &&
               call >= calls_of(last) + sizes_.depth) {
        await_released(last, call - sizes_.depth, host);
    }
}

void GroupSegment::store_and_wake(std::atomic<std::uint64_t>& word, std::uint64_t call,
                                  Host& host) noexcept {
    word.store(call + 1, std::memory_order_release);
    host.fence();
    host.wake_others();
}

void GroupSegment::await_word(const std::atomic<std::uint64_t>& word, std::uint32_t whose,
                              std::uint64_t call, Host& host) {
    const auto over = [&word, call] { return word.load(std::memory_order_acquire) > call; };
    if (!over()) host.wait(over, [whose] { return whose; });
}

[[gnu::hot]] bool GroupSegment::arrive(std::uint64_t call) noexcept {
    done_[me_].begun.store(call + 1, std::memory_order_release);
    std::atomic<std::uint64_t>& arrived = arrived_[set_of(call)].word;
    if (arrived.fetch_add(1, std::memory_order_acq_rel) + 1 < members_) return false;
    arrived.store(0, std::memory_order_relaxed);
    all_done_ = std::max(all_done_, call);
    return true;
}

[[gnu::hot]] void GroupSegment::await_last(std::uint64_t call, Host& host) {
    await_result_word(call, kLast, host);
    // All have arrived, so all have finished the call before.
    all_done_ = std::max(all_done_, call);
}

void GroupSegment::publish_to(std::uint32_t taker, std::uint64_t call, Host& host) noexcept {
    if (taker == kNobody) return;
    contributed(me_, call).store(call + 1, std::memory_order_release);
    host.fence();
    host.wake(taker);
}

void GroupSegment::await_from(std::uint32_t giver, std::uint64_t call, int spins,
                              Host& host) const {
    const std::atomic<std::uint64_t>& word = contributed(giver, call);
    for (int i = 0; i < spins && word.load(std::memory_order_relaxed) <= call; ++i) comm::relax();
    await_word(word, giver, call, host);
}

std::uint64_t GroupSegment::acquire_result(Host& host) {
    await_room(call_, host);
    taker(call_) = kNobody;
    return call_++;
}

std::uint64_t GroupSegment::await_result(std::uint32_t root, Host& host) {
    await_result_word(call_, root, host);
    taker(call_) = kNobody;
    return call_++;
}

// In an exchange, others may write to the own slot, and this member to theirs.
std::uint64_t GroupSegment::acquire(Host& host) {
    await_room(call_, host);
    return skip();
}

std::uint64_t GroupSegment::skip() noexcept {
    taker(call_) = kAll;
    return call_++;
}

std::uint64_t GroupSegment::acquire_for(std::uint32_t whom, Host& host) {
    await_slot(call_, host);
    taker(call_) = whom;
    return call_++;
}

void GroupSegment::await_released(std::uint32_t member, std::uint64_t call, Host& host) const {
    const std::atomic<std::uint64_t>& done = done_[member].word;
    if (done.load(std::memory_order_acquire) > call) return;
    roots_->word.fetch_add(1, std::memory_order_seq_cst);
    await_word(done, member, call, host);
    roots_->word.fetch_sub(1, std::memory_order_relaxed);
}

bool GroupSegment::leave() noexcept {
    return left_->word.fetch_add(1, std::memory_order_acq_rel) + 1 == members_;
}

}  // namespace poe::collectives
