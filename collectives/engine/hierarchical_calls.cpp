// Hierarchical calls; see hierarchical_calls.hpp.
#include "collectives/engine/hierarchical_calls.hpp"

#include <algorithm>
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

}  // namespace

HierarchicalCalls::HierarchicalCalls(CollectiveContext& library, Group& group,
                                     std::vector<std::uint32_t> nodes)
    : library_(library), group_(group), nodes_(std::move(nodes)) {
    std::vector<std::uint32_t> sizes;
    for (std::size_t rank = 0; rank < nodes_.size(); ++rank) {
        const std::uint32_t node = nodes_[rank];
        if (node == first_.size()) {
            first_.push_back(static_cast<Rank>(rank));
            sizes.push_back(0);
        }
        if (rank > 0 && node < nodes_[rank - 1]) in_order_ = false;
        member_.push_back(sizes[node]++);
    }
}

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
    if (shape.operation == Operation::kConcat && !in_order_) return false;
    Shape placed = shape;
    placed.nodes = nodes_;
    return among_leaders_by_multicast(shape) || library_.in_two_levels(placed);
}

// False if every member leads its node, because a broadcast then has only one level.
bool HierarchicalCalls::among_leaders_by_multicast(const Shape& shape) const {
    if (shape.operation != Operation::kBcast || first_.size() == nodes_.size() ||
        multicast_refused_)
        return false;
    Shape leaders = shape;
    leaders.n = static_cast<std::uint32_t>(first_.size());
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
        by_member.labels.push_back(member_[rank] == 0 ? 0 : 1);
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
    switch (call.shape.operation) {
        case Operation::kBcast:
            return broadcast(call);
        case Operation::kCombine:
            return combine(call);
        case Operation::kConcat:
            return concatenate(call);
        default:
            return sync(call);
    }
}

// For data that are not reduced. Keeps the memory of the lists in inner_.
void HierarchicalCalls::begin(Operation operation, Bytes bytes, Rank root) {
    Shape& shape = inner_.shape;
    shape.operation = operation;
    shape.bytes = bytes;
    shape.root = root;
    shape.element = 0;
    shape.commutative = false;
    shape.exact = false;
    shape.offsets.clear();
}

Plan* HierarchicalCalls::make(Group& group, const std::byte* given, std::byte* result) {
    inner_.shape.n = group.size();
    inner_.run.given = given;
    inner_.run.result = result;
    Plan* plan = library_.run_blocking(group, inner_);
    return plan != nullptr && plan->went_wrong() ? plan : nullptr;
}

Plan* HierarchicalCalls::broadcast_within(Rank root, Bytes bytes, std::byte* result) {
    if (within_->size() == 1) return nullptr;
    begin(Operation::kBcast, bytes, root);
    return make(*within_, nullptr, result);
}

Plan* HierarchicalCalls::broadcast(const CollectiveCall& call) {
    const bool counts = counts_on_multicast(call.shape);
    if (Plan* wrong = broadcast_data(call)) return wrong;
    return counts && is_power_of_two(++multicasts_) ? learn_of_multicast() : nullptr;
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
    if (leads()) {
        const auto* calls = static_cast<MulticastCalls*>(state_of(*leaders_).multicast.get());
        if (calls != nullptr && calls->decided())
            found = calls->refused() ? Found::kRefused : Found::kUsable;
    }
    if (Plan* wrong = broadcast_within(0, sizeof found, reinterpret_cast<std::byte*>(&found)))
        return wrong;
    multicast_decided_ = found != Found::kNothing;
    multicast_refused_ = found == Found::kRefused;
    if (multicast_refused_) library_.forget_paths(group_);
    return nullptr;
}

Plan* HierarchicalCalls::broadcast_data(const CollectiveCall& call) {
    inner_ = call;
    const auto root = static_cast<std::size_t>(call.shape.root);
    const bool from_here = nodes_[root] == nodes_[static_cast<std::size_t>(group_.me)];
    const bool first = from_here && member_[root] != 0;
    std::byte* result = call.run.result;
    if (first) {
        if (Plan* wrong =
                broadcast_within(static_cast<Rank>(member_[root]), call.shape.bytes, result))
            return wrong;
    }
    if (leads()) {
        inner_.shape = call.shape;
        inner_.shape.root = static_cast<Rank>(nodes_[root]);
        if (Plan* wrong = make(*leaders_, nullptr, result)) return wrong;
    }
    return first ? nullptr : broadcast_within(0, call.shape.bytes, result);
}

Plan* HierarchicalCalls::combine(const CollectiveCall& call) {
    inner_ = call;
    const std::byte* given = call.run.given;
    if (within_->size() > 1) {
        if (leads() && sum_.size() < call.shape.bytes) sum_.resize(call.shape.bytes);
        inner_.shape.operation = Operation::kReduce;
        if (Plan* wrong = make(*within_, given, leads() ? sum_.data() : nullptr)) return wrong;
        given = sum_.data();
    }
    if (leads()) {
        inner_.shape.operation = Operation::kCombine;
        if (Plan* wrong = make(*leaders_, given, call.run.result)) return wrong;
    }
    return broadcast_within(0, call.shape.bytes, call.run.result);
}

Plan* HierarchicalCalls::gather_within(Bytes bytes, const std::byte* given) {
    if (leads() && sum_.size() < bytes * within_->size()) sum_.resize(bytes * within_->size());
    begin(Operation::kGather, bytes, 0);
    return make(*within_, given, leads() ? sum_.data() : nullptr);
}

Plan* HierarchicalCalls::concatenate(const CollectiveCall& call) {
    inner_ = call;
    const Bytes bytes = call.shape.bytes;
    if (Plan* wrong = gather_within(bytes, call.run.given)) return wrong;
    if (leads()) {
        begin(Operation::kConcat, call.shape.n * bytes / first_.size(), 0);
        for (const Rank first : first_)
            inner_.shape.offsets.push_back(static_cast<Bytes>(first) * bytes);
        inner_.shape.offsets.push_back(call.shape.n * bytes);
        if (Plan* wrong = make(*leaders_, sum_.data(), call.run.result)) return wrong;
    }
    return broadcast_within(0, call.shape.n * bytes, call.run.result);
}

Plan* HierarchicalCalls::sync(const CollectiveCall& call) {
    inner_ = call;
    std::byte nothing{};
    if (within_->size() > 1) {
        if (Plan* wrong = gather_within(1, &nothing)) return wrong;
    }
    if (leads()) {
        inner_.shape = call.shape;
        if (Plan* wrong = make(*leaders_, nullptr, nullptr)) return wrong;
    }
    return broadcast_within(0, 1, &nothing);
}

}  // namespace poe::collectives
