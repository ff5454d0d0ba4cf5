// See home_address.hpp.
#include "partition_manager/job/home_address.hpp"

#include <cstdint>
#include <span>
#include <sys/socket.h>

#include "base/unique_fd.hpp"
#include "partition_manager/job/name_service.hpp"

namespace poe::pm {

std::string address_towards(const std::string& name) {
    constexpr std::uint16_t kDiscard = 9;  // any port: nothing is sent
    const auto found = addresses_of(std::span(&name, 1));
    for (const NodeAddress& one : found.front()) {
        const UniqueFd probe(::socket(static_cast<int>(one.family), SOCK_DGRAM | SOCK_CLOEXEC, 0));
        const SocketAddress to(one, kDiscard);
        if (!probe || ::connect(probe.get(), to.get(), to.length) != 0) continue;
        // The scope of a link-local address has a meaning on this node only.
        if (const NodeAddress own = local_address(probe.get()).first; own.scope == 0)
            return own.text();
    }
    return "";
}

}  // namespace poe::pm
