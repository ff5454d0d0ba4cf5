// Commons: shared memory of a group whose members are all on one node, for short data. No messages:
// a member puts what it gives into its slot and arrives; who arrives last works out what all get,
// in rank order, and publishes it; the others copy it out. A broadcast and a scatter have nothing
// to collect: the root publishes at once. With more tasks than cores this costs each member one
// turn on a core, where a tree of messages takes one per level.
//
// Calls are numbered; call e uses the e-th of kDepth sets of words and result, modulo kDepth.
//
//   member line   `done`: calls that this member is through with, `begun`: those in which all give
//   that
//                 it has arrived in; written by it alone
//   slot          written by its member before it arrives; read by the last to arrive, before it
//                 publishes. So a member may write it for call e when its last call that used it
//                 has been published.
//   arrived[e]    counts arrivals; who makes it n sets it back to 0, before it publishes
//   result[e]     written by the last to arrive (all have, so all are done with call e - kDepth),
//   or by
//                 the root of a broadcast when all members are done with call e - kDepth
//   published[e]  e + 1 once result[e] is complete, with release; read with acquire
//   roots         how many roots wait for members to be done: who is done with a call looks here
//                 whether it has to wake somebody
//
// A member that has arrived and gets nothing (of a gather or a reduce) goes on without waiting, up
// to its next call in which all give.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>

#include "comm/base/segment_layout.hpp"
#include "comm/base/types.hpp"

namespace poe::collectives {

class Commons {
  public:
    static constexpr std::uint32_t kDepth = 4;
    static constexpr Bytes kSlot = 2048;     // the most that a member gives
    static constexpr Bytes kResult = 32768;  // the most that all get

    // On memory of bytes_for(members), all zero when the first member comes. The memory must
    // outlive it.
    Commons(std::byte* memory, std::uint32_t members, std::uint32_t me) noexcept;
    static constexpr Bytes bytes_for(std::uint32_t members) noexcept {
        return kControl + members * (kLine + kSlot) + kDepth * kResult;
    }

    // What one member does in a call. Nothing of it is kept.
    class Part {
      public:
        virtual ~Part() = default;
        // Puts what it gives into its slot.
        virtual void give(std::byte* slot) = 0;
        // Works the result out: of the slots of all members, at the last to arrive; or, where one
        // gives all, at that one.
        virtual void collect(std::byte* result) = 0;
        // Takes what it gets.
        virtual void take(const std::byte* result) = 0;
        // Whether it gets anything, or has to wait all the same.
        virtual bool takes() const = 0;
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
        // Wakes the other members that sleep. After a fence.
        virtual void wake_others() noexcept = 0;
    };

    // A call in which all give. Blocking where it gets something.
    void all_give(Part& part, Host& host);
    // A call in which the root gives all.
    void one_gives(std::uint32_t root, Part& part, Host& host);

    const std::byte* slot(std::uint32_t member) const noexcept { return slots_ + member * kSlot; }

    // This member is through with the memory. True: it is the last of all, and the memory is zero
    // again.
    bool leave() noexcept;

  private:
    struct alignas(kLine) Line {
        std::atomic<std::uint64_t> word;
        std::atomic<std::uint64_t> begun;  // of members
    };
    static constexpr Bytes kControl = kPage;
    static_assert((2 + 2 * kDepth) * sizeof(Line) <= kControl);

    // `root`: who publishes, or kLast, the last to arrive.
    static constexpr std::uint32_t kLast = ~0u;
    void await_published(std::uint64_t call, std::uint32_t root, Host& host) const;
    std::uint32_t not_arrived(std::uint64_t call) const noexcept;
    void await_room(std::uint64_t call, Host& host);
    void publish(std::uint64_t call, Host& host) noexcept;
    void end(std::uint64_t call, Host& host) noexcept;
    std::uint32_t first_behind(std::uint64_t calls) const noexcept;
    std::byte* result(std::uint64_t call) const noexcept {
        return results_ + call % kDepth * kResult;
    }

    std::uint32_t members_;
    std::uint32_t me_;
    Line* left_;
    Line* roots_;
    Line* arrived_;
    Line* published_;
    Line* done_;
    std::byte* slots_;
    std::byte* results_;
    std::uint64_t call_ = 0;
    std::uint64_t slot_used_ = 0;  // 1 + the last call that used the own slot; 0: none has
    std::uint64_t all_done_ = 0;   // calls that all were done with when last looked
};
static_assert(Commons::bytes_for(1) <= kCommonBase + kCommonPerTask);
static_assert(kLine + Commons::kSlot <= kCommonPerTask);

}  // namespace poe::collectives
