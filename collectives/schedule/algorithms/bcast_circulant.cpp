// Broadcast in a pipeline for any number of ranks, along a circulant graph of ceil(log n) distances
// (circulant_blocks.hpp). For s segments and q = ceil(log n), C1 = s + q - 1, which is optimal; C2
// = the bytes of C1 segments; C3 = m (n - 1). For any n it achieves what edge-disjoint trees
// achieve for powers of two, and it needs one round less than cascaded hypercubes (CCL paper,
// IV.B).
//
// The rounds form phases of q rounds; circulant_blocks.hpp says which segment arrives in which
// round. The first phase begins late, so that the last one ends with the last segment: its first
// `late_` rounds are omitted. Segments below 0 are not sent. Segments beyond the last one stand for
// the last one, and a rank receives only the first of these. A sender therefore checks what its
// receiver has got.
#include <algorithm>

#include "collectives/schedule/algorithms/algorithms.hpp"
#include "collectives/schedule/algorithms/circulant_blocks.hpp"

namespace poe::collectives {
namespace {

// The segments that one member receives, by round.
class Arrivals {
  public:
    Arrivals(const CirculantBlocks& blocks, std::uint32_t member, std::uint32_t segments)
        : q_(blocks.rounds()),
          late_((q_ - (segments - 1) % q_) % q_),
          last_(static_cast<std::int64_t>(segments) - 1),
          root_(member == 0),
          received_(blocks.received(member)) {
        for (std::uint32_t t = late_; !root_ && first_last_ == 0; ++t) {
            if (stream(t) >= last_) first_last_ = t + 1;
        }
    }

    std::uint32_t begin() const { return late_; }
    std::uint32_t end() const { return late_ + static_cast<std::uint32_t>(last_) + q_; }
    std::uint32_t place_in_phase(std::uint32_t t) const { return t % q_; }

    // Returns the segment that arrives in round t; -1: none.
    std::int64_t segment(std::uint32_t t) const {
        if (root_) return -1;
        const std::int64_t segment = stream(t);
        if (segment < last_) return std::max<std::int64_t>(segment, -1);
        return t + 1 == first_last_ ? last_ : -1;
    }

  private:
    std::int64_t stream(std::uint32_t t) const {
        return std::int64_t{received_[t % q_]} + std::int64_t{t / q_} * q_ - late_;
    }

    std::uint32_t q_;
    std::uint32_t late_;
    std::int64_t last_;
    bool root_;
    std::uint32_t first_last_ = 0;  // 1 + the round in which the last segment arrives
    std::vector<std::int32_t> received_;
};

}  // namespace

Generator bcast_circulant(const Shape& shape, std::uint32_t segments) {
    return [n = shape.n, root = static_cast<std::uint32_t>(shape.root),
            cut = Segments(shape.bytes, segments, shape.element)](Rank rank, Schedule& into) {
        if (n == 1) return;
        const CirculantBlocks blocks(n);
        const std::uint32_t member = (static_cast<std::uint32_t>(rank) + n - root) % n;
        const Arrivals own(blocks, member, cut.count);
        std::vector<Arrivals> receivers;
        for (std::uint32_t k = 0; k < blocks.rounds(); ++k)
            receivers.emplace_back(blocks, (member + blocks.distance(k)) % n, cut.count);
        const auto rank_of = [n, root](std::uint32_t of) {
            return static_cast<Rank>((of + root) % n);
        };
        const auto part = [&](std::int64_t segment) {
            return Place{Buffer::kOutput, cut.offset(static_cast<std::uint32_t>(segment))};
        };
        const auto length = [&](std::int64_t segment) {
            return cut.length(static_cast<std::uint32_t>(segment));
        };
        for (std::uint32_t t = own.begin(); t < own.end(); ++t) {
            const std::uint32_t k = own.place_in_phase(t);
            const std::uint32_t distance = blocks.distance(k);
            const auto round = static_cast<int>(t - own.begin());
            const std::int64_t in = own.segment(t);
            const std::int64_t out = receivers[k].segment(t);
            if (in >= 0) into.receive(rank_of(member + n - distance), part(in), length(in), round);
            if (out >= 0) into.send(rank_of(member + distance), part(out), length(out), round);
            into.wait();
        }
    };
}

Counts bcast_circulant_counts(const Shape& shape, std::uint32_t segments) {
    if (shape.n == 1) return {};
    const Segments cut(shape.bytes, segments, shape.element);
    const std::uint64_t rounds = cut.count + static_cast<std::uint64_t>(log2_up(shape.n)) - 1;
    return {rounds, rounds * cut.size, (shape.n - 1) * shape.bytes};
}

}  // namespace poe::collectives
