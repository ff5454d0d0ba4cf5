// ShmCollectives: collective calls of a group within one node in shared memory. It decides which
// calls can be made in this way, and what each member contributes, computes and copies in them. It
// is separate from the protocol (group_segment.hpp), which does not know operations.
#pragma once

#include <optional>
#include <vector>

#include "collectives/call/call.hpp"
#include "collectives/call/groups.hpp"
#include "collectives/shm/cache_line_exchange.hpp"
#include "collectives/shm/copy_in_out.hpp"
#include "collectives/shm/group_segment.hpp"
#include "collectives/shm/non_temporal_tuner.hpp"
#include "collectives/shm/pairwise_exchange.hpp"
#include "collectives/shm/pipeline_segment.hpp"
#include "collectives/shm/pipelined_reduce.hpp"
#include "comm/bootstrap/runtime.hpp"

namespace poe::collectives {

class ShmCollectives final : private GroupSegment::Host {
  public:
    // Without shared memory: no call can be made.
    ShmCollectives() = default;
    // Uses a common piece of the node's segment that rank 0 has reserved (take_memory). `runtime`
    // and `group` must outlive this object. For one thread at a time. Throws Error.
    ShmCollectives(comm::Runtime& runtime, const Group& group, std::uint32_t piece);
    // Leaves the segment. The last member to leave clears it and gives the common piece back.
    ~ShmCollectives() override;
    ShmCollectives(const ShmCollectives&) = delete;
    ShmCollectives& operator=(const ShmCollectives&) = delete;

    // Reserves one of the node's common pieces for a group. Empty if all are in use or memory is
    // short; the latter is reported.
    static std::optional<std::uint32_t> take_memory(comm::Runtime& runtime);
    // The bytes that a group of this size needs, without the memory for long calls: at most
    // common_bytes (segment_layout.hpp) of the same or any larger number of members.
    static Bytes bytes_for(std::uint32_t members) noexcept;
    // True if calls of this shape can be made in this way. Depends on the shape only, so all
    // members decide alike.
    static bool fits(const Shape& shape) noexcept;
    // True if all members are on this task's node and there is shared memory.
    static bool possible(comm::Runtime& runtime, const Group& group) noexcept;

    bool available() const noexcept { return long_.has_value(); }
    // True if there is memory for a call of this shape. Precondition: fits(shape). The first such
    // call reserves what long data need. All members call this at the same call and get the same
    // answer. Blocks.
    bool has_memory_for(const Shape& shape);
    // True if `has` is true at all members, which call this at the same call. Blocks.
    bool all_have(bool has);
    // The protocol and the memory of a call. To find them costs as much as a short call, so the
    // caller keeps them. They depend on the operation, the lengths and `barrier`.
    struct Route {
        enum class How : std::uint8_t {
            kLines,
            kRelayed,
            kStaged,
            kPaired,
            kShift,
            kGather,
            kSwap,
            kFromRoot,
            kAllGive,
        };
        How how = How::kAllGive;
        bool sync_first = false;
        GroupSegment* memory = nullptr;
        bool non_temporal = false;  // long data that take half of the last-level caches or more
    };
    // Precondition: has_memory_for(shape). `barrier`: no member finishes before all have begun;
    // must be false for a broadcast or a scatter.
    Route route(const Shape& shape, bool barrier);
    // Makes the call; blocks.
    void run(const Route& route, const Shape& shape, const Run& run);

    // For exchanges with the other members (SingleCopyCalls). Precondition: available().
    GroupSegment& exchange() noexcept { return *short_; }
    GroupSegment::Host& host() noexcept { return *this; }

  private:
    static bool fits_at_once(const Shape& shape) noexcept;
    void sync();
    void relay(GroupSegment& commons, const Shape& shape, const Run& run);
    void shift(GroupSegment& commons, const Shape& shape, const Run& run);
    void gather(GroupSegment& commons, const Shape& shape, const Run& run);
    void swap(GroupSegment& commons, const Shape& shape, const Run& run);
    void from_root(GroupSegment& commons, const Shape& shape, const Run& run);
    void all_give(GroupSegment& commons, const Shape& shape, const Run& run);
    static std::optional<PipelineSegment::Kind> kind_of(const Shape& shape) noexcept;
    std::uint32_t first_without(bool has);
    GroupSegment& memory_for(const Shape& shape) noexcept;
    GroupSegment& one_way_memory_for(const Shape& shape) noexcept;
    void wait(const std::function<bool()>& over,
              const std::function<std::uint32_t()>& whom) override;
    void fence() noexcept override { runtime_->fences().light(); }
    void wake_others() noexcept override;
    void wake(std::uint32_t member) noexcept override;

    comm::Runtime* runtime_ = nullptr;
    const Group* group_ = nullptr;
    std::uint32_t piece_ = 0;
    std::uint32_t me_ = 0;
    int looks_ = 0;  // polls for one member before this one gives up its core
    SegmentMapping memory_;
    std::optional<GroupSegment> short_;
    std::optional<GroupSegment> long_;
    std::optional<GroupSegment> packed_;
    std::optional<CacheLineExchange> lines_;
    std::optional<PipelineSegment> long_memory_;
    comm::RingCopy into_slots_;           // of CopyInOut and PipelinedReduce,
    NonTemporalTuner stores_;             // and of PairwiseExchange
    std::vector<std::uint32_t> indices_;  // index of each member within the node
    std::vector<const TaskSlot*> slots_;  // slot of each member
    std::vector<std::byte> scratch_;      // for users' functions
};

}  // namespace poe::collectives
