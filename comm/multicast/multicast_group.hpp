// MulticastGroup: one member of a group of tasks that multicast to each other. It reads and writes
// sealed datagrams, and joins sender, receiver and probe. Pure: it has no socket and no clock, so
// tests run whole groups in a simulated network.
//
// Use, the same calls in the same order at all members:
//   1. begin_probe(); take datagrams and send those of next() until probe_over(). The members agree
//      on whether all have passed, by other means, and call end_probe().
//   2. For each message: begin_send() at the root, begin_receive() at the others. A receiver goes
//      on when received() is true.
//   3. The members let the root know by reliable messages, up the report tree, that they have all
//      data. The root waits for that, every other member for its own children, and all call
//      end_call(). Until then each answers statuses of its children and requests for reports.
//
// Invariants:
//   - received() is true without wrong_length() only if the buffer contains exactly the bytes that
//     the root passed to begin_send() in the same call.
//   - Datagrams of another group, of an ended call, forged or damaged ones change nothing.
//   - A member that is late keeps the first packets of later calls, and statuses, so that they need
//     not be repeated. Several calls can be ahead of it: a root waits for all members, but the root
//     of the next call may be a member that waits for nobody.
//
// Memory: 2 kFirstMulticastWindow datagrams at most, besides the counters of the call in progress.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "comm/multicast/datagram.hpp"
#include "comm/multicast/multicast_receiver.hpp"
#include "comm/multicast/multicast_sender.hpp"

namespace poe::comm {

// For one thread. `key` must outlive the object.
class MulticastGroup {
  public:
    // The time for which probes are repeated often. One that has not passed by then has failed,
    // unless the members decide to go on.
    static constexpr auto kProbeTime = std::chrono::milliseconds(500);

    // `id` is the same at all members, and random. Precondition: members > 1 and me < members.
    MulticastGroup(std::uint64_t id, std::uint32_t members, std::uint32_t me,
                   const DatagramKey& key);

    std::uint64_t id() const noexcept { return id_; }
    std::uint32_t members() const noexcept { return members_; }

    // Every member multicasts probes, and answers those of each other member by unicast.
    void begin_probe(MulticastTime now);
    // True if all probes and answers have arrived, so both ways work between every pair.
    bool probe_passed() const noexcept;
    bool probe_over(MulticastTime now) const noexcept {
        return probe_passed() || now >= probe_deadline_;
    }
    void end_probe() noexcept { probing_ = false; }

    // Starts a call. The memory must stay valid until end_call(). Precondition: bytes <=
    // kMaxMulticastBytes, and no call is in progress.
    void begin_send(const std::byte* data, Bytes bytes, MulticastTime now);
    void begin_receive(std::uint32_t root, std::byte* data, Bytes bytes, MulticastTime now);
    // True if all data have arrived, or if the root sends a message of another length.
    bool received() const noexcept { return complete_ || wrong_length_.has_value(); }
    // Packets of the message in progress; 0 at the root.
    std::uint32_t arrived() const noexcept {
        return receiving_.active() ? receiving_.arrived() : 0;
    }
    std::uint32_t missing() const noexcept {
        return receiving_.active() ? receiving_.missing() : 0;
    }
    // The length that the root sends, if it is not that of begin_receive().
    std::optional<Bytes> wrong_length() const noexcept { return wrong_length_; }
    void end_call() noexcept;

    // Takes any bytes that arrived. Returns true if they changed anything.
    bool take(std::span<const std::byte> datagram, MulticastTime now);

    struct Outgoing {
        enum class To : std::uint8_t { kAll, kEach, kOne };  // kEach: all, but each by unicast
        To to = To::kAll;
        std::uint32_t rank = 0;  // for kOne
        std::size_t size = 0;
    };
    // Writes the next datagram to send to `room`, which must have kMaxDatagram bytes. Empty: there
    // is none before due(), unless a datagram arrives.
    std::optional<Outgoing> next(std::byte* room, MulticastTime now);
    std::optional<MulticastTime> due() const noexcept;
    // True if datagrams must be read soon, because a call is in progress. A probe has time.
    bool busy() const noexcept { return sender_.active() || receiving_.active(); }
    const MulticastSender* sender() const noexcept { return sender_.active() ? &sender_ : nullptr; }

  private:
    struct Kept {
        DatagramHeader header;
        std::vector<std::byte> payload;
    };
    DatagramHeader header_of(DatagramKind kind) const noexcept;
    bool take_now(const DatagramHeader& header, std::span<const std::byte> payload,
                  MulticastTime now);
    void keep_early(const DatagramHeader& header, std::span<const std::byte> payload);
    void take_early(MulticastTime now);
    bool store(const DatagramHeader& header, std::span<const std::byte> data, MulticastTime now);
    std::optional<Outgoing> next_probe(std::byte* room, MulticastTime now);
    std::optional<Outgoing> next_packet(std::byte* room, MulticastTime now);
    std::optional<Outgoing> next_status(std::byte* room, MulticastTime now);

    std::uint64_t id_;
    std::uint32_t members_;
    std::uint32_t me_;
    const DatagramKey& key_;

    bool probing_ = false;
    std::vector<bool> heard_;     // members whose probe has arrived
    std::vector<bool> answered_;  // members that have answered
    std::vector<std::uint32_t> to_answer_;
    MulticastTime next_probe_{};
    std::chrono::milliseconds probe_pause_{};
    MulticastTime probe_deadline_{};
    bool probe_late_ = false;  // the deadline has passed

    std::uint32_t call_ = 0;  // the last one that has begun
    std::uint32_t root_ = 0;
    const std::byte* from_ = nullptr;
    std::byte* to_ = nullptr;
    Bytes bytes_ = 0;
    MulticastSender sender_;       // active at the root, during a call
    MulticastReceiver receiving_;  // active at the others
    bool complete_ = false;
    std::optional<Bytes> wrong_length_;
    // The first kept_ elements are datagrams of later calls. The other elements are free; they are
    // not removed, so that their memory can be used again.
    std::vector<Kept> early_;
    std::size_t kept_ = 0;
};

}  // namespace poe::comm
