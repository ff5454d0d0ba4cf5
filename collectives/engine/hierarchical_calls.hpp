// HierarchicalCalls: blocking calls, in two levels, on a group that is on several nodes. They
// execute the steps of a two-level algorithm (level_steps.hpp) as calls on groups: one among the
// first members of the nodes, preceded and followed by calls within each node, which use shared
// memory (shm_group.hpp). They replace a two-level schedule of messages, which has the same steps,
// where that is chosen. A broadcast that goes by multicast among the leaders is made by them, too.
//
// A call in shared memory costs each member one turn on a core, whereas messages cost one turn per
// level of their tree. Hierarchical calls are therefore for operations in which all members wait
// for all others (sync, combine, concat), and for long broadcasts, whose bytes are copied less
// often. Nonblocking calls, the other operations, and calls with a named algorithm use the
// schedule.
#pragma once

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
    // Depends on the shape, and on whether the leaders' multicast was refused, which all members
    // learn in the same call. So all members decide alike.
    bool fits(const Shape& shape) const;
    // Makes a call; blocks. Returns null, or the plan that failed. The first call makes the groups.
    // Throws Error if there are no numbers left for groups.
    Plan* run(const CollectiveCall& call);

  private:
    struct Kept {
        Shape shape;
        LevelSteps all;
    };
    static constexpr std::size_t kMostKept = 16;

    const LevelSteps& steps_for(const Shape& shape);
    bool among_leaders_by_multicast(const Shape& shape) const;
    // These return null, or the plan that failed.
    Plan* make_groups();
    Plan* make(const LevelStep& step, std::byte* given, std::byte* result);
    Plan* learn_of_multicast();

    CollectiveContext& library_;
    Group& group_;
    std::vector<std::uint32_t> nodes_;  // of each rank
    NodeLayout layout_;
    std::vector<Kept> kept_;        // the steps of the last shapes; the oldest is first
    std::optional<Group> within_;   // of the own node, from the first call on
    std::optional<Group> leaders_;  // by node; at other members: all that do not lead
    // Broadcasts so far, while not all members know whether the leaders can multicast, and what
    // they know.
    std::uint32_t broadcasts_ = 0;
    enum class Multicast : std::uint8_t { kUnknown, kUsable, kRefused };
    Multicast multicast_ = Multicast::kUnknown;
    std::vector<std::byte> scratch_;  // of the steps
    CollectiveCall inner_;            // kept for its memory
};

}  // namespace poe::collectives
