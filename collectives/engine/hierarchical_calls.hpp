// Blocking calls on a group that is on several nodes, in two levels: calls on the members of each
// node, which shared memory makes (shm_collectives.hpp), before and behind one among the first members
// of the nodes. The same as the schedule two_level, where that is chosen; but within a node a call
// costs each member one turn on a core, where messages cost one per level of their tree. So it is
// for calls in which all wait for all (sync, combine, concat), and for long broadcasts, whose bytes
// are copied less often. Apart from schedules, because a schedule has messages only; calls that do
// not block, the other operations, and whoever asks for an algorithm by name have the schedule.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <vector>

#include "collectives/engine/call_path.hpp"
#include "collectives/engine/collective_context.hpp"
#include "collectives/engine/plan.hpp"

namespace poe::collectives {

class HierarchicalCalls final : public CallPath {
  public:
    // Of a group whose members are on these nodes (Shape::nodes); empty: on one, nothing fits.
    // Both must outlive it.
    HierarchicalCalls(CollectiveContext& library, Group& group, std::vector<std::uint32_t> nodes);

    // Whether such calls are made here. Depends on the shape only, so all members agree.
    bool fits(const Shape& shape) override;
    // Makes one. Null, or the plan that went wrong. Blocking. The first one makes the groups.
    Plan* run(const CollectiveCall& call) override;

  private:
    struct Decided {
        Shape shape;
        bool here = false;
    };
    bool decide(const Shape& shape) const;
    Plan* make_groups();
    bool leads() const noexcept { return within_->me == 0; }
    // Each null, or the plan that went wrong.
    Plan* sync(const CollectiveCall& call);
    Plan* broadcast(const CollectiveCall& call);
    Plan* combine(const CollectiveCall& call);
    Plan* concatenate(const CollectiveCall& call);
    // Parts of these: what inner_ says, but for the number of ranks and what is given and got.
    void begin(Operation operation, Bytes bytes, Rank root);
    Plan* make(Group& group, const std::byte* given, std::byte* result);
    Plan* broadcast_within(Rank root, Bytes bytes, std::byte* result);
    // Into sum_ of who leads.
    Plan* gather_within(Bytes bytes, const std::byte* given);

    CollectiveContext& library_;
    Group& group_;
    std::vector<std::uint32_t> nodes_;   // of each rank
    std::vector<Rank> first_;            // of each node
    std::vector<std::uint32_t> member_;  // of each rank: its number within its node
    bool in_order_ = true;               // nodes one after the other are ranks in order
    std::array<Decided, 16> decided_;    // the last shapes that were new
    std::size_t decisions_ = 0;
    std::optional<Group> within_;   // of the own node, from the first call on
    std::optional<Group> leaders_;  // by node; of those who are none: the others
    std::vector<std::byte> sum_;    // of the node, or its blocks
    CollectiveCall inner_;          // kept for its memory
};

// Of a group of that library; what Library::LevelsMaker wants.
std::unique_ptr<CallPath> make_hierarchical_calls(CollectiveContext& library, Group& group,
                                                  std::vector<std::uint32_t> nodes);

}  // namespace poe::collectives
