// Intercommunicators, and communicators that are freed when their messages have ended (MPI 5.0,
// sections 7.6.2 and 11.10.4).
#include <mpi.h>
#include <string>

#include "mpi/api/bodies.hpp"
#include "mpi/api/communicator_call.hpp"
#include "mpi/communicator/intercomm.hpp"
#include "mpi/point/waiting.hpp"

namespace poe::mpi {
namespace {

// The arguments that count at the leader only.
RemoteLeader resolve_remote_leader(comm::Runtime& runtime, MPI_Comm peer_comm, int leader,
                                   int tag) {
    RemoteLeader remote;
    const Comm* const peer = find_comm(peer_comm);
    if (peer == nullptr) {
        remote.fault = {
            MPI_ERR_COMM, "peer_comm",
            peer_comm == MPI_COMM_NULL ? "it is MPI_COMM_NULL" : "it is no communicator", ""};
    } else if (leader < 0 || leader >= peer->peers().size()) {
        remote.fault = {MPI_ERR_RANK, "remote_leader",
                        std::to_string(leader) + " is no rank of peer_comm, which has " +
                            std::to_string(peer->peers().size()) + " members",
                        ""};
    } else if (tag < 0) {
        remote.fault = {MPI_ERR_TAG, "tag", std::to_string(tag) + " is negative", ""};
    } else {
        remote = remote_leader(runtime, peer->peers().task(leader),
                               {making_context(*peer, Making::kLeaders), tag});
    }
    return remote;
}

// True if an operation on this communicator is in progress.
bool is_busy(const Comm& comm) {
    AnyPool* requests = environment().pools[static_cast<std::size_t>(Kind::kRequest)];
    if (requests == nullptr) return false;
    auto unseen = requests_in_use();
    for (int number = static_cast<int>(kFirstAddress); unseen > 0; ++number) {
        const auto* request = static_cast<const Request*>(requests->at(number));
        if (request == nullptr || request->common) continue;
        --unseen;
        if (request->comm == &comm && request->active && !has_ended(*request)) return true;
    }
    return false;
}

}  // namespace

int intercomm_create(Call& call, MPI_Comm local_comm, int local_leader, MPI_Comm peer_comm,
                     int remote_leader, int tag, MPI_Comm* newintercomm) {
    *newintercomm = MPI_COMM_NULL;
    Comm& local = *find_comm(local_comm);
    if (local.is_inter())
        return call.fail(MPI_ERR_COMM, "local_comm", "it is an intercommunicator",
                         "give a communicator of one group");
    Fault wrong;
    if (local_leader < 0 || local_leader >= local.size())
        wrong = {MPI_ERR_RANK, "local_leader",
                 std::to_string(local_leader) + " is no rank of local_comm, which has " +
                     std::to_string(local.size()) + " members",
                 ""};
    if (const int code = agree(call, local, [&](check::Description& description) {
            description.agree("local_leader", local_leader, MPI_ERR_RANK);
            description.fail(wrong);
        }))
        return code;
    if (wrong) return call.fail(wrong);
    RemoteLeader remote;
    if (local.rank == local_leader)
        remote = resolve_remote_leader(call.runtime(), peer_comm, remote_leader, tag);
    const VisibleCollective visible(call, local);
    return store_comm(call, connect(call.runtime(), local, local_leader, remote), newintercomm);
}

int intercomm_merge(Call& call, MPI_Comm intercomm, int high, MPI_Comm* newintracomm) {
    *newintracomm = MPI_COMM_NULL;
    Comm& inter = *find_comm(intercomm);
    if (!inter.is_inter())
        return call.fail(MPI_ERR_COMM, "intercomm", "it is no intercommunicator",
                         "find out with MPI_Comm_test_inter");
    const VisibleCollective visible(call, inter);
    if (const int code = agree(call, inter)) return code;
    return store_comm(call, merge(call.runtime(), inter, high != 0), newintracomm);
}

int comm_disconnect(Call& call, MPI_Comm* comm) {
    Comm* found = find_freeable(call, *comm);
    if (found == nullptr) return call.code();
    if (const int code = agree(call, *found)) return code;
    if (is_busy(*found)) {
        const VisibleCall visible(call, about_all_of(*found));
        wait_until(
            call.runtime(), [found] { return !is_busy(*found); }, [] { return Awaited{}; });
    }
    if (const int code = release_comm(call, *found)) return code;
    *comm = MPI_COMM_NULL;
    return MPI_SUCCESS;
}

}  // namespace poe::mpi
