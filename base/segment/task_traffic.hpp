// The bytes of messages that a task has sent and received, in its slot of the node segment.
// Watchers compute a rate from two samples. There is one writer, so counting a message is a plain
// store that delays no message.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/types.hpp"

namespace poe {

// Counts the bytes of messages, including those of collective calls, and the bytes that short
// collective calls exchange through shared memory.
struct TrafficWords {
    std::atomic<std::uint64_t> sent{0};
    std::atomic<std::uint64_t> received{0};

    // For the task that owns the slot; never blocks.
    void add_sent(Bytes bytes) noexcept { add(sent, bytes); }
    void add_received(Bytes bytes) noexcept { add(received, bytes); }

  private:
    static void add(std::atomic<std::uint64_t>& sum, Bytes bytes) noexcept {
        sum.store(sum.load(std::memory_order_relaxed) + bytes, std::memory_order_relaxed);
    }
};

}  // namespace poe
