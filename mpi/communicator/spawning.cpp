// See spawning.hpp.
#include "mpi/communicator/spawning.hpp"

#include <algorithm>
#include <chrono>
#include <poll.h>
#include <string>
#include <utility>

#include "base/error.hpp"
#include "base/parse.hpp"
#include "mpi/communicator/exchange.hpp"
#include "mpi/communicator/ports.hpp"
#include "mpi/communicator/socket_channel.hpp"

namespace poe::mpi {
namespace {

// The key under which the new tasks find the name of the port.
constexpr const char* kParentKey = "poe-parent";
// If a connection with new tasks has broken, poe has this time to say why.
constexpr std::chrono::seconds kReasonLimit{1};

int total_of(const SpawnRequest& request) {
    int total = 0;
    for (const comm::ProgramToSpawn& program : request.programs) total += program.tasks;
    return total;
}

Fault spawn_fault(const std::string& why) {
    return {MPI_ERR_SPAWN, "", "no task was started: " + why, ""};
}

// For the root: starts the tasks. Returns the reason of failure. `job`: the name of their job.
Fault start_tasks(comm::Runtime& runtime, const SpawnRequest& request, const PortName& port,
                  std::string& job) {
    auto poe = job_services(runtime);
    if (!poe) return spawn_fault("poe has not started this process; start the program with poe");
    try {
        comm::JobServices::Spawned spawned =
            poe->spawn(request.programs, kParentKey, text_of(port));
        job = std::move(spawned.job);
        return spawned.failure.empty() ? Fault{} : spawn_fault(spawned.failure);
    } catch (const Error& error) {
        return spawn_fault(error.what());
    }
}

Fault too_early(const std::string& why) {
    return {MPI_ERR_SPAWN, "", why + "; poe ends the other new tasks", ""};
}

// Finds out whether a task of the new job has ended before it has called MPI_Init.
Fault ended_too_early(comm::Runtime& runtime, const std::string& job, bool wait) {
    auto poe = job_services(runtime);
    if (!poe) return {};
    std::string why;
    try {
        if (!wait) {
            why = poe->failure_of(job);
            return why.empty() ? Fault{} : too_early(why);
        }
        const auto deadline = std::chrono::steady_clock::now() + kReasonLimit;
        wait_for_socket(runtime, -1, 0, [&] {
            why = poe->failure_of(job);
            return !why.empty() || std::chrono::steady_clock::now() >= deadline;
        });
    } catch (const Error& error) {
        why = error.what();
    }
    return why.empty() ? Fault{} : too_early(why);
}

}  // namespace

int tasks_allowed(std::string_view soft, int most) {
    int allowed = -1;
    while (!soft.empty()) {
        const std::size_t comma = std::min(soft.find(','), soft.size());
        std::string_view item = soft.substr(0, comma);
        soft.remove_prefix(std::min(comma + 1, soft.size()));
        std::vector<int> numbers;
        while (numbers.size() < 4) {
            const std::size_t colon = std::min(item.find(':'), item.size());
            const auto number = parse_number<int>(std::string(item.substr(0, colon)));
            if (!number) return -1;
            numbers.push_back(*number);
            if (colon == item.size()) break;
            item.remove_prefix(colon + 1);
        }
        if (numbers.size() > 3) return -1;
        const int first = numbers[0];
        const int last = numbers.size() > 1 ? numbers[1] : first;
        const int step = numbers.size() > 2 ? numbers[2] : 1;
        if (step == 0) return -1;
        for (std::int64_t each = first; step > 0 ? each <= last : each >= last; each += step) {
            if (step > 0 && each > most) break;
            if (each >= 0 && each <= most) allowed = std::max(allowed, static_cast<int>(each));
            if (step < 0 && each < 0) break;
        }
    }
    return allowed;
}

Spawned spawn(comm::Runtime& runtime, Comm& local, int root, const SpawnRequest& request) {
    Words told{MPI_SUCCESS, 0};
    std::optional<PortName> port;
    std::string job;
    Fault fault;
    // No task is started in vain because a member has ended.
    const ContextId context = making_context(local, Making::kMembers);
    const Route route{context, 1};
    const Fault alone = synchronize(runtime, local.local->tasks(), local.rank, {context, 3});
    if (local.rank == root) {
        fault = request.fault ? request.fault : alone;
        if (!fault) {
            try {
                port = open_port(runtime);
                fault = start_tasks(runtime, request, *port, job);
            } catch (const Error& error) {
                fault = spawn_fault(error.what());
            }
        }
        told = {fault.code, total_of(request)};
    }
    const Fault lost = bcast_words(runtime, local.local->tasks(), local.rank, root, route, told);
    if (!fault && !lost && told.front() != MPI_SUCCESS)
        fault = {told.front(), "",
                 "the root, rank " + std::to_string(root) + ", could not start the tasks",
                 "look for the message of that task"};
    if (!fault) fault = alone ? alone : lost;
    const bool failed = static_cast<bool>(fault);
    Spawned spawned{{nullptr, fault}, failed && local.rank != root ? 0 : told.back()};
    if (!spawned.comm.fault) {
        const std::string name = port ? text_of(*port) : std::string();
        Meeting meeting;
        meeting.port = name;
        meeting.hopeless = [&](bool wait) { return ended_too_early(runtime, job, wait); };
        spawned.comm = accept(runtime, local, root, meeting);
    }
    if (port) close_port(*port);
    return spawned;
}

std::optional<comm::JobServices> job_services(comm::Runtime& runtime) {
    return comm::JobServices::find([&runtime](int fd, const std::function<bool()>& over) {
        wait_for_socket(runtime, fd, POLLIN, over);
    });
}

MadeComm connect_to_parents(comm::Runtime& runtime) {
    auto poe = job_services(runtime);
    if (!poe) return {};
    std::optional<std::string> port;
    try {
        port = poe->value_from_spawner(kParentKey);
    } catch (const Error& error) {
        return {nullptr, {MPI_ERR_OTHER, "", error.what(), ""}};
    }
    if (!port) return {};
    Meeting meeting;
    meeting.port = *port;
    MadeComm made = connect_to_port(runtime, world(), 0, meeting);
    if (made.fault) let_poe_report(runtime);
    return made;
}

}  // namespace poe::mpi
