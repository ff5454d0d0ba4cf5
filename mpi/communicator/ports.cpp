// Ports; see ports.hpp.
#include "mpi/communicator/ports.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <list>
#include <memory>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>
#include <vector>

#include "base/error.hpp"
#include "base/parse.hpp"
#include "mpi/communicator/intercomm.hpp"
#include "mpi/communicator/socket_channel.hpp"

namespace poe::mpi {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr std::string_view kPrefix = "poe-port/";
constexpr std::size_t kFields = 5;
constexpr std::string_view kDigits = "0123456789abcdef";
// The number of the link of the two roots in their handshake. The accepting root is its member 0.
constexpr std::uint64_t kPortLink = 1;
// How long a process may take for its part of the handshake once it is accepted.
constexpr std::chrono::seconds kPatience{5};

struct OpenPort {
    PortName name;
    std::shared_ptr<const UniqueFd> listener;  // also of a call that accepts
};

std::list<OpenPort>& open_ports() {
    static auto* const ports = new std::list<OpenPort>;
    return *ports;
}

std::list<OpenPort>::iterator find_port(const PortName& name) {
    return std::ranges::find_if(open_ports(),
                                [&](const OpenPort& port) { return port.name == name; });
}

std::string hexadecimal(const JobKey& key) {
    std::string text;
    for (const std::uint8_t byte : key) {
        text += kDigits[byte >> 4];
        text += kDigits[byte & 15];
    }
    return text;
}

std::optional<JobKey> parse_key(std::string_view text) {
    JobKey key{};
    if (text.size() != 2 * key.size()) return std::nullopt;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const auto digit = kDigits.find(text[i]);
        if (digit == std::string_view::npos) return std::nullopt;
        key[i / 2] = static_cast<std::uint8_t>(key[i / 2] << 4 | digit);
    }
    return key;
}

Fault no_port(std::string_view name, const std::string& why, const char* remedy) {
    return {MPI_ERR_PORT, "port_name", "\"" + std::string(name) + "\" " + why, remedy};
}

// The time until which a root waits for the other one.
class Deadline {
  public:
    explicit Deadline(const Meeting& meeting) : limit_(meeting.limit) {
        const Clock::time_point now = Clock::now();
        // A limit of centuries is none.
        if (limit_ && *limit_ < Clock::time_point::max() - now) end_ = now + *limit_;
    }
    Clock::time_point end() const noexcept { return end_; }
    bool is_over() const { return limit_ && Clock::now() >= end_; }
    // "within 2.5 s (info key timeout)"
    std::string text() const {
        const double seconds = std::chrono::duration<double>(limit_.value_or(0ns)).count();
        std::array<char, 32> digits{};
        std::snprintf(digits.data(), digits.size(), "%g", seconds);
        return std::string("within ") + digits.data() + " s (info key timeout)";
    }

  private:
    std::optional<std::chrono::nanoseconds> limit_;
    Clock::time_point end_ = Clock::time_point::max();
};

Fault parse_port(std::string_view name, std::optional<PortName>& port) {
    port = parse_port_name(name);
    if (!port) return no_port(name, "is no name of a port", "give a name from MPI_Open_port");
    return {};
}

comm::HandshakeIdentity identity_at(const PortName& port, TaskId me) {
    return {port.key, "port", me, 2, kPortLink};
}

// The way to the other root over a socket that this object owns.
RemoteLeader leader_at(comm::Runtime& runtime, UniqueFd socket) {
    const auto owned = std::make_shared<UniqueFd>(std::move(socket));
    RemoteLeader remote;
    remote.swap = [&runtime, owned](const Words& given, Words& taken) {
        return SocketChannel(runtime, owned->get()).swap(given, taken);
    };
    // The roots find out whether they belong to one job.
    std::array<char, kMaxJobId + 8> own{};
    std::array<char, kMaxJobId + 8> other{};
    const std::string job = own_job(runtime);
    job.copy(own.data(), own.size() - 1);
    remote.fault =
        SocketChannel(runtime, owned->get()).swap_bytes(own.data(), other.data(), own.size());
    remote.in_job = own == other;
    return remote;
}

