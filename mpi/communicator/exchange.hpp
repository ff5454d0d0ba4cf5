// The messages that members exchange to make a communicator. They have contexts of their own, so
// that they never match messages of the program or of its collective calls.
//
// Every function blocks and reports a fault if a task that it waits for has died.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "comm/bootstrap/runtime.hpp"
#include "mpi/communicator/comm.hpp"
#include "mpi/object/fault.hpp"

namespace poe::mpi {

// What the messages are for. The values are bits of the context that no communicator uses, because
// numbers of groups are below 2^27.
enum class Making : ContextId {
    kMembers = 0x10000000u,  // a call that all members make
    kGroup = 0x20000000u,    // MPI_Comm_create_group; the type is the tag of the call
    kLeaders = 0x30000000u,  // MPI_Intercomm_create, between the leaders; the same
    kDuplicates =
        0x40000000u,           // MPI_Comm_dup and MPI_Comm_idup; the type is the number of the call
    kAgreement = 0x50000000u,  // check mode (mpi/check/agreement.hpp); the type is its number
    kGroupLists =
        0x60000000u,  // the same for MPI_Comm_create_group; the type is the tag of the call
};

inline ContextId making_context(const Comm& comm, Making making) noexcept {
    return comm.context | static_cast<ContextId>(making);
}

using Words = std::vector<std::int32_t>;

// The type of the messages of context kMembers by which members of several jobs agree on numbers
// (numbers.hpp). The other types are exchange.cpp's own.
inline constexpr std::int32_t kAgreementType = 7;

// Where words travel.
struct Route {
    ContextId context = 0;
    std::int32_t type = 0;
};

// Sends `given` to a task, which makes the same call, and receives its words. The task may be this
// one.
Fault swap_words(comm::Runtime& runtime, TaskId other, Route route, const Words& given,
                 Words& taken);

// Sends the words of the member of rank `root` to all other members, which need not know how many
// words there are. `rank` is that of this task among `members`.
Fault bcast_words(comm::Runtime& runtime, std::span<const TaskId> members, int rank, int root,
                  Route route, Words& words);

// Returns when all members have made the same call, or with a fault if one of them has ended.
// `rank` is that of this task among `members`.
Fault synchronize(comm::Runtime& runtime, std::span<const TaskId> members, int rank, Route route);

// Tells all members whether all of them have called this with true. `rank` is that of this task
// among `members`.
Fault all_agree(comm::Runtime& runtime, std::span<const TaskId> members, int rank, Route route,
                bool own, bool& all);

// The words of all members of both groups, in the order of their ranks. `remote` is empty for an
// intracommunicator.
struct Contributions {
    Words local;
    Words remote;
};

// Every member contributes equally many words. All members of both groups make this call.
Fault gather_words(comm::Runtime& runtime, Comm& comm, const Words& own, Contributions& all);

// The words of all members of an intracommunicator, which may contribute different numbers of
// words; in an order that is the same at all members. All members make this call.
Fault collect_words(comm::Runtime& runtime, const Comm& comm, const Words& own, Words& all);

// The fault of a message with `task` that ended with `outcome`; none if that is kDone.
Fault fault_of_exchange(comm::Runtime& runtime, comm::Outcome outcome, TaskId task);

// The position of a member in a binomial tree whose root has position 0.
struct TreePlace {
    int parent = -1;  // none
    std::vector<int> children;
};
TreePlace place_in_tree(int position, int size);

}  // namespace poe::mpi
