// Two-level algorithms; see two_level.hpp. Every operation except prefix has three parts:
//   1. within each node, a schedule that ends at the leader;
//   2. the operation itself among the leaders;
//   3. within each node, a schedule that begins at the leader.
// The algorithm among the leaders is chosen by the built-in model of a network, because all leaders
// must choose the same one. Within a node, trees that split in half are used. Blocks are sent in
// the order of nodes. If that differs from rank order, leaders reorder them.
//
// Index: the leader of a node has the blocks of all its ranks, and sends to another leader all
// blocks for that node. Between nodes these are as many bytes as without levels, in fewer messages.
//
// With N nodes of t ranks each, C1 is that of N leaders, plus ceil(log t) for each of the two
// parts. A prefix uses trees and doubling (prefix_hybrid.cpp), with a node as each group.
#include "collectives/selection/two_level.hpp"

#include <algorithm>
#include <memory>

#include "collectives/schedule/algorithms/algorithms.hpp"
#include "collectives/selection/chooser.hpp"
#include "collectives/selection/embedding.hpp"
#include "collectives/selection/node_layout.hpp"

namespace poe::collectives {
namespace {

using S = const Shape&;

// The part of the ranks of one node, as a shape of their own.
struct Within {
    Generator (*make)(const Shape&);
    Counts (*counts)(const Shape&);
    // Towards the leader: smaller nodes begin in a later round, so that all nodes end in the same
    // one.
    bool inwards;
};

constexpr Within kBcastHere{[](S s) { return bcast_tree(s, split_in_half()); },
                            [](S s) { return bcast_tree_counts(s, split_in_half()); }, false};
constexpr Within kReduceHere{[](S s) { return reduce_tree(s, split_in_half()); },
                             [](S s) { return reduce_tree_counts(s, split_in_half()); }, true};
constexpr Within kScatterHere{[](S s) { return scatter_tree(s, split_in_half()); },
                              [](S s) { return scatter_tree_counts(s, split_in_half()); }, false};
constexpr Within kGatherHere{[](S s) { return gather_tree(s, split_in_half()); },
                             [](S s) { return scatter_tree_counts(s, split_in_half()); }, true};

Counts signals(S s) {
    return {static_cast<std::uint64_t>(log2_up(s.n)), 0, 0};
}
constexpr Within kSyncInHere{[](S s) -> Generator {
                                 return [n = s.n](Rank rank, Schedule& into) {
                                     sync_in(into, {n}, 0, static_cast<std::uint32_t>(rank),
                                             split_in_half());
                                 };
                             },
                             signals, true};
constexpr Within kSyncOutHere{[](S s) -> Generator {
                                  return [n = s.n](Rank rank, Schedule& into) {
                                      sync_out(into, {n}, 0, static_cast<std::uint32_t>(rank),
                                               split_in_half());
                                  };
                              },
                              signals, false};

struct Stage {
    const Within* what = nullptr;
    Bytes bytes = 0;
    bool blocks = false;  // of the ranks' own lengths, if these differ
};
struct Recipe {
    Stage before;
    Stage after;
};

Recipe recipe_of(const Shape& shape) {
    const Bytes bytes = shape.bytes;
    const Bytes all = shape.span(0, shape.n);
    switch (shape.operation) {
        case Operation::kBcast:
            return {{}, {&kBcastHere, bytes}};
        case Operation::kReduce:
            return {{&kReduceHere, bytes}, {}};
        case Operation::kCombine:
            return {{&kReduceHere, bytes}, {&kBcastHere, bytes}};
        case Operation::kScatter:
            return {{}, {&kScatterHere, bytes, true}};
        case Operation::kGather:
            return {{&kGatherHere, bytes, true}, {}};
        case Operation::kConcat:
            return {{&kGatherHere, bytes, true}, {&kBcastHere, all}};
        case Operation::kIndex:
            return {{&kGatherHere, all}, {&kScatterHere, all}};
        case Operation::kSync:
            return {{&kSyncInHere}, {&kSyncOutHere}};
        case Operation::kPrefix:
        case Operation::kShift:
            break;
    }
    return {};
}

// The shape of a stage among the ranks of one node.
Shape within_node(const Shape& shape, const NodeLayout& layout, const Stage& stage,
                  std::uint32_t node) {
    Shape inner;
    inner.n = layout.size(node);
    inner.root = static_cast<Rank>(layout.leading[node]);
    inner.bytes = stage.bytes;
    if (!stage.blocks || shape.offsets.empty()) return inner;
    inner.offsets.push_back(0);
    for (const Rank rank : layout.members[node])
        inner.offsets.push_back(inner.offsets.back() +
                                shape.length(static_cast<std::uint32_t>(rank)));
    return inner;
}

Counts counts_within(const Shape& shape, const NodeLayout& layout, const Stage& stage) {
    Counts sum;
    for (std::uint32_t node = 0; stage.what != nullptr && node < layout.nodes(); ++node) {
        const Counts here = stage.what->counts(within_node(shape, layout, stage, node));
        sum.c1 = std::max(sum.c1, here.c1);
        sum.c2 = std::max(sum.c2, here.c2);
        sum.c3 += here.c3;
    }
    return sum;
}

// The operation among the leaders. Its blocks are those of whole nodes, which may be unequal.
Shape among_leaders(const Shape& shape, const NodeLayout& layout) {
    Shape outer = shape;
    outer.n = layout.nodes();
    outer.nodes.clear();
    outer.root = static_cast<Rank>(shape.nodes[static_cast<std::size_t>(std::max(shape.root, 0))]);
    const bool equal = layout.largest() * layout.nodes() == shape.n && shape.offsets.empty();
    const Bytes each = layout.largest();
    if (shape.operation == Operation::kScatter || shape.operation == Operation::kGather ||
        shape.operation == Operation::kConcat) {
        outer.bytes = shape.span(0, shape.n) / outer.n;
        if (equal) return outer;
        outer.offsets = {0};
        for (const auto& members : layout.members) {
            Bytes bytes = 0;
            for (const Rank rank : members) bytes += shape.length(static_cast<std::uint32_t>(rank));
            outer.offsets.push_back(outer.offsets.back() + bytes);
        }
    }
    if (shape.operation == Operation::kIndex) {
        outer.bytes = each * each * shape.bytes;
        if (equal) return outer;
        for (const auto& from : layout.members) {
            for (const auto& to : layout.members)
                outer.matrix.push_back(from.size() * to.size() * shape.bytes);
        }
        outer.bytes = shape.bytes * shape.n * shape.n / outer.n / outer.n;
    }
    return outer;
}

Choice choice_among_leaders(std::span<const Algorithm> table, const Shape& outer) {
    const CostModel network = built_in_tuning(1).network;
    return choose(table, outer, {network, network}, {});
}

Counts counts_among_leaders(std::span<const Algorithm> table, const Shape& shape,
                            const NodeLayout& layout) {
    const Shape outer = among_leaders(shape, layout);
    const Choice choice = choice_among_leaders(table, outer);
    return choice.algorithm->counts(outer, choice.parameter);
}

// The data that the schedules of all ranks are written from.
struct Levels {
    Levels(const Shape& whole, std::span<const Algorithm> table)
        : shape(whole), layout(whole), recipe(recipe_of(whole)) {
        const Shape outer = among_leaders(shape, layout);
        const Choice choice = choice_among_leaders(table, outer);
        between = choice.make(outer);
        rounds_before = static_cast<int>(counts_within(shape, layout, recipe.before).c1);
        rounds_between = static_cast<int>(choice.algorithm->counts(outer, choice.parameter).c1);
    }

