// Communicators from groups; see from_group.hpp.
#include "mpi/communicator/from_group.hpp"

#include <algorithm>

#include "mpi/communicator/intercomm.hpp"
#include "mpi/communicator/leaving.hpp"
#include "mpi/process/environment.hpp"

namespace poe::mpi {

MadeComm create_from_group(comm::Runtime& runtime, const CommBase& parent, const MembersPtr& group,
                           FromGroup purpose, std::string_view tag) {
    const int rank = group->rank_of(environment().task);
    Words number{Reservation::kNoNumber};
    if (rank == 0) {
        Reservation reserved(collectives::the_collectives(runtime).groups());
        reserved.use();
        number[0] = reserved.number();
    }
    const Route route = route_of(purpose, tag, group->tasks());
    if (Fault fault = bcast_words(runtime, group->tasks(), rank, 0, route, number))
        return {nullptr, std::move(fault)};
    remember_connected(group->tasks());
    return make_comm(parent, NewComm{group, nullptr, number[0]});
}

// The local group needs a communicator for the exchange among its members, which is freed
// afterwards.
MadeComm connect_groups(comm::Runtime& runtime, const CommBase& parent, const GroupPair& pair,
                        std::string_view tag) {
    MadeComm local = create_from_group(runtime, parent, pair.local, FromGroup::kLocal, tag);
    if (local.comm == nullptr) return local;
    RemoteLeader remote;
    if (local.comm->rank == pair.local_leader) {
        const TaskId own = environment().task;
        const TaskId leaders[] = {std::min(own, pair.remote_leader),
                                  std::max(own, pair.remote_leader)};
        remote = remote_leader(runtime, pair.remote_leader,
                               route_of(FromGroup::kLeaders, tag, leaders), pair.wrong);
    }
    MadeComm made = connect(runtime, *local.comm, pair.local_leader, remote);
    comm_pool().release(*local.comm);
    if (made.comm != nullptr) remember_connected(unite(pair.local, *made.comm->remote)->tasks());
    return made;
}

}  // namespace poe::mpi
