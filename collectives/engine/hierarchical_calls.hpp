// HierarchicalCalls: blocking calls, in two levels, on a group that is on several nodes. They execute the steps of
// a two-level algorithm (level_steps.hpp) as calls on groups: one among the first members of the nodes, preceded and
// followed by calls within each node, which use shared memory (shm_group.hpp). They are used if the two-level
// schedule of messages is chosen and does the same, and for a broadcast that goes by multicast among the leaders.
//
// A call in shared memory costs each member one turn on a core, whereas messages
// cost one turn per level of their tree. Hierarchical calls are therefore for operations in which
// all members wait for all others (sync, combine, concat), and for long broadcasts, whose bytes are
// copied less often. Nonblocking calls, the other operations, and calls with a named algorithm use the schedule.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "collectives/engine/collective_context.hpp"
#include "collectives/engine/plan.hpp"
#include "collectives/selection/level_steps.hpp"

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
    // The steps of calls of one shape. Those that were not used for the longest time are given up.
    struct Kept {
        Shape shape;
        LevelSteps all;
        std::uint64_t used = 0;  // when: the number of the call
    };
    static constexpr std::size_t kMostKept = 16;

    const LevelSteps& steps_for(const Shape& shape);
    bool among_leaders_by_multicast(const Shape& shape) const;
    // True if a broadcast of this length counts on multicast among the leaders, of which nobody knows yet
    // whether it works.
    bool counts_on_multicast(const Shape& shape);
    // These return null, or the plan that failed.
    Plan* make_groups();
    Plan* execute(const LevelSteps& all, const CollectiveCall& call);
    Plan* make(const LevelStep& step, std::byte* given, std::byte* result);
    // A call from or to the leader of the own node.
    Plan* call_within(Operation operation, Bytes bytes, std::byte* given, std::byte* result);
    Plan* order_within(Operation operation);
    Plan* learn_of_multicast();

    CollectiveContext& library_;
    Group& group_;
    std::vector<std::uint32_t> nodes_;  // of each rank
    NodeLayout layout_;
    std::vector<Kept> kept_;
    std::uint64_t calls_ = 0;
    std::optional<Group> within_;   // of the own node, from the first call on
    std::optional<Group> leaders_;  // by node; at other members: all that do not lead
    // Broadcasts so far that counted on multicast among the leaders, and what the leaders have found.
    std::uint32_t multicasts_ = 0;
    bool multicast_decided_ = false;
    bool multicast_refused_ = false;
    // The last length for which counts_on_multicast() has asked, and the answer.
    Bytes asked_bytes_ = 0;
    bool asked_counts_ = false;
    std::vector<std::byte> scratch_;  // of the steps
    CollectiveCall inner_;            // kept for its memory
};

}  // namespace poe::collectives