    Shape shape;
    NodeLayout layout;
    Recipe recipe;
    Generator between;
    int rounds_before = 0;
    int rounds_between = 0;
};

// Writes the schedule of one rank.
class TwoLevelWriter {
  public:
    TwoLevelWriter(const Levels& levels, Rank rank, Schedule& into)
        : levels_(levels),
          shape_(levels.shape),
          layout_(levels.layout),
          rank_(rank),
          node_(shape_.nodes[static_cast<std::size_t>(rank)]),
          leads_(layout_.leader(node_) == rank),
          into_(into) {}

    void write() {
        switch (shape_.operation) {
            case Operation::kBcast:
            case Operation::kSync:
                before(kInput, kOutput);
                between(kInput, kOutput);
                after(kOutput, kOutput);
                break;
            case Operation::kReduce:
            case Operation::kCombine: {
                const Place sum = leaders_work(shape_.bytes);
                before(kInput, sum);
                between(sum, kOutput);
                after(kInput, kOutput);
                break;
            }
            case Operation::kScatter:
                scatter();
                break;
            case Operation::kGather:
                gather(rank_ == shape_.root);
                break;
            case Operation::kConcat:
                gather(leads_);
                after(kInput, kOutput);
                break;
            case Operation::kIndex:
                index();
                break;
            case Operation::kPrefix:
            case Operation::kShift:
                break;
        }
    }

  private:
    static constexpr Place kInput{Buffer::kInput, 0};
    static constexpr Place kOutput{Buffer::kOutput, 0};

    void before(Place given, Place result) { within(levels_.recipe.before, 0, given, result); }
    void after(Place given, Place result) {
        within(levels_.recipe.after, levels_.rounds_before + levels_.rounds_between, given, result);
    }
    void within(const Stage& stage, int round, Place given, Place result) {
        if (stage.what == nullptr) return;
        const Shape inner = within_node(shape_, layout_, stage, node_);
        into_.start_phase(round +
                          (stage.what->inwards ? levels_.rounds_before - log2_up(inner.n) : 0));
        const auto own = layout_.member[static_cast<std::size_t>(rank_)];
        embed(into_, {stage.what->make(inner), static_cast<Rank>(own),
                      [this](Rank member) {
                          return layout_.members[node_][static_cast<std::size_t>(member)];
                      },
                      places(given, result)});
    }
    void between(Place given, Place result) {
        if (!leads_) return;
        into_.start_phase(levels_.rounds_before);
        embed(into_,
              {levels_.between, static_cast<Rank>(node_),
               [this](Rank node) { return layout_.leader(static_cast<std::uint32_t>(node)); },
               places(given, result)});
    }
    static std::function<Place(Buffer)> places(Place given, Place result) {
        return [given, result](Buffer buffer) { return buffer == Buffer::kInput ? given : result; };
    }

