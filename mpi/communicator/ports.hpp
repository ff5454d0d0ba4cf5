// Ports: how two groups are connected that have no communicator in common (MPI 5.0, section 11.9).
//
//   1. MPI_Open_port listens on a socket. The name of the port has its address and a key.
//   2. The root of MPI_Comm_connect connects to it. Both roots prove that they know the key
//      (comm/tcp/tcp_handshake.hpp).
//   3. The roots talk over this socket, and the groups are connected as by MPI_Intercomm_create.
//
// For the thread that has the turn.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/segment/endpoint.hpp"
#include "base/types.hpp"
#include "comm/bootstrap/runtime.hpp"
#include "mpi/communicator/comm.hpp"
#include "mpi/communicator/numbers.hpp"

namespace poe::mpi {

struct PortName {
    std::string job;
    TaskId task = 0;
    NodeAddress address;
    std::uint16_t port = 0;
    JobKey key{};

    bool operator==(const PortName&) const = default;
};

// "poe-port/JOB/TASK/ADDRESS/PORT/KEY", the key in hexadecimal digits. It is less than
// MPI_MAX_PORT_NAME characters long.
std::string text_of(const PortName& port);
// Empty if the text is no name of a port.
std::optional<PortName> parse_port_name(std::string_view text);

// The name of this job, which all its tasks know and no other job has.
std::string own_job(const comm::Runtime& runtime);

// Opens a port of this task. Throws Error.
PortName open_port(const comm::Runtime& runtime);
// Returns false if this task has no such open port. Clients that wait for an accept get an error.
bool close_port(const PortName& port);

// Returns why nobody can connect to the port any more; no fault: somebody can. `wait`: returns only
// when it knows, because the connection with the other group has broken. Never blocks for longer
// than a second.
using Hopeless = std::function<Fault(bool wait)>;

// What the root gives to MPI_Comm_accept or MPI_Comm_connect.
struct Meeting {
    std::string_view port;
    // If the other side has not made its call within this time, the call fails. Empty: no limit.
    std::optional<std::chrono::nanoseconds> limit;
    Hopeless hopeless;  // for accept(); may be empty
    Fault fault;        // of an argument; the call then fails at once
};

// MPI_Comm_accept and MPI_Comm_connect. All members of `local`, which is an intracommunicator, make
// the call. `meeting` is significant at the root only. Each blocks until the other side has made
// its call, until the time limit, or until hopeless() has returned a fault; all members get the
// fault.
MadeComm accept(comm::Runtime& runtime, Comm& local, int root, const Meeting& meeting);
MadeComm connect_to_port(comm::Runtime& runtime, Comm& local, int root, const Meeting& meeting);

// MPI_Comm_join: connects this task with the one at the other end of the socket, which makes the
// same call. `in_job`: that task belongs to this job.
MadeComm join(comm::Runtime& runtime, int socket, bool in_job);

}  // namespace poe::mpi
