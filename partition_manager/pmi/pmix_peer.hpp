// Finds the user at the other end of a TCP connection on this host. A Unix socket would report the
// user, TCP does not, and PMIx trusts the user id that a client writes into its greeting. Therefore
// pmd-pmix asks the kernel before libpmix uses a connection.
#pragma once

#include <optional>
#include <sys/types.h>

namespace poe::pm {

// Returns the user that owns the other end of a connected IPv4 socket of this host. The source is
// the kernel's socket diagnosis (one round trip, about 10 us), or else /proc/net/tcp. Returns
// nothing if the user cannot be determined, for example because the other end is already closed.
// Does not block; thread-safe; needs no privileges.
std::optional<uid_t> tcp_peer_owner(int connection) noexcept;

}  // namespace poe::pm
