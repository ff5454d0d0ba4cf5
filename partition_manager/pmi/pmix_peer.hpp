// Who is at the other end of a TCP connection on this host. A Unix socket would tell; TCP does not,
// and PMIx believes the user number that a client writes into its greeting. So pmd-pmix asks the
// kernel before it lets libpmix talk to a connection.
#pragma once

#include <optional>
#include <sys/types.h>

namespace poe::pm {

// The user who owns the other end of a connected IPv4 socket of this host: from the kernel's socket
// diagnosis (one round trip, about 10 us), else from /proc/net/tcp. Nothing when it cannot be told,
// also because the other end is closed already. Does not block; thread-safe; needs no privilege.
std::optional<uid_t> tcp_peer_owner(int connection) noexcept;

}  // namespace poe::pm
