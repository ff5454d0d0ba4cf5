// ShmGroup: the shared memory of a group whose members are on one node, and how they wait for and
// wake each other. The memory is divided into regions. ShmGroup knows no operations; the table of
// paths (engine/paths.cpp) says which region a call uses.
#pragma once

#include <array>
#include <functional>
#include <optional>
#include <vector>

#include "collectives/call/groups.hpp"
#include "collectives/shm/call_tools.hpp"
#include "collectives/shm/started_calls.hpp"
#include "comm/bootstrap/runtime.hpp"

namespace poe::collectives {

class ShmGroup final : public GroupSegment::Host {
  public:
    // Without shared memory: no call can be made.
    ShmGroup() = default;
    // Uses group segment `index`, which rank 0 has reserved (reserve_segment). `runtime` and
    // `group` must outlive this object. For one thread at a time. Throws Error.
    ShmGroup(comm::Runtime& runtime, Group& group, std::uint32_t index);
    // Leaves the group segment. The last member to leave clears and releases it.
    ~ShmGroup() override;
    ShmGroup(const ShmGroup&) = delete;
    ShmGroup& operator=(const ShmGroup&) = delete;

    // Reserves one of the node's group segments and returns its index. Empty if all are in use or
    // memory is short; the latter is reported.
    static std::optional<std::uint32_t> reserve_segment(comm::Runtime& runtime);
    // Returns the bytes that a group of this size needs, without the memory for long calls: at most
    // group_segment_bytes() (segment_layout.hpp) of this or of any larger number of members.
    static Bytes bytes_for(std::uint32_t members) noexcept;
    // True if all members are on this task's node and there is shared memory.
    static bool possible(comm::Runtime& runtime, const Group& group) noexcept;

    bool available() const noexcept { return !regions_.empty(); }
    // True if `has` is true at all members, which call this at the same call. Blocks.
    bool all_have(bool has) { return first_without(has) == group_->size(); }

    // The region for short calls that has room for this many bytes of one member, or the one in
    // which several calls share a cache line.
    GroupSegment& short_region(bool packed, Bytes each) noexcept;
    // The region for long calls. Null: not all members have the memory. The first call
    // reserves it; all members call this at the same call and get the same answer. Blocks then.
    GroupSegment* staged();
    // The calls that do not block, among which such a call must be; null: its data do not fit.
    // Depends on the shape only, so all members get the same answer.
    StartedCalls* started_calls(const Shape& shape) noexcept;
    // For exchanges with the other members that belong to no call.
    GroupSegment& exchange() noexcept { return regions_[kShort]; }

    CallTools& tools() noexcept { return tools_; }
    const SegmentFacts& facts() const noexcept { return runtime_->segment()->facts(); }

  private:
    // The regions for short calls, in the order in which they are in memory and members leave them.
    enum Region : std::uint8_t {
        kShort,
        kPacked,
        kLong,
        kStartedPacked,
        kStartedShort,
        kStartedLong,
        kRegions
    };
    static std::array<GroupSegment::Sizes, kRegions> sizes_of(std::uint32_t members) noexcept;
    std::uint32_t first_without(bool has);
    void wait(const std::atomic<std::uint64_t>& word, std::uint64_t call,
              const GroupSegment::AwaitedMember& whom) override;
    [[gnu::hot]] void fence() noexcept override { runtime_->fences().light(); }
    void wake(std::uint32_t member) noexcept override;
    // Some microseconds, in which a member that has a core of its own finishes several calls.
    // wait() takes as long, because it also polls for messages and yields.
    int polls_for_room() const noexcept override { return tools_.tasks_per_core > 1 ? 0 : 100; }

    comm::Runtime* runtime_ = nullptr;
    Group* group_ = nullptr;
    std::function<bool()> member_lost_;  // a member has ended; notes which
    std::uint32_t index_ = 0;
    SegmentMapping memory_;
    std::vector<GroupSegment> regions_;
    bool asked_for_staged_ = false;
    std::optional<GroupSegment> staged_;
    CallTools tools_;
    std::vector<StartedCalls> started_;   // in the regions from kStartedPacked on
    std::vector<std::uint32_t> indices_;  // index of each member within the node
    std::vector<const TaskSlot*> slots_;  // slot of each member
};

}  // namespace poe::collectives
