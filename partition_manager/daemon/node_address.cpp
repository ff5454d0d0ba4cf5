// See node_address.hpp.
#include "partition_manager/daemon/node_address.hpp"

#include <ifaddrs.h>
#include <memory>
#include <net/if.h>
#include <netinet/in.h>
#include <optional>
#include <sstream>

#include "base/error.hpp"

namespace poe::pm {

namespace {

// Returns the first address, IPv4 before IPv6, of the interface `device`. If `device` is empty: of
// any interface that is up and is not the loopback.
std::optional<NodeAddress> interface_address(const std::string& device) {
    ifaddrs* list = nullptr;
    if (::getifaddrs(&list) != 0) throw_errno("cannot list this node's network interfaces");
    const std::unique_ptr<ifaddrs, void (*)(ifaddrs*)> all(list, ::freeifaddrs);
    for (const int family : {AF_INET, AF_INET6}) {
        for (const ifaddrs* one = list; one != nullptr; one = one->ifa_next) {
            if (one->ifa_addr == nullptr || one->ifa_addr->sa_family != family) continue;
            const bool usable =
                (one->ifa_flags & IFF_UP) != 0 && (one->ifa_flags & IFF_LOOPBACK) == 0;
            const NodeAddress address = NodeAddress::of(*one->ifa_addr);
            if (device.empty() ? usable && address.scope == 0 : device == one->ifa_name)
                return address;
        }
    }
    return std::nullopt;
}

}  // namespace

NodeAddress node_address(const std::string& device, const std::string& ssh_connection) {
    if (!device.empty()) {
        if (const auto address = interface_address(device)) return *address;
        throw Error("there is no network interface \"" + device +
                    "\" with an address on this node (-euidevice)");
    }
    std::istringstream words(ssh_connection);
    std::string client;
    std::string client_port;
    std::string server;
    if (words >> client >> client_port >> server)
        if (const auto address = NodeAddress::parse(server)) return *address;
    if (const auto address = interface_address("")) return *address;
    throw Error("this node has no network interface by which others could reach it");
}

}  // namespace poe::pm
