// Operations in two levels; see two_level.hpp. The leader of a node is the root if that is there,
// else the node's first rank. What leaders do among each other is chosen by the model of a network
// that is built in, as all of them must choose the same; trees of halves do within a node. The
// nodes' ranks are contiguous, so reductions keep their rank order.
#include "collectives/algorithms/two_level.hpp"

#include <algorithm>

#include "collectives/algorithms/algorithms.hpp"
#include "collectives/chooser.hpp"

namespace poe::collectives {
namespace {

// Where one rank stands.
class Standing {
  public:
    Standing(const Shape& shape, Rank rank)
        : shape_(shape), rank_(static_cast<std::uint32_t>(rank)) {
        while (node_ + 1 < nodes() && shape.nodes[node_ + 1] <= rank_) ++node_;
        while (root_node_ + 1 < nodes() &&
               shape.nodes[root_node_ + 1] <= static_cast<std::uint32_t>(shape.root))
            ++root_node_;
    }

    std::uint32_t nodes() const { return static_cast<std::uint32_t>(shape_.nodes.size()); }
    std::uint32_t node() const { return node_; }
    std::uint32_t root_node() const { return root_node_; }
    std::uint32_t first(std::uint32_t node) const {
        return node < nodes() ? shape_.nodes[node] : shape_.n;
    }
    std::uint32_t leader_of(std::uint32_t node) const {
        return has_root() && node == root_node_ ? static_cast<std::uint32_t>(shape_.root)
                                                : first(node);
    }
    bool leads() const { return leader_of(node_) == rank_; }
    // The ranks of the own node.
    Members here() const { return {first(node_ + 1) - first(node_), first(node_)}; }
    std::uint32_t member() const { return rank_ - first(node_); }
    std::uint32_t leading_member() const { return leader_of(node_) - first(node_); }

  private:
    bool has_root() const {
        return shape_.operation == Operation::kBcast || shape_.operation == Operation::kReduce;
    }

    const Shape& shape_;
    std::uint32_t rank_;
    std::uint32_t node_ = 0;
    std::uint32_t root_node_ = 0;
};

// The operation among leaders. Blocks are those of whole nodes.
Shape among_leaders(const Shape& shape) {
    Shape outer = shape;
    const Standing standing(shape, 0);
    outer.n = standing.nodes();
    outer.root = static_cast<Rank>(standing.root_node());
    outer.nodes.clear();
    if (shape.operation == Operation::kConcat) {
        for (std::uint32_t node = 0; node <= outer.n; ++node)
            outer.offsets.push_back(standing.first(node) * shape.bytes);
        outer.bytes = outer.offsets.back() / outer.n;
    }
    return outer;
}

Choice choice_among_leaders(const Shape& outer) {
    return choose(outer, built_in_tuning(1).network, {});
}

int depth_within(const Shape& shape) {
    const Standing standing(shape, 0);
    std::uint32_t most = 1;
    for (std::uint32_t node = 0; node < standing.nodes(); ++node)
        most = std::max(most, standing.first(node + 1) - standing.first(node));
    return log2_up(most);
}

// Both levels of one rank.
class Levels {
  public:
    Levels(const Shape& shape, const Generator& outer, int outer_rounds, Rank rank, Schedule& into)
        : shape_(shape),
          outer_(outer),
          depth_(depth_within(shape)),
          outer_rounds_(outer_rounds),
          at_(shape, rank),
          into_(into) {}

    void write() {
        switch (shape_.operation) {
            case Operation::kBcast:
                among_leaders_from(0, {Buffer::kGiven, 0}, kData);
                out_from(outer_rounds_, shape_.bytes);
                break;
            case Operation::kReduce:
                among_leaders_from(depth_, reduce_here(), kData);
                break;
            case Operation::kCombine:
                among_leaders_from(depth_, reduce_here(), kData);
                out_from(depth_ + outer_rounds_, shape_.bytes);
                break;
            case Operation::kConcat:
                gather_here();
                among_leaders_from(depth_, kData + at_.here().first * shape_.bytes, kData);
                out_from(depth_ + outer_rounds_, shape_.n * shape_.bytes);
                break;
            case Operation::kSync:
                sync_in(into_, at_.here(), 0, at_.member(), split_in_half());
                among_leaders_from(depth_, kData, kData);
                into_.start_phase(depth_ + outer_rounds_);
                sync_out(into_, at_.here(), 0, at_.member(), split_in_half());
                break;
            default:
                break;
        }
    }

