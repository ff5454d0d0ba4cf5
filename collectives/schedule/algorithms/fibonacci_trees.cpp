// Builds the trees and colours their edges; see fibonacci_trees.hpp.
#include "collectives/schedule/algorithms/fibonacci_trees.hpp"

#include <algorithm>
#include <queue>

#include "base/check.hpp"

namespace poe::collectives {
namespace {

constexpr std::uint32_t kNone = ~0u;

struct Edge {
    std::uint32_t tree;
    std::uint32_t from;
    std::uint32_t to;
    std::uint32_t colour = kNone;
};

// The edges of a bipartite graph without vertices of more than k edges, coloured one after the
// other with k colours.
class Colouring {
  public:
    Colouring(std::uint32_t n, std::uint32_t k)
        : k_(k), by_sender_(std::size_t{n} * k, kNone), by_receiver_(by_sender_) {}

    // Colours one more edge, if possible with the colour that is wanted. The colours of other edges
    // may change.
    void add(std::vector<Edge>& edges, std::uint32_t number, std::uint32_t wanted) {
        Edge& edge = edges[number];
        if (is_free(by_sender_, edge.from, wanted) && is_free(by_receiver_, edge.to, wanted))
            return set(edge, number, wanted);
        for (std::uint32_t i = 1; i < k_; ++i) {
            const std::uint32_t colour = (wanted + i) % k_;
            if (is_free(by_sender_, edge.from, colour) && is_free(by_receiver_, edge.to, colour))
                return set(edge, number, colour);
        }
        const std::uint32_t at_sender = first_free(by_sender_, edge.from);
        exchange(edges, edge.to, at_sender, first_free(by_receiver_, edge.to));
        set(edge, number, at_sender);
    }

    bool can_receive(std::uint32_t member, std::uint32_t colour) const {
        return by_receiver_[std::size_t{member} * k_ + colour] == kNone;
    }

  private:
    using Slots = std::vector<std::uint32_t>;  // [member * k + colour]: the edge, or kNone

    bool is_free(const Slots& slots, std::uint32_t member, std::uint32_t colour) const {
        return slots[std::size_t{member} * k_ + colour] == kNone;
    }
    std::uint32_t first_free(const Slots& slots, std::uint32_t member) const {
        std::uint32_t colour = 0;
        while (!is_free(slots, member, colour)) ++colour;
        POE_CHECK(colour < k_, member);
        return colour;
    }
    void set(Edge& edge, std::uint32_t number, std::uint32_t colour) {
        edge.colour = colour;
        by_sender_[std::size_t{edge.from} * k_ + colour] = number;
        by_receiver_[std::size_t{edge.to} * k_ + colour] = number;
    }

    // Exchanges two colours along the path of edges with these colours that begins at a receiver,
    // with an edge of the first colour. The receiver has no edge of the second one.
    void exchange(std::vector<Edge>& edges, std::uint32_t receiver, std::uint32_t first,
                  std::uint32_t second) {
        std::vector<std::uint32_t> path;
        for (std::uint32_t at = receiver;;) {
            const std::uint32_t in = by_receiver_[std::size_t{at} * k_ + first];
            if (in == kNone) break;
            path.push_back(in);
            const std::uint32_t out = by_sender_[std::size_t{edges[in].from} * k_ + second];
            if (out == kNone) break;
            path.push_back(out);
            at = edges[out].to;
        }
        for (const std::uint32_t number : path) {
            const Edge& edge = edges[number];
            by_sender_[std::size_t{edge.from} * k_ + edge.colour] = kNone;
            by_receiver_[std::size_t{edge.to} * k_ + edge.colour] = kNone;
        }
        for (const std::uint32_t number : path)
            set(edges[number], number, edges[number].colour == first ? second : first);
    }

    std::uint32_t k_;
    Slots by_sender_;
    Slots by_receiver_;
};

// The edges of k trees over members 0 .. n - 1.
class Builder {
  public:
    Builder(std::uint32_t n, std::uint32_t k)
        : n_(n), k_(k), sends_(n), placed_(k, std::vector<bool>(n)), colouring_(n, k) {}

    std::vector<Edge> build() {
        // Inner edges come first, because they have the choice of colours.
        for (std::uint32_t tree = 0; tree < k_; ++tree) add_inner_members(tree);
        for (std::uint32_t tree = 0; tree < k_; ++tree) add_leaves(tree);
        // A tree whose inner members have not enough rounds left also uses those of others.
        for (std::uint32_t tree = 0; tree < k_; ++tree) add_rest(tree);
        return std::move(edges_);
    }

  private:
    struct Slot {
        std::uint32_t round;
        std::uint32_t member;
        bool operator>(const Slot& other) const {
            return round != other.round ? round > other.round : member > other.member;
        }
    };
    using Slots = std::priority_queue<Slot, std::vector<Slot>, std::greater<>>;

