// Building blocks of several algorithms. Each one writes one member's part into a schedule that may
// have other parts before and after it. No message is under way at its end.
#pragma once

#include <functional>
#include <vector>

#include "collectives/schedule/shape.hpp"
#include "collectives/schedule/split_tree.hpp"

namespace poe::collectives {

// The place of a member's block, and of the blocks after it, in the memory of the calling rank.
using PlaceOf = std::function<Place(std::uint32_t member)>;
// The bytes of the blocks of `count` members from `first` on.
using BytesOf = std::function<Bytes(std::uint32_t first, std::uint32_t count)>;

// Copies the `length` bytes at `data` of the root to all members. One round per level of the tree.
void fan_out(Schedule& schedule, const Members& members, std::uint32_t root, std::uint32_t member,
             const SplitRule& split, Place data, Bytes length);

// Reduces the `data` of all members into `data` of the root. The `data` of the others are
// overwritten. `received` is scratch memory of `length` bytes. Returns the number of rounds.
int fan_in(Schedule& schedule, const Members& members, std::uint32_t root, std::uint32_t member,
           const SplitRule& split, Place data, Place received, Bytes length);

// The same without data: in sync_out, no member finishes before the root has begun; in sync_in, the
// root does not finish before all have begun (the sync-out and sync-in of the CCL paper, III.C).
void sync_out(Schedule& schedule, const Members& members, std::uint32_t root, std::uint32_t member,
              const SplitRule& split);
int sync_in(Schedule& schedule, const Members& members, std::uint32_t root, std::uint32_t member,
            const SplitRule& split);

// Each member gets its block from the root; an inner member also forwards those of its subtree.
// place(m) is the place, at the calling member, of the blocks of its own subtree from m on.
void tree_scatter(Schedule& schedule, const Members& members, std::uint32_t root,
                  std::uint32_t member, const SplitRule& split, const BytesOf& bytes,
                  const PlaceOf& place);
void tree_gather(Schedule& schedule, const Members& members, std::uint32_t root,
                 std::uint32_t member, const SplitRule& split, const BytesOf& bytes,
                 const PlaceOf& place);

// Which of n blocks are not empty, so that a walk skips empty blocks without cost (a short vector
// cut for many ranks has many of them). Built once for all ranks, in n steps.
class Filled {
  public:
    Filled(std::uint32_t n, const BytesOf& bytes);

    // The distance from `block` down to the nearest non-empty block, around the end; n: there is
    // none.
    std::uint32_t below(std::uint32_t block) const noexcept { return below_[block]; }

  private:
    std::vector<std::uint32_t> below_;
};

// Calls visit(round, out, in) for those rounds 0 .. n - 2 of a ring in which the member sends or
// receives something. In round r, a member that begins with block `first` sends block first - r and
// receives the one below it.
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

// Each member has its block at place(member) and gets all others, in count - 1 rounds.
void ring_concat(Schedule& schedule, const Members& members, std::uint32_t member,
                 const BytesOf& bytes, const Filled& filled, const PlaceOf& place);

// All members get the reduction of the `data` of all, in rank order. Their number need not be a
// power of two.
void butterfly(Schedule& schedule, const Members& members, std::uint32_t member, Place data,
               Place received, Bytes length);
Counts butterfly_counts(std::uint32_t members, Bytes length);

// A vector of whole elements, cut into parts that are as equal as possible.
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

// The segments of a vector that is sent in a pipeline. All have `size` bytes, except perhaps the
// last. They consist of whole elements if the element size is known (0: bytes).
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
