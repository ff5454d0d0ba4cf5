// The address by which the other nodes of a job reach this one: what a daemon answers when the node
// list does not say it. Asks no name service, which a static program cannot.
#pragma once

#include <string>

#include "base/segment/endpoint.hpp"

namespace poe::pm {

// `device`: the address of this network interface (-euidevice). Else the address at which
// `ssh_connection` (sshd's SSH_CONNECTION: client and server, address and port each; may be empty)
// came in. Else that of the interface that leads to the other computers. Throws Error that says
// what to do when there is none.
NodeAddress node_address(const std::string& device, const std::string& ssh_connection);

}  // namespace poe::pm
