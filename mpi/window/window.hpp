// Window: the memory of the members of a group that they open to each other, and the state of its
// epochs (MPI 5.0, chapter 12). The kinds of windows differ only in where the memory comes from.
//
// A window has a communicator of its own, whose number makes the contexts of its messages. All
// functions of this room are for the thread that has the turn.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <mpi.h>
#include <string>
#include <sys/types.h>
#include <vector>

#include "base/contexts.hpp"
#include "comm/matching/message_layer.hpp"
#include "mpi/communicator/comm.hpp"
#include "mpi/object/attributes.hpp"
#include "mpi/object/error_handler.hpp"
#include "mpi/object/fault.hpp"
#include "mpi/object/info.hpp"
#include "mpi/window/access.hpp"
#include "mpi/window/batch.hpp"
#include "mpi/window/lock_queue.hpp"
#include "mpi/window/mail_choice.hpp"
#include "mpi/window/mailbox.hpp"

namespace poe::mpi {

struct Pending;      // origin.hpp
class Target;        // target.hpp
class SharedMemory;  // shared_memory.hpp
struct MemberControl;

// The contexts of a window's messages: bits that are added to the context of its communicator and
// that no communicator uses.
enum class WindowContext : ContextId {
    kAccess = 0x70000000u,  // operations; each begins with an Access
    kData = 0x90000000u,    // the data of an operation; the type is its number
    kReply = 0xa0000000u,   // the answer to an operation; the type is its number
    kPosted = 0xb0000000u,  // MPI_Win_post: an exposure epoch has begun
};

inline constexpr int kAllRanks = -1;

// The lock that this task holds at a member.
enum class LockHeld : std::uint8_t { kNone, kShared, kExclusive, kUnchecked };

// What this task knows of a member of the group.
struct WindowMember {
    std::int64_t base =
        0;  // address in that member; of dynamic windows 0, because displacements are
            // addresses
    std::int64_t size = 0;        // in bytes
    std::int64_t unit = 1;        // of displacements, in bytes
    std::byte* mapped = nullptr;  // where this task sees the memory; null: nowhere
    pid_t process = 0;            // whose memory this task may copy (single_copy.hpp); 0: none
    Mailbox* mailbox = nullptr;   // of a member whose memory this task may copy
    MailChoice mail_choice;
    Batch batch;  // operations on such a member that wait for the next synchronisation
    // The lock of the member, if all members have their locks in shared memory (shared_lock.hpp);
    // otherwise null, and locks are messages.
    MemberControl* control = nullptr;
    LockHeld lock = LockHeld::kNone;
    bool started = false;    // in the access epoch of MPI_Win_start
    bool unflushed = false;  // has been sent operations of which the completion is not known
    // Ends of access epochs that this member has announced and MPI_Win_wait has not consumed.
    std::uint32_t completes = 0;
};

// Memory that MPI_Win_attach has added to a dynamic window.
struct AttachedMemory {
    std::int64_t size = 0;
};

// The values of the predefined attributes. Programs get their addresses.
struct WindowAttributes {
    MPI_Aint size = 0;
    int unit = 1;
    int flavor = MPI_WIN_FLAVOR_CREATE;
    int model = MPI_WIN_UNIFIED;
};

struct Window final : ErrorHandlerOwner {
    std::string name;  // at most MPI_MAX_OBJECT_NAME - 1 characters
    Attributes attributes;
    WindowAttributes values;
    Comm* comm = nullptr;           // owned
    MPI_Info info = MPI_INFO_NULL;  // the hints; owned

    std::vector<WindowMember> members;  // by rank
    // Dynamic windows: by address.
    std::map<std::int64_t, AttachedMemory> attached;
    // Memory that the members on this node share; null: none.
    std::shared_ptr<SharedMemory> memory;
    // Memory that this task allocated for the window alone; null: none.
    std::unique_ptr<std::byte[]> own_memory;

    // --- Access epochs of this task.
    bool fenced = false;  // a fence has opened an epoch
    bool used = false;    // operations were started since the last fence
    bool locked_all = false;
    int locks = 0;             // members whose lock this task holds by MPI_Win_lock
    std::vector<int> started;  // ranks; the epoch of MPI_Win_start
    bool access_started = false;
    // --- The exposure epoch of MPI_Win_post.
    std::vector<int> posted;  // ranks of the origins
    bool exposed = false;
    std::uint32_t own_posts = 0;  // of this task to itself

    // Operations of this task that have not ended, oldest first.
    std::list<std::shared_ptr<Pending>> pending;
    Fault fault;  // of an operation that has failed since the last synchronisation
    std::uint32_t next_number = 0;
    std::uint32_t idle_flushes = 0;  // see complete_locally()
    std::shared_ptr<Target> target;  // serves the operations of others

    bool dynamic() const noexcept { return values.flavor == MPI_WIN_FLAVOR_DYNAMIC; }
    int rank() const noexcept { return comm->rank; }
    int size() const noexcept { return comm->size(); }
    TaskId task(int rank) const noexcept { return comm->local->task(rank); }
    WindowMember& member(int rank) noexcept { return members[static_cast<std::size_t>(rank)]; }
    ContextId context(WindowContext which) const noexcept {
        return comm->context | static_cast<ContextId>(which);
    }
    // The type of the messages of the next operation.
    std::uint32_t take_number() noexcept { return next_number++ & 0x7fffffffu; }

    // Precondition: nobody will access the window any more.
    void reset() noexcept;
};

Pool<Window>& window_pool() noexcept;

inline Window* find_window(MPI_Win handle) noexcept {
    return find<Window>(handle);
}
inline MPI_Win handle_of(Window& window) noexcept {
    return handle_of<MPI_Win>(static_cast<Object&>(window));
}

}  // namespace poe::mpi
