// Building blocks that several algorithms are made of. Each writes one member's part into a
// schedule that may have other parts before and after it, and ends with nothing under way.
#pragma once

#include <functional>
#include <vector>

#include "collectives/schedule/shape.hpp"
#include "collectives/schedule/split_tree.hpp"

namespace poe::collectives {

// Where the block of a member, or the blocks from it on, lie in the memory of whoever asks.
using PlaceOf = std::function<Place(std::uint32_t member)>;
// Bytes of the blocks of so many members from `first` on.
using BytesOf = std::function<Bytes(std::uint32_t first, std::uint32_t count)>;

// What `length` bytes at `data` of the root are, those of all members become. One round per depth.
void fan_out(Schedule& schedule, const Members& members, std::uint32_t root, std::uint32_t member,
             const SplitRule& split, Place data, Bytes length);

// `data` of the root becomes the reduction of the `data` of all; that of the others is spent.
// `received` is room for `length` bytes. Returns the rounds.
int fan_in(Schedule& schedule, const Members& members, std::uint32_t root, std::uint32_t member,
           const SplitRule& split, Place data, Place received, Bytes length);

// The same without data: nobody is through before the root has begun; the root is not through
// before all have begun (the sync-out and the sync-in of the CCL paper, III.C).
void sync_out(Schedule& schedule, const Members& members, std::uint32_t root, std::uint32_t member,
              const SplitRule& split);
int sync_in(Schedule& schedule, const Members& members, std::uint32_t root, std::uint32_t member,
            const SplitRule& split);

// Each member gets its block from the root, and in passing those of its subtree. place(m): where a
// member has or wants the blocks of its own subtree from m on.
void tree_scatter(Schedule& schedule, const Members& members, std::uint32_t root,
                  std::uint32_t member, const SplitRule& split, const BytesOf& bytes,
                  const PlaceOf& place);
void tree_gather(Schedule& schedule, const Members& members, std::uint32_t root,
                 std::uint32_t member, const SplitRule& split, const BytesOf& bytes,
                 const PlaceOf& place);

// Which of n blocks have bytes, so that a walk past many empty ones (a short vector cut for many
// ranks) costs nothing for them. Made once for all ranks, in n steps.
class Filled {
  public:
    Filled(std::uint32_t n, const BytesOf& bytes);

    // How far down from `block`, around the end, the nearest one with bytes is; n: there is none.
    std::uint32_t below(std::uint32_t block) const noexcept { return below_[block]; }

  private:
    std::vector<std::uint32_t> below_;
};

// The rounds 0 .. n - 2 of a ring in which there is something to receive or to send. In round r a
// member that begins with the block `first` sends block first - r and receives the one below.
// visit(round, out, in).
template <typename Visit>
void for_ring_rounds(std::uint32_t n, std::uint32_t first, const Filled& filled, Visit visit) {
    for (std::uint32_t round = 0; round + 1 < n; ++round) {
        std::uint32_t out = (first + n - round) % n;
        std::uint32_t in = (out + n - 1) % n;
        if (filled.below(out) > 0) round += filled.below(in);
        if (round + 1 >= n) return;
        out = (first + n - round) % n;
        in = (out + n - 1) % n;
        visit(round, out, in);
    }
}

// Each member has its block at place(member) and gets all others. count - 1 rounds.
void ring_concat(Schedule& schedule, const Members& members, std::uint32_t member,
                 const BytesOf& bytes, const Filled& filled, const PlaceOf& place);

// All members, a power of two of them or not, get the reduction of the `data` of all, in rank
// order.
void butterfly(Schedule& schedule, const Members& members, std::uint32_t member, Place data,
               Place received, Bytes length);
Counts butterfly_counts(std::uint32_t members, Bytes length);

// A vector of whole elements cut into as equal parts as can be.
struct Parts {
    Bytes bytes = 0;
    Bytes element = 1;
    std::uint32_t parts = 1;

    Bytes elements() const noexcept { return element > 0 ? bytes / element : 0; }
    Bytes offset(std::uint32_t part) const noexcept { return elements() * part / parts * element; }
    Bytes length(std::uint32_t first, std::uint32_t count) const noexcept {
        return offset(first + count) - offset(first);
    }
    Bytes largest(std::uint32_t count) const noexcept {
        return (elements() * count + parts - 1) / parts * element;
    }
};

// Segments of a vector that is sent in a pipeline: all of `size` bytes but perhaps the last. Whole
// elements where there are any (0: bytes).
struct Segments {
    Segments(Bytes bytes, std::uint32_t wanted, Bytes element);

    Bytes bytes;
    Bytes size;
    std::uint32_t count;

    Bytes offset(std::uint32_t segment) const noexcept { return size * segment; }
    Bytes length(std::uint32_t segment) const noexcept {
        return segment + 1 < count ? size : bytes - offset(segment);
    }
};

}  // namespace poe::collectives
