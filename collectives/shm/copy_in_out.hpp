// CopyInOut: a collective call on long data in the shared memory of a group (group_segment.hpp),
// piece by piece. Members copy pieces of their contributions into slots; others copy them out. Each
// byte is copied twice, but within the caches of the cores. It is separate from short calls
// (short_calls.hpp), which fit into one slot and let one member compute the result for all, and from
// PairwiseExchange, where each byte goes from one member to one other.
//
// Each piece is an exchange (group_segment.hpp). A member fills the slots of the next piece before
// it copies the last one out. If tasks share cores, each member therefore needs one turn on a core
// per piece, not two.
//
// A combine takes three steps per piece:
//   1. Every member copies its piece into its own slot.
//   2. The piece is divided into one slice per member. Each member reduces its slice of all slots,
//      in rank order, into slot 0.
//   3. When all slices are complete, every member copies slot 0 out.
// Because vectors are cut, a combine must use a predefined function. Other reductions are made by
// PipelinedReduce (pipelined_reduce.hpp).
#pragma once

#include "collectives/call/call.hpp"
#include "collectives/shm/group_segment.hpp"
#include "collectives/shm/slot_copy.hpp"

namespace poe::collectives {

class CopyInOut {
  public:
    // True if this path supports the call. Depends on the shape only, so all members decide alike.
    static bool fits(const Shape& shape) noexcept;
    // All referenced objects must outlive this object. `segment` has the sizes GroupSegment::staged_of(shape.n).
    CopyInOut(const Shape& shape, const Run& run, GroupSegment& segment, const SlotCopy& copy,
              GroupSegment::Host& host, std::uint32_t me);
    // Makes the call; blocks.
    void run();

  private:
    // A piece of a block: its position in the block and its length, in bytes.
    struct Piece {
        Bytes from = 0;
        Bytes length = 0;
    };
    Piece piece_of(std::uint32_t rank, std::uint64_t number) const noexcept;
    std::uint64_t pieces() const noexcept;
    bool gives() const noexcept;
    template <typename Visit>
    void each_slot(const Piece& piece, std::uint64_t call, Visit&& visit) const;
    void fill(std::uint64_t number);
    void work(std::uint64_t number);
    void drain(std::uint64_t number);
    void take(std::uint64_t number, std::uint64_t call);
    void take_all(std::uint64_t number, std::uint64_t call);
    void keep_own() const;
    bool is_root() const noexcept { return static_cast<Rank>(me_) == shape_.root; }

    const Shape& shape_;
    const Run& run_;
    GroupSegment& segment_;
    const SlotCopy copy_;
    GroupSegment::Host& host_;
    std::uint32_t me_;
    bool combines_;
    Bytes piece_;                   // of a block: the maximum length
    std::uint64_t first_call_ = 0;  // the number of the call for piece 0
};

}  // namespace poe::collectives
