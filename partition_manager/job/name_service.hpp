// The name service: the addresses of a host name. It is queried by getent, which comes with every C
// library, and not by getaddrinfo. getaddrinfo loads the modules that /etc/nsswitch.conf names, and
// poe, which rarely needs an address, starts faster without a dynamic loader.
#pragma once

#include <netinet/in.h>
#include <span>
#include <string>
#include <sys/socket.h>
#include <vector>

namespace poe::pm {

struct SocketAddress {
    union {
        sockaddr any;
        sockaddr_in v4;
        sockaddr_in6 v6;
        sockaddr_storage storage{};
    };

    // Size of the valid part in bytes; 0: no address.
    socklen_t size() const;
    bool is_loopback() const;
    // Compares the addresses; ports are ignored.
    bool same_host(const SocketAddress& other) const;
    // The numeric form.
    std::string text() const;
};

// Parses "10.0.0.1" or "fe80::1%eth0". Anything else yields an address of size 0.
SocketAddress parse_address(const std::string& text);

// Returns the addresses of each name, best first; none if the name is unknown. Queries once for all
// names that are not numeric, and blocks until the query is answered.
std::vector<std::vector<SocketAddress>> addresses_of(std::span<const std::string> names);

}  // namespace poe::pm