// Accepts connections until one comes from a process that knows the key.
RemoteLeader wait_for_client(comm::Runtime& runtime, OpenPort port, const Meeting& meeting) {
    const comm::HandshakeIdentity identity = identity_at(port.name, 0);
    const Deadline deadline(meeting);
    for (;;) {
        UniqueFd client;
        RemoteLeader nobody;
        wait_for_socket(runtime, port.listener->get(), POLLIN, [&] {
            client.reset(::accept4(port.listener->get(), nullptr, nullptr, SOCK_CLOEXEC));
            if (!client && meeting.hopeless) nobody.fault = meeting.hopeless(false);
            if (!client && !nobody.fault && deadline.is_over())
                nobody.fault = no_port(meeting.port, "was not connected to " + deadline.text(),
                                       "find out whether the clients run");
            return client || nobody.fault;
        });
        if (!client) return nobody;
        comm::Handshake handshake = comm::Handshake::answer(identity, comm::fresh_nonce());
        SocketChannel channel(runtime, client.get());
        if (!channel.shake_hands(handshake, true, Clock::now() + kPatience)) continue;
        RemoteLeader remote = leader_at(runtime, std::move(client));
        // A client that ends at once was none.
        if (!remote.fault) return remote;
    }
}

// Nobody answers at the port. If its task belongs to this job and has ended, the end of the job or
// the report of poe should come before this error, as with a connection that is lost
// (comm/tcp/tcp_pipe.hpp).
Fault no_answer(comm::Runtime& runtime, std::string_view name, const PortName& port,
                const char* why) {
    if (port.job == own_job(runtime)) {
        let_poe_report(runtime);
        // The first call looks for tasks that have ended.
        runtime.messages().lost_sender({context_of(0), port.task, comm::kWildcard});
        if (runtime.messages().lost(port.task))
            return {MPI_ERR_PROC_ABORTED, "port_name",
                    "task " + std::to_string(port.task) + ", which has opened the port, has ended",
                    "look for the first error message of the job"};
    }
    return no_port(name, std::string("cannot be connected to: ") + why,
                   "find out whether the port is open and its task still runs");
}