    bool is_inner(std::uint32_t tree, std::uint32_t member) const {
        return (member - 1) % k_ == tree;
    }

    void add(std::uint32_t tree, std::uint32_t from, std::uint32_t to, std::uint32_t round) {
        edges_.push_back({tree, from, to});
        ++sends_[from];
        placed_[tree][to] = true;
        colouring_.add(edges_, static_cast<std::uint32_t>(edges_.size() - 1), round % k_);
    }

    // Each member that has the packet sends it in the next k rounds, to inner members first.
    void add_inner_members(std::uint32_t tree) {
        Slots& slots = slots_.emplace_back();
        placed_[tree][0] = true;
        add(tree, 0, tree + 1, tree);
        slots.push({tree + 1, tree + 1});
        for (std::uint32_t member = tree + 1 + k_; member < n_; member += k_) {
            const Slot slot = take(slots);
            add(tree, slot.member, member, slot.round);
            slots.push({slot.round + 1, member});
        }
    }

    void add_leaves(std::uint32_t tree) {
        std::vector<std::uint32_t> leaves;
        for (std::uint32_t member = 1; member < n_; ++member)
            if (!is_inner(tree, member)) leaves.push_back(member);
        Slots& slots = slots_[tree];
        while (!leaves.empty() && !slots.empty()) {
            const Slot slot = take(slots);
            // A leaf that receives nothing else in this round.
            auto leaf = std::find_if(leaves.begin(), leaves.end(), [&](std::uint32_t member) {
                return colouring_.can_receive(member, slot.round % k_);
            });
            if (leaf == leaves.end()) leaf = leaves.begin();
            add(tree, slot.member, *leaf, slot.round);
            leaves.erase(leaf);
        }
    }

    void add_rest(std::uint32_t tree) {
        for (std::uint32_t member = 1; member < n_; ++member) {
            if (placed_[tree][member]) continue;
            std::uint32_t from = 1;
            while (from < n_ && (sends_[from] >= k_ || !placed_[tree][from])) ++from;
            POE_CHECK(from < n_, n_, k_, tree, member);
            add(tree, from, member, 0);
        }
    }

    // Takes the earliest round in which an inner member can send, and leaves its next one.
    Slot take(Slots& slots) {
        const Slot slot = slots.top();
        slots.pop();
        if (sends_[slot.member] + 1 < k_) slots.push({slot.round + 1, slot.member});
        return slot;
    }

    std::uint32_t n_;
    std::uint32_t k_;
    std::vector<Edge> edges_;
    std::vector<std::uint32_t> sends_;
    std::vector<std::vector<bool>> placed_;  // [tree][member]
    std::vector<Slots> slots_;
    Colouring colouring_;
};

}  // namespace

FibonacciTrees::FibonacciTrees(std::uint32_t n, std::uint32_t k) : k_(k), received_(n), sent_(n) {
    POE_CHECK(n >= 2 && n <= kMostMembers && k >= 1 && k < n, n, k);
    const std::vector<Edge> edges = Builder(n, k).build();
    std::vector<std::vector<std::uint32_t>> from(n);  // the edges by their sender
    std::vector<std::uint32_t> colour_of_tree(k);
    for (std::uint32_t i = 0; i < edges.size(); ++i) {
        from[edges[i].from].push_back(i);
        if (edges[i].from == 0) colour_of_tree[edges[i].tree] = edges[i].colour;
    }
    for (std::uint32_t tree = 0; tree < k; ++tree) {
        const std::uint32_t start = colour_of_tree[tree];
        // The members that have the packet, and the round after which they have it.
        std::vector<std::pair<std::uint32_t, std::uint32_t>> having{{0, start}};
        for (std::size_t at = 0; at < having.size(); ++at) {
            const auto [member, earliest] = having[at];
            for (const std::uint32_t number : from[member]) {
                const Edge& edge = edges[number];
                if (edge.tree != tree) continue;
                const std::uint32_t round = earliest + (edge.colour + k - earliest % k) % k;
                sent_[member].push_back({start, edge.to, round});
                received_[edge.to].push_back({start, member, round});
                delay_ = std::max(delay_, round - start);
                having.emplace_back(edge.to, round + 1);
            }
        }
    }
}

FibonacciTrees::FibonacciTrees(std::uint32_t n) : FibonacciTrees(n, 1) {
    // About log log n trees are best.
    constexpr std::uint32_t kMostTrees = 6;
    for (std::uint32_t k = 2; k <= kMostTrees && k < n; ++k) {
        FibonacciTrees other(n, k);
        if (other.delay_ < delay_) *this = std::move(other);
    }
}

}  // namespace poe::collectives
