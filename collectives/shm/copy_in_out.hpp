// A collective call on long data in the shared memory of a group (group_segment.hpp), piece by piece:
// members put pieces of what they give into slots, others take them from there. Two copies of each
// byte, but within the cores' caches. Apart from ShmCollectives, which has calls whose data fit into
// one slot, and one member work out what all get, and from PairwiseExchange, for what goes from one
// member to one other.
//
// Each piece is an exchange. Members fill the slots of the next piece before they take the last
// one, so with many tasks to a core each has to get a turn once a piece, not twice. In a
// combination each piece is cut into a slice for each member, which in a second round adds up that
// slice of all slots, in rank order, into slot 0; only then it is taken. So its functions are the
// predefined ones. Other reductions are handed on (pipelined_reduce.hpp).
#pragma once

#include "collectives/call/call.hpp"
#include "collectives/shm/group_segment.hpp"
#include "collectives/shm/slot_copy.hpp"

namespace poe::collectives {

class CopyInOut {
  public:
    // Whether such a call can be made. Depends on the shape only, so all members agree.
    static bool fits(const Shape& shape) noexcept;
    // The memory that the members of a group of this size need.
    static constexpr GroupSegment::Sizes sizes(std::uint32_t members) noexcept {
        return {kStages, stage_bytes(members), 0, 0, kLine};
    }

    // All must outlive it; `commons` is of sizes(shape.n).
    CopyInOut(const Shape& shape, const Run& run, GroupSegment& commons, const SlotCopy& copy,
              GroupSegment::Host& host, std::uint32_t me);
    // Makes it. Blocking.
    void run();

  private:
    // Where a piece of a block begins, and how long it is.
    struct Piece {
        Bytes from = 0;
        Bytes length = 0;
    };
    Piece piece_of(std::uint32_t rank, std::uint64_t number) const noexcept;
    std::uint64_t pieces() const noexcept;
    bool gives() const noexcept;
    void fill(std::uint64_t number);
    void work(std::uint64_t number);
    void drain(std::uint64_t number);
    void take(std::uint64_t number, std::uint64_t call);
    void take_all(std::uint64_t number, std::uint64_t call);
    void keep_own() const;
    bool is_root() const noexcept { return static_cast<Rank>(me_) == shape_.root; }

    const Shape& shape_;
    const Run& run_;
    GroupSegment& commons_;
    const SlotCopy copy_;
    GroupSegment::Host& host_;
    std::uint32_t me_;
    bool combines_;
    Bytes piece_;                   // of a block, at most
    std::uint64_t first_call_ = 0;  // that of piece 0
};

}  // namespace poe::collectives
