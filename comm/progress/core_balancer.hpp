// CoreBalancer: distributes tasks that wait by yielding evenly over the cores of their node. With
// more tasks than cores, all tasks look busy to the kernel. After some have slept or another
// process has run, the kernel often leaves five of eight tasks on one core for tens of
// milliseconds. A collective call then takes as long as that core needs.
//
// The rules:
//   1. A task that yields publishes from time to time on which core it runs (TaskSlot::core) and
//      counts the tasks on the other cores.
//   2. If its core has at least two tasks more than another one, the task moves to that core.
//      Afterwards the kernel may again place it on any allowed core.
//   3. A task moves only while all tasks have yielded lately. A task that has not yielded computes,
//      sleeps, or shares its core with a process that computes; the kernel then balances better. A
//      core on which no task yields is never a target, because the kernel fills idle cores itself.
//   4. A job moves one task at a time (SegmentHeader::core_move). Each time a move is needed soon
//      after the last one, the pause before the next move doubles, so that another placement (by
//      the user or another program) prevails.
//
// All of this affects speed only: a count that is outdated, or was left by a killed task, costs one
// move too many or too few.
#pragma once

#include <cstddef>
#include <cstdint>
#include <sched.h>
#include <span>
#include <vector>

#include "base/segment/segment_layout.hpp"

namespace poe::comm {

// Returns the allowed processor with the fewest tasks, if `own` has at least two tasks more;
// otherwise -1. Processors without any task are not considered. `tasks` is indexed by processor.
// Pure.
int better_core(std::span<const std::uint32_t> tasks, const cpu_set_t& allowed, int own) noexcept;

// Returns the length in milliseconds of the pause after a move that came `since_ms` after the
// previous move. `rest_ms` was the pause after the previous one. Pure.
std::uint32_t rest_after(std::uint32_t rest_ms, std::uint32_t since_ms) noexcept;

// For one thread. `header` and `slots` (the slots of the node's tasks) must outlive this object. It
// writes only to slot `own` and to the header's core_move.
class CoreBalancer {
  public:
    CoreBalancer(SegmentHeader& header, std::span<TaskSlot> slots, std::size_t own);

    // Call after each yield. Usually costs one addition; never blocks.
    void yielded() noexcept {
        if (++yields_ % kYieldsPerLook == 0) look();
    }

  private:
    static constexpr std::uint32_t kYieldsPerLook = 8;

    void look() noexcept;
    bool count(std::uint32_t now_ms) noexcept;
    bool move(const cpu_set_t& allowed, int to) noexcept;

    SegmentHeader& header_;
    std::span<TaskSlot> slots_;
    std::size_t own_;
    std::uint32_t yields_ = 0;
    std::uint32_t looked_ms_ = 0;
    std::vector<std::uint32_t> tasks_;  // indexed by processor
};

}  // namespace poe::comm
