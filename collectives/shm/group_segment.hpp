// GroupSegment: the protocol of collective calls in shared memory, for a group whose members are
// all on one node. With more tasks than cores, each member needs the processor once per call; a
// tree of messages would need it once per level. A call moves data in one of these ways:
//   slots         Members write slots, mostly their own, and publish what they have written, to
//                 one member or to all. Each member waits only for the slots that it needs. In a
//                 second round, members may publish what they have computed from the slots.
//   last arrival  Every member writes its own slot and arrives. The last member to arrive computes
//                 the result from all slots and publishes it; the others wait for that.
//   root          The root publishes a result; the others wait for that.
//
// Calls are numbered. Call e uses set (e mod depth) of counters, slots and result, so a member may
// run up to `depth` calls ahead of another. `depth` is large for short data, because one turn on a
// core is then worth many calls.
//
//   word           written by         meaning
//   member.word    that member        1 + the last call that this member has finished (release)
//   member.begun   that member        1 + the last call in which it has arrived, or, if slots have
//                                     no word, in which its writes to slots are complete (release)
//   member.worked  that member        1 + the last call in which its second round is complete
//                                     (release)
//   slot[e]        that member, or    data of call e
//                  others as agreed
//   slot[e],       that member, or    e + 1 once its writes to slots are complete (release). Another
//   last word      a root that has    core thus gets the word and short data in one line
//                  written the slot
//   arrived[e]     all members        arrivals; the n-th member resets it to 0 before publishing
//   result[e]      the publisher      the result, if it has no room next to published[e]
//   published[e]   the publisher      e + 1 once result[e] is complete (release; readers acquire).
//                                     A short result follows the word, for the same reason
//   roots          waiting members    the number of members that wait for others to finish; if it
//                                     is not 0, a member that finishes a call wakes the others
//
// Reuse rules:
//   - A member may write its own slot[e] when it has finished call e - depth itself and every
//     member that takes the slot has finished that call too. Along a chain, each member may
//     therefore be `depth` calls ahead of the next.
//   - A member may write to slots of others, as agreed, when all members have finished call
//     e - depth: before it publishes, and in the second round after all members have published.
//   - The last member to arrive may write result[e], because all members have arrived at call e and
//     have therefore finished call e - depth. A root waits for that.
#pragma once

#include <atomic>
#include <cstdint>
#include <cstring>
#include <vector>

#include "base/copy_block.hpp"
#include "base/relax.hpp"
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
        copy_block(to, from, bytes);
    }
}

class alignas(kLine) GroupSegment {
  public:
    struct Sizes {
        std::uint32_t depth;  // calls; a power of two
        Bytes slot;           // bytes per member; one word less is usable
        Bytes result;         // maximum bytes of a result
        Bytes published;      // bytes: a word, and room for a short result
        bool spanned;         // data may span the slots of several members, so these have no word

        constexpr Bytes room() const noexcept { return slot - sizeof(std::uint64_t); }
        constexpr Bytes published_room() const noexcept {
            return published - sizeof(std::uint64_t);
        }
        // If several slots fit into a cache line, a member's slots of successive calls are
        // adjacent. Otherwise the slots of all members of one call are.
        constexpr bool by_member() const noexcept { return slot < kLine; }
        // The bytes of all slots of a member. One more line, so that the slots of several members
        // do not all map to one cache set.
        constexpr Bytes slots() const noexcept { return depth * slot + (by_member() ? kLine : 0); }
        // The bytes of a segment.
        constexpr Bytes bytes_for(std::uint32_t members) const noexcept {
            return (2 + Bytes{depth}) * kLine + depth * (published + result) +
                   members * (kLine + slots());
        }
    };
    static constexpr Sizes kLong{16, 1024 + kLine, 16384, kLine, false};
    // For data that fit into a cache line together with a word.
    static constexpr Sizes short_of(std::uint32_t members) noexcept {
        return {short_depth(members), kLine, members * kLine, kLine, false};
    }
    // For one word of data in one direction, or a few words from a root to all members. In such
    // calls members run ahead; if several calls share a cache line, fewer lines move between cores.
    static constexpr Sizes packed_of(std::uint32_t members) noexcept {
        return {short_depth(members), 2 * sizeof(std::uint64_t), 0, kLine / 2, false};
    }
    // For calls that do not block (started_calls.hpp): as packed_of(), short_of() and kLong, with
    // fewer calls.
    static constexpr Sizes kStartedPacked{64, 2 * sizeof(std::uint64_t), 0, kLine / 2, false};
    static constexpr Sizes started_short_of(std::uint32_t members) noexcept {
        return {64, kLine, members * kLine, kLine, false};
    }
    static constexpr Sizes kStartedLong{16, 1024 + kLine, 4096, kLine, false};
    // For data of any length, piece by piece.
    static constexpr Sizes staged_of(std::uint32_t members) noexcept {
        return {kStages, stage_bytes(members) + kLine, 0, kLine, true};
    }
    // The maximum piece, in bytes, of calls that use the slots of all members at the same time:
    // half of a slot, so that all pieces stay in caches.
    static constexpr Bytes common_piece(std::uint32_t members) noexcept {
        return stage_bytes(members) / 2 / kLine * kLine;
    }

