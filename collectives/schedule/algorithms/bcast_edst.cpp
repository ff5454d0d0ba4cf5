// Broadcast in a pipeline along log n edge-disjoint spanning trees of a hypercube (CCL paper, IV.B;
// Johnsson and Ho 1989). For n a power of two, d = log n, and s segments, counted in segments:
//
//   C1 = C2 = s + d - 1    (optimal)
//   C3 = m (n - 1)
//
// In round t, ranks exchange along dimension k = t mod d. Ranks are numbered relative to the root.
// Segment b is sent in three phases:
//   1. In round b it starts in dimension j = b mod d.
//   2. In the d - 1 rounds after that, it spreads to the ranks that have bit j.
//   3. In round b + d it is sent to the ranks without bit j.
// In round t, therefore, the root sends segment t, and a rank with bit k sends segment t - d. A
// rank without bit k sends segment t - i, where i < d is the largest number such that the rank has
// bit k - i (mod d): the segment started in that dimension.
//
// A segment number beyond the last segment stands for the last segment. The last segment is
// therefore sent along several trees at once, and it reaches every rank d - 1 rounds after the root
// has first sent it. A rank keeps only the copy that arrives first.
#include <algorithm>

#include "collectives/schedule/algorithms/algorithms.hpp"

namespace poe::collectives {
namespace {

class Trees {
  public:
    Trees(int dimensions, std::int64_t segments) : d_(dimensions), last_(segments - 1) {}

    std::int64_t rounds() const { return last_ + d_; }
    int dimension(std::int64_t t) const { return static_cast<int>(t % d_); }

    // The segment that `member` receives in round t; -1: none.
    std::int64_t received(std::uint32_t member, std::int64_t t) const {
        const std::int64_t segment = stream(member, t);
        if (segment < 0) return -1;
        if (segment < last_) return segment;
        // The first round in which a segment arrives that stands for the last one.
        for (std::int64_t earlier = std::max<std::int64_t>(0, t - d_); earlier < t; ++earlier) {
            if (stream(member, earlier) >= last_) return -1;
        }
        return last_;
    }

  private:
    // The same, as if there were no last segment.
    std::int64_t stream(std::uint32_t member, std::int64_t t) const {
        if (member == 0) return -1;
        const int k = dimension(t);
        const std::uint32_t sender = member ^ (1u << k);
        if (sender == 0) return t;
        if ((sender >> k & 1u) != 0) return t - d_;
        int age = d_ - 1;
        while ((sender >> ((k - age + d_) % d_) & 1u) == 0) --age;
        return t - age;
    }

    int d_;
    std::int64_t last_;
};

}  // namespace

Generator bcast_edst(const Shape& shape, std::uint32_t segments) {
    return [n = shape.n, root = static_cast<std::uint32_t>(shape.root),
            cut = Segments(shape.bytes, segments, shape.element)](Rank rank, Schedule& into) {
        if (n == 1) return;
        const std::uint32_t member = static_cast<std::uint32_t>(rank) ^ root;
        const Trees trees(log2_down(n), cut.count);
        for (std::int64_t t = 0; t < trees.rounds(); ++t) {
            const std::uint32_t partner = member ^ (1u << trees.dimension(t));
            const auto partner_rank = static_cast<Rank>(partner ^ root);
            const std::int64_t in = trees.received(member, t);
            const std::int64_t out = trees.received(partner, t);
            const auto round = static_cast<int>(t);
            const auto part = [&](std::int64_t segment) {
                return Place{Buffer::kOutput, cut.offset(static_cast<std::uint32_t>(segment))};
            };
            const auto length = [&](std::int64_t segment) {
                return cut.length(static_cast<std::uint32_t>(segment));
            };
            if (in >= 0) into.receive(partner_rank, part(in), length(in), round);
            if (out >= 0) into.send(partner_rank, part(out), length(out), round);
            into.wait();
        }
    };
}

Counts bcast_edst_counts(const Shape& shape, std::uint32_t segments) {
    if (shape.n == 1) return {};
    const Segments cut(shape.bytes, segments, shape.element);
    const std::uint64_t rounds = cut.count + static_cast<std::uint64_t>(log2_down(shape.n)) - 1;
    return {rounds, rounds * cut.size, (shape.n - 1) * shape.bytes};
}

}  // namespace poe::collectives
