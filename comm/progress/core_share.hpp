// CoreShare: tasks that wait by giving their core away, spread evenly over the cores of their node.
// Where there are more tasks than cores they all look busy to the kernel, which often leaves one
// core with five of eight for tens of milliseconds after they have slept or something else has run;
// a call then takes as long as that core needs.
//
// A task that yields says now and then where (TaskSlot::core), and looks where the others do. When
// its core has at least two more than another one it moves there, and may then again run anywhere.
// It does so only while all have yielded lately. One that has not computes, sleeps, or is on the
// core of somebody who computes: then the kernel knows better. So it does of cores where nobody
// yields: an idle one it fills by itself.
//
// A job moves one task at a time (SegmentHeader::core_move), and waits longer with the next one
// each time that it was needed soon again: whoever has reasons to put tasks elsewhere has it his
// way. Nothing here is needed for anything but speed: a number that is old, or is lost with a task
// that is killed, costs a move too many or too few.
#pragma once

#include <cstddef>
#include <cstdint>
#include <sched.h>
#include <span>
#include <vector>

#include "base/segment/segment_layout.hpp"

namespace poe::comm {

// The processor, of those in `allowed` that have tasks at all, with the fewest, if that is at least
// two fewer than `own` has; else -1. `tasks` by processor. Pure.
int better_core(std::span<const std::uint32_t> tasks, const cpu_set_t& allowed, int own) noexcept;

// How long none is moved after a move that came `since_ms` after the last one and its rest. Pure.
std::uint32_t rest_after(std::uint32_t rest_ms, std::uint32_t since_ms) noexcept;

// For one thread. The slots, those of the node's tasks, must outlive it; it writes to its own.
class CoreShare {
  public:
    CoreShare(SegmentHeader& header, std::span<TaskSlot> slots, std::size_t own);

    // After each yield. Seldom costs more than an addition.
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
    std::vector<std::uint32_t> tasks_;  // by processor
};

}  // namespace poe::comm
