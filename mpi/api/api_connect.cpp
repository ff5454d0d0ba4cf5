// Connections between groups that have no communicator in common (MPI 5.0, sections 11.9 and
// 11.10.5).
#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <mpi.h>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.hpp"
#include "mpi/api/bodies.hpp"
#include "mpi/api/checks.hpp"
#include "mpi/api/communicator_call.hpp"
#include "mpi/communicator/ports.hpp"
#include "mpi/communicator/socket_channel.hpp"

namespace poe::mpi {
namespace {

using Meet = MadeComm (*)(comm::Runtime&, Comm&, int root, const Meeting&);

// The info key timeout: a positive number of seconds, such as 10 or 0.5.
Fault take_limit(MPI_Info handle, std::optional<std::chrono::nanoseconds>& limit) {
    if (handle == MPI_INFO_NULL) return {};
    const Info* const info = environment().find_readable_info(handle);
    const std::string* const text = info == nullptr ? nullptr : info->find("timeout");
    if (text == nullptr) return {};
    const char* const end = text->data() + text->size();
    double seconds = 0;
    const auto [rest, error] =
        std::from_chars(text->data(), end, seconds, std::chars_format::fixed);
    if (error != std::errc() || rest != end || !(seconds > 0))
        return {MPI_ERR_INFO_VALUE, "info", "timeout is \"" + *text + "\"",
                "give a positive number of seconds"};
    constexpr double kMost = 1e9;
    limit = std::chrono::nanoseconds(static_cast<std::int64_t>(std::min(seconds, kMost) * 1e9));
    return {};
}

int meet_at_port(Call& call, const char* port_name, MPI_Info info, int root, MPI_Comm comm,
                 MPI_Comm* newcomm, Meet meet) {
    *newcomm = MPI_COMM_NULL;
    if (info != MPI_INFO_NULL && !checks::check_info(call, info, "info")) return call.code();
    Comm* const found = group_with_root(call, comm, root);
    if (found == nullptr) return call.code();
    Comm& local = *found;
    Meeting meeting;
    // Significant at the root only.
    if (local.rank == root) {
        if (port_name != nullptr) meeting.port = port_name;
        meeting.fault = take_limit(info, meeting.limit);
    }
    const VisibleCollective visible(call, local, root);
    return store_comm(call, meet(call.runtime(), local, root, meeting), newcomm);
}

// What both sides of MPI_Comm_join write to the socket. Nothing else is read, so the socket holds
// no data of MPI afterwards.
struct Greeting {
    std::array<char, 8> magic{'P', 'O', 'E', 'J', 'O', 'I', 'N', '1'};
    std::int32_t task = -1;
    std::array<char, 116> job{};
};

// Processes that nobody has started as tasks can be connected with nobody.
bool can_be_connected(const Greeting& own, const Greeting& other) {
    const auto is_alone = [](const Greeting& side) {
        return std::string_view(side.job.data()).starts_with("alone-");
    };
    return own.job == other.job || (!is_alone(own) && !is_alone(other));
}

}  // namespace

int open_port(Call& call, MPI_Info info, char* port_name) {
    if (info != MPI_INFO_NULL && !checks::check_info(call, info, "info")) return call.code();
    try {
        copy_info_value(text_of(open_port(call.runtime())), {port_name, MPI_MAX_PORT_NAME});
    } catch (const Error& error) {
        return call.fail(MPI_ERR_PORT, "", error.what(), "");
    }
    return MPI_SUCCESS;
}

int close_port(Call& call, const char* port_name) {
    const auto port = parse_port_name(port_name);
    if (port && close_port(*port)) return MPI_SUCCESS;
    return call.fail(MPI_ERR_PORT, "port_name",
                     "\"" + std::string(port_name) + "\" is no open port of this task",
                     "close a port once, in the task that has opened it");
}

int comm_accept(Call& call, const char* port_name, MPI_Info info, int root, MPI_Comm comm,
                MPI_Comm* newcomm) {
    return meet_at_port(call, port_name, info, root, comm, newcomm, accept);
}

int comm_connect(Call& call, const char* port_name, MPI_Info info, int root, MPI_Comm comm,
                 MPI_Comm* newcomm) {
    return meet_at_port(call, port_name, info, root, comm, newcomm, connect_to_port);
}

// If no connection is possible, the standard demands success without a communicator.
int comm_join(Call& call, int fd, MPI_Comm* intercomm) {
    *intercomm = MPI_COMM_NULL;
    Greeting own;
    Greeting other;
    own.task = call.runtime().task();
    copy_info_value(own_job(call.runtime()), own.job);
    const VisibleCall visible(call, {});
    if (const Fault fault = SocketChannel(call.runtime(), fd).swap_bytes(&own, &other, sizeof own))
        return call.fail(MPI_ERR_ARG, "fd", "descriptor " + std::to_string(fd) + ": " + fault.what,
                         "give a connected stream socket");
    if (other.magic != own.magic)
        return call.fail(MPI_ERR_OTHER, "fd",
                         "the other side of the socket is not in MPI_Comm_join",
                         "let both processes call MPI_Comm_join, and read all of the program's own "
                         "data before");
    if (!can_be_connected(own, other)) return MPI_SUCCESS;
    const bool in_job = own.job == other.job;
    if (in_job && other.task == own.task)
        return call.fail(MPI_ERR_ARG, "fd", "both ends of the socket belong to this task",
                         "connect two tasks");
    return store_comm(call, join(call.runtime(), fd, in_job), intercomm);
}

}  // namespace poe::mpi
