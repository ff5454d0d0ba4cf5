// Intercommunicators; see intercomm.hpp.
#include "mpi/communicator/intercomm.hpp"

#include <string>
#include <utility>

#include "mpi/communicator/exchange.hpp"
#include "mpi/communicator/linking.hpp"
#include "mpi/process/environment.hpp"

namespace poe::mpi {
namespace {

// What the leaders exchange: the number of the group, 1 if its members are listed, the members.
constexpr std::size_t kOfferHead = 2;
// What a leader sends to the members of its own group: the class of its fault, the two numbers, 1
// if the members of the remote group are listed, and those members.
constexpr std::size_t kAnswerHead = 4;

// Exchanges numbers and members with the other leader. Members are task numbers, which mean
// something within one job only.
Fault meet(comm::Runtime& runtime, const Comm& local, const RemoteLeader& remote, Words& answer) {
    if (remote.fault) return remote.fault;
    Reservation reserved(collectives::the_collectives(runtime).groups());
    reserved.use();
    const bool in_job = remote.in_job && !spans_jobs(runtime, *local.local);
    Words given{reserved.number(), in_job ? 1 : 0};
    if (in_job) given.insert(given.end(), local.local->tasks().begin(), local.local->tasks().end());
    Words taken;
    if (Fault fault = remote.swap(given, taken)) return fault;
    if (taken.size() < kOfferHead)
        return {MPI_ERR_OTHER, "", "the other leader has failed", "look for its message"};
    answer = {MPI_SUCCESS, given[0], taken[0], in_job ? taken[1] : 0};
    answer.insert(answer.end(), taken.begin() + kOfferHead, taken.end());
    return {};
}

}  // namespace

MadeComm connect(comm::Runtime& runtime, Comm& local, int local_leader,
                 const RemoteLeader& remote) {
    Words answer;
    Fault fault;
    if (local.rank == local_leader) {
        fault = meet(runtime, local, remote, answer);
        if (fault) answer = {fault.code, Reservation::kFailed, Reservation::kFailed, 0};
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
    NewComm made{local.local, nullptr, answer[1], answer[2]};
    if (answer[3] == 0) return link_groups(runtime, local, local_leader, remote, std::move(made));
    std::vector<TaskId> tasks(answer.begin() + kAnswerHead, answer.end());
    for (const TaskId task : tasks) {
        if (local.local->rank_of(task) != MPI_UNDEFINED)
            return {nullptr,
                    {MPI_ERR_COMM, "local_comm",
                     "task " + std::to_string(task) + " is a member of both groups",
                     "connect groups without common members"}};
    }
    made.remote = std::make_shared<const Members>(std::move(tasks), local.local->session());
    return make_comm(local, std::move(made));
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
    return make_comm(inter, NewComm{std::move(members), nullptr, number});
}

}  // namespace poe::mpi
