// Hierarchical calls; see hierarchical_calls.hpp.
#include "collectives/engine/hierarchical_calls.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "base/copy_block.hpp"
#include "base/error.hpp"
#include "collectives/engine/group_making.hpp"
#include "collectives/engine/group_state.hpp"
#include "collectives/engine/multicast_calls.hpp"

namespace poe::collectives {
namespace {

// The minimum length of a broadcast, in bytes. In shorter ones members need not wait for each
// other, so turns on a core do not determine the cost.
constexpr Bytes kWorthStaging = Bytes{16} << 10;

Shape placed_on(const std::vector<std::uint32_t>& nodes) {
    Shape shape;
    shape.n = static_cast<std::uint32_t>(nodes.size());
    shape.nodes = nodes;
    return shape;
}

}  // namespace

HierarchicalCalls::HierarchicalCalls(CollectiveContext& library, Group& group,
                                     std::vector<std::uint32_t> nodes)
    : library_(library),
      group_(group),
      nodes_(std::move(nodes)),
      layout_(placed_on(nodes_), Leaders::kFirsts) {}

bool HierarchicalCalls::supports(const Shape& shape) noexcept {
    return shape.operation == Operation::kSync || shape.operation == Operation::kCombine ||
           (shape.operation == Operation::kConcat && shape.offsets.empty()) ||
           (shape.operation == Operation::kBcast && shape.bytes >= kWorthStaging);
}

bool HierarchicalCalls::fits(const Shape& shape) const {
    Shape placed = shape;
    placed.nodes = nodes_;
    return among_leaders_by_multicast(shape) || library_.in_two_levels(placed);
}

// False if every node has one member, because a broadcast then has only one level.
bool HierarchicalCalls::among_leaders_by_multicast(const Shape& shape) const {
    if (shape.operation != Operation::kBcast || layout_.nodes() == nodes_.size() ||
        multicast_ == Multicast::kRefused)
        return false;
    Shape leaders = shape;
    leaders.n = layout_.nodes();
    leaders.root = static_cast<Rank>(nodes_[static_cast<std::size_t>(shape.root)]);
    std::vector<std::uint32_t> nodes(leaders.n);
    std::iota(nodes.begin(), nodes.end(), 0U);
    return library_.wants_multicast(leaders, nodes, 0);
}

Plan* HierarchicalCalls::make_groups() {
    SplitPlan by_node;
    SplitPlan by_member;
    for (std::size_t rank = 0; rank < nodes_.size(); ++rank) {
        by_node.labels.push_back(static_cast<std::int32_t>(nodes_[rank]));
        by_member.labels.push_back(layout_.member[rank] == 0 ? 0 : 1);
    }
    by_node.keys.assign(nodes_.size(), 0);
    by_member.keys.assign(nodes_.size(), 0);
    // These groups are not registered, so a program cannot name them.
    Numbered numbered = number_coloured(library_, group_, {by_node, by_member});
    if (numbered.wrong != nullptr) return numbered.wrong;
    if (numbered.groups.empty()) throw Error("there are no numbers left for groups of tasks");
    const TaskId own = library_.groups().task();
    NewGroup& within = numbered.groups[0];
    NewGroup& leaders = numbered.groups[1];
    within_.emplace(within.gid, within.label, std::move(within.members), own);
    leaders_.emplace(leaders.gid, leaders.label, std::move(leaders.members), own);
    return nullptr;
}

const LevelSteps& HierarchicalCalls::steps_for(const Shape& shape) {
    for (const Kept& each : kept_)
        if (each.shape == shape) return each.all;
    if (kept_.size() == kMostKept) kept_.erase(kept_.begin());
    Shape placed = shape;
    placed.nodes = nodes_;
    LevelSteps& all = kept_.emplace_back(Kept{shape, level_steps(placed, layout_, group_.me)}).all;
    if (shape.operation != Operation::kSync) return all;
    // The calls of a sync within a node have one byte, because a schedule of messages leaves out
    // messages of 0 bytes, and a node without shared memory uses such a schedule.
    all.scratch = 1 + within_->size();
    for (LevelStep& step : all.steps) {
        if (step.kind == LevelStep::Kind::kAmongLeaders) continue;
        // Alone on its node, a member waits for no other.
        if (within_->size() == 1) step.kind = LevelStep::Kind::kCopy;
        step.call.bytes = 1;
        step.from = {Buffer::kScratch, 0};
        step.to = {Buffer::kScratch, 1};
    }
    return all;
}

Plan* HierarchicalCalls::run(const CollectiveCall& call) {
    if (!within_) {
        if (Plan* wrong = make_groups()) return wrong;
    }
    const LevelSteps& all = steps_for(call.shape);
    if (scratch_.size() < all.scratch) scratch_.resize(all.scratch);
    inner_.name = call.name;
    inner_.call = call.call;
    inner_.run = call.run;
    const auto at = [&](Place place) -> std::byte* {
        // The input is only read.
        std::byte* const start = place.buffer == Buffer::kInput
                                     ? const_cast<std::byte*>(call.run.given)
                                 : place.buffer == Buffer::kOutput ? call.run.result
                                                                   : scratch_.data();
        return start == nullptr ? nullptr : start + place.offset;
    };
    for (const LevelStep& step : all.steps) {
        if (step.kind == LevelStep::Kind::kCopy) {
            copy_block(at(step.to), at(step.from), step.length);
        } else if (Plan* wrong = make(step, at(step.from), at(step.to))) {
            return wrong;
        }
    }
    const bool unknown = call.shape.operation == Operation::kBcast && library_.may_multicast() &&
                         multicast_ == Multicast::kUnknown;
    return unknown && is_power_of_two(++broadcasts_) ? learn_of_multicast() : nullptr;
}

Plan* HierarchicalCalls::make(const LevelStep& step, std::byte* given, std::byte* result) {
    Group& group = step.kind == LevelStep::Kind::kAmongLeaders ? *leaders_ : *within_;
    if (group.size() == 1 && step.call.operation == Operation::kBcast) return nullptr;
    inner_.shape = step.call;
    inner_.run.given = given;
    inner_.run.result = result;
    Plan* plan = library_.run_blocking(group, inner_);
    return plan != nullptr && plan->went_wrong() ? plan : nullptr;
}

// All leaders learn in the same call whether the network carries multicast. They tell the other
// members, because all must choose the same path for the next call.
Plan* HierarchicalCalls::learn_of_multicast() {
    Multicast found = Multicast::kUnknown;
    if (within_->me == 0) {
        const auto* calls = static_cast<MulticastCalls*>(state_of(*leaders_).multicast.get());
        if (calls != nullptr && calls->decided())
            found = calls->refused() ? Multicast::kRefused : Multicast::kUsable;
    }
    LevelStep step{LevelStep::Kind::kAfter, {}, {}, 0, {}};
    step.call.operation = Operation::kBcast;
    step.call.n = within_->size();
    step.call.bytes = sizeof found;
    if (Plan* wrong = make(step, nullptr, reinterpret_cast<std::byte*>(&found))) return wrong;
    multicast_ = found;
    if (found == Multicast::kRefused) library_.forget_paths(group_);
    return nullptr;
}

}  // namespace poe::collectives