    // Scratch memory for leaders only; other ranks do not use the returned place.
    Place leaders_work(Bytes bytes) { return leads_ ? into_.work(bytes) : kOutput; }
    std::uint32_t size() const { return layout_.size(node_); }
    Bytes length(Rank rank) const { return shape_.length(static_cast<std::uint32_t>(rank)); }
    Bytes offset(Rank rank) const { return shape_.offset(static_cast<std::uint32_t>(rank)); }
    Bytes bytes_here() const {
        Bytes sum = 0;
        for (const Rank rank : layout_.members[node_]) sum += length(rank);
        return sum;
    }

    // Calls visit() for all ranks, node by node, with the position of their block in that order.
    template <typename Visit>
    void each_in_node_order(Visit&& visit) const {
        Bytes at = 0;
        for (const auto& members : layout_.members) {
            for (const Rank rank : members) {
                visit(rank, at);
                at += length(rank);
            }
        }
    }

    // The root has all blocks in rank order. If that is also the order of nodes, the blocks of its
    // own node are contiguous, in place.
    void scatter() {
        const bool root = rank_ == shape_.root;
        Place all = kInput;
        if (root && !layout_.in_order) {
            all = into_.work(shape_.span(0, shape_.n));
            each_in_node_order([&](Rank rank, Bytes at) {
                into_.copy(kInput + offset(rank), all + at, length(rank));
            });
        }
        const Place here = root && layout_.in_order ? kInput + offset(layout_.members[node_][0])
                                                    : leaders_work(bytes_here());
        between(all, here);
        after(here, kOutput);
    }

    // `wanted`: this leader gets all blocks.
    void gather(bool wanted) {
        const bool direct = wanted && layout_.in_order;
        const Place here =
            direct ? kOutput + offset(layout_.members[node_][0]) : leaders_work(bytes_here());
        before(kInput, here);
        const Place all = wanted && !direct ? into_.work(shape_.span(0, shape_.n)) : kOutput;
        between(here, all);
        if (!wanted || direct) return;
        each_in_node_order([&](Rank rank, Bytes at) {
            into_.copy(all + at, kOutput + offset(rank), length(rank));
        });
    }

    // A leader has the blocks ordered by (member, rank that gets it), sends them ordered by (node,
    // member, rank that gets it), receives them ordered by (node, rank that sent it, member), and
    // distributes them ordered by (member, rank that sent it).
    void index() {
        const Bytes block = shape_.bytes;
        const Bytes row = block * shape_.n;
        const Place here = leaders_work(row * size());
        before(kInput, here);
        if (leads_) {
            const Place packed = into_.work(row * size());
            const Place received = into_.work(row * size());
            Bytes at = 0;
            for (const auto& node : layout_.members) {
                for (std::uint32_t member = 0; member < size(); ++member) {
                    for (const Rank to : node) {
                        into_.copy(here + row * member + offset(to), packed + at, block);
                        at += block;
                    }
                }
            }
            between(packed, received);
            at = 0;
            for (const auto& node : layout_.members) {
                for (const Rank from : node) {
                    for (std::uint32_t member = 0; member < size(); ++member) {
                        into_.copy(received + at, here + row * member + offset(from), block);
                        at += block;
                    }
                }
            }
        }
        after(here, kOutput);
    }

    const Levels& levels_;
    const Shape& shape_;
    const NodeLayout& layout_;
    Rank rank_;
    std::uint32_t node_;
    bool leads_;
    Schedule& into_;
};

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

Generator two_level(const Shape& shape, std::span<const Algorithm> table) {
    if (shape.operation == Operation::kPrefix) return prefix_in_groups(shape, first_ranks(shape));
    return [levels = std::make_shared<const Levels>(shape, table)](Rank rank, Schedule& into) {
        TwoLevelWriter(*levels, rank, into).write();
    };
}

Counts two_level_within(const Shape& shape) {
    if (shape.operation == Operation::kPrefix)
        return prefix_counts_within(shape, first_ranks(shape));
    const NodeLayout layout(shape);
    const Recipe recipe = recipe_of(shape);
    return counts_within(shape, layout, recipe.before) + counts_within(shape, layout, recipe.after);
}

Counts two_level_counts(const Shape& shape, std::span<const Algorithm> table) {
    const Counts within = two_level_within(shape);
    if (shape.operation == Operation::kPrefix)
        return within + prefix_counts_between(shape, first_ranks(shape));
    return within + counts_among_leaders(table, shape, NodeLayout(shape));
}

}  // namespace poe::collectives
