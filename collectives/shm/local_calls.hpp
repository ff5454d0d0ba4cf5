// Collective calls on a group within one node, by shared memory (commons.hpp): which calls can be
// made this way, and what each member gives, works out and takes in them. Apart from the protocol,
// which does not know operations.
#pragma once

#include <optional>
#include <vector>

#include "collectives/call/call.hpp"
#include "collectives/call/groups.hpp"
#include "collectives/shm/commons.hpp"
#include "collectives/shm/line_calls.hpp"
#include "collectives/shm/long_memory.hpp"
#include "collectives/shm/pairwise_call.hpp"
#include "collectives/shm/relayed_call.hpp"
#include "collectives/shm/staged_call.hpp"
#include "collectives/shm/store_choice.hpp"
#include "comm/bootstrap/runtime.hpp"

namespace poe::collectives {

class LocalCalls final : private Commons::Host {
  public:
    // Without shared memory: no call can be made.
    LocalCalls() = default;
    // On a common piece of the node's segment that rank 0 has taken (take_memory). Throws Error.
    LocalCalls(comm::Runtime& runtime, const Group& group, std::uint32_t piece);
    // This member is through with it.
    ~LocalCalls() override;
    LocalCalls(const LocalCalls&) = delete;
    LocalCalls& operator=(const LocalCalls&) = delete;

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
        Commons* memory = nullptr;
        bool past_cache = false;  // of long data: it takes half of the last caches or more
    };
    // There must be memory for it. `barrier`: nobody is to get through before all have come; not
    // for a broadcast or a scatter.
    Route route(const Shape& shape, bool barrier);
    // Makes the call. Blocking.
    void run(const Route& route, const Shape& shape, const Run& run);

    // To exchange with the other members; available only.
    Commons& exchange() noexcept { return *short_; }
    Commons::Host& host() noexcept { return *this; }

  private:
    static bool fits_at_once(const Shape& shape) noexcept;
    void sync();
    void relay(Commons& commons, const Shape& shape, const Run& run);
    void shift(Commons& commons, const Shape& shape, const Run& run);
    void gather(Commons& commons, const Shape& shape, const Run& run);
    void swap(Commons& commons, const Shape& shape, const Run& run);
    void from_root(Commons& commons, const Shape& shape, const Run& run);
    void all_give(Commons& commons, const Shape& shape, const Run& run);
    static std::optional<LongMemory::Kind> kind_of(const Shape& shape) noexcept;
    std::uint32_t first_without(bool has);
    Commons& memory_for(const Shape& shape) noexcept;
    Commons& one_way_memory_for(const Shape& shape) noexcept;
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
    std::optional<Commons> short_;
    std::optional<Commons> long_;
    std::optional<Commons> packed_;
    std::optional<LineCalls> lines_;
    std::optional<LongMemory> long_memory_;
    comm::RingCopy into_slots_;           // of long calls in which all have to do with all,
    StoreChoice stores_;                  // and of those by pairs
    std::vector<std::uint32_t> indices_;  // of members, within the node
    std::vector<const TaskSlot*> slots_;  // theirs
    std::vector<std::byte> scratch_;      // for functions of the user's
};

}  // namespace poe::collectives
