// Communicators that are made from groups alone (MPI 5.0, sections 7.4.2 and 7.6.2), for sessions.
// There is no communicator whose context the messages could have, so a hash of the call takes its
// place.
#pragma once

#include <string_view>

#include "comm/bootstrap/runtime.hpp"
#include "mpi/communicator/comm.hpp"
#include "mpi/communicator/group_route.hpp"
#include "mpi/communicator/numbers.hpp"

namespace poe::mpi {

// MPI_Comm_create_from_group. All members of `group` make this call, and this task is one of them.
// The communicator gets the error handler of `parent`. Blocks until the members that this task
// needs have made the call.
MadeComm create_from_group(comm::Runtime& runtime, const CommBase& parent, const MembersPtr& group,
                           FromGroup purpose, std::string_view tag);

// MPI_Intercomm_create_from_groups. `remote_leader` is the task of rank `remote_rank` in the other
// group, significant at the leader only, as is `wrong`, which says what is wrong with these
// arguments.
struct GroupPair {
    MembersPtr local;
    int local_leader = 0;  // a rank
    TaskId remote_leader = -1;
    Fault wrong;
};
MadeComm connect_groups(comm::Runtime& runtime, const CommBase& parent, const GroupPair& pair,
                        std::string_view tag);

}  // namespace poe::mpi
