// PipelinedReduce: a reduction or a prefix in the shared memory of a group (group_segment.hpp), in
// which sums pass from slot to slot. A member combines its own contribution with the sums in the
// slots of other members and writes the new sum to its own slot, for the next member. Each byte is
// thus read, combined and written once; only the first members copy data before they are combined.
// Sums are in rank order.
//
//   - A prefix goes along a chain of all ranks.
//   - A reduction goes along a binomial tree on either side of the root, so that a single one does
//     not have to pass through all members. If it has few bytes, all members give to the root
//     directly.
//
// A member waits only for the members whose sums it uses. If several tasks share a core, each
// therefore does as much in its turn as there is room for: several calls, or several pieces of a
// long one. A user's function must get whole vectors, so vectors longer than a slot are supported
// for predefined functions only. It is separate from CopyInOut, in which members copy data into
// slots for others, and of which no more than a few pieces under way stay in a core's cache.
#pragma once

#include "collectives/call/call.hpp"
#include "collectives/shm/group_segment.hpp"
#include "comm/shm/ring_copy.hpp"

namespace poe::collectives {

class PipelinedReduce {
  public:
    // True if the call can be made in several pieces. In one piece, every reduce and prefix can be
    // made. Depends on the shape only, so all members decide alike.
    static bool fits(const Shape& shape) noexcept;

    // The resources of a member, apart from the segment. All must outlive the call.
    struct Tools {
        comm::RingCopy& into_slots;  // remembers the cost of earlier copies into slots
        std::byte* scratch;          // as long as a slot, for users' functions
        bool oversubscribed;         // members share cores; the same at all members
    };
    PipelinedReduce(const Shape& shape, const Run& run, GroupSegment& segment, const Tools& tools,
                    GroupSegment::Host& host, std::uint32_t me);
    // Makes the call; blocks.
    void run();

  private:
    static constexpr std::uint32_t kNobody = GroupSegment::kNobody;
    // The members that give to one: up to kMostOfOne members, or one for each power of two on
    // either side of the root.
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
    GroupSegment& segment_;
    const Tools& tools_;
    GroupSegment::Host& host_;
    std::uint32_t me_;
    Bytes piece_;  // of the vector: the maximum length in bytes
    // The members whose sums this member uses, the nearest first, and the member that uses its sum.
    Givers givers_;
    std::uint32_t taker_ = kNobody;
};

}  // namespace poe::collectives
