// Collective calls on a group within one node, by shared memory (group_segment.hpp): which calls can be
// made this way, and what each member gives, works out and takes in them. Apart from the protocol,
// which does not know operations.
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
    // On a common piece of the node's segment that rank 0 has taken (take_memory). Throws Error.
    ShmCollectives(comm::Runtime& runtime, const Group& group, std::uint32_t piece);
    // This member is through with it.
    ~ShmCollectives() override;
    ShmCollectives(const ShmCollectives&) = delete;
    ShmCollectives& operator=(const ShmCollectives&) = delete;

    // A common piece for a group; none when all are in use, or there is no room for it, which is
    // told.
    static std::optional<std::uint32_t> take_memory(comm::Runtime& runtime);
    // The memory that a group of so many needs, without that for long calls: at most common_bytes
    // (segment_layout.hpp) of as many and any more.
    static Bytes bytes_for(std::uint32_t members) noexcept;
    // Whether calls of this shape can be made this way, and no other is faster. Depends on the
    // shape only, so all members agree.
    static bool fits(const Shape& shape) noexcept;
    // Whether the group is within this task's node, and there is shared memory at all.
    static bool possible(comm::Runtime& runtime, const Group& group) noexcept;

    bool available() const noexcept { return long_.has_value(); }
    // Whether there is memory for calls of that shape, which fits. Reserves what long data need at
    // the first such call; all members ask at the same one, and all get the same answer. Blocking.
    bool has_memory_for(const Shape& shape);
    // Whether all members say so: `has` of each. All ask at the same call. Blocking.
    bool all_have(bool has);
    // How the members talk in a call, and in which memory. Finding out costs as much as a short
    // call, so it is found out once; it depends on the operation, the lengths and `barrier`.
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
        bool non_temporal = false;  // of long data: it takes half of the last caches or more
    };
    // There must be memory for it. `barrier`: nobody is to get through before all have come; not
    // for a broadcast or a scatter.
    Route route(const Shape& shape, bool barrier);
    // Makes the call. Blocking.
    void run(const Route& route, const Shape& shape, const Run& run);

    // To exchange with the other members; available only.
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
    int looks_ = 0;  // for one member, before this one gives its core away
    SegmentMapping memory_;
    std::optional<GroupSegment> short_;
    std::optional<GroupSegment> long_;
    std::optional<GroupSegment> packed_;
    std::optional<CacheLineExchange> lines_;
    std::optional<PipelineSegment> long_memory_;
    comm::RingCopy into_slots_;           // of long calls in which all have to do with all,
    NonTemporalTuner stores_;             // and of those by pairs
    std::vector<std::uint32_t> indices_;  // of members, within the node
    std::vector<const TaskSlot*> slots_;  // theirs
    std::vector<std::byte> scratch_;      // for functions of the user's
};

}  // namespace poe::collectives
