// HierarchicalCalls: blocking calls, in two levels, on a group that is on several nodes. A call
// among the first members of the nodes is preceded and followed by calls within each node, which
// use shared memory (shm_group.hpp). They are used if the two-level schedule is chosen and do
// the same, and for a broadcast that goes by multicast among the leaders. However, a call in shared memory costs each member one turn on a core, whereas messages
// cost one turn per level of their tree. Hierarchical calls are therefore for operations in which
// all members wait for all others (sync, combine, concat), and for long broadcasts, whose bytes are
// copied less often. They are separate from schedules, because a schedule consists of messages
// only. Nonblocking calls, the other operations, and calls with a named algorithm use the schedule.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "collectives/engine/collective_context.hpp"
#include "collectives/engine/plan.hpp"

namespace poe::collectives {

class HierarchicalCalls final : public GroupOwned {
  public:
    // For a group whose members are on these nodes (Shape::nodes), of which there are at least two.
    // The context and the group must outlive this object.
    HierarchicalCalls(CollectiveContext& library, Group& group, std::vector<std::uint32_t> nodes);

    // True if such calls can be made here on some groups.
    static bool supports(const Shape& shape) noexcept;
    // True if it is expected to be the fastest for this group. Precondition: supports(shape).
    // Depends on the shape, and on whether the leaders' multicast was refused, which all members learn in
    // the same call. So all members decide alike.
    bool fits(const Shape& shape) const;
    // Makes a call; blocks. Returns null, or the plan that failed. The first call makes the groups.
    // Throws Error if there are no numbers left for groups.
    Plan* run(const CollectiveCall& call);

  private:
    bool among_leaders_by_multicast(const Shape& shape) const;
    // True if a broadcast of this length counts on multicast among the leaders, of which nobody knows yet
    // whether it works.
    bool counts_on_multicast(const Shape& shape);
    Plan* make_groups();
    bool leads() const noexcept { return within_->me == 0; }
    // Each returns null, or the plan that failed.
    Plan* sync(const CollectiveCall& call);
    Plan* broadcast(const CollectiveCall& call);
    Plan* broadcast_data(const CollectiveCall& call);
    Plan* learn_of_multicast();
    Plan* combine(const CollectiveCall& call);
    Plan* concatenate(const CollectiveCall& call);
    // Parts of these. inner_ describes the call, except the number of ranks and the buffers.
    void begin(Operation operation, Bytes bytes, Rank root);
    Plan* make(Group& group, const std::byte* given, std::byte* result);
    Plan* broadcast_within(Rank root, Bytes bytes, std::byte* result);
    // Gathers into sum_ of the leader.
    Plan* gather_within(Bytes bytes, const std::byte* given);

    CollectiveContext& library_;
    Group& group_;
    std::vector<std::uint32_t> nodes_;   // of each rank
    std::vector<Rank> first_;            // of each node
    std::vector<std::uint32_t> member_;  // of each rank: its number within its node
    bool in_order_ = true;               // the ranks of each node follow those of the previous node
    std::optional<Group> within_;        // of the own node, from the first call on
    std::optional<Group> leaders_;       // by node; at other members: all that do not lead
    // Broadcasts so far that counted on multicast among the leaders, and what the leaders have found.
    std::uint32_t multicasts_ = 0;
    bool multicast_decided_ = false;
    bool multicast_refused_ = false;
    Bytes asked_bytes_ =
        0;  // the last length for which counts_on_multicast() has asked, and the answer
    bool asked_counts_ = false;
    std::vector<std::byte> sum_;  // of the node, or its blocks
    CollectiveCall inner_;        // kept for its memory
};

}  // namespace poe::collectives
