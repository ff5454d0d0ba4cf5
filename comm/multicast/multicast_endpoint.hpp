// MulticastEndpoint: the sockets of a task for multicast, and the groups that use them.
//
// Two UDP sockets: one is bound to the task's own address and a free port; all datagrams are sent
// from it, and unicast arrives at it. Multicast arrives at the other one, whose port follows from
// the job. A job uses kAddresses multicast addresses, because a system limits the number that a
// process may join; a group takes one of them by its id, and datagrams name their group.
//
// Pacing: the send buffer has its default size, so the network's own queue holds the sender back.
// The window of the protocol (multicast_sender.hpp) does the rest.
//
// Trains: datagrams of one size that follow each other to the same address are passed to the system
// in one call, and may arrive in one call (UDP_SEGMENT and UDP_GRO). On the cable they are single
// frames. A train costs the system little more than one datagram. Where it takes no trains,
// datagrams are sent one by one.
//
// Only IPv4. Datagrams stay on the local network (TTL 1). Whether it carries multicast at all is
// found out by a probe (multicast_group.hpp).
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "base/segment/node_segment.hpp"
#include "base/unique_fd.hpp"
#include "comm/multicast/multicast_group.hpp"

namespace poe::comm {

// Where a task gets unicast datagrams; both in network byte order.
struct DatagramAddress {
    std::uint32_t address = 0;
    std::uint16_t port = 0;
};

// For one thread. No function blocks.
class MulticastEndpoint {
  public:
    static constexpr std::uint32_t kAddresses = 8;

    // Opens the sockets. Throws Error if the node has no IPv4 address, or the port is in use by a
    // program that does not share it.
    MulticastEndpoint(const NodeSegment& segment, TaskId me);

    DatagramAddress own() const noexcept { return own_; }
    // The descriptors to watch for input; the first is also the one that datagrams are sent from.
    std::array<int, 2> descriptors() const noexcept { return {unicast_.get(), multicast_.get()}; }

    // Joins the multicast address of this group. The endpoint owns the group until close(). Throws
    // Error if the system refuses.
    MulticastGroup& open(std::uint64_t id, std::vector<DatagramAddress> members, std::uint32_t me);
    void close(MulticastGroup& group) noexcept;

    // Reads what has arrived and sends what is due. Returns true if anything has changed.
    bool poll();
    // True if a call is in progress, so poll() should be called often.
    bool busy() const noexcept;
    // True if a datagram waits for room in the socket.
    bool needs_room() const noexcept;
    // When poll() has something to do if nothing arrives; empty: never.
    std::optional<MulticastTime> due() const noexcept;

  private:
    static constexpr unsigned kBatch = 4;
    static constexpr std::size_t kTrain = 16;         // datagrams, at most
    static constexpr std::size_t kArrival = 1 << 16;  // no datagram or train of IPv4 is longer
    // Datagrams of size `each` that follow each other in `bytes`; only the last one may be shorter.
    struct Train {
        MulticastGroup::Outgoing::To to{};
        std::uint32_t rank = 0;  // for kOne
        std::size_t each = 0;
        std::size_t size = 0;  // in all; 0: there is no train
        std::array<std::byte, kTrain * kMaxDatagram> bytes{};
    };
    struct Open {
        std::unique_ptr<MulticastGroup> group;
        std::vector<DatagramAddress> members;
        std::uint32_t me = 0;
        // What is being sent. `next` is the first member that has not got it, for kEach.
        Train train;
        std::uint32_t next = 0;
        bool needs_room = false;
        // The datagram after the train, which does not belong to it.
        std::optional<MulticastGroup::Outgoing> held;
        std::array<std::byte, kMaxDatagram> held_bytes{};
    };
    std::uint32_t address_of(std::uint64_t id) const noexcept;
    bool join(std::uint32_t address, bool wanted) noexcept;
    bool read_from(int socket, MulticastTime now);
    bool take(std::span<const std::byte> datagram, MulticastTime now);
    unsigned fill_train(Open& open, MulticastTime now) const;
    bool send_for(Open& open, MulticastTime now);
    bool send_train(Open& open);
    bool send_to(Train& train, DatagramAddress to);

    DatagramKey key_;
    DatagramAddress own_;
    UniqueFd unicast_;
    UniqueFd multicast_;
    std::uint32_t first_address_ = 0;                 // host byte order
    std::uint16_t port_ = 0;                          // network byte order
    std::array<std::uint32_t, kAddresses> joined_{};  // number of groups
    std::vector<std::unique_ptr<Open>> groups_;
    bool takes_trains_ = true;  // the system does
    std::vector<std::byte> arrived_ = std::vector<std::byte>(kBatch * kArrival);
};

}  // namespace poe::comm
