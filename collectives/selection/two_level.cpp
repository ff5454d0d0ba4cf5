// Two-level algorithms as schedules; see two_level.hpp.
#include "collectives/selection/two_level.hpp"

#include <algorithm>
#include <memory>

#include "collectives/schedule/algorithms/algorithms.hpp"
#include "collectives/selection/chooser.hpp"
#include "collectives/selection/embedding.hpp"
#include "collectives/selection/level_steps.hpp"

namespace poe::collectives {
namespace {

// In a sync, the calls within nodes have no data: they are signals.
Generator signals_within(const Shape& call) {
    const bool inwards = call.operation == Operation::kGather;
    return [n = call.n, inwards](Rank rank, Schedule& into) {
        const auto own = static_cast<std::uint32_t>(rank);
        if (inwards) {
            sync_in(into, {n}, 0, own, split_in_half());
        } else {
            sync_out(into, {n}, 0, own, split_in_half());
        }
    };
}

Generator schedule_within(Operation whole, const Shape& call) {
    if (whole == Operation::kSync) return signals_within(call);
    switch (call.operation) {
        case Operation::kReduce:
            return reduce_tree(call, split_in_half());
        case Operation::kScatter:
            return scatter_tree(call, split_in_half());
        case Operation::kGather:
            return gather_tree(call, split_in_half());
        default:
            return bcast_tree(call, split_in_half());
    }
}

Counts counts_within(const Shape& shape, const NodeLayout& layout, const LevelPart& part) {
    Counts sum;
    for (std::uint32_t node = 0; part.exists && node < layout.nodes(); ++node) {
        const Shape call = call_within(shape, layout, part, node);
        const Counts here =
            part.operation == Operation::kReduce  ? reduce_tree_counts(call, split_in_half())
            : part.operation == Operation::kBcast ? bcast_tree_counts(call, split_in_half())
                                                  : scatter_tree_counts(call, split_in_half());
        sum.c1 = std::max(sum.c1, here.c1);
        sum.c2 = std::max(sum.c2, here.c2);
        sum.c3 += here.c3;
    }
    return sum;
}

Choice choice_among_leaders(std::span<const Algorithm> table, const Shape& call) {
    const CostModel network = built_in_tuning(1).network;
    return choose(table, call, {network, network}, {});
}

Counts counts_among_leaders(std::span<const Algorithm> table, const Shape& shape,
                            const NodeLayout& layout) {
    const Shape call = call_among_leaders(shape, layout);
    const Choice choice = choice_among_leaders(table, call);
    return choice.algorithm->counts(call, choice.parameter);
}

// The data that the schedules of all ranks are written from.
struct Levels {
    Levels(const Shape& whole, std::span<const Algorithm> table, Leaders leaders)
        : shape(whole), layout(whole, leaders) {
        const LevelParts parts = level_parts(shape);
        const Shape call = call_among_leaders(shape, layout);
        const Choice choice = choice_among_leaders(table, call);
        between = choice.make(call);
        const Counts before = counts_within(
            shape, layout,
            leaders == Leaders::kFirsts && !parts.before.exists ? parts.after : parts.before);
        rounds_before = static_cast<int>(before.c1);
        rounds_between = static_cast<int>(choice.algorithm->counts(call, choice.parameter).c1);
    }

    // In the part before the leaders', smaller nodes begin in a later round, so that all nodes end
    // in the same round.
    int first_round(const LevelStep& step) const {
        switch (step.kind) {
            case LevelStep::Kind::kBefore:
                return rounds_before - log2_up(step.call.n);
            case LevelStep::Kind::kAmongLeaders:
                return rounds_before;
            default:
                return rounds_before + rounds_between;
        }
    }

    Shape shape;
    NodeLayout layout;
    Generator between;
    int rounds_before = 0;
    int rounds_between = 0;
};

void write_schedule(const Levels& levels, Rank rank, Schedule& into) {
    const NodeLayout& layout = levels.layout;
    const std::uint32_t node = levels.shape.nodes[static_cast<std::size_t>(rank)];
    const LevelSteps all = level_steps(levels.shape, layout, rank);
    const Place scratch = into.work(all.scratch);
    const auto placed = [&](Place of) {
        return of.buffer == Buffer::kScratch ? scratch + of.offset : of;
    };
    for (const LevelStep& step : all.steps) {
        const Place from = placed(step.from);
        const Place to = placed(step.to);
        if (step.kind == LevelStep::Kind::kCopy) {
            into.copy(from, to, step.length);
            continue;
        }
        into.start_phase(levels.first_round(step));
        const auto places = [from, to](Buffer buffer) {
            return buffer == Buffer::kInput ? from : to;
        };
        if (step.kind == LevelStep::Kind::kAmongLeaders) {
            const auto leader = [&](Rank of) {
                return layout.leader(static_cast<std::uint32_t>(of));
            };
            embed(into, {levels.between, static_cast<Rank>(node), leader, places});
        } else {
            const auto own = layout.member[static_cast<std::size_t>(rank)];
            const auto neighbour = [&](Rank member) {
                return layout.members[node][static_cast<std::size_t>(member)];
            };
            embed(into, {schedule_within(levels.shape.operation, step.call), static_cast<Rank>(own),
                         neighbour, places});
        }
    }
}

std::vector<std::uint32_t> first_ranks(const Shape& shape) {
    std::vector<std::uint32_t> firsts;
    for (std::uint32_t rank = 0; rank < shape.n; ++rank) {
        if (rank == 0 || shape.nodes[rank] != shape.nodes[rank - 1]) firsts.push_back(rank);
    }
    return firsts;
}

bool ranks_in_order(const Shape& shape) {
    return std::is_sorted(shape.nodes.begin(), shape.nodes.end());
}

}  // namespace

bool two_level_fits(const Shape& shape) {
    if (shape.nodes.empty() || !shape.matrix.empty()) return false;
    const std::uint32_t nodes = 1 + *std::max_element(shape.nodes.begin(), shape.nodes.end());
    if (nodes < 2 || nodes == shape.n) return false;
    switch (shape.operation) {
        case Operation::kReduce:
        case Operation::kCombine:
            return shape.commutative || ranks_in_order(shape);
        case Operation::kPrefix:
            return ranks_in_order(shape);
        case Operation::kShift:
            return false;
        default:
            return true;
    }
}

Generator two_level(const Shape& shape, std::span<const Algorithm> table, Leaders leaders) {
    if (shape.operation == Operation::kPrefix) return prefix_in_groups(shape, first_ranks(shape));
    return [levels = std::make_shared<const Levels>(shape, table, leaders)](
               Rank rank, Schedule& into) { write_schedule(*levels, rank, into); };
}

Counts two_level_within(const Shape& shape) {
    if (shape.operation == Operation::kPrefix)
        return prefix_counts_within(shape, first_ranks(shape));
    const NodeLayout layout(shape, Leaders::kRoots);
    const LevelParts parts = level_parts(shape);
    return counts_within(shape, layout, parts.before) + counts_within(shape, layout, parts.after);
}

Counts two_level_counts(const Shape& shape, std::span<const Algorithm> table) {
    const Counts within = two_level_within(shape);
    if (shape.operation == Operation::kPrefix)
        return within + prefix_counts_between(shape, first_ranks(shape));
    return within + counts_among_leaders(table, shape, NodeLayout(shape, Leaders::kRoots));
}

}  // namespace poe::collectives
