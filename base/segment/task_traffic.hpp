// How many bytes of messages a task has sent and received, in its slot of the node segment, for
// watchers who work a rate out of two looks. One writer, so that counting a message is a plain
// store: no message waits for it.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/types.hpp"

namespace poe {

// Of messages, those of collective calls included, and of what short collective calls give and get
// through memory that tasks share.
struct TrafficWords {
    std::atomic<std::uint64_t> sent{0};
    std::atomic<std::uint64_t> received{0};

    // For the task that owns the slot; never waits.
    void add_sent(Bytes bytes) noexcept { add(sent, bytes); }
    void add_received(Bytes bytes) noexcept { add(received, bytes); }

  private:
    static void add(std::atomic<std::uint64_t>& sum, Bytes bytes) noexcept {
        sum.store(sum.load(std::memory_order_relaxed) + bytes, std::memory_order_relaxed);
    }
};

}  // namespace poe
