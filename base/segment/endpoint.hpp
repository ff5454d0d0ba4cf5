// Where a task can be reached over TCP: an address of its node and a port. Apart because the
// daemon, which opens the listening sockets, and the tasks, which connect to them, share it. Only
// numeric addresses: turning names into addresses is poe's affair.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <sys/socket.h>

#include "base/unique_fd.hpp"

namespace poe {

// An IPv4 or IPv6 address. Plain data: it lies in the node segment.
struct NodeAddress {
    std::uint32_t family = 0;  // AF_INET, AF_INET6, or 0 for none
    std::uint32_t scope = 0;   // IPv6: interface of a link-local address
    std::uint8_t bytes[16] = {};

    // "192.0.2.1", "2001:db8::1", "fe80::1%2"; nothing for anything else.
    static std::optional<NodeAddress> parse(const std::string& text);
    // What the system tells of an interface or a name; AF_INET and AF_INET6 only.
    static NodeAddress of(const sockaddr& from) noexcept;

    bool operator==(const NodeAddress&) const = default;
    bool valid() const noexcept { return family == 0 || family == AF_INET || family == AF_INET6; }
    std::string text() const;  // "none" without a family
};

// For bind and connect.
struct SocketAddress {
    SocketAddress(const NodeAddress& node, std::uint16_t port) noexcept;
    const sockaddr* get() const noexcept { return reinterpret_cast<const sockaddr*>(&storage); }

    sockaddr_storage storage{};
    socklen_t length = 0;
};

// A TCP socket that listens on a free port of that address only, close-on-exec and non-blocking;
// `port` tells which. Does not block. Throws Error naming the address.
UniqueFd listen_on(const NodeAddress& address, std::uint16_t& port);

// The loopback address of this computer: IPv4's, or IPv6's where there is no other. Does not block.
NodeAddress loopback_address() noexcept;

}  // namespace poe
