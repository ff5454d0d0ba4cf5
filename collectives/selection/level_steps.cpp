// The steps of two-level algorithms; see level_steps.hpp.
#include "collectives/selection/level_steps.hpp"

#include <algorithm>

namespace poe::collectives {
namespace {

constexpr Place kInput{Buffer::kInput, 0};
constexpr Place kOutput{Buffer::kOutput, 0};

bool has_own_blocks(Operation operation) {
    return operation == Operation::kScatter || operation == Operation::kGather ||
           operation == Operation::kConcat;
}

// Writes the steps of one rank.
class LevelWriter {
  public:
    LevelWriter(const Shape& shape, const NodeLayout& layout, Rank rank, LevelSteps& into)
        : shape_(shape),
          layout_(layout),
          parts_(level_parts(shape)),
          rank_(rank),
          node_(shape.nodes[static_cast<std::size_t>(rank)]),
          leads_(layout.leader(node_) == rank),
          into_(into) {}

    void write() {
        switch (shape_.operation) {
            case Operation::kBcast:
                bcast();
                break;
            case Operation::kSync:
                before(kInput, kOutput);
                among_leaders(kInput, kOutput);
                after(kInput, kOutput);
                break;
            case Operation::kReduce:
            case Operation::kCombine: {
                // If a leader is alone on its node, its input is the sum of the node.
                const Place sum = size() > 1 ? scratch_of_leader(shape_.bytes) : kInput;
                if (size() > 1) before(kInput, sum);
                among_leaders(sum, kOutput);
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
    void add(LevelStep::Kind kind, Shape call, Place given, Place result) {
        into_.steps.push_back({kind, given, result, 0, std::move(call)});
    }
    void before(Place given, Place result) {
        if (parts_.before.exists)
            add(LevelStep::Kind::kBefore, call_within(shape_, layout_, parts_.before, node_), given,
                result);
    }
    void after(Place given, Place result) {
        if (parts_.after.exists)
            add(LevelStep::Kind::kAfter, call_within(shape_, layout_, parts_.after, node_), given,
                result);
    }
    void among_leaders(Place given, Place result) {
        if (leads_)
            add(LevelStep::Kind::kAmongLeaders, call_among_leaders(shape_, layout_), given, result);
    }
    void copy(Place from, Place to, Bytes length) {
        into_.steps.push_back({LevelStep::Kind::kCopy, from, to, length, {}});
    }
    Place scratch(Bytes bytes) {
        const Place place{Buffer::kScratch, into_.scratch};
        into_.scratch += bytes;
        return place;
    }
    // Other ranks do not use the returned place.
    Place scratch_of_leader(Bytes bytes) { return leads_ ? scratch(bytes) : kOutput; }

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

    // If the root does not lead its node, its whole node gets the data first.
    void bcast() {
        const std::uint32_t node_of_root = shape_.nodes[static_cast<std::size_t>(shape_.root)];
        const bool first = node_ == node_of_root && layout_.leader(node_) != shape_.root;
        if (first) {
            Shape call = call_within(shape_, layout_, parts_.after, node_);
            call.root = static_cast<Rank>(layout_.member[static_cast<std::size_t>(shape_.root)]);
            add(LevelStep::Kind::kBefore, std::move(call), kInput, kOutput);
        }
        among_leaders(kInput, kOutput);
        if (!first) after(kOutput, kOutput);
    }

    // The root has all blocks in rank order. If that is also the order of nodes, the blocks of its
    // own node are contiguous, in place.
    void scatter() {
        const bool root = rank_ == shape_.root;
        Place all = kInput;
        if (root && !layout_.in_order) {
            all = scratch(shape_.span(0, shape_.n));
            each_in_node_order(
                [&](Rank rank, Bytes at) { copy(kInput + offset(rank), all + at, length(rank)); });
        }
        const Place here = root && layout_.in_order ? kInput + offset(layout_.members[node_][0])
                                                    : scratch_of_leader(bytes_here());
        among_leaders(all, here);
        after(here, kOutput);
    }

    // `wanted`: true if this leader gets all blocks.
    void gather(bool wanted) {
        const bool direct = wanted && layout_.in_order;
        const Place here =
            direct ? kOutput + offset(layout_.members[node_][0]) : scratch_of_leader(bytes_here());
        before(kInput, here);
        const Place all = wanted && !direct ? scratch(shape_.span(0, shape_.n)) : kOutput;
        among_leaders(here, all);
        if (!wanted || direct) return;
        each_in_node_order(
            [&](Rank rank, Bytes at) { copy(all + at, kOutput + offset(rank), length(rank)); });
    }

    // A leader has the blocks ordered by (member, rank that gets it), sends them ordered by (node,
    // member, rank that gets it), receives them ordered by (node, rank that sent it, member), and
    // distributes them ordered by (member, rank that sent it).
    void index() {
        const Bytes block = shape_.bytes;
        const Bytes row = block * shape_.n;
        const Place here = scratch_of_leader(row * size());
        before(kInput, here);
        if (leads_) {
            const Place packed = scratch(row * size());
            const Place received = scratch(row * size());
            Bytes at = 0;
            for (const auto& node : layout_.members) {
                for (std::uint32_t member = 0; member < size(); ++member) {
                    for (const Rank to : node) {
                        copy(here + row * member + offset(to), packed + at, block);
                        at += block;
                    }
                }
            }
            among_leaders(packed, received);
            at = 0;
            for (const auto& node : layout_.members) {
                for (const Rank from : node) {
                    for (std::uint32_t member = 0; member < size(); ++member) {
                        copy(received + at, here + row * member + offset(from), block);
                        at += block;
                    }
                }
            }
        }
        after(here, kOutput);
    }

    const Shape& shape_;
    const NodeLayout& layout_;
    const LevelParts parts_;
    Rank rank_;
    std::uint32_t node_;
    bool leads_;
    LevelSteps& into_;
};

}  // namespace

LevelParts level_parts(const Shape& shape) {
    const Bytes bytes = shape.bytes;
    const Bytes all = shape.span(0, shape.n);
    switch (shape.operation) {
        case Operation::kBcast:
            return {{}, {true, Operation::kBcast, bytes}};
        case Operation::kReduce:
            return {{true, Operation::kReduce, bytes}, {}};
        case Operation::kCombine:
            return {{true, Operation::kReduce, bytes}, {true, Operation::kBcast, bytes}};
        case Operation::kScatter:
            return {{}, {true, Operation::kScatter, bytes, true}};
        case Operation::kGather:
            return {{true, Operation::kGather, bytes, true}, {}};
        case Operation::kConcat:
            return {{true, Operation::kGather, bytes, true}, {true, Operation::kBcast, all}};
        case Operation::kIndex:
            return {{true, Operation::kGather, all}, {true, Operation::kScatter, all}};
        case Operation::kSync:
            return {{true, Operation::kGather}, {true, Operation::kBcast}};
        case Operation::kPrefix:
        case Operation::kShift:
            break;
    }
    return {};
}

Shape call_within(const Shape& shape, const NodeLayout& layout, const LevelPart& part,
                  std::uint32_t node) {
    Shape inner;
    inner.operation = part.operation;
    inner.n = layout.size(node);
    inner.root = static_cast<Rank>(layout.leading[node]);
    inner.bytes = part.bytes;
    if (part.operation == Operation::kReduce) {
        inner.element = shape.element;
        inner.commutative = shape.commutative;
        inner.exact = shape.exact;
    }
    if (!part.own_blocks || shape.offsets.empty()) return inner;
    inner.offsets.push_back(0);
    for (const Rank rank : layout.members[node])
        inner.offsets.push_back(inner.offsets.back() +
                                shape.length(static_cast<std::uint32_t>(rank)));
    return inner;
}

Shape call_among_leaders(const Shape& shape, const NodeLayout& layout) {
    Shape outer = shape;
    outer.n = layout.nodes();
    outer.nodes.clear();
    outer.root = static_cast<Rank>(shape.nodes[static_cast<std::size_t>(std::max(shape.root, 0))]);
    const bool equal = layout.largest() * layout.nodes() == shape.n && shape.offsets.empty();
    if (has_own_blocks(shape.operation)) {
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
        const Bytes each = layout.largest();
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

LevelSteps level_steps(const Shape& shape, const NodeLayout& layout, Rank rank) {
    LevelSteps steps;
    LevelWriter(shape, layout, rank, steps).write();
    return steps;
}

}  // namespace poe::collectives
