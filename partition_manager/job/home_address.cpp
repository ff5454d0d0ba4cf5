// See home_address.hpp.
#include "partition_manager/job/home_address.hpp"

#include <arpa/inet.h>
#include <span>
#include <sys/socket.h>

#include "base/unique_fd.hpp"
#include "partition_manager/job/name_service.hpp"

namespace poe::pm {

std::string address_towards(const std::string& name) {
    constexpr in_port_t kDiscard = 9;  // any port: nothing is sent
    const auto found = addresses_of(std::span(&name, 1));
    for (SocketAddress one : found.front()) {
        const UniqueFd probe(::socket(one.any.sa_family, SOCK_DGRAM | SOCK_CLOEXEC, 0));
        (one.any.sa_family == AF_INET ? one.v4.sin_port : one.v6.sin6_port) = htons(kDiscard);
        SocketAddress own;
        socklen_t size = sizeof own;
        if (probe && ::connect(probe.get(), &one.any, one.size()) == 0 &&
            ::getsockname(probe.get(), &own.any, &size) == 0)
            return own.text();
    }
    return "";
}

}  // namespace poe::pm
