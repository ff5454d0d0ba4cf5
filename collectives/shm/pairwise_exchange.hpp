// PairwiseExchange: a collective call on long data in the shared memory of a group
// (group_segment.hpp) in which each byte goes from one member to one other. The operations are
// index and shift, and, for two members, concat and combine, where each member adds the other's
// vector to its own. Pairs exchange one after the other: in round d of n - 1 rounds of an index,
// each member gives to the member d ranks after it and takes from the member d ranks before it. It
// is separate from CopyInOut, in whose pieces every member exchanges with every other one.
//
// A member waits only for its taker and its giver, and pieces are long, so a member that shares its
// core does much work in one turn. Each byte is copied twice, but the first copy ends in the cache.
// If all data take half of the caches or more, the second copy uses non-temporal stores. Both
// copies together then transfer fewer bytes to and from memory than one copy by the kernel. A
// member fills the slot of its next piece before it reads the last one.
//
// To write a line that another core holds in a private cache takes 25 to 35 ns. A piece that is
// shorter than a slot is therefore written to a different place in the slot each time, until the
// pieces in between fill such a cache (kCoreCache). 64 KB between two members then take 0.7 of the
// time. Between cores without a common cache, pieces are written with non-temporal stores, which
// takes 0.2 of the time (non_temporal_tuner.hpp).
//
// Invariant: from the time when a member publishes its slot in call c until the taker of that call
// has finished with it, the slot holds one piece for that taker and no member writes to it. The
// member writes it next in call c + kStages.
//
// No member waits forever, because the earliest call under way can always proceed:
//   - Giving in call c waits until others have finished call c - kStages, which is c - 2 or
//     earlier, and for the own taking in call c - 2.
//   - Taking in call c waits until the giver has given in call c.
#pragma once

#include "collectives/call/call.hpp"
#include "collectives/shm/group_segment.hpp"
#include "collectives/shm/non_temporal_tuner.hpp"
#include "collectives/shm/slot_copy.hpp"

namespace poe::collectives {

class PairwiseExchange {
  public:
    // True if this path supports the call. Depends on the shape only, so all members decide alike.
    static bool fits(const Shape& shape) noexcept;

    struct Tools {
        NonTemporalTuner& stores;      // remembers the cost of pieces in earlier calls
        bool non_temporal;             // all data of all members are large for the caches
        std::uint32_t tasks_per_core;  // of the node; the same at all members
    };
    // All referenced objects must outlive this object. `segment` has the sizes GroupSegment::staged_of(shape.n).
    PairwiseExchange(const Shape& shape, const Run& run, GroupSegment& segment, const Tools& tools,
                     GroupSegment::Host& host, std::uint32_t me);
    // Makes the call; blocks.
    void run();

  private:
    static constexpr Bytes kCoreCache = Bytes{2} << 20;
    static_assert(kStages >= 2);
    // A piece in transfer: the member that this member gives to and the member that it takes from
    // (or GroupSegment::kNobody), and the position and length of both pieces in their blocks, in
    // bytes.
    struct Step {
        std::uint32_t taker = 0;
        std::uint32_t giver = 0;
        Bytes from = 0;
        Bytes bytes = 0;
    };
    Step step_of(std::uint64_t number) const noexcept;
    void keep_own() const;
    std::byte* place(std::uint32_t member, std::uint64_t call, Bytes bytes) const;
    // How the piece in the slot was written (Store); stored after the longest piece.
    std::byte& store_of(std::uint32_t member, std::uint64_t call) const {
        return segment_.slot_of(member, call)[piece_];
    }
    void give(const Step& step);
    void take(const Step& step, std::uint64_t call);
    void use(const Step& step, const std::byte* slot) const;
    bool is(Operation operation) const noexcept { return shape_.operation == operation; }

    const Shape& shape_;
    const Run& run_;
    GroupSegment& segment_;
    NonTemporalTuner& stores_;
    NonTemporalTuner::Pick pick_{Store::kOrdinary, false};  // for the last piece given
    bool non_temporal_;
    Bytes reach_;  // the bytes of its slots that a member writes before it reuses one
    GroupSegment::Host& host_;
    std::uint32_t me_;
    Bytes piece_;           // of a block: the maximum length in bytes
    std::uint64_t pieces_;  // number of pieces of a block
};

}  // namespace poe::collectives
