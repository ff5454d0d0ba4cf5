// ObservedCalls: writes into the slots of observed tasks when each began its call. While such a
// task waits, it is inside another MPI library, so it cannot do this itself (mpi/observe).
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <vector>

#include <asio/io_context.hpp>
#include <asio/steady_timer.hpp>

#include "base/segment/node_segment.hpp"

namespace poe::pm {

// Call only from the event loop's thread. The segment must outlive this object.
class ObservedCalls {
  public:
    ObservedCalls(asio::io_context& loop, NodeSegment& segment);

  private:
    void look_later(std::chrono::milliseconds when);
    void look();
    bool look_at(std::uint32_t index, std::uint32_t now_ms);

    // The number of a task's calls at the last look, and when that number was seen first.
    struct Seen {
        std::uint64_t calls = 0;
        std::uint32_t since_ms = 0;
    };

    asio::steady_timer timer_;
    NodeSegment& segment_;
    std::vector<Seen> seen_;  // by local index
    std::shared_ptr<const bool> here_ = std::make_shared<const bool>(true);
};

}  // namespace poe::pm
