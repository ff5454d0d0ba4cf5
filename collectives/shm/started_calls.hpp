// StartedCalls: short calls in shared memory that do not block, in a segment of their own
// (group_segment.hpp). A call has three parts:
//   start    The call gets its number. All members start their calls in the same order.
//   begin    The member writes and publishes what it gives. Calls begin in the order of their
//            numbers, as soon as there is room: all members have finished the call `depth` before.
//   end      What the member needs has been published, so it computes its result. Calls may end in
//            any order; they are released to the segment in the order of their numbers.
//
// No member waits for a later call of another member. A call that has begun needs nothing more from
// this member than its end, which the member reaches whenever it waits or tests. While a call
// waits for room, members that finish calls wake the others, so that a sleeping member begins it.
//
// For one thread at a time.
#pragma once

#include <cstdint>
#include <vector>

#include "collectives/call/call.hpp"
#include "collectives/shm/call_tools.hpp"

namespace poe::collectives {

class StartedCalls {
  public:
    // Both must outlive this object. Nobody else uses the segment.
    StartedCalls(GroupSegment& segment, CallTools& tools)
        : segment_(segment), tools_(tools), ended_(segment.sizes().depth) {}

    // True if all data of such a call fit into a segment of these sizes. Depends on the arguments
    // only, so all members decide alike.
    static bool fits(const GroupSegment::Sizes& sizes, const Shape& shape) noexcept;

  private:
    friend class StartedCall;
    // True if it is the next call and there is room.
    bool may_begin(std::uint64_t call) noexcept {
        return call == segment_.next_call() && segment_.has_room(call);
    }
    bool begin(std::uint64_t call, const Shape& shape, const Run& run);
    bool is_complete(std::uint64_t call, const Shape& shape, std::uint32_t& next) const noexcept;
    void end(std::uint64_t call, const Shape& shape, const Run& run);
    std::uint32_t awaited(std::uint64_t call, const Shape& shape,
                          std::uint32_t next) const noexcept;

    GroupSegment& segment_;
    CallTools& tools_;
    std::uint64_t started_ = 0;   // calls
    std::uint64_t released_ = 0;  // calls
    bool waits_for_room_ = false;
    std::vector<bool> ended_;  // by call modulo depth: not released yet
};

// One call. The caller passes the same shape and run each time, and keeps the buffers.
class StartedCall {
  public:
    void start(StartedCalls& calls) noexcept {
        calls_ = &calls;
        number_ = calls.started_++;
        next_ = 0;
        begun_ = false;
    }
    bool started() const noexcept { return calls_ != nullptr; }
    void forget() noexcept { calls_ = nullptr; }
    // Continues the call. Returns true if it has ended. Does not block.
    bool advance(const Shape& shape, const Run& run) {
        if (!begun_) begun_ = calls_->begin(number_, shape, run);
        if (!begun_ || !can_advance(shape)) return false;
        calls_->end(number_, shape, run);
        return true;
    }
    // True if advance() would begin or end the call.
    bool can_advance(const Shape& shape) noexcept {
        return begun_ ? calls_->is_complete(number_, shape, next_) : calls_->may_begin(number_);
    }
    // How often a caller that blocks polls can_advance() before it yields its core.
    int spins() const noexcept { return calls_->tools_.spins(); }
    // The member that the call waits for, after advance() has returned false; the number of members
    // if it is not known.
    std::uint32_t awaited(const Shape& shape) const noexcept {
        return begun_ ? calls_->awaited(number_, shape, next_)
                      : calls_->segment_.keeps_room(number_);
    }

  private:
    StartedCalls* calls_ = nullptr;
    std::uint64_t number_ = 0;
    std::uint32_t next_ = 0;  // members before it have published what this one needs
    bool begun_ = false;
};

}  // namespace poe::collectives
