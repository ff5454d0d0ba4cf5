// Ports; see ports.hpp.
#include "mpi/communicator/ports.hpp"

#include <charconv>
#include <set>
#include <unistd.h>

#include "mpi/communicator/exchange.hpp"
#include "mpi/communicator/intercomm.hpp"

namespace poe::mpi {
namespace {

// Contexts that neither a communicator has nor a hash of group_route.cpp, which ends before them.
constexpr ContextId kHelloContext = 0x8ffffff0u;
constexpr ContextId kLeadersContext = 0x8ffffff1u;
constexpr ContextId kJoinContext = 0x8ffffff2u;

constexpr std::string_view kPrefix = "poe-port:";
constexpr auto kPortFlow = comm::FlowClass::kCollective;

struct OpenPorts {
    std::set<std::int32_t> numbers;
    std::int32_t next = 1;
};

OpenPorts& open_ports() {
    static auto* const ports = new OpenPorts;
    return *ports;
}

bool read_digits(std::string_view& rest, std::int32_t& number) {
    const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), number);
    rest.remove_prefix(static_cast<std::size_t>(end - rest.data()));
    return error == std::errc() && number >= 0;
}

Fault no_port(std::string_view name, const std::string& why, const char* remedy) {
    return {MPI_ERR_PORT, "port_name", "\"" + std::string(name) + "\" " + why, remedy};
}

Fault check_port(const comm::Runtime& runtime, std::string_view name,
                 const std::optional<PortName>& port) {
    if (!port) return no_port(name, "is no name of a port", "give a name from MPI_Open_port");
    if (port->job != own_job(runtime))
        return no_port(name, "is a port of another job; this job is " + own_job(runtime),
                       "connect tasks of one job only");
    if (static_cast<std::uint32_t>(port->task) >= runtime.tasks())
        return no_port(name, "is a port of a task that the job does not have",
                       "give a name from MPI_Open_port");
    return {};
}

}  // namespace

std::string text_of(const PortName& port) {
    return std::string(kPrefix) + std::to_string(port.task) + ":" + std::to_string(port.number) +
           ":" + port.job;
}

std::optional<PortName> parse_port_name(std::string_view text) {
    if (!text.starts_with(kPrefix)) return std::nullopt;
    text.remove_prefix(kPrefix.size());
    PortName port;
    if (!read_digits(text, port.task) || !text.starts_with(':')) return std::nullopt;
    text.remove_prefix(1);
    if (!read_digits(text, port.number) || !text.starts_with(':') || text.size() == 1)
        return std::nullopt;
    port.job = text.substr(1);
    return port;
}

std::string own_job(const comm::Runtime& runtime) {
    if (runtime.segment() != nullptr) return runtime.segment()->facts().job_id;
    return "alone-" + std::to_string(::getpid());
}

PortName open_port(const comm::Runtime& runtime) {
    OpenPorts& ports = open_ports();
    ports.numbers.insert(ports.next);
    return {own_job(runtime), runtime.task(), ports.next++};
}

bool close_port(const comm::Runtime& runtime, const PortName& port) {
    return port.job == own_job(runtime) && port.task == runtime.task() &&
           open_ports().numbers.erase(port.number) != 0;
}

MadeComm accept(comm::Runtime& runtime, Comm& local, int root, std::string_view name) {
    RemoteLeader remote;
    if (local.rank == root) {
        const std::optional<PortName> port = parse_port_name(name);
        remote.fault = check_port(runtime, name, port);
        if (!remote.fault &&
            (port->task != runtime.task() || !open_ports().numbers.contains(port->number)))
            remote.fault = no_port(name, "is no open port of this task",
                                   "let the task accept that has opened the port");
        if (!remote.fault) {
            std::int32_t task = -1;
            comm::ReceiveRequest hello;
            hello.reset({&task, sizeof task}, {kHelloContext, comm::kWildcard, port->number});
            runtime.messages().start(hello);
            remote.fault = fault_of_exchange(runtime, runtime.messages().wait(hello), hello.source);
            remote.task = task;
            remote.route = {kLeadersContext, port->number};
        }
    }
    return connect(runtime, local, root, remote);
}

MadeComm connect_to_port(comm::Runtime& runtime, Comm& local, int root, std::string_view name) {
    RemoteLeader remote;
    if (local.rank == root) {
        const std::optional<PortName> port = parse_port_name(name);
        remote.fault = check_port(runtime, name, port);
        if (!remote.fault && local.local->rank_of(port->task) != MPI_UNDEFINED)
            remote.fault = no_port(name, "is a port of a member of the communicator",
                                   "connect groups without common members");
        if (!remote.fault) {
            std::int32_t task = runtime.task();
            comm::SendRequest hello({&task, sizeof task}, port->task, port->number, kHelloContext,
                                    kPortFlow);
            runtime.messages().start(hello);
            remote.fault = fault_of_exchange(runtime, runtime.messages().wait(hello), port->task);
            remote.task = port->task;
            remote.route = {kLeadersContext, port->number};
        }
    }
    return connect(runtime, local, root, remote);
}

MadeComm join(comm::Runtime& runtime, TaskId other, std::int32_t number) {
    return connect(runtime, self(), 0, {other, {kJoinContext, number}, {}});
}

}  // namespace poe::mpi
