// Apart from node_address.cpp, since it asks the name service: poe links it, pmd does not.
#include "partition_manager/home_address.hpp"

#include <memory>
#include <netdb.h>
#include <sys/socket.h>

#include "comm/base/unique_fd.hpp"

namespace poe::pm {

std::string address_towards(const std::string& name) {
    addrinfo hints{};
    hints.ai_socktype = SOCK_DGRAM;
    addrinfo* list = nullptr;
    if (::getaddrinfo(name.c_str(), "9", &hints, &list) != 0) return "";
    const std::unique_ptr<addrinfo, void (*)(addrinfo*)> all(list, ::freeaddrinfo);
    for (const addrinfo* one = list; one != nullptr; one = one->ai_next) {
        const UniqueFd probe(::socket(one->ai_family, SOCK_DGRAM | SOCK_CLOEXEC, 0));
        sockaddr_storage own{};
        socklen_t size = sizeof own;
        if (!probe || ::connect(probe.get(), one->ai_addr, one->ai_addrlen) != 0 ||
            ::getsockname(probe.get(), reinterpret_cast<sockaddr*>(&own), &size) != 0)
            continue;
        char text[NI_MAXHOST] = {};
        if (::getnameinfo(reinterpret_cast<const sockaddr*>(&own), size, text, sizeof text, nullptr,
                          0, NI_NUMERICHOST) == 0)
            return text;
    }
    return "";
}

}  // namespace poe::pm
