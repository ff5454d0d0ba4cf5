// Ports: how two groups of one job are connected that have no communicator in common (MPI 5.0, section
// 11.9).
//
//   1. MPI_Open_port takes a number. The name of the port has the job, the task and the number.
//   2. The root of MPI_Comm_connect sends its task id to the task of the port. The root of
//      MPI_Comm_accept receives the oldest such message.
//   3. Both roots then know each other, and the groups are connected as by MPI_Intercomm_create.
//
// For the thread that has the turn.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "comm/bootstrap/runtime.hpp"
#include "mpi/communicator/comm.hpp"
#include "mpi/communicator/numbers.hpp"

namespace poe::mpi {

struct PortName {
    std::string job;
    TaskId task = 0;
    std::int32_t number = 0;
};

std::string text_of(const PortName& port);
// Empty if the text is no name of a port.
std::optional<PortName> parse_port_name(std::string_view text);

// The name of this job, which all its tasks know and no other job has.
std::string own_job(const comm::Runtime& runtime);

// Opens a port of this task.
PortName open_port(const comm::Runtime& runtime);
// Returns false if this task has no such open port.
bool close_port(const comm::Runtime& runtime, const PortName& port);

// MPI_Comm_accept and MPI_Comm_connect. All members of `local`, which is an intracommunicator, make the
// call. `name` is significant at the root only. Each blocks until the other side has made its call; a
// connect to a port that is closed waits until it is opened and accepts.
MadeComm accept(comm::Runtime& runtime, Comm& local, int root, std::string_view name);
MadeComm connect_to_port(comm::Runtime& runtime, Comm& local, int root, std::string_view name);

// MPI_Comm_join: connects this task with another one, which makes the same call with this number.
MadeComm join(comm::Runtime& runtime, TaskId other, std::int32_t number);

}  // namespace poe::mpi
