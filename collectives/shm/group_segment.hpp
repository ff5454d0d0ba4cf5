// GroupSegment: shared memory of a group whose members are all on one node, for short data. No messages:
// a member puts what it gives into its slot and arrives; who arrives last works out what all get,
// in rank order, and publishes it; the others copy it out. A broadcast and a scatter have nothing
// to collect: the root publishes at once. With more tasks than cores this costs each member one
// turn on a core, where a tree of messages takes one per level.
//
// And nobody waits for more than it needs: who gives to a root and gets nothing goes on, and where
// each gets from one other member only it waits for that one. In an exchange members tell each
// other something, and wait for those that they choose, to have told and to be through.
//
// Calls are numbered; call e uses the e-th of `depth` sets of words, slots and result, modulo
// depth. So a member may be that many calls ahead of another; memory for short data is deep, since
// then one turn on a core is worth many calls.
//
//   member line   `done`: calls that this member is through with; `begun`: 1 + the last call in
//                 which what it writes to slots is complete, with release; `worked`: 1 + the last
//                 call in which its second round is; written by it alone
//   slot[e]       its last word: e + 1 once what it holds is complete, with release, in a call in
//                 which another member takes it; the rest written by its member; read by the last
//                 to arrive, before it publishes, or by those who take from it, before they are
//                 done. So a member may write it for call e when it is done with call e - depth
//                 itself, and so are who take from it there. (In a chain each may be depth calls
//                 ahead of the next.) In an exchange others may write to it too: before they tell,
//                 and in the second round after all have told, where members have agreed who writes
//                 what; all must be done with call e - depth then.
//   arrived[e]    counts arrivals; who makes it n sets it back to 0, before it publishes
//   result[e]     written by the last to arrive (all have, so all are done with call e - depth), or
//                 by the root of a broadcast when all members are done with call e - depth
//   published[e]  a word: e + 1 once result[e] is complete, with release; read with acquire; beside
//                 it room for a short result, so that one line is all that another core has to get
//   roots         how many members wait for others to be done: who is done with a call looks here
//                 whether it has to wake somebody
#pragma once

#include <atomic>
#include <cstdint>
#include <cstring>
#include <functional>
#include <vector>

#include "base/segment/segment_layout.hpp"
#include "base/types.hpp"

