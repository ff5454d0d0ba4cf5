// Intercommunicators; see intercomm.hpp.
#include "mpi/communicator/intercomm.hpp"

#include <string>
#include <utility>

#include "mpi/communicator/exchange.hpp"
#include "mpi/process/environment.hpp"

namespace poe::mpi {
namespace {

// What a leader sends to the members of its own group: the class of its fault, the two numbers, and
// then the members of the remote group.
constexpr std::size_t kAnswerHead = 3;

// Exchanges numbers and members with the other leader.
Fault meet(comm::Runtime& runtime, const Comm& local, const RemoteLeader& remote, Words& answer) {
    if (remote.fault) return remote.fault;
    Reservation reserved(collectives::the_collectives(runtime).groups());
    reserved.use();
    Words given{reserved.number()};
    for (const TaskId task : local.local->tasks()) given.push_back(task);
    Words taken;
    if (Fault fault = swap_words(runtime, remote.task, remote.route, given, taken)) return fault;
    answer = {MPI_SUCCESS, given.front(), taken.front()};
    answer.insert(answer.end(), taken.begin() + 1, taken.end());
    return {};
}

}  // namespace

MadeComm connect(comm::Runtime& runtime, Comm& local, int local_leader,
                 const RemoteLeader& remote) {
    Words answer;
    Fault fault;
    if (local.rank == local_leader) {
        fault = meet(runtime, local, remote, answer);
        if (fault) answer = {fault.code, Reservation::kFailed, Reservation::kFailed};
    }
    const Route route{making_context(local, Making::kMembers), 1};
    Fault sent =
        bcast_words(runtime, local.local->tasks(), local.rank, local_leader, route, answer);
    if (fault) return {nullptr, std::move(fault)};
    if (sent) return {nullptr, std::move(sent)};
    if (answer.front() != MPI_SUCCESS)
        return {nullptr,
                {answer.front(), "local_leader",
                 "the leader, rank " + std::to_string(local_leader) + ", has reported an error",
                 "look for the message of that task"}};
    std::vector<TaskId> tasks(answer.begin() + kAnswerHead, answer.end());
    for (const TaskId task : tasks) {
        if (local.local->rank_of(task) != MPI_UNDEFINED)
            return {nullptr,
                    {MPI_ERR_COMM, "local_comm",
                     "task " + std::to_string(task) + " is a member of both groups",
                     "connect groups without common members"}};
    }
    return make_comm(
        local,
        {local.local, std::make_shared<const Members>(std::move(tasks), local.local->session()),
         answer[1], answer[2]});
}

MadeComm merge(comm::Runtime& runtime, Comm& inter, bool high) {
    collectives::Groups& groups = collectives::the_collectives(runtime).groups();
    Reservation reserved(groups);
    Contributions all;
    if (Fault fault = gather_words(runtime, inter, {high ? 1 : 0, reserved.counter()}, all))
        return {nullptr, std::move(fault)};
    for (const Words* words : {&all.local, &all.remote}) {
        for (std::size_t at = 0; at < words->size(); at += 2) {
            if ((*words)[at] != words->front())
                return {nullptr,
                        {MPI_ERR_ARG, "high", "the members of a group have given different values",
                         "give the same value at all members of a group"}};
        }
    }
    // If both groups want the same place, the one whose number makes the context is the first.
    const bool remote_high = all.remote.front() != 0;
    const bool first = high != remote_high ? !high : context_of(inter.group->gid) == inter.context;
    MembersPtr one = inter.local;
    MembersPtr other = inter.remote;
    if (!first) std::swap(one, other);
    MembersPtr members = unite(one, *other);
    if (first && inter.rank == 0) reserved.use();
    const std::int32_t number =
        number_from(groups, members->task(0), (first ? all.local : all.remote)[1]);
    return make_comm(inter, {std::move(members), nullptr, number, Reservation::kNoNumber});
}

}  // namespace poe::mpi