    // In place of a member number: no member; all members.
    static constexpr std::uint32_t kNobody = ~0u - 1;
    static constexpr std::uint32_t kAll = ~0u;

    // The member that a wait is for, for diagnostics.
    class AwaitedMember {
      public:
        AwaitedMember(const GroupSegment& segment, std::uint32_t member,
                      std::uint64_t call) noexcept
            : segment_(segment), member_(member), call_(call) {}
        // Returns the member, or for kAll one that has not arrived at the call; the number of
        // members if there is none.
        std::uint32_t find() const noexcept {
            return member_ == kAll ? segment_.not_arrived(call_) : member_;
        }

      private:
        const GroupSegment& segment_;
        std::uint32_t member_;
        std::uint64_t call_;
    };

    // What a member's task provides to the segment: waiting and waking.
    class Host {
      public:
        virtual ~Host() = default;
        // Blocks until `word` is greater than `call` (MessageLayer::wait_until).
        virtual void wait(const std::atomic<std::uint64_t>& word, std::uint64_t call,
                          const AwaitedMember& whom) = 0;
        // Orders an earlier store before a later load that checks whether others sleep or wait.
        virtual void fence() noexcept = 0;
        // Wakes a member if it sleeps, or all others (kAll). Call it after fence().
        virtual void wake(std::uint32_t member) noexcept = 0;
        // How often a member that is `depth` calls ahead polls until another one has finished a
        // call, before it calls wait().
        virtual int polls_for_room() const noexcept { return 0; }
    };

    // Uses memory of sizes.bytes_for(members) bytes, which is all zero when the first member is
    // constructed. The memory and `host` must outlive this object. All members pass the same sizes.
    // Each object belongs to one member and to one thread at a time.
    GroupSegment(std::byte* memory, std::uint32_t members, std::uint32_t me, const Sizes& sizes,
                 Host& host);

    // A call begins with one of these three, which return its number, and ends with release(). A
    // member may have several calls under way, but fewer than `depth`. `taker`: the member that
    // reads the own slot. begin() does not block; it is for a member that writes nothing, which
    // passes kAll, or kNobody if it then waits for the result of a root, which has waited for all
    // members, or of the last member to arrive.
    std::uint64_t begin(std::uint32_t taker) noexcept {
        takers_[set_of(call_)] = taker;
        return call_++;
    }
    // For a member that writes its own slot only. Blocks until that slot is free.
    std::uint64_t acquire(std::uint32_t taker) {
        if (call_ >= all_done_ + sizes_.depth) await_slot(call_);
        return begin(taker);
    }
    // For a member that writes to slots of others, or a result as the root. Blocks until all are
    // free.
    std::uint64_t acquire_all(std::uint32_t taker) {
        await_room(call_);
        return begin(taker);
    }
    // Ends the call for this member, which reads none of its data any more. Must be called once for
    // each call, in the order of calls. Does not block.
    void release(std::uint64_t call) noexcept {
        done_[me_].word.store(call + 1, std::memory_order_release);
        host_.fence();
        if (roots_->word.load(std::memory_order_relaxed) != 0) [[unlikely]]
            host_.wake(kAll);
    }
    // For calls that do not block (started_calls.hpp).
    // The number of the call that begins next.
    std::uint64_t next_call() const noexcept { return call_; }
    // True if all members have finished call `call` - depth.
    bool has_room(std::uint64_t call) noexcept;
    // Returns another member that has not; the number of members if all others have.
    std::uint32_t keeps_room(std::uint64_t call) const noexcept;
    // True if that member has published its writes to its slot, or if the result is published.
    bool has_published(std::uint32_t member, std::uint64_t call) const noexcept {
        return contributed(member, call).load(std::memory_order_acquire) > call;
    }
    bool has_result(std::uint64_t call) const noexcept {
        return published(call).load(std::memory_order_acquire) > call;
    }
    // From the first of these to the second, each member that finishes a call wakes the others.
    void begin_waiting() noexcept { roots_->word.fetch_add(1, std::memory_order_seq_cst); }
    void end_waiting() noexcept { roots_->word.fetch_sub(1, std::memory_order_relaxed); }
    // Returns a member that has not arrived at this call; the number of members if all have.
    std::uint32_t not_arrived(std::uint64_t call) const noexcept;

    // Blocks until that member has called release() for this call.
    void await_released(std::uint32_t member, std::uint64_t call);

