// GroupSegment: shared-memory collectives for short data, for a group whose members are all on one
// node.
//
// A collective call has three steps and sends no messages:
//   1. Each member writes its contribution to its own slot and increments the arrival counter.
//   2. The last member to arrive combines the slots in rank order and publishes the result.
//   3. Every other member copies the published result.
// A broadcast or scatter skips step 1: the root publishes at once. With more tasks than cores, each
// member needs the processor once per call; a tree of messages would need it once per level.
//
// A member waits only for what it needs. A member that contributes to a root and gets no result
// does not wait. If each member gets data from one other member only, it waits for that member
// only. In an exchange, members publish data to each other; each member chooses whose data it waits
// for, and whose end of the call.
//
// Calls are numbered. Call e uses set (e mod depth) of counters, slots and result, so a member may
// run up to `depth` calls ahead of another. `depth` is large for short data, because one turn on a
// core is then worth many calls.
//
//   word           written by         meaning
//   member.word    that member        1 + the last call that this member has finished (release)
//   member.begun   that member        1 + the last call in which its writes to slots are complete
//                                     (release)
//   member.worked  that member        1 + the last call in which its second round is complete
//                                     (release)
//   slot[e]        that member; in    the contribution to call e; read by the last member to
//                  an exchange, also  arrive, before it publishes, or by the members that
//                  others             consume it, before they have finished
//   slot[e],       that member        e + 1 once the slot is complete (release), in a call in
//   last word                         which one other member consumes the slot
//   arrived[e]     all members        arrivals; the n-th member resets it to 0 before publishing
//   result[e]      the publisher      the result, if it has no room next to published[e]
//   published[e]   the publisher      e + 1 once result[e] is complete (release; readers acquire).
//                                     A short result follows the word, so that another core
//                                     transfers one line only
//   roots          waiting members    the number of members that wait for others to finish; if it
//                                     is not 0, a member that finishes a call wakes the others
//
// Reuse rules:
//   - A member may write slot[e] when it has finished call e - depth itself and every member that
//     consumes the slot has finished that call too. Along a chain, each member may therefore be
//     `depth` calls ahead of the next.
//   - In an exchange, all members must have finished call e - depth before slot[e] is written.
//     Other members may then write to the slot as agreed: before they publish, and in the second
//     round after all members have published.
//   - The last member to arrive may write result[e], because all members have arrived at call e and
//     have therefore finished call e - depth. The root of a broadcast waits for that.
#pragma once

#include <atomic>
#include <cstdint>
#include <cstring>
#include <functional>
#include <vector>

#include "base/segment/segment_layout.hpp"
#include "base/types.hpp"

namespace poe::collectives {

// Like memmove, but also accepts null with 0 bytes. Copies 8 to 16 bytes without a call.
inline void put(std::byte* to, const std::byte* from, Bytes bytes) noexcept {
    constexpr Bytes kWord = sizeof(std::uint64_t);
    if (bytes >= kWord && bytes <= 2 * kWord) {
        std::uint64_t first = 0;
        std::uint64_t last = 0;
        // NOLINTNEXTLINE(clang-analyzer-core.NonNullParamChecker): bytes are at an address.
        std::memcpy(&first, from, kWord);
        std::memcpy(&last, from + bytes - kWord, kWord);
        std::memcpy(to, &first, kWord);
        std::memcpy(to + bytes - kWord, &last, kWord);
    } else if (bytes > 0) {
        // NOLINTNEXTLINE(clang-analyzer-core.NonNullParamChecker): bytes are at an address.
        std::memmove(to, from, bytes);
    }
}

class GroupSegment {
  public:
    struct Sizes {
        std::uint32_t depth;      // calls; a power of two
        Bytes slot;               // bytes per member; one word less is usable
        Bytes result;             // maximum bytes of a result: this, and
        Bytes result_per_member;  // this much more for each member
        Bytes published;          // bytes: a word, and room for a short result

