// Chooses among the network interfaces of this computer.
#include "comm/tcp/own_address.hpp"

#include <algorithm>
#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <unistd.h>
#include <vector>

#include "base/error.hpp"

namespace poe::comm {
namespace {

// Returns the addresses of that family on all interfaces that are up, without loopback.
std::vector<NodeAddress> reachable_addresses(int family) {
    std::vector<NodeAddress> found;
    ifaddrs* all = nullptr;
    if (::getifaddrs(&all) != 0) throw_errno("cannot list this computer's network interfaces");
    for (const ifaddrs* one = all; one != nullptr; one = one->ifa_next) {
        constexpr unsigned kUsable = IFF_UP | IFF_RUNNING;
        if (one->ifa_addr == nullptr || one->ifa_addr->sa_family != family ||
            (one->ifa_flags & kUsable) != kUsable || (one->ifa_flags & IFF_LOOPBACK) != 0)
            continue;
        const NodeAddress address = NodeAddress::of(*one->ifa_addr);
        // A link-local address is valid on its own link only.
        if (address.scope == 0) found.push_back(address);
    }
    ::freeifaddrs(all);
    return found;
}

}  // namespace

NodeAddress own_address() {
    std::vector<NodeAddress> choice = reachable_addresses(AF_INET);
    if (choice.empty()) choice = reachable_addresses(AF_INET6);
    if (choice.empty())
        throw Error("this computer has no network interface by which others could reach it");
    if (choice.size() == 1) return choice[0];
    char name[256] = {};
    addrinfo hints{};
    hints.ai_socktype = SOCK_STREAM;
    addrinfo* answers = nullptr;
    if (::gethostname(name, sizeof name - 1) != 0 ||
        ::getaddrinfo(name, nullptr, &hints, &answers) != 0)
        return choice[0];
    NodeAddress best = choice[0];
    for (const addrinfo* one = answers; one != nullptr; one = one->ai_next) {
        if (one->ai_family != AF_INET && one->ai_family != AF_INET6) continue;
        const NodeAddress named = NodeAddress::of(*one->ai_addr);
        const auto found = std::find(choice.begin(), choice.end(), named);
        if (found == choice.end()) continue;
        best = *found;
        break;
    }
    ::freeaddrinfo(answers);
    return best;
}

}  // namespace poe::comm
