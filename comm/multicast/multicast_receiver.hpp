// The half of a multicast at every member but the root: which packets have arrived, and when to
// report what to the parent in the report tree. Pure.
//
// A member reports
//   - when its subtree has kReportEvery more packets than in its last report,
//   - at once if the sender asks for it,
//   - when a packet is missing although a later one was sent. It waits for kReorder first, because
//     datagrams may overtake each other, and repeats with a growing pause until the packet arrives,
//   - when a child asks for packets, after a short pause in which other children may ask too.
// What children ask for is passed on once; the child repeats it.
//
// Invariant: the base of a report is at most the number of leading packets that every member of the
// subtree has. A member reports at least every kMaxRepeat while it lacks a packet of which it
// knows.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <vector>

#include "comm/multicast/datagram.hpp"
#include "comm/multicast/report_tree.hpp"

namespace poe::comm {

using MulticastTime = std::chrono::steady_clock::time_point;

class MulticastReceiver {
  public:
    static constexpr std::uint32_t kReportEvery = 16;

    // Starts a message, as MulticastSender::begin.
    void begin(std::uint32_t packets, const ReportChildren& children);
    void end() noexcept { active_ = false; }
    bool active() const noexcept { return active_; }

    // Takes a packet. Returns true if it is new, so that the caller stores its data. A packet with
    // numbers that are out of bounds is ignored.
    bool on_packet(std::uint32_t packet, std::uint32_t sent, bool report, MulticastTime now);
    void on_status(std::uint32_t child, const MulticastStatus& status, MulticastTime now);
    // Returns the status to report now; empty: none is due.
    std::optional<MulticastStatus> next(MulticastTime now);
    // When next() will return a status if nothing arrives; empty: never.
    std::optional<MulticastTime> due() const noexcept;

    bool complete() const noexcept { return base_ == packets_; }
    // Different packets that have arrived, and those that have not.
    std::uint32_t arrived() const noexcept { return count_; }
    std::uint32_t missing() const noexcept { return packets_ - count_; }
    std::uint32_t base() const noexcept { return base_; }
    // The leading packets that all members of the subtree are known to have.
    std::uint32_t subtree_base() const noexcept;

  private:
    using Duration = std::chrono::steady_clock::duration;
    struct Child {
        std::uint32_t rank = 0;
        std::uint32_t base = 0;
        std::uint32_t serial = 0;
    };
    void look_for_gap(MulticastTime now);
    void report_at(MulticastTime when) noexcept;
    void report_progress(MulticastTime now) noexcept;

    bool active_ = false;
    std::uint32_t packets_ = 0;
    std::vector<Child> children_;
    std::vector<bool> arrived_;
    std::uint32_t base_ = 0;
    std::uint32_t count_ = 0;  // packets that have arrived
    std::uint32_t sent_ = 0;   // packets known to have been sent
    std::optional<std::uint32_t> gap_;
    std::optional<MulticastTime> gap_due_;  // when to ask for the own missing packets
    Duration pause_{};
    std::optional<MulticastTime> report_due_;
    std::vector<std::uint32_t> asked_;  // packets that children ask for
    std::uint32_t reported_ = 0;        // base of the last report
    std::uint32_t serial_ = 0;
};

}  // namespace poe::comm