        constexpr Bytes room() const noexcept { return slot - sizeof(std::uint64_t); }
        constexpr Bytes published_room() const noexcept {
            return published - sizeof(std::uint64_t);
        }
        constexpr Bytes result_for(std::uint32_t members) const noexcept {
            return result + members * result_per_member;
        }
        constexpr Bytes control() const noexcept {
            return (2 + Bytes{depth}) * kLine + depth * published;
        }
        constexpr Bytes base() const noexcept { return control() + depth * result; }
        // If several slots fit into a cache line, a member's slots of successive calls are
        // adjacent. Otherwise the slots of all members of one call are adjacent, so that a root can
        // fill them all with one copy.
        constexpr bool by_member() const noexcept { return slot < kLine; }
        // The bytes of all slots of a member. One more line, so that the slots of several members
        // do not all map to one cache set.
        constexpr Bytes slots() const noexcept { return depth * slot + (by_member() ? kLine : 0); }
        constexpr Bytes per_member() const noexcept {
            return kLine + slots() + depth * result_per_member;
        }
    };
    static constexpr Sizes kLong{16, 1024 + kLine, 16384, 0, kLine};
    // For data that fit into a cache line together with a word.
    static constexpr Sizes short_of(std::uint32_t members) noexcept {
        return {short_depth(members), kLine, 0, kLine, kLine};
    }
    // For one word of data in one direction, or a few words from a root to all members. In such
    // calls members run ahead, and with several calls in a line other cores transfer fewer lines.
    static constexpr Sizes packed_of(std::uint32_t members) noexcept {
        return {short_depth(members), 2 * sizeof(std::uint64_t), 0, 0, kLine / 2};
    }
    // For data of any length, piece by piece.
    static constexpr Sizes staged_of(std::uint32_t members) noexcept {
        return {kStages, stage_bytes(members) + kLine, 0, 0, kLine};
    }
    // The longest piece of calls in which data are in the slots of all members at once: half of a slot, so that
    // all of them stay in caches.
    static constexpr Bytes common_piece(std::uint32_t members) noexcept {
        return stage_bytes(members) / 2 / kLine * kLine;
    }

    // Uses memory of bytes_for(members, sizes) bytes, which is all zero when the first member is
    // constructed. The memory must outlive this object. All members pass the same sizes. Each
    // object belongs to one member and to one thread at a time.
    GroupSegment(std::byte* memory, std::uint32_t members, std::uint32_t me, const Sizes& sizes);
    static constexpr Bytes bytes_for(std::uint32_t members, const Sizes& sizes) noexcept {
        return sizes.base() + members * sizes.per_member();
    }

    // The services of a member's task, to wait and to wake. The object must outlive each call.
    class Host {
      public:
        virtual ~Host() = default;
        // Blocks until over() returns true (MessageLayer::wait_until). whom() returns the member
        // being waited for, for diagnostics.
        virtual void wait(const std::function<bool()>& over,
                          const std::function<std::uint32_t()>& whom) = 0;
        // Orders an earlier store before a later load that checks whether others sleep or wait.
        virtual void fence() noexcept = 0;
        // Wakes all other members that sleep, or one member. Call it after fence().
        virtual void wake_others() noexcept = 0;
        virtual void wake(std::uint32_t member) noexcept = 0;
    };

    // A call in which all members contribute, and each waits until the last one has arrived, in steps:
    //   1. Every member calls acquire_for(kNobody) and writes its contribution to its slot.
    //   2. It calls arrive(), which does not block. This returns true at the last member to arrive, which computes the
    //      result from the slots of all members, writes result() and calls publish_result().
    //   3. Every other member calls await_last(), which blocks until that.
    //   4. Every member copies what it needs from the result and calls release().
    bool arrive(std::uint64_t call) noexcept;
    void await_last(std::uint64_t call, Host& host);
    // A call in which a root publishes a result for all, in steps:
    //   1. The root calls acquire_result(), which blocks until result[call] may be written and
    //      returns the call's number.
    //   2. The root writes result() and calls publish_result(), which does not block.
    //   3. Every other member calls await_result(), which blocks until that, and copies what it
    //      needs.
    //   4. Every member calls release().
    std::uint64_t acquire_result(Host& host);
    void publish_result(std::uint64_t call, Host& host) noexcept;
    std::uint64_t await_result(std::uint32_t root, Host& host);
    // The place of a result of this length.
    std::byte* result(std::uint64_t call, Bytes bytes) const noexcept;
    // An exchange is a call in parts. A member may have several under way, but fewer than `depth`.
    // acquire() blocks until all slots of the next call are free, and returns the call's number; its
    // slots may then be written as the members have agreed. skip() is for a member that writes
    // to no slot, and does not block.
    static constexpr std::uint32_t kNobody = ~0u - 1;
    std::uint64_t acquire(Host& host);
    std::uint64_t skip() noexcept;
    // Publishes that what this member writes to slots in this call is complete. Does not block.
    void publish(std::uint64_t call, Host& host) noexcept {
        store_and_wake(done_[me_].begun, call, host);
    }
    // Blocks until that member has called publish() for this call.
    void await_published(std::uint32_t member, std::uint64_t call, Host& host) const {
        await_word(done_[member].begun, member, call, host);
    }
    // The second round: publishes that what this member has computed from the others' data is
    // complete.
    void publish_reduced(std::uint64_t call, Host& host) noexcept {
        store_and_wake(done_[me_].worked, call, host);
    }
    void await_reduced(std::uint32_t member, std::uint64_t call, Host& host) const {
        await_word(done_[member].worked, member, call, host);
    }
    // Like acquire(), but each member writes only its own slot, at most room() bytes, and at most one
    // other member, `taker` (or kNobody), consumes it. Blocks only until the last consumer of the
    // slot has finished with it. publish_to() publishes the slot to `taker` only.
    std::uint64_t acquire_for(std::uint32_t taker, Host& host);
    void publish_to(std::uint32_t taker, std::uint64_t call, Host& host) noexcept;
    // Blocks until `giver` has published its slot. Polls `spins` times before the member gives up
    // the core.
    void await_from(std::uint32_t giver, std::uint64_t call, int spins, Host& host) const;
    // This member needs nothing more of the call. Must be called once for each call, in the order
    // of calls. Does not block.
    void release(std::uint64_t call, Host& host) noexcept { end(call, host); }
    // Blocks until that member has called release() for this call.
    void await_released(std::uint32_t member, std::uint64_t call, Host& host) const;
    std::byte* slot_of(std::uint32_t member, std::uint64_t call) const noexcept {
        return slots_ + set_of(call) * call_step_ + member * member_step_;
    }
    // The usable bytes of a slot that one other member consumes.
    Bytes room() const noexcept { return sizes_.room(); }
    // The maximum length of a result that is stored next to published[e].
    Bytes published_room() const noexcept { return sizes_.published_room(); }
    // Returns the number of the next call.
    std::uint64_t next_call() const noexcept { return call_; }

