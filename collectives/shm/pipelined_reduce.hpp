// A reduction or a prefix in the shared memory of a group (group_segment.hpp), handed on from slot to
// slot: a member adds its own to the sums in the slots of others, and puts the new sum into its own
// slot, for the next. So each byte is read, added and written once; nothing is copied before it is
// added but by who begins. A prefix goes along a chain through all ranks. A reduction goes along a
// binomial tree on either side of the root, or a few bytes straight to the root, so that a single
// one does not have to come round all members. Sums are in rank order.
//
// A member waits only for those whose sums it adds to: with many tasks to a core each does what
// there is room for in its turn, several calls or pieces of a long one. Functions of the user's are
// told of whole vectors only, so longer ones are not for it. Apart from CopyInOut, in which
// members put data into slots for others to take, and of which more than a few pieces under way
// would not stay in a core's cache.
#pragma once

#include "collectives/call/call.hpp"
#include "collectives/shm/group_segment.hpp"
#include "comm/shm/ring_copy.hpp"

namespace poe::collectives {

class PipelinedReduce {
  public:
    // Whether such a call can be made in pieces; in one, any of reduce and prefix can. Depends on
    // the shape only, so all members agree.
    static bool fits(const Shape& shape) noexcept;
    // The memory that the members of a group of this size need for long data.
    static constexpr GroupSegment::Sizes sizes(std::uint32_t members) noexcept {
        return {kStages, stage_bytes(members), 0, 0, kLine};
    }

    // What a member needs of its task, beside the memory. All must outlive the call.
    struct Tools {
        comm::RingCopy& into_slots;  // knows what copies into slots cost in calls before
        std::byte* scratch;          // as long as a slot, for functions of the user's
        bool oversubscribed;         // members have to share cores; the same at all
    };
    PipelinedReduce(const Shape& shape, const Run& run, GroupSegment& commons, const Tools& tools,
                    GroupSegment::Host& host, std::uint32_t me);
    // Makes it. Blocking.
    void run();

  private:
    static constexpr std::uint32_t kNobody = GroupSegment::kNobody;
    // All that a member may have: a few members, or each power of two on either side of the root.
    class Givers {
      public:
        void push_back(std::uint32_t member) noexcept { members_[many_++] = member; }
        bool empty() const noexcept { return many_ == 0; }
        const std::uint32_t* begin() const noexcept { return members_; }
        const std::uint32_t* end() const noexcept { return members_ + many_; }

      private:
        std::uint32_t members_[64];
        std::uint32_t many_ = 0;
    };
    void add(const std::byte* own, std::uint64_t call, std::byte* sum, Bytes bytes);

    const Shape& shape_;
    const Run& run_;
    GroupSegment& commons_;
    const Tools& tools_;
    GroupSegment::Host& host_;
    std::uint32_t me_;
    Bytes piece_;  // of the vector, at most
    // Whose sums this member adds its own to, the nearest first, and who adds to its sum.
    Givers givers_;
    std::uint32_t taker_ = kNobody;
};

}  // namespace poe::collectives
