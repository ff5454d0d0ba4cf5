// Tasks that start tasks, and names for ports (MPI 5.0, sections 11.8 and 11.9.4).
#include <algorithm>
#include <mpi.h>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "mpi/api/bodies.hpp"
#include "mpi/api/checks.hpp"
#include "mpi/api/communicator_call.hpp"
#include "mpi/communicator/spawning.hpp"

namespace poe::mpi {
namespace {

using comm::JobServices;
using comm::ProgramToSpawn;
using NameResult = JobServices::NameResult;

Fault wrong_argument(const char* argument, std::string what, const char* remedy) {
    return {MPI_ERR_ARG, argument, std::move(what), remedy};
}

// Takes the keys that poe knows. A file of arguments, `file`, is of the implementation's own kind;
// there is none.
Fault take_info(MPI_Info handle, ProgramToSpawn& program) {
    if (handle == MPI_INFO_NULL) return {};
    const Info* const info = environment().find_readable_info(handle);
    if (info == nullptr) return {MPI_ERR_INFO, "info", "it is no info", "give MPI_INFO_NULL"};
    for (const char* key : {"host", "wdir", "path"}) {
        if (const std::string* value = info->find(key)) program.info.emplace_back(key, *value);
    }
    if (const std::string* soft = info->find("soft")) {
        const int allowed = tasks_allowed(*soft, program.tasks);
        if (allowed < 1)
            return {MPI_ERR_SPAWN, "info",
                    "soft is \"" + *soft + "\", which allows no number of tasks from 1 to " +
                        std::to_string(program.tasks),
                    "give numbers and triples a:b:c, separated by commas"};
        program.tasks = allowed;
    }
    return {};
}

Fault take_program(const char* command, char** argv, int maxprocs, MPI_Info info,
                   SpawnRequest& request) {
    if (command == nullptr || *command == '\0')
        return wrong_argument("command", "it names no program", "give the path of a program");
    if (maxprocs < 1)
        return {MPI_ERR_SPAWN, "maxprocs", std::to_string(maxprocs) + " is no number of tasks", ""};
    ProgramToSpawn program;
    // The standard allows blanks around the name.
    const std::string_view name(command);
    const auto first = name.find_first_not_of(' ');
    if (first == std::string_view::npos)
        return wrong_argument("command", "it names no program", "give the path of a program");
    program.program = name.substr(first, name.find_last_not_of(' ') - first + 1);
    if (argv != MPI_ARGV_NULL)
        for (char** argument = argv; *argument != nullptr; ++argument)
            program.arguments.emplace_back(*argument);
    program.tasks = maxprocs;
    if (Fault fault = take_info(info, program)) return fault;
    request.programs.push_back(std::move(program));
    return {};
}

// `take` fills in the request, at the root only.
template <typename Take>
int spawn_tasks(Call& call, int root, MPI_Comm comm, MPI_Comm* intercomm, int* codes,
                const Take& take) {
    *intercomm = MPI_COMM_NULL;
    Comm* const found = group_with_root(call, comm, root);
    if (found == nullptr) return call.code();
    Comm& local = *found;
    SpawnRequest request;
    if (local.rank == root) take(request);
    const VisibleCollective visible(call, local, root);
    const Spawned spawned = spawn(call.runtime(), local, root, request);
    // All codes are the same. Only the root knows how many there are if the call has failed.
    if (codes != MPI_ERRCODES_IGNORE) std::fill_n(codes, spawned.tasks, spawned.comm.fault.code);
    return store_comm(call, spawned.comm, intercomm);
}

bool check_name(Call& call, const char* service_name, MPI_Info info) {
    if (info != MPI_INFO_NULL && !checks::check_info(call, info, "info")) return false;
    const std::size_t length = std::string_view(service_name).size();
    if (length == 0 || length > JobServices::kLongestName) {
        call.fail(MPI_ERR_ARG, "service_name", "it has " + std::to_string(length) + " characters",
                  "give a name of 1 to 1024 characters");
        return false;
    }
    return true;
}

// Asks poe about a name.
template <typename Ask>
int ask_about_name(Call& call, const char* service_name, int failure, const Ask& ask) {
    auto poe = job_services(call.runtime());
    if (!poe)
        return call.fail(failure, "service_name",
                         "poe has not started this process, so nobody keeps names for it",
                         "start the program with poe");
    const std::string name = "\"" + std::string(service_name) + "\"";
    try {
        switch (ask(*poe)) {
            case NameResult::kDone:
                return MPI_SUCCESS;
            case NameResult::kTaken:
                return call.fail(MPI_ERR_SERVICE, "service_name", name + " is published already",
                                 "choose another name, or unpublish it first");
            case NameResult::kUnknown:
                return call.fail(failure, "service_name", name + " is not published",
                                 "publish it first, in a job of the same user and home node");
            case NameResult::kFailed:
                break;
        }
    } catch (const Error& error) {
        return call.fail(failure, "service_name", error.what(), "");
    }
    return call.fail(failure, "service_name", "poe has refused " + name, "");
}

}  // namespace

int comm_spawn(Call& call, const char* command, char** argv, int maxprocs, MPI_Info info, int root,
               MPI_Comm comm, MPI_Comm* intercomm, int* array_of_errcodes) {
    return spawn_tasks(call, root, comm, intercomm, array_of_errcodes, [&](SpawnRequest& request) {
        request.fault = take_program(command, argv, maxprocs, info, request);
    });
}

int comm_spawn_multiple(Call& call, int count, char** array_of_commands, char*** array_of_argv,
                        const int* array_of_maxprocs, const MPI_Info* array_of_info, int root,
                        MPI_Comm comm, MPI_Comm* intercomm, int* array_of_errcodes) {
    return spawn_tasks(call, root, comm, intercomm, array_of_errcodes, [&](SpawnRequest& request) {
        if (count < 1) {
            request.fault = {MPI_ERR_COUNT, "count", std::to_string(count) + " is not positive",
                             ""};
        } else if (array_of_commands == nullptr || array_of_maxprocs == nullptr ||
                   array_of_info == nullptr) {
            request.fault = wrong_argument("array_of_commands", "an array is a null pointer", "");
        }
        for (int i = 0; i < count && !request.fault; ++i) {
            char** const argv = array_of_argv != MPI_ARGVS_NULL ? array_of_argv[i] : MPI_ARGV_NULL;
            request.fault = take_program(array_of_commands[i], argv, array_of_maxprocs[i],
                                         array_of_info[i], request);
        }
    });
}

int comm_get_parent(Call&, MPI_Comm* parent) {
    *parent = environment().parent;
    return MPI_SUCCESS;
}

int publish_name(Call& call, const char* service_name, MPI_Info info, const char* port_name) {
    if (!check_name(call, service_name, info)) return call.code();
    return ask_about_name(call, service_name, MPI_ERR_SERVICE,
                          [&](JobServices& poe) { return poe.publish(service_name, port_name); });
}

int lookup_name(Call& call, const char* service_name, MPI_Info info, char* port_name) {
    if (!check_name(call, service_name, info)) return call.code();
    return ask_about_name(call, service_name, MPI_ERR_NAME, [&](JobServices& poe) {
        std::string port;
        const NameResult result = poe.look_up(service_name, port);
        if (result == NameResult::kDone) copy_info_value(port, {port_name, MPI_MAX_PORT_NAME});
        return result;
    });
}

int unpublish_name(Call& call, const char* service_name, MPI_Info info, const char*) {
    if (!check_name(call, service_name, info)) return call.code();
    return ask_about_name(call, service_name, MPI_ERR_SERVICE,
                          [&](JobServices& poe) { return poe.withdraw(service_name); });
}

}  // namespace poe::mpi
