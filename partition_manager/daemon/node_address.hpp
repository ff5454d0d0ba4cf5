// The address by which the other nodes of a job reach this node. A daemon reports it if the node
// list does not contain it. No name service is used, because a static program cannot use one.
#pragma once

#include <string>

#include "base/segment/endpoint.hpp"

namespace poe::pm {

// Returns the first of these addresses that exists:
//   1. If `device` is not empty: the address of this network interface (-euidevice).
//   2. The server's address in `ssh_connection` (sshd's SSH_CONNECTION: the client's address and
//      port, then the server's; may be empty).
//   3. The address of the first interface that is up and is not the loopback.
//
// Throws Error if there is none, or if `device` is given and has no address.
NodeAddress node_address(const std::string& device, const std::string& ssh_connection);

}  // namespace poe::pm
