// StreamWindow: the flow control of one stream: the number of bytes that may still be sent up
// without further credit. A daemon's own tasks and the streams that it forwards share the window.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace poe::pm {

// Maximum number of bytes of one stream (stdout, stderr, or traces) that may be unacknowledged on
// the way to `poe`, or to a pmd that forwards. All daemons directly below share it.
inline constexpr std::int64_t kStreamWindow = std::int64_t{4} << 20;
// The smallest share of a daemon, in bytes.
inline constexpr std::int64_t kSmallestWindow = std::int64_t{128} << 10;

class StreamWindow {
  public:
    explicit StreamWindow(std::int64_t size = kStreamWindow) : size_(size), credit_(size) {}

    bool open() const { return credit_ > 0; }
    // True if forwarded bytes may be sent. A sixteenth of the window is reserved for the node's own
    // tasks, so that neither starves the other (a portion of credit is twice as large).
    bool open_for_relay() const { return credit_ > size_ / 16; }
    // The credit may become negative by one frame.
    void spend(std::size_t bytes) { credit_ -= static_cast<std::int64_t>(bytes); }
    // The credit never exceeds the window, whatever the peer sends.
    void on_credit(std::uint64_t bytes) {
        const auto room = static_cast<std::uint64_t>(size_ - credit_);
        credit_ += static_cast<std::int64_t>(std::min(bytes, room));
    }

  private:
    std::int64_t size_;
    std::int64_t credit_;
};

// Credit is sent in portions of 1 / kCreditPortions of a window, to keep the number of messages
// small.
inline constexpr std::int64_t kCreditPortions = 8;

}  // namespace poe::pm
