// Comm: a communicator (MPI 5.0, section 7.4): its members, the contexts of its messages, and the
// group with which its collective calls are made.
//
// A communicator takes the number of its group of CCL, which is unique in the whole job
// (collectives/call/groups.hpp), as its context: messages of its sends and receives have the
// context kFirstMpiContext + gid, and messages that the library itself sends in its collective
// calls have that of internal_context(). Schedules of CCL use the gid in their message types.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "base/data_flow.hpp"
#include "collectives/call/groups.hpp"
#include "collectives/engine/list_agreement.hpp"
#include "comm/matching/pipe.hpp"
#include "mpi/object/comm_base.hpp"
#include "mpi/object/group.hpp"

namespace poe::mpi {

// The neighbours of a member, in the order of the blocks of neighbourhood collective calls (MPI
// 5.0, section 8.6). MPI_PROC_NULL stands for none.
struct Neighbors {
    std::vector<int> sources;
    std::vector<int> destinations;
    // A Cartesian topology: both lists contain the lower and the upper neighbour of each dimension.
    // What comes from the upper neighbour was sent to its lower one, which matters if both are one
    // task.
    bool in_pairs = false;
};

// What a virtual topology adds to a communicator (MPI 5.0, chapter 8).
struct Topology {
    virtual ~Topology() = default;
    // The same topology for a duplicate.
    virtual std::unique_ptr<Topology> copy() const = 0;
    // MPI_CART, MPI_GRAPH or MPI_DIST_GRAPH.
    virtual int kind() const noexcept = 0;
    // The neighbours of this task, which has this rank. Found out once.
    const Neighbors& own_neighbors(int rank) {
        if (!own_) own_ = neighbors(rank);
        return *own_;
    }

  protected:
    virtual Neighbors neighbors(int rank) const = 0;

  private:
    std::optional<Neighbors> own_;
};

// The base of what the room of collective calls keeps with a communicator.
struct CommOwned {
    virtual ~CommOwned() = default;
};

// Numbers of groups that follow each other.
struct NumberRange {
    int first = 0;
    int count = 0;
};

// What a trace tells of a collective operation besides its communicator and number.
struct OperationFacts {
    TaskId root = -1;  // -1: it has none
    // If a persistent request starts it; see trace::Tracer::collective.
    DataFlow flow = DataFlow::kNone;
    // False: the task is in the root's group of an intercommunicator and not the root, so that
    // nothing is recorded.
    bool takes_part = true;
};

struct Comm final : CommBase {
    // The group that this task belongs to.
    MembersPtr local;
    // The other group of an intercommunicator; null for an intracommunicator.
    MembersPtr remote;
    int rank = 0;  // of this task in `local`
    // The context of point-to-point messages. It is the same at all members, and in both groups of
    // an intercommunicator.
    ContextId context = 0;
    // For collective calls within `local`. Its number is `context` - kFirstMpiContext, except on
    // the second side of an intercommunicator. Never null while the communicator is in use.
    // MPI_COMM_WORLD has the group that MPL's calls on all tasks use, because one number must stand
    // for one group: what is kept by number, such as the paths of calls, belongs to the memory of
    // that group.
    std::shared_ptr<collectives::Group> group;
    std::unique_ptr<Topology> topology;  // null: none
    // Calls of MPI_Comm_dup and MPI_Comm_idup with this communicator so far; the same at all
    // members.
    std::uint32_t duplicates = 0;
    // Numbers for duplicates, which all members know. Only if the members belong to several jobs
    // (numbers.hpp).
    NumberRange spare_numbers;
    // Collective operations that were started so far, for the trace; the same at all members.
    std::uint32_t operations = 0;
    // Agreements of check mode so far; the same at all members, also after a call that did not take
    // place because members disagreed on it. In this mode it stands in for the other counters of
    // calls.
    std::uint32_t agreements = 0;
    std::map<int, collectives::ListHistory> group_lists;  // of MPI_Comm_create_group, by tag
    MPI_Info info = MPI_INFO_NULL;                        // the hints; owned
    std::unique_ptr<CommOwned> collective;                // null: no collective call so far

    bool is_inter() const noexcept { return remote != nullptr; }
    int size() const noexcept { return local->size(); }
    // The group that ranks in point-to-point calls name.
    const Members& peers() const noexcept { return remote != nullptr ? *remote : *local; }
    // The number of its group, for watchers; 0 is that of MPI_COMM_WORLD.
    std::int32_t group_number() const noexcept {
        return static_cast<std::int32_t>(context - kFirstMpiContext);
    }
    // The context of messages that the library sends for a collective call between members.
    ContextId internal_context() const noexcept { return context | 0x80000000u; }

    void reset() noexcept;
};

// All communicators that are no predefined ones.
Pool<Comm>& comm_pool() noexcept;

// The communicator of a handle; null if it names none. Never blocks.
Comm* find_comm(MPI_Comm handle) noexcept;
MPI_Comm handle_of(Comm& comm) noexcept;
// Gives a communicator its name, which watchers and traces show.
void set_name(Comm& comm, std::string name);

// The name of the communicator whose messages have this context; empty if there is none. Searches
// all communicators.
std::string_view name_of_context(ContextId context);

// Returns a member of the communicator to which a message of this context and type belongs for
// which lost() is true; -1 if there is none. For MessageLayer::notice_ends().
TaskId lost_member_of(ContextId context, std::int32_t type,
                      const std::function<bool(TaskId)>& lost);

// Fills in a communicator whose group of CCL has the number `gid`, which all members agree on.
// `remote` is null for an intracommunicator. Takes the error handler and nothing else of `parent`.
void set_up(Comm& comm, int gid, MembersPtr local, MembersPtr remote, ContextId context, TaskId own,
            const CommBase* parent);

// The context of a communicator whose group has this number.
inline ContextId context_of(int gid) noexcept {
    return kFirstMpiContext + static_cast<ContextId>(gid);
}

// Makes MPI_COMM_WORLD and MPI_COMM_SELF of this process, for the library itself. Called once.
// `groups` are those of the process, which must outlive the communicators; `own_gid` is a number
// that they have counted, for MPI_COMM_SELF.
void make_predefined_comms(collectives::Groups& groups, std::uint32_t tasks, int own_gid);
// From now on the program may use them. Called once.
void publish_predefined_comms();

// The predefined communicators. Precondition: they were made.
Comm& world() noexcept;
Comm& self() noexcept;

}  // namespace poe::mpi
