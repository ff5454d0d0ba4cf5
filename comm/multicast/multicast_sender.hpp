// The root's half of a multicast: which packet of a message to send next. Pure: time and statuses
// go in, packet numbers come out.
//
// Window. Packet p is sent first when p < base + window, where all members have acknowledged the
// packets before `base`. The window grows with acknowledgements and is halved when packets are
// lost, at most once per round trip. It follows the slowest member, because base is the minimum
// over all.
//
// Repair. A packet that a status asks for is sent again, unless it was sent less than a round trip
// ago. If base does not move for a timeout, packet `base` is sent again and all members are asked
// to report; the timeout doubles. After several such timeouts the message is stalled: the network
// may have stopped carrying multicast (a switch forgets the members of a group if nobody asks for
// them). Packets then go to each member by unicast until base moves again.
//
// Invariants:
//   - base <= sent <= packets, and sent <= base + kMulticastWindow.
//   - base is at most the number of leading packets that every member has.
//   - While base < packets, next() returns a packet within a finite time, so every packet that a
//     member lacks is sent again until it has it.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <vector>

#include "comm/multicast/datagram.hpp"
#include "comm/multicast/report_tree.hpp"

namespace poe::comm {

using MulticastTime = std::chrono::steady_clock::time_point;

class MulticastSender {
  public:
    // Starts a message; the memory of the last one is used again. `children`: the ranks whose
    // statuses arrive here; there is at least one. end() stops it. The other functions may be
    // called between the two.
    void begin(std::uint32_t packets, const ReportChildren& children, MulticastTime now);
    void end() noexcept { active_ = false; }
    bool active() const noexcept { return active_; }

    struct Transmission {
        std::uint32_t packet = 0;
        std::uint32_t sent = 0;  // for DatagramHeader::sent
        bool report = false;
        bool unicast = false;  // to each member, because multicast seems to have stopped
    };
    // Returns the packet to send now. Empty: none before due(), unless a status arrives.
    std::optional<Transmission> next(MulticastTime now);
    // Takes a status of that rank. One that no sender of this protocol would have sent is ignored.
    void on_status(std::uint32_t child, const MulticastStatus& status, MulticastTime now);
    // When next() has something to repeat if no status arrives. Empty if all is acknowledged.
    std::optional<MulticastTime> due() const noexcept;

    std::uint32_t base() const noexcept { return base_; }
    std::uint32_t sent() const noexcept { return sent_; }
    std::uint32_t window() const noexcept { return window_; }
    bool stalled() const noexcept { return timeouts_ >= patience_; }
    // Packets that were sent again.
    std::uint64_t repairs() const noexcept { return repaired_; }

  private:
    using Duration = std::chrono::steady_clock::duration;
    struct Child {
        std::uint32_t rank = 0;
        std::uint32_t base = 0;
        std::uint32_t serial = 0;
    };
    Transmission repeat(std::uint32_t packet, bool report, MulticastTime now);
    void acknowledge(std::uint32_t base, MulticastTime now);
    void shrink_window(MulticastTime now);
    Duration first_timeout() const noexcept;

    bool active_ = false;
    std::uint32_t packets_ = 0;
    std::vector<Child> children_;
    std::uint32_t base_ = 0;
    std::uint32_t sent_ = 0;
    std::uint32_t window_ = 0;
    bool lost_any_ = false;
    std::uint32_t acknowledged_ = 0;     // since the window grew last
    std::vector<std::uint32_t> wanted_;  // packets to repeat, from next_wanted_ on
    std::size_t next_wanted_ = 0;
    std::vector<MulticastTime> sent_at_;  // of each packet below sent_; the last time
    std::vector<bool> repeated_;
    Duration round_trip_{};
    MulticastTime shrunk_at_;
    Duration timeout_{};
    MulticastTime deadline_;
    std::uint32_t timeouts_ = 0;  // in a row
    std::uint32_t patience_ = 0;
    std::uint64_t repaired_ = 0;
};

}  // namespace poe::comm