RemoteLeader call_port(comm::Runtime& runtime, const Meeting& meeting, const PortName& port) {
    const Deadline deadline(meeting);
    const auto refused = [&](const char* why) {
        RemoteLeader remote;
        remote.fault = no_answer(runtime, meeting.port, port, why);
        return remote;
    };
    const auto too_late = [&] {
        RemoteLeader remote;
        remote.fault = no_port(meeting.port, "was not accepted " + deadline.text(),
                               "find out whether its task calls MPI_Comm_accept");
        return remote;
    };
    // A wait with a limit is no deadlock, because it ends.
    const bool in_job = port.job == own_job(runtime) && !meeting.limit;
    const Awaited awaited = in_job ? Awaited{Awaited::Kind::kMessage, port.task} : kAwaitsOtherJob;
    UniqueFd socket(::socket(static_cast<int>(port.address.family),
                             SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (!socket) return refused(std::strerror(errno));
    const SocketAddress to(port.address, port.port);
    int error = 0;
    if (::connect(socket.get(), to.get(), to.length) != 0) error = errno;
    if (error == EINPROGRESS) {
        bool connected = false;
        wait_for_socket(
            runtime, socket.get(), POLLOUT,
            [&] {
                pollfd watched{socket.get(), POLLOUT, 0};
                connected = ::poll(&watched, 1, 0) > 0;
                return connected || deadline.is_over();
            },
            awaited);
        if (!connected) return too_late();
        socklen_t size = sizeof error;
        ::getsockopt(socket.get(), SOL_SOCKET, SO_ERROR, &error, &size);
    }
    if (error != 0) return refused(std::strerror(error));
    const comm::HandshakeIdentity identity = identity_at(port, 1);
    comm::Handshake handshake = comm::Handshake::call(identity, 0, comm::fresh_nonce());
    SocketChannel channel(runtime, socket.get(), awaited);
    // The other side may take its time until it accepts.
    if (!channel.shake_hands(handshake, false, deadline.end())) {
        if (deadline.is_over()) return too_late();
        return refused("it was closed, or another port has its address now");
    }
    return leader_at(runtime, std::move(socket));
}

}  // namespace

std::string text_of(const PortName& port) {
    return std::string(kPrefix) + port.job + "/" + std::to_string(port.task) + "/" +
           port.address.text() + "/" + std::to_string(port.port) + "/" + hexadecimal(port.key);
}

std::optional<PortName> parse_port_name(std::string_view text) {
    if (!text.starts_with(kPrefix)) return std::nullopt;
    text.remove_prefix(kPrefix.size());
    std::array<std::string, kFields> fields;
    for (std::size_t i = 0; i < kFields; ++i) {
        const auto end = text.find('/');
        if ((end == std::string_view::npos) != (i + 1 == kFields)) return std::nullopt;
        fields[i] = text.substr(0, end);
        text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    }
    const auto task = parse_number<TaskId>(fields[1]);
    const auto address = NodeAddress::parse(fields[2]);
    const auto port = parse_number<std::uint16_t>(fields[3]);
    const auto key = parse_key(fields[4]);
    if (fields[0].empty() || fields[0].size() > kMaxJobId || !task || *task < 0 || !address ||
        !port || *port == 0 || !key)
        return std::nullopt;
    return PortName{fields[0], *task, *address, *port, *key};
}

std::string own_job(const comm::Runtime& runtime) {
    if (runtime.segment() != nullptr) return runtime.segment()->facts().job_id;
    return "alone-" + std::to_string(::getpid());
}

PortName open_port(const comm::Runtime& runtime) {
    PortName name{own_job(runtime), runtime.task(), runtime.reachable_address(), 0,
                  comm::fresh_nonce()};
    auto listener = std::make_shared<const UniqueFd>(listen_on(name.address, name.port));
    open_ports().push_back({name, std::move(listener)});
    return name;
}

bool close_port(const PortName& port) {
    const auto found = find_port(port);
    if (found == open_ports().end()) return false;
    open_ports().erase(found);
    return true;
}

MadeComm accept(comm::Runtime& runtime, Comm& local, int root, const Meeting& meeting) {
    RemoteLeader remote;
    if (local.rank == root) {
        std::optional<PortName> port;
        remote.fault = meeting.fault;
        if (!remote.fault) remote.fault = parse_port(meeting.port, port);
        const auto open = port ? find_port(*port) : open_ports().end();
        if (!remote.fault && open == open_ports().end())
            remote.fault = no_port(meeting.port, "is no open port of this task",
                                   "let the task accept that has opened the port");
        if (!remote.fault) remote = wait_for_client(runtime, *open, meeting);
        if (!remote.fault && meeting.hopeless)
            remote.swap = [swap = remote.swap, hopeless = meeting.hopeless](const Words& given,
                                                                            Words& taken) {
                Fault fault = swap(given, taken);
                Fault better = fault ? hopeless(true) : Fault{};
                return better ? better : fault;
            };
    }
    return connect(runtime, local, root, remote);
}

MadeComm connect_to_port(comm::Runtime& runtime, Comm& local, int root, const Meeting& meeting) {
    RemoteLeader remote;
    if (local.rank == root) {
        std::optional<PortName> port;
        remote.fault = meeting.fault;
        if (!remote.fault) remote.fault = parse_port(meeting.port, port);
        if (!remote.fault && port->job == own_job(runtime) &&
            local.local->rank_of(port->task) != MPI_UNDEFINED)
            remote.fault = no_port(meeting.port, "is a port of a member of the communicator",
                                   "connect groups without common members");
        if (!remote.fault) remote = call_port(runtime, meeting, *port);
    }
    return connect(runtime, local, root, remote);
}

MadeComm join(comm::Runtime& runtime, int socket, bool in_job) {
    RemoteLeader remote;
    remote.in_job = in_job;
    remote.swap = [&runtime, socket](const Words& given, Words& taken) {
        return SocketChannel(runtime, socket).swap(given, taken);
    };
    return connect(runtime, self(), 0, remote);
}

}  // namespace poe::mpi
