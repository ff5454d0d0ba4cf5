// The name service: which addresses a name of a host has. It is asked by getent, which comes with
// every C library, and not by getaddrinfo: that loads what /etc/nsswitch.conf names, and poe, which
// asks rarely, starts sooner without a dynamic loader.
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

    // Bytes that count: 0 for no address.
    socklen_t size() const;
    bool is_loopback() const;
    // Ports do not count.
    bool same_host(const SocketAddress& other) const;
    // Numeric.
    std::string text() const;
};

// "10.0.0.1", "fe80::1%eth0"; anything else: an address of size 0.
SocketAddress parse_address(const std::string& text);

// The addresses of each name, best first, none when it is not known. Asks once for all names that
// are not numeric, and blocks for as long as that takes.
std::vector<std::vector<SocketAddress>> addresses_of(std::span<const std::string> names);

}  // namespace poe::pm
