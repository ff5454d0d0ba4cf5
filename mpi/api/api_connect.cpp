// Connections between groups that have no communicator in common (MPI 5.0, sections 11.8.2, 11.9 and
// 11.10.5). Groups of one job only: messages reach no task of another job.
#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <mpi.h>
#include <string>
#include <sys/socket.h>

#include "mpi/api/bodies.hpp"
#include "mpi/api/checks.hpp"
#include "mpi/api/communicator_call.hpp"
#include "mpi/communicator/ports.hpp"
#include "mpi/point/waiting.hpp"

namespace poe::mpi {
namespace {

using Meet = MadeComm (*)(comm::Runtime&, Comm&, int root, std::string_view name);

int meet_at_port(Call& call, const char* port_name, int root, MPI_Comm comm, MPI_Comm* newcomm,
                 Meet function) {
    *newcomm = MPI_COMM_NULL;
    Comm& local = *find_comm(comm);
    if (local.is_inter())
        return call.fail(MPI_ERR_COMM, "comm", "it is an intercommunicator",
                         "give a communicator of one group");
    if (root < 0 || root >= local.size())
        return call.fail(MPI_ERR_ROOT, "root",
                         std::to_string(root) + " is no rank of comm, which has " +
                             std::to_string(local.size()) + " members");
    // Significant at the root only.
    const std::string_view name =
        local.rank == root && port_name != nullptr ? port_name : std::string_view();
    const VisibleCollective visible(call, local, root);
    return store_comm(call, function(call.runtime(), local, root, name), newcomm);
}

// What both sides of MPI_Comm_join write to the socket. Nothing else is read, so the socket holds no
// data of MPI afterwards.
struct Greeting {
    std::array<char, 8> magic{'P', 'O', 'E', 'J', 'O', 'I', 'N', '1'};
    std::int32_t task = -1;
    std::int32_t number = 0;
    std::array<char, 112> job{};
};

Fault socket_fault(int fd, const char* doing, const char* why) {
    return {MPI_ERR_ARG, "fd",
            std::string(doing) + " descriptor " + std::to_string(fd) + " fails: " + why,
            "give a connected stream socket"};
}

// Blocks until the other side has answered; messages make progress meanwhile.
Fault exchange_greetings(comm::Runtime& runtime, int fd, const Greeting& own, Greeting& other) {
    const ssize_t sent = ::send(fd, &own, sizeof own, MSG_NOSIGNAL);
    if (sent < 0) return socket_fault(fd, "writing to", std::strerror(errno));
    if (sent != sizeof own) return socket_fault(fd, "writing to", "its buffer is full");
    std::size_t have = 0;
    Fault fault;
    const auto over = [&] {
        const ssize_t got =
            ::recv(fd, reinterpret_cast<char*>(&other) + have, sizeof other - have, MSG_DONTWAIT);
        if (got > 0) have += static_cast<std::size_t>(got);
        if (got == 0) fault = socket_fault(fd, "reading from", "the other side has closed it");
        if (got < 0 && errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR)
            fault = socket_fault(fd, "reading from", std::strerror(errno));
        return fault.code != MPI_SUCCESS || have == sizeof other;
    };
    wait_until(runtime, over, [] { return Awaited{}; });
    return fault;
}

}  // namespace

int open_port(Call& call, MPI_Info info, char* port_name) {
    if (info != MPI_INFO_NULL && !checks::check_info(call, info, "info")) return call.code();
    copy_info_value(text_of(open_port(call.runtime())), {port_name, MPI_MAX_PORT_NAME});
    return MPI_SUCCESS;
}

int close_port(Call& call, const char* port_name) {
    const auto port = parse_port_name(port_name);
    if (port && close_port(call.runtime(), *port)) return MPI_SUCCESS;
    return call.fail(MPI_ERR_PORT, "port_name",
                     "\"" + std::string(port_name) + "\" is no open port of this task",
                     "close a port once, in the task that has opened it");
}

int comm_accept(Call& call, const char* port_name, MPI_Info info, int root, MPI_Comm comm,
                MPI_Comm* newcomm) {
    if (info != MPI_INFO_NULL && !checks::check_info(call, info, "info")) return call.code();
    return meet_at_port(call, port_name, root, comm, newcomm, accept);
}

int comm_connect(Call& call, const char* port_name, MPI_Info info, int root, MPI_Comm comm,
                 MPI_Comm* newcomm) {
    if (info != MPI_INFO_NULL && !checks::check_info(call, info, "info")) return call.code();
    return meet_at_port(call, port_name, root, comm, newcomm, connect_to_port);
}

// No task of this library was started by MPI_Comm_spawn.
int comm_get_parent(Call&, MPI_Comm* parent) {
    *parent = MPI_COMM_NULL;
    return MPI_SUCCESS;
}

// If no connection is possible, the standard demands success without a communicator.
int comm_join(Call& call, int fd, MPI_Comm* intercomm) {
    *intercomm = MPI_COMM_NULL;
    static std::atomic<std::int32_t> joins{0};
    Greeting own;
    Greeting other;
    own.task = call.runtime().task();
    own.number = joins.fetch_add(1) & 0x7fffffff;
    copy_info_value(own_job(call.runtime()), own.job);
    const VisibleCall visible(call, {});
    if (const Fault fault = exchange_greetings(call.runtime(), fd, own, other))
        return call.fail(fault);
    if (other.magic != own.magic)
        return call.fail(MPI_ERR_OTHER, "fd",
                         "the other side of the socket is not in MPI_Comm_join",
                         "let both processes call MPI_Comm_join, and read all of the program's own "
                         "data before");
    if (other.job != own.job) return MPI_SUCCESS;
    if (other.task == own.task)
        return call.fail(MPI_ERR_ARG, "fd", "both ends of the socket belong to this task",
                         "connect two tasks");
    const std::int32_t number = own.task < other.task ? own.number : other.number;
    return store_comm(call, join(call.runtime(), other.task, number), intercomm);
}

}  // namespace poe::mpi