namespace poe::collectives {

// As memmove, also of nothing at no address; of a word or two without a call.
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
        std::uint32_t depth;      // a power of two
        Bytes slot;               // of a member; it gives a word less at most
        Bytes result;             // the most that all get, and
        Bytes result_per_member;  // as much more for each member
        Bytes published;          // a word, and room for a short result beside it

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
        // Slots of several calls to a line are one member's. Others lie together call by call, so
        // that a root can fill those of all at once.
        constexpr bool by_member() const noexcept { return slot < kLine; }
        // Of a member; a line more, so that those of several do not all fall into one cache set.
        constexpr Bytes slots() const noexcept { return depth * slot + (by_member() ? kLine : 0); }
        constexpr Bytes per_member() const noexcept {
            return kLine + slots() + depth * result_per_member;
        }
    };
    static constexpr Sizes kLong{16, 1024 + kLine, 16384, 0, kLine};
    // Of data that have room beside a word in a line.
    static constexpr Sizes short_of(std::uint32_t members) noexcept {
        return {short_depth(members), kLine, 0, kLine, kLine};
    }
    // Of a word of data that goes one way, or a few that one gives to all: members run ahead, so
    // that several calls to a line are fewer lines for another core to get.
    static constexpr Sizes packed_of(std::uint32_t members) noexcept {
        return {short_depth(members), 2 * sizeof(std::uint64_t), 0, 0, kLine / 2};
    }

    // On memory of bytes_for(members), all zero when the first member comes. The memory must
    // outlive it. All members say the same sizes.
    GroupSegment(std::byte* memory, std::uint32_t members, std::uint32_t me, const Sizes& sizes);
    static constexpr Bytes bytes_for(std::uint32_t members, const Sizes& sizes) noexcept {
        return sizes.base() + members * sizes.per_member();
    }

    // What one member does in a call in which all give. Nothing of it is kept.
    class Part {
      public:
        virtual ~Part() = default;
        // Puts what it gives into its slot.
        virtual void give(std::byte* slot) = 0;
        // Works the result out of the slots of all members, at the last to arrive.
        virtual void collect(std::byte* result) = 0;
        // How long that result is.
        virtual Bytes result_bytes() const = 0;
        // Takes what it gets.
        virtual void take(const std::byte* result) = 0;
    };
    // What a member needs of its task to wait and to wake.
    class Host {
      public:
        virtual ~Host() = default;
        // Blocks until something is true: wait_until of the message layer. `whom` is the member
        // that it is waited for.
        virtual void wait(const std::function<bool()>& over,
                          const std::function<std::uint32_t()>& whom) = 0;
        // Orders a store before it with a look whether others sleep, or say that they wait.
        virtual void fence() noexcept = 0;
        // Wakes the other members that sleep, or one of them. After a fence.
        virtual void wake_others() noexcept = 0;
        virtual void wake(std::uint32_t member) noexcept = 0;
    };

    // A call in which all give, and all get or wait all the same.
    void all_give(Part& part, Host& host);
    // A call in which a root gives all, in parts. The root waits until there is room, writes the
    // result and publishes it; the others wait for that, and take what they need of it. All are
    // through with it then.
    std::uint64_t enter_to_publish(Host& host);
    void publish(std::uint64_t call, Host& host) noexcept;
    std::uint64_t enter_published(std::uint32_t root, Host& host);
    // Where a result of so many bytes is.
    std::byte* result(std::uint64_t call, Bytes bytes) const noexcept;
    // An exchange is a call in parts, of which a member may have several under way, fewer than
    // depth. enter: waits until all slots of the next call are free, and gives its number; after
    // that its slots may be written as members have agreed. pass_by: the same for who writes none.
    static constexpr std::uint32_t kNobody = ~0u - 1;
    std::uint64_t enter(Host& host);
    std::uint64_t pass_by() noexcept;
    // What this member writes there is complete.
    void tell(std::uint64_t call, Host& host) noexcept { say(done_[me_].begun, call, host); }
    // Blocks until that member has told.
    void await_told(std::uint32_t member, std::uint64_t call, Host& host) const {
        await_word(done_[member].begun, member, call, host);
    }
    // What this member has made of what the others told is complete: a second round.
    void tell_worked(std::uint64_t call, Host& host) noexcept {
        say(done_[me_].worked, call, host);
    }
    void await_worked(std::uint32_t member, std::uint64_t call, Host& host) const {
        await_word(done_[member].worked, member, call, host);
    }
    // As enter, where each writes its own slot only, room() of it, and one other member at most, or
    // kNobody, takes what is in this one's: waits for that one alone, and tells it alone.
    std::uint64_t enter_for(std::uint32_t taker, Host& host);
    void tell_one(std::uint32_t taker, std::uint64_t call, Host& host) noexcept;
    // Looks so many times before it gives the core away.
    void await_one(std::uint32_t giver, std::uint64_t call, int looks, Host& host) const;
    // This member needs nothing more of that call; in the order of calls, and for each.
    void through(std::uint64_t call, Host& host) noexcept { end(call, host); }
    // Blocks until that member is through with it.
    void await_through(std::uint32_t member, std::uint64_t call, Host& host) const;
    std::byte* slot_of(std::uint32_t member, std::uint64_t call) const noexcept {
        return slots_ + set_of(call) * call_step_ + member * member_step_;
    }
    // Of a slot that one other member takes.
    Bytes room() const noexcept { return sizes_.room(); }
    // Of a result that stands where it is published.
    Bytes published_room() const noexcept { return sizes_.published_room(); }
    // The number of the next call.
    std::uint64_t next_call() const noexcept { return call_; }

    // Of the call that is made.
    const std::byte* slot(std::uint32_t member) const noexcept {
        return slot_of(member, call_ - 1);
    }

    // This member is through with the memory. True: it is the last of all, and must make the memory
    // zero again.
    bool leave() noexcept;

  private:
    // Which of the sets of words, slots and result a call uses. No division: that alone would cost
    // a tenth of a short call.
    std::uint64_t set_of(std::uint64_t call) const noexcept { return call & (sizes_.depth - 1); }
    struct alignas(kLine) Line {
        std::atomic<std::uint64_t> word;
        std::atomic<std::uint64_t> begun;   // of members
        std::atomic<std::uint64_t> worked;  // of members
    };
    // `root`: who publishes, or kLast, the last to arrive.
    static constexpr std::uint32_t kLast = ~0u;
    // Who takes from the own slot of one of the last `depth` calls, which is free again when that
    // member, or kAll, is through with it.
    static constexpr std::uint32_t kAll = ~0u - 2;
    std::uint32_t& taker(std::uint64_t call) noexcept { return takers_[set_of(call)]; }
    void await_slot(std::uint64_t call, Host& host);
    static void say(std::atomic<std::uint64_t>& word, std::uint64_t call, Host& host) noexcept;
    static void await_word(const std::atomic<std::uint64_t>& word, std::uint32_t whose,
                           std::uint64_t call, Host& host);
    void await_published(std::uint64_t call, std::uint32_t root, Host& host) const;
    std::uint32_t not_arrived(std::uint64_t call) const noexcept;
    void await_room(std::uint64_t call, Host& host);
    std::uint64_t calls_of(std::uint32_t member) noexcept;
    std::uint64_t calls_of_all() noexcept;
    void end(std::uint64_t call, Host& host) noexcept;
    std::uint32_t first_behind(std::uint64_t calls) const noexcept;
    // The short result is right behind it.
    std::atomic<std::uint64_t>& published(std::uint64_t call) const noexcept {
        return *reinterpret_cast<std::atomic<std::uint64_t>*>(published_ +
                                                              set_of(call) * sizes_.published);
    }
    // The word of a slot that another member takes.
    std::atomic<std::uint64_t>& told(std::uint32_t member, std::uint64_t call) const noexcept {
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
    Bytes call_step_;    // from a slot to that of the next call,
    Bytes member_step_;  // and of the next member
    std::byte* results_;
    std::uint64_t call_ = 0;
    std::vector<std::uint64_t> seen_done_;  // calls that each was done with when last looked
    std::uint64_t all_done_ = 0;            // the least of them
    std::vector<std::uint32_t> takers_;
};

}  // namespace poe::collectives
