// See observed_calls.hpp.
#include "partition_manager/daemon/observed_calls.hpp"

namespace poe::pm {
namespace {

// The intervals at which the slots are read after a task is observed, and before.
constexpr std::chrono::milliseconds kOften{100};
constexpr std::chrono::milliseconds kSeldom{1000};

}  // namespace

ObservedCalls::ObservedCalls(asio::io_context& loop, NodeSegment& segment)
    : timer_(loop), segment_(segment), seen_(segment.local_tasks()) {
    look_later(kOften);
}

void ObservedCalls::look_later(std::chrono::milliseconds when) {
    timer_.expires_after(when);
    timer_.async_wait([this, here = std::weak_ptr(here_)](const asio::error_code& error) {
        if (!error && !here.expired()) look();
    });
}

void ObservedCalls::look() {
    const auto since_creation = std::chrono::steady_clock::now().time_since_epoch() -
                                std::chrono::nanoseconds(segment_.facts().created_ns);
    const auto now_ms = static_cast<std::uint32_t>(
        std::chrono::duration_cast<std::chrono::milliseconds>(since_creation).count());
    bool any = false;
    for (std::uint32_t index = 0; index < segment_.local_tasks(); ++index)
        any = look_at(index, now_ms) || any;
    look_later(any ? kOften : kSeldom);
}

// True if the task is observed and has not ended.
bool ObservedCalls::look_at(std::uint32_t index, std::uint32_t now_ms) {
    TaskSlot& slot = segment_.slot(index);
    if (slot.attached.load(std::memory_order_acquire) != kObserved ||
        slot.ended.load(std::memory_order_relaxed) != 0)
        return false;
    Seen& seen = seen_[index];
    const std::uint64_t calls = slot.calls.load(std::memory_order_relaxed);
    if (calls != seen.calls) {
        seen = {calls, now_ms};
        slot.pulse.moved(now_ms);
    } else if (slot.doing.read().call != Call::kNone &&
               slot.doing.stamp_if_same(seen.since_ms | 1u)) {
        slot.pulse.looked(now_ms);
    }
    return true;
}

}  // namespace poe::pm
