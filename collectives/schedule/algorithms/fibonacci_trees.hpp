// FibonacciTrees: the trees of a pipelined broadcast to n ranks (Bruck, Cypher, Ho 1992, which the
// CCL paper cites in IV.B). It is separate from bcast_fibonacci.cpp because it is a computation
// that is tested by itself.
//
// There are k trees over all members, of which member 0 is the root. The packets go down the trees
// in turn: packet p goes down tree p mod k. In each tree a member sends every packet to at most k
// others, in the k rounds after it has received it. The number of members that such a tree reaches
// grows by a generalized Fibonacci sequence: N(t) is the sum of N(t-1) .. N(t-k), and more than
// that at the beginning. Each member other than the root sends in one tree only, with few
// exceptions, and is a leaf in the others. Thus it sends and receives one packet in each round.
//
// No member receives two packets in one round, or sends two. The rounds are found by colouring
// edges. The graph has a vertex for each member as a sender and another one for it as a receiver;
// its edges are those of all trees. No vertex has more than k edges, and the graph is bipartite.
// Therefore k colours suffice. An edge of colour c is used in the rounds c, c + k, c + 2 k, and so
// on, from the first one after its sender has the packet. Edges between members that send in a tree
// get their colours first, those of the earliest rounds. Edges to leaves get the remaining colours.
#pragma once

#include <cstdint>
#include <vector>

namespace poe::collectives {

class FibonacciTrees {
  public:
    // The maximum number of members; building costs up to n^2 steps.
    static constexpr std::uint32_t kMostMembers = 1024;

    // Precondition: 2 <= n <= kMostMembers. Takes the number of trees with the smallest delay.
    explicit FibonacciTrees(std::uint32_t n);
    // With k trees, 1 <= k < n.
    FibonacciTrees(std::uint32_t n, std::uint32_t k);

    // What a member does every k rounds, from `round` on: it receives a packet of the tree from the
    // peer, or sends it to the peer. In `round` it is the first packet of the tree, which has the
    // tree's number. The trees are numbered in the order in which the root sends.
    struct Transfer {
        std::uint32_t tree = 0;
        std::uint32_t peer = 0;
        std::uint32_t round = 0;
    };
    std::uint32_t trees() const noexcept { return k_; }
    // No two transfers of one list have rounds with the same remainder modulo k.
    const std::vector<Transfer>& received(std::uint32_t member) const { return received_[member]; }
    const std::vector<Transfer>& sent(std::uint32_t member) const { return sent_[member]; }
    // The largest number of rounds between the sending of a packet by the root and its last
    // arrival; 0 if all receive it from the root.
    std::uint32_t delay() const noexcept { return delay_; }

  private:
    std::uint32_t k_;
    std::uint32_t delay_ = 0;
    std::vector<std::vector<Transfer>> received_;
    std::vector<std::vector<Transfer>> sent_;
};

}  // namespace poe::collectives
