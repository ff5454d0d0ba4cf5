// A collective call on long data in the shared memory of a group (group_segment.hpp), in which each byte
// goes from one member to one other: index and shift, and of two members concat and combine, where
// each adds the other's vector to its own. One pair after the other: in the d-th of n - 1 rounds of
// an index each member gives to the one d after it, and takes from the one d before. Apart from
// CopyInOut, in whose pieces all have to do with all.
//
// A member waits for its taker and its giver alone, and pieces are long, so that where tasks share
// cores each does much in its turn. Two copies, but the first one ends in the cache, and where all
// the data take half of the caches or more the second one goes past them: less goes through memory
// than in one copy by the kernel. A member fills the slot of its next piece before it takes
// the last one.
//
// To write to a line that another core has in a cache of its own takes 25 to 35 ns. So a piece that
// is shorter than a slot lies at another place in it each time round, until the pieces in between
// fill such a cache (kCoreCache): 64 KB between two members take 0.7 of the time. And between cores
// without a common cache pieces are written past them: 0.2 of the time (non_temporal_tuner.hpp).
//
// Invariant: from the time that a member tells of its slot in call c until that call's taker is
// through with it, the slot holds one piece for that taker and nobody writes to it; its member does
// next in call c + kPairStages. Nobody waits for ever: giving in call c waits for others to be
// through with call c - kPairStages, c - 2 at the latest, and for the own taking in c - 2; taking
// in call c waits for the giver to have given in c. So the least call under way can go on.
#pragma once

#include "collectives/call/call.hpp"
#include "collectives/shm/group_segment.hpp"
#include "collectives/shm/non_temporal_tuner.hpp"
#include "collectives/shm/slot_copy.hpp"

namespace poe::collectives {

class PairwiseExchange {
  public:
    // Whether such a call can be made. Depends on the shape only, so all members agree.
    static bool fits(const Shape& shape) noexcept;
    // The memory that the members of a group of this size need.
    static constexpr GroupSegment::Sizes sizes(std::uint32_t members) noexcept {
        static_assert(kPairStages >= 2);
        return {kPairStages, pair_bytes(members) + kLine, 0, 0, kLine};
    }

    struct Tools {
        NonTemporalTuner& stores;      // knows what such pieces cost in calls before
        bool non_temporal;             // what all members give and get is much for the caches
        std::uint32_t tasks_per_core;  // of the node; of all members the same
    };
    // All must outlive it; `commons` is of sizes(shape.n).
    PairwiseExchange(const Shape& shape, const Run& run, GroupSegment& commons, const Tools& tools,
                     GroupSegment::Host& host, std::uint32_t me);
    // Makes it. Blocking.
    void run();

  private:
    static constexpr Bytes kCoreCache = Bytes{2} << 20;
    // A piece on its way: whom this member gives it to and whom it takes one from, or
    // GroupSegment::kNobody, and where in a block both lie.
    struct Step {
        std::uint32_t taker = 0;
        std::uint32_t giver = 0;
        Bytes from = 0;
        Bytes bytes = 0;
    };
    Step step_of(std::uint64_t number) const noexcept;
    void keep_own() const;
    std::byte* place(std::uint32_t member, std::uint64_t call, Bytes bytes) const;
    // How what is in the slot was written: behind the longest piece.
    std::byte& store_of(std::uint32_t member, std::uint64_t call) const {
        return commons_.slot_of(member, call)[piece_];
    }
    void give(const Step& step);
    void take(const Step& step, std::uint64_t call);
    void use(const Step& step, const std::byte* slot) const;
    bool is(Operation operation) const noexcept { return shape_.operation == operation; }

    const Shape& shape_;
    const Run& run_;
    GroupSegment& commons_;
    NonTemporalTuner& stores_;
    NonTemporalTuner::Pick pick_{Store::kOrdinary, false};  // of the last piece given
    bool non_temporal_;
    Bytes reach_;  // bytes that the slots of a member go through until one is used again
    GroupSegment::Host& host_;
    std::uint32_t me_;
    Bytes piece_;           // of a block, at most
    std::uint64_t pieces_;  // of a block
};

}  // namespace poe::collectives
