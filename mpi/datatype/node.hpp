// Node: the memory layout of a datatype as a tree of loops over contiguous runs of bytes. Every
// constructor of MPI becomes a call of repeat() or a few calls of a NodeJoiner, which keep the tree
// small: they merge adjacent runs, collapse nested loops, and recognise equal distances.
//
//   kind        data, in the order of the packed form
//   kRun        `size` contiguous bytes
//   kLoop       `count` copies of `child`, `stride` bytes apart
//   kBlocks     runs at the displacements `at`, all of `block` bytes, or of different lengths
//   kSequence   the nodes `children` at the displacements `at`
//
// Nodes are immutable and shared: a type that is built from another one uses its nodes. A tree is
// typed, each run consists of elements of one basic type, until erase_types() makes of it the tree
// from which data is moved.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/types.hpp"

namespace poe::mpi {

struct Node;
using NodePtr = std::shared_ptr<const Node>;

// A node and the displacement of its data in bytes. No node: no data.
struct Placed {
    std::int64_t at = 0;
    NodePtr node;
};

// The elements of a run: the handle of their basic type as a number, and its size in bytes.
struct Unit {
    std::uint16_t basic = 0;
    std::uint16_t bytes = 1;
    bool operator==(const Unit&) const = default;
};

struct Node {
    enum class Kind : std::uint8_t { kRun, kLoop, kBlocks, kSequence };

    Kind kind = Kind::kRun;
    bool uniform = true;  // all elements are of the basic type `unit`
    Unit unit;
    Bytes size = 0;             // of the packed form; at least 1
    std::int64_t elements = 0;  // basic elements

    // kLoop
    std::int64_t count = 0;
    std::int64_t stride = 0;
    NodePtr child;

    // kBlocks and kSequence
    Bytes block = 0;               // kBlocks: the length of every block; 0: lengths differ
    std::vector<std::int64_t> at;  // displacement of each block or child
    std::vector<Bytes>
        start;  // where each begins in the packed form, and the size; empty if `block`
    std::vector<NodePtr> children;            // kSequence
    std::vector<std::int64_t> first_element;  // kSequence: elements before each child

    // The block or child that contains byte `offset` of the packed form. Requires offset < size.
    std::size_t find(Bytes offset) const noexcept;
    Bytes start_of(std::size_t i) const noexcept { return block != 0 ? i * block : start[i]; }
    Bytes end_of(std::size_t i) const noexcept {
        return block != 0 ? (i + 1) * block : start[i + 1];
    }
};

// A contiguous run of `length` bytes. Requires length > 0.
NodePtr make_run(Unit unit, Bytes length);

// `count` copies of `one`, `stride` bytes apart. Requires count >= 0.
Placed repeat(const Placed& one, std::int64_t count, std::int64_t stride);

// Puts nodes one after the other in the packed form, each at its own displacement.
class NodeJoiner {
  public:
    // If `typed` is false, adjacent runs of different basic types are merged, too.
    explicit NodeJoiner(bool typed) : typed_(typed) {}

    void add(const Placed& part) { add(part.at, part.node); }
    void add(std::int64_t at, const NodePtr& node);
    // The joined node. The joiner is then empty.
    Placed finish();

  private:
    // A run if `node` is null.
    struct Item {
        std::int64_t at;
        Bytes length;
        NodePtr node;
        Unit unit;
    };
    Placed join_runs(std::span<const Item> runs) const;
    bool same(Unit a, Unit b) const noexcept { return !typed_ || a == b; }

    std::vector<Item> items_;
    bool typed_;
};

// The same data without regard to basic types: runs of different basic types are merged where they
// are adjacent. Shares what it can with `typed`.
Placed erase_types(const Placed& typed);

}  // namespace poe::mpi
