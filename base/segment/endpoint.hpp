// The TCP endpoint of a task: an address of its node and a port. The daemon opens the listening
// sockets and the tasks connect to them, so both share this file. Addresses are numeric only; poe
// resolves names.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <sys/socket.h>
#include <utility>

#include "base/unique_fd.hpp"

namespace poe {

// An IPv4 or IPv6 address. Plain data, because it is stored in the node segment.
struct NodeAddress {
    std::uint32_t family = 0;  // AF_INET, AF_INET6, or 0 for none
    std::uint32_t scope = 0;   // IPv6: interface index of a link-local address
    std::uint8_t bytes[16] = {};

    // Accepts "192.0.2.1", "2001:db8::1", "fe80::1%2"; empty for any other text.
    static std::optional<NodeAddress> parse(const std::string& text);
    // Converts an address that the system reports for an interface or a name. Precondition: AF_INET
    // or AF_INET6.
    static NodeAddress of(const sockaddr& from) noexcept;

    bool operator==(const NodeAddress&) const = default;
    bool valid() const noexcept { return family == 0 || family == AF_INET || family == AF_INET6; }
    std::string text() const;  // "none" without a family
};

// An address and port in the form that bind and connect take.
struct SocketAddress {
    SocketAddress(const NodeAddress& node, std::uint16_t port) noexcept;
    const sockaddr* get() const noexcept { return reinterpret_cast<const sockaddr*>(&storage); }

    sockaddr_storage storage{};
    socklen_t length = 0;
};

// Opens a TCP socket that listens only on `address`, at a free port, which is stored in `port`. The
// socket is close-on-exec and non-blocking; the caller owns it. Does not block. Throws Error that
// names the address.
UniqueFd listen_on(const NodeAddress& address, std::uint16_t& port);

// The address and port of a socket that is bound. Throws Error.
std::pair<NodeAddress, std::uint16_t> local_address(int socket);

// Returns this computer's loopback address: IPv4, or IPv6 if there is no IPv4. Does not block.
NodeAddress loopback_address() noexcept;

}  // namespace poe