    std::byte* slot_of(std::uint32_t member, std::uint64_t call) const noexcept {
        return slots_ + set_of(call) * call_step_ + member * member_step_;
    }
    // Publishes to one member or to all that this member's writes to slots in this call are
    // complete. Does not block.
    void publish(std::uint32_t taker, std::uint64_t call) noexcept {
        if (taker != kNobody) announce(contributed(me_, call), call, taker);
    }
    // Blocks until that member has published. Polls `spins` times before it gives up the core.
    void await(std::uint32_t giver, std::uint64_t call, int spins = 0) const {
        await_polling(contributed(giver, call), giver, call, spins);
    }
    // For a root that has written to the slots of all others after acquire_all(). Publishes each
    // slot to its member. Not for slots without a word. Does not block.
    void publish_slots(std::uint64_t call) noexcept;
    // Blocks until the root has published this member's slot in this way. Polls first, like
    // await().
    void await_own_slot(std::uint32_t root, std::uint64_t call, int spins) const {
        await_polling(contributed(me_, call), root, call, spins);
    }
    // The second round.
    void publish_reduced(std::uint64_t call) noexcept { announce(done_[me_].worked, call, kAll); }
    void await_reduced(std::uint32_t member, std::uint64_t call) const {
        await_word(done_[member].worked, member, call);
    }

    // Call it when the own slot is complete. Does not block. Returns true at the last member to
    // arrive, which computes and publishes the result.
    bool arrive(std::uint64_t call) noexcept {
        done_[me_].begun.store(call + 1, std::memory_order_release);
        Word& arrived = arrived_[set_of(call)].word;
        if (arrived.fetch_add(1, std::memory_order_acq_rel) + 1 < members_) return false;
        arrived.store(0, std::memory_order_relaxed);
        return true;
    }
    // The place of a result of this length. All members know from the shape where it is.
    std::byte* result(std::uint64_t call, Bytes bytes) const noexcept;
    void publish_result(std::uint64_t call) noexcept { announce(published(call), call, kAll); }
    // Blocks until the result is published. `publisher`: the root, or kAll: the last to arrive.
    void await_result(std::uint64_t call, std::uint32_t publisher) const {
        await_word(published(call), publisher, call);
    }

    std::uint32_t me() const noexcept { return me_; }
    const Sizes& sizes() const noexcept { return sizes_; }

    // Leaves the segment. Returns true at the last member to leave, which must set the memory to
    // zero.
    bool leave() noexcept {
        return left_->word.fetch_add(1, std::memory_order_acq_rel) + 1 == members_;
    }

  private:
    using Word = std::atomic<std::uint64_t>;
    struct alignas(kLine) Line {
        Word word;
        Word begun;   // members only
        Word worked;  // members only
    };
    // The index of the set that a call uses. A division would cost a tenth of a short call.
    std::uint64_t set_of(std::uint64_t call) const noexcept { return call & (sizes_.depth - 1); }
    // The word of a result; a short result follows it immediately.
    Word& published(std::uint64_t call) const noexcept {
        return *reinterpret_cast<Word*>(published_ + set_of(call) * sizes_.published);
    }
    Word& contributed(std::uint32_t member, std::uint64_t call) const noexcept {
        return sizes_.spanned ? done_[member].begun
                              : *reinterpret_cast<Word*>(slot_of(member, call) + sizes_.room());
    }
    void announce(Word& word, std::uint64_t call, std::uint32_t to) noexcept {
        word.store(call + 1, std::memory_order_release);
        host_.fence();
        host_.wake(to);
    }
    void await_word(const Word& word, std::uint32_t whose, std::uint64_t call) const {
        if (word.load(std::memory_order_acquire) <= call) wait_for(word, whose, call);
    }
    void await_polling(const Word& word, std::uint32_t whose, std::uint64_t call, int spins) const {
        for (; spins > 0 && word.load(std::memory_order_relaxed) <= call; --spins) relax();
        await_word(word, whose, call);
    }
    void wait_for(const Word& word, std::uint32_t whose, std::uint64_t call) const;
    std::uint64_t await_free(std::uint32_t member, std::uint64_t call);
    void await_slot(std::uint64_t call);
    void await_room(std::uint64_t call);

    // In the order of use: a sync by arrival reads the first two cache lines.
    Sizes sizes_;
    std::uint32_t members_;
    std::uint32_t me_;
    std::uint64_t call_ = 0;
    std::vector<std::uint32_t> takers_;  // of the own slot, in each of the last `depth` calls
    Line* roots_;
    Line* arrived_;
    std::byte* published_;
    Line* done_;
    Host& host_;
    std::byte* slots_;
    Bytes call_step_;             // bytes from a slot to that of the next call,
    Bytes member_step_;           // and to that of the next member
    std::uint64_t all_done_ = 0;  // calls finished by all members, when all were last read
    std::byte* results_;
    std::vector<std::uint64_t> seen_done_;  // calls finished by each member, as last read
    Line* left_;
};

}  // namespace poe::collectives
