// Names and addresses of this computer, asked of the system.
#include "partition_manager/local_names.hpp"

#include <array>
#include <cstring>
#include <ifaddrs.h>
#include <limits.h>
#include <memory>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "partition_manager/suggest.hpp"

namespace poe::pm {
namespace {

struct FreeAddresses {
    void operator()(addrinfo* list) const { ::freeaddrinfo(list); }
    void operator()(ifaddrs* list) const { ::freeifaddrs(list); }
};

std::string_view first_label(std::string_view name) {
    return name.substr(0, name.find('.'));
}

bool is_qualified(std::string_view name) {
    return name.find('.') != std::string_view::npos;
}

// Whether a host name as written is ours: in full, or one of both in short form.
bool is_own_name(std::string_view name, std::string_view own) {
    if (same_word(name, own)) return true;
    if (is_qualified(name) && is_qualified(own)) return false;
    return same_word(first_label(name), first_label(own));
}

bool same_address(const sockaddr* a, const sockaddr* b) {
    if (a == nullptr || b == nullptr || a->sa_family != b->sa_family) return false;
    if (a->sa_family == AF_INET)
        return std::memcmp(&reinterpret_cast<const sockaddr_in*>(a)->sin_addr,
                           &reinterpret_cast<const sockaddr_in*>(b)->sin_addr,
                           sizeof(in_addr)) == 0;
    if (a->sa_family == AF_INET6)
        return std::memcmp(&reinterpret_cast<const sockaddr_in6*>(a)->sin6_addr,
                           &reinterpret_cast<const sockaddr_in6*>(b)->sin6_addr,
                           sizeof(in6_addr)) == 0;
    return false;
}

bool is_loopback(const sockaddr* address) {
    if (address->sa_family == AF_INET)
        return ntohl(reinterpret_cast<const sockaddr_in*>(address)->sin_addr.s_addr) >> 24 == 127;
    return address->sa_family == AF_INET6 &&
           IN6_IS_ADDR_LOOPBACK(&reinterpret_cast<const sockaddr_in6*>(address)->sin6_addr);
}

// Whether the name service gives an address of this computer for the name.
bool resolves_to_this_node(const std::string& name) {
    addrinfo hints{};
    hints.ai_family = AF_UNSPEC;
    hints.ai_socktype = SOCK_STREAM;
    addrinfo* raw_found = nullptr;
    if (::getaddrinfo(name.c_str(), nullptr, &hints, &raw_found) != 0) return false;
    const std::unique_ptr<addrinfo, FreeAddresses> found(raw_found);
    ifaddrs* raw_own = nullptr;
    if (::getifaddrs(&raw_own) != 0) raw_own = nullptr;
    const std::unique_ptr<ifaddrs, FreeAddresses> own(raw_own);
    for (const addrinfo* one = found.get(); one != nullptr; one = one->ai_next) {
        if (is_loopback(one->ai_addr)) return true;
        for (const ifaddrs* interface = own.get(); interface != nullptr;
             interface = interface->ifa_next)
            if (same_address(one->ai_addr, interface->ifa_addr)) return true;
    }
    return false;
}

}  // namespace

std::string local_host_name() {
    std::array<char, HOST_NAME_MAX + 2> name{};
    if (::gethostname(name.data(), name.size() - 1) != 0 || name[0] == '\0') return "localhost";
    return name.data();
}

IsThisNode local_name_test() {
    return [](std::string_view name) {
        return same_word(name, "localhost") || is_own_name(name, local_host_name()) ||
               resolves_to_this_node(std::string(name));
    };
}

}  // namespace poe::pm
