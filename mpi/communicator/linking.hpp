// Linking: how two groups whose tasks may belong to several jobs learn of each other
// (comm/bootstrap/guests.hpp). After that, they are connected as two groups of one job.
//
//   1. Each member contributes its card; all members of its group get all cards.
//   2. The leaders exchange the cards of their groups, and each proposes the secret of the link.
//      That of the first group is taken. The first group is the one whose leader has the lower
//      identity.
//   3. Each leader sends the other group's cards and the secret to its members.
//   4. Each task admits the tasks that it does not know yet as guests.
#pragma once

#include "comm/bootstrap/runtime.hpp"
#include "mpi/communicator/comm.hpp"
#include "mpi/communicator/numbers.hpp"
#include "mpi/communicator/remote_leader.hpp"

namespace poe::mpi {

// All members of `local`, an intracommunicator, and of the other group make this call. `remote` is
// significant at the member of rank `leader`. `made.number` and `made.remote_number` are those that
// the leaders have reserved; they count if all tasks belong to one job. Blocks. Refused at all
// members of both groups if a member cannot be reached, and if the groups overlap.
MadeComm link_groups(comm::Runtime& runtime, Comm& local, int leader, const RemoteLeader& remote,
                     NewComm made);

}  // namespace poe::mpi