    // Leaves the segment. Returns true at the last member to leave, which must set the memory to
    // zero.
    bool leave() noexcept;

  private:
    // The index of the set of words, slots and result that a call uses. It avoids a division, which
    // would cost a tenth of a short call.
    std::uint64_t set_of(std::uint64_t call) const noexcept { return call & (sizes_.depth - 1); }
    struct alignas(kLine) Line {
        std::atomic<std::uint64_t> word;
        std::atomic<std::uint64_t> begun;   // members only
        std::atomic<std::uint64_t> worked;  // members only
    };
    // A value for the `root` of await_result_word(): the last member to arrive publishes.
    static constexpr std::uint32_t kLast = ~0u;
    // takers_ has the consumer of the own slot for each of the last `depth` calls: a member,
    // kNobody, or kAll. The slot is free when its consumer, or all members for kAll, have finished
    // that call.
    static constexpr std::uint32_t kAll = ~0u - 2;
    std::uint32_t& taker(std::uint64_t call) noexcept { return takers_[set_of(call)]; }
    void await_slot(std::uint64_t call, Host& host);
    static void store_and_wake(std::atomic<std::uint64_t>& word, std::uint64_t call,
                               Host& host) noexcept;
    static void await_word(const std::atomic<std::uint64_t>& word, std::uint32_t whose,
                           std::uint64_t call, Host& host);
    void await_result_word(std::uint64_t call, std::uint32_t root, Host& host) const;
    std::uint32_t not_arrived(std::uint64_t call) const noexcept;
    void await_room(std::uint64_t call, Host& host);
    std::uint64_t calls_of(std::uint32_t member) noexcept;
    std::uint64_t calls_of_all() noexcept;
    void end(std::uint64_t call, Host& host) noexcept;
    std::uint32_t first_behind(std::uint64_t calls) const noexcept;
    // The word; a short result follows it immediately.
    std::atomic<std::uint64_t>& published(std::uint64_t call) const noexcept {
        return *reinterpret_cast<std::atomic<std::uint64_t>*>(published_ +
                                                              set_of(call) * sizes_.published);
    }
    // The last word of a slot, used if one other member consumes the slot.
    std::atomic<std::uint64_t>& contributed(std::uint32_t member,
                                            std::uint64_t call) const noexcept {
        return *reinterpret_cast<std::atomic<std::uint64_t>*>(slot_of(member, call) +
                                                              sizes_.room());
    }

    Sizes sizes_;
    std::uint32_t members_;
    std::uint32_t me_;
    Line* left_;
    Line* roots_;
    Line* arrived_;
    std::byte* published_;
    Line* done_;
    std::byte* slots_;
    Bytes call_step_;    // bytes from a slot to that of the next call,
    Bytes member_step_;  // and to that of the next member
    std::byte* results_;
    std::uint64_t call_ = 0;
    std::vector<std::uint64_t> seen_done_;  // calls finished by each member, as last read
    std::uint64_t all_done_ = 0;            // their minimum
    std::vector<std::uint32_t> takers_;
};

}  // namespace poe::collectives
