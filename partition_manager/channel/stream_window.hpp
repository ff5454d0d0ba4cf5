// StreamWindow: how many bytes of one stream may still go up before those above have said that they
// took some. The tasks' own output of a daemon and what it relays draw on the same window.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace poe::pm {

// How many bytes of one stream (stdout, stderr, or traces) may be under way to `poe`, or to a pmd
// that relays, before it has said that it took them: all that come directly to it share this.
inline constexpr std::int64_t kStreamWindow = std::int64_t{4} << 20;
// The smallest share.
inline constexpr std::int64_t kSmallestWindow = std::int64_t{128} << 10;

class StreamWindow {
  public:
    explicit StreamWindow(std::int64_t size = kStreamWindow) : size_(size), credit_(size) {}

    bool open() const { return credit_ > 0; }
    // For relayed bytes: a part is left to the node's own tasks, so that neither starves the other
    // (credit comes in portions twice as large).
    bool open_for_relay() const { return credit_ > size_ / 16; }
    // May go below zero, by one frame.
    void spend(std::size_t bytes) { credit_ -= static_cast<std::int64_t>(bytes); }
    // Never more than the window, whatever the peer says.
    void on_credit(std::uint64_t bytes) {
        const auto room = static_cast<std::uint64_t>(size_ - credit_);
        credit_ += static_cast<std::int64_t>(std::min(bytes, room));
    }

  private:
    std::int64_t size_;
    std::int64_t credit_;
};

// Credit is given back in portions of this part of a window, to keep the channel quiet.
inline constexpr std::int64_t kCreditPortions = 8;

}  // namespace poe::pm
