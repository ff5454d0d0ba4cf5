// The segments of a circulant pipeline; see circulant_blocks.hpp.
//
// A member r is reached along sums of distances, each of which is used once. The search goes from
// member 0 towards r, with the longest distances first. For each round k it keeps the longest
// distance that ends close enough to r: at least d(k) and at most d(k + 1) away. The first distance
// of a path determines which segment is sent along it. A distance that has been assigned to a round
// is removed from the list of distances, so the search does not consider it again.
#include "collectives/schedule/algorithms/circulant_blocks.hpp"

#include "base/check.hpp"
#include "collectives/schedule/shape.hpp"

namespace poe::collectives {

CirculantBlocks::CirculantBlocks(std::uint32_t n)
    : n_(n), rounds_(log2_up(n)), distances_(static_cast<std::size_t>(rounds_) + 1) {
    POE_CHECK(n >= 2, n);
    distances_.back() = n;
    for (std::size_t k = distances_.size() - 1; k-- > 0;)
        distances_[k] = (distances_[k + 1] + 1) / 2;
}

// The distance with which the greedy path from member 0 ends. The path takes it in the round of
// that number, so the member first gets the segment of that number. q for member 0.
int CirculantBlocks::base(std::uint32_t member) const noexcept {
    for (int k = rounds_; k-- > 0;) {
        const std::uint32_t distance = distances_[static_cast<std::size_t>(k)];
        if (distance == member) return k;
        if (distance < member) member -= distance;
    }
    return rounds_;
}

struct CirculantBlocks::Search {
    Search(const CirculantBlocks& of, std::uint32_t member)
        : blocks(of),
          target(std::int64_t{of.n_} + member),
          limit(2 * std::int64_t{of.n_}),
          found(static_cast<std::size_t>(of.rounds_)),
          next(static_cast<std::size_t>(of.rounds_) + 1),
          previous(next.size()) {
        for (int k = 0; k <= of.rounds_; ++k) {
            next[index(k)] = k - 1;
            previous[index(k)] = k + 1;
        }
        first = of.rounds_;
    }

    static std::size_t index(int k) { return static_cast<std::size_t>(k); }
    std::int64_t distance(int k) const { return blocks.distances_[index(k)]; }
    bool complete() const { return round == blocks.rounds_; }

    void take_out(int k) {
        const int after = next[index(k)];
        const int before = previous[index(k)];
        if (after >= 0) previous[index(after)] = before;
        if (before <= blocks.rounds_) {
            next[index(before)] = after;
        } else {
            first = after;
        }
    }

    // Continues from `at`, with the distances from `from` on in the list, until all rounds have a
    // distance or no path that starts here ends nearer.
    void go(std::int64_t at, int from) {
        for (int k = from; k >= 0 && !complete(); k = next[index(k)]) {
            const std::int64_t there = at + distance(k);
            if (there > target - distance(round) || there >= limit) continue;
            if (there <= target - distance(round + 1)) {
                go(there, k);
                if (complete()) return;
            }
            if (at > target - distance(round + 1)) return;
            limit = there;
            found[index(round++)] = k;
            take_out(k);
        }
    }

    const CirculantBlocks& blocks;
    std::int64_t target;
    std::int64_t limit;  // the end of the last path found, nearer to the start in each step
    int round = 0;       // the round to find a distance for
    int first = 0;       // of the list
    std::vector<std::int32_t> found;
    std::vector<int> next;
    std::vector<int> previous;
};

std::vector<std::int32_t> CirculantBlocks::received(std::uint32_t member) const {
    const int own = base(member);
    Search search(*this, member);
    search.take_out(own);
    search.go(0, search.first);
    POE_CHECK(search.complete(), n_, member, search.round);
    for (std::int32_t& segment : search.found)
        segment = segment == rounds_ ? own : segment - rounds_;
    return search.found;
}

}  // namespace poe::collectives
