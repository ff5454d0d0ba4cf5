// Hierarchical calls; see hierarchical_calls.hpp.
#include "collectives/engine/hierarchical_calls.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>

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
    switch (shape.operation) {
        case Operation::kBcast:
            return shape.bytes >= kWorthStaging;
        case Operation::kCombine:
        case Operation::kSync:
            return true;
        case Operation::kConcat:
            return shape.offsets.empty();
        default:
            return false;
    }
}

bool HierarchicalCalls::fits(const Shape& shape) const {
    Shape placed = shape;
    placed.nodes = nodes_;
    return among_leaders_by_multicast(shape) || library_.in_two_levels(placed);
}

// False if every member leads its node, because a broadcast then has only one level.
bool HierarchicalCalls::among_leaders_by_multicast(const Shape& shape) const {
    if (shape.operation != Operation::kBcast || layout_.nodes() == nodes_.size() ||
        multicast_refused_)
        return false;
    Shape leaders = shape;
    leaders.n = layout_.nodes();
    leaders.root = static_cast<Rank>(nodes_[static_cast<std::size_t>(shape.root)]);
    std::vector<std::uint32_t> nodes(leaders.n);
    std::iota(nodes.begin(), nodes.end(), 0U);
    return library_.wants_multicast(leaders, nodes);
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

Plan* HierarchicalCalls::run(const CollectiveCall& call) {
    if (!within_) {
        if (Plan* wrong = make_groups()) return wrong;
    }
    const bool counts =
        call.shape.operation == Operation::kBcast && counts_on_multicast(call.shape);
    if (Plan* wrong = execute(steps_for(call.shape), call)) return wrong;
    return counts && is_power_of_two(++multicasts_) ? learn_of_multicast() : nullptr;
}

const LevelSteps& HierarchicalCalls::steps_for(const Shape& shape) {
    ++calls_;
    for (Kept& each : kept_) {
        if (each.shape != shape) continue;
        each.used = calls_;
        return each.all;
    }
    if (kept_.size() == kMostKept)
        kept_.erase(std::min_element(
            kept_.begin(), kept_.end(),
            [](const Kept& left, const Kept& right) { return left.used < right.used; }));
    Shape placed = shape;
    placed.nodes = nodes_;
    kept_.push_back({shape, level_steps(placed, layout_, group_.me), calls_});
    return kept_.back().all;
}

Plan* HierarchicalCalls::execute(const LevelSteps& all, const CollectiveCall& call) {
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
        Plan* wrong = nullptr;
        if (step.kind == LevelStep::Kind::kCopy) {
            std::memmove(at(step.to), at(step.from), step.length);
        } else if (call.shape.operation == Operation::kSync &&
                   step.kind != LevelStep::Kind::kAmongLeaders) {
            wrong = order_within(step.call.operation);
        } else {
            wrong = make(step, at(step.from), at(step.to));
        }
        if (wrong != nullptr) return wrong;
    }
    return nullptr;
}

// Where there is no shared memory, a call goes by messages, which leave out 0 bytes. So it has one byte.
Plan* HierarchicalCalls::order_within(Operation operation) {
    if (within_->size() == 1) return nullptr;
    scratch_.resize(std::max<std::size_t>(scratch_.size(), 1 + within_->size()));
    return call_within(operation, 1, scratch_.data(), scratch_.data() + 1);
}

Plan* HierarchicalCalls::call_within(Operation operation, Bytes bytes, std::byte* given,
                                     std::byte* result) {
    LevelStep step;
    step.kind = LevelStep::Kind::kAfter;
    step.call.operation = operation;
    step.call.n = within_->size();
    step.call.bytes = bytes;
    return make(step, given, result);
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

// The answer is kept, because to find it takes memory, and programs repeat their lengths.
bool HierarchicalCalls::counts_on_multicast(const Shape& shape) {
    if (multicast_decided_) return false;
    if (shape.bytes != asked_bytes_) {
        asked_bytes_ = shape.bytes;
        asked_counts_ = among_leaders_by_multicast(shape);
    }
    return asked_counts_;
}

// The leaders know whether the network carries multicast, in the same call. They tell the other members, because
// all must choose the same path for the next call.
Plan* HierarchicalCalls::learn_of_multicast() {
    enum class Found : std::uint8_t { kNothing, kUsable, kRefused };
    Found found = Found::kNothing;
    if (within_->me == 0) {
        const auto* calls = static_cast<MulticastCalls*>(state_of(*leaders_).multicast.get());
        if (calls != nullptr && calls->decided())
            found = calls->refused() ? Found::kRefused : Found::kUsable;
    }
    auto* const data = reinterpret_cast<std::byte*>(&found);
    if (Plan* wrong = call_within(Operation::kBcast, sizeof found, nullptr, data)) return wrong;
    multicast_decided_ = found != Found::kNothing;
    multicast_refused_ = found == Found::kRefused;
    if (multicast_refused_) library_.forget_paths(group_);
    return nullptr;
}

}  // namespace poe::collectives