  private:
    static constexpr Place kData{Buffer::kResult, 0};

    void among_leaders_from(int round, Place given, Place result) {
        if (!at_.leads()) return;
        into_.start_phase(round);
        embed(into_, {outer_, static_cast<Rank>(at_.node()),
                      [this](Rank node) {
                          return static_cast<Rank>(at_.leader_of(static_cast<std::uint32_t>(node)));
                      },
                      [given, result](Buffer buffer) {
                          return buffer == Buffer::kGiven ? given : result;
                      }});
    }
    // To the other ranks of the node.
    void out_from(int round, Bytes bytes) {
        into_.start_phase(round);
        fan_out(into_, at_.here(), at_.leading_member(), at_.member(), split_in_half(), kData,
                bytes);
    }
    // The node's reduction, at its leader.
    Place reduce_here() {
        const Place sum = into_.work(shape_.bytes);
        const Place received = into_.work(shape_.bytes);
        into_.copy({Buffer::kGiven, 0}, sum, shape_.bytes);
        into_.start_phase(depth_ - log2_up(at_.here().count));
        fan_in(into_, at_.here(), at_.leading_member(), at_.member(), split_in_half(), sum,
               received, shape_.bytes);
        return sum;
    }
    // The node's blocks, at its leader, where the result has them.
    void gather_here() {
        const Members here = at_.here();
        into_.copy({Buffer::kGiven, 0}, kData + (here.first + at_.member()) * shape_.bytes,
                   shape_.bytes);
        tree_gather(
            into_, here, at_.leading_member(), at_.member(), split_in_half(),
            [this](std::uint32_t, std::uint32_t count) { return count * shape_.bytes; },
            [this, here](std::uint32_t member) {
                return kData + (here.first + member) * shape_.bytes;
            });
    }

    const Shape& shape_;
    const Generator& outer_;
    int depth_;
    int outer_rounds_;
    Standing at_;
    Schedule& into_;
};

}  // namespace

void embed(Schedule& into, const Part& part) {
    Schedule own;
    part.generate(part.own, own);
    const Place work = into.work(own.work_bytes());
    const std::uint32_t before = into.started();
    const auto place = [&](Place of) {
        return (of.buffer == Buffer::kWork ? work : part.buffer(of.buffer)) + of.offset;
    };
    for (const Step& step : own.steps()) {
        switch (step.kind) {
            case StepKind::kSend:
                if (step.length == 0) {
                    into.signal(part.rank_of(step.peer), step.round);
                } else {
                    into.send(part.rank_of(step.peer), place(step.from), step.length, step.round);
                }
                break;
            case StepKind::kReceive:
                if (step.length == 0) {
                    into.await_signal(part.rank_of(step.peer), step.round);
                } else {
                    into.receive(part.rank_of(step.peer), place(step.to), step.length, step.round);
                }
                break;
            case StepKind::kWait:
                into.wait_for(before + static_cast<std::uint32_t>(step.peer));
                break;
            case StepKind::kCopy:
                into.copy(place(step.from), place(step.to), step.length);
                break;
            case StepKind::kAppend:
                into.append(place(step.from), place(step.to), step.length);
                break;
            case StepKind::kPrepend:
                into.prepend(place(step.from), place(step.to), step.length);
                break;
        }
    }
    into.wait();
}

bool two_level_fits(const Shape& shape) {
    return shape.nodes.size() >= 2 && shape.nodes.size() < shape.n && shape.offsets.empty() &&
           shape.matrix.empty();
}

Counts two_level_counts(const Shape& shape) {
    const Shape outer = among_leaders(shape);
    const Choice choice = choice_among_leaders(outer);
    return choice.algorithm->counts(outer, choice.parameter);
}

Generator two_level(const Shape& shape) {
    const Shape outer = among_leaders(shape);
    const Choice choice = choice_among_leaders(outer);
    const auto rounds = static_cast<int>(choice.algorithm->counts(outer, choice.parameter).c1);
    return [shape, outer_generator = choice.make(outer), rounds](Rank rank, Schedule& into) {
        Levels(shape, outer_generator, rounds, rank, into).write();
    };
}

}  // namespace poe::collectives
