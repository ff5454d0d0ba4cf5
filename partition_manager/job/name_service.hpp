// The name service: the addresses of a host name. It is queried by getent, which comes with every C
// library, and not by getaddrinfo. getaddrinfo loads the modules that /etc/nsswitch.conf names, and
// poe, which rarely needs an address, starts faster without a dynamic loader.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/segment/endpoint.hpp"

namespace poe::pm {

// Parses "10.0.0.1", "2001:db8::1", "fe80::1%2" or "fe80::1%eth0". Empty for anything else, and for
// an interface that this computer does not have.
std::optional<NodeAddress> parse_address(const std::string& text);

bool is_loopback(const NodeAddress& address) noexcept;
// Compares the addresses without their interfaces, which have other numbers on other computers.
bool is_same_host(const NodeAddress& one, const NodeAddress& other) noexcept;

// Returns the addresses of each name, best first; none if the name is unknown. Queries once for all
// names that are not numeric, and blocks until the query is answered.
std::vector<std::vector<NodeAddress>> addresses_of(std::span<const std::string> names);

}  // namespace poe::pm
