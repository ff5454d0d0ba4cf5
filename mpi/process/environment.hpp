// Environment: the objects and settings of MPI in this process that do not depend on messages. MPI
// has one, which environment() returns; it is never destroyed, because exit handlers may still call
// MPI.
#pragma once

#include <array>
#include <atomic>
#include <mpi.h>
#include <mutex>
#include <optional>

#include "base/types.hpp"
#include "mpi/object/attributes.hpp"
#include "mpi/object/comm_base.hpp"
#include "mpi/object/error_codes.hpp"
#include "mpi/object/error_handler.hpp"
#include "mpi/object/group.hpp"
#include "mpi/object/handle.hpp"
#include "mpi/object/info.hpp"
#include "mpi/object/operation.hpp"
#include "mpi/object/session.hpp"

namespace poe::mpi {

enum class State : std::uint8_t { kBeforeInit, kActive, kFinalized };

// The predefined attributes of communicators. Programs get the addresses of the values.
struct PredefinedAttributes {
    int tag_ub = 0x7fffffff;
    int io = MPI_ANY_SOURCE;  // every task can read and write files
    int host = MPI_PROC_NULL;
    int wtime_is_global = 0;
    std::optional<int> appnum;  // found out when a program asks for it
    std::optional<int> universe_size;
};

class Environment {
  public:
    Environment();

    // Guards the contents of `infos` and `error_codes`. Not held while a function of the program
    // runs.
    std::mutex lock;

    Pool<Info> infos{Kind::kInfo};
    Pool<ErrorHandler> errhandlers{Kind::kErrhandler};
    Pool<Group> groups{Kind::kGroup};
    Pool<Operation> operations{Kind::kOp};
    Pool<Session> sessions{Kind::kSession};
    // All pools by kind, for the conversion of integers to handles. A room that adds a kind of
    // objects adds its pool here before the first object is made. Null: the program can have no
    // such objects.
    std::array<AnyPool*, kKinds> pools{};

    ErrorCodes error_codes;
    Keyvals keyvals;
    AttributeTable type_attributes;

    // The world model: from MPI_Init to MPI_Finalize.
    std::atomic<State> state{State::kBeforeInit};
    // The number of users of the library: the world model while it is active, and each session. If
    // it is 0, only functions that need nothing may be called.
    std::atomic<int> users{0};
    // Check mode (MP_MPICHECK): errors of the program are searched for that cost time to find. Set
    // before the first user. Other threads may make infos meanwhile.
    std::atomic<bool> checking{false};
    // The task that this process is; set before the first user.
    TaskId task = 0;
    PredefinedAttributes predefined;

    // The predefined communicators; null while they do not exist.
    CommBase* world = nullptr;
    CommBase* self = nullptr;
    // The communicator with the tasks that have started this one; MPI_COMM_NULL if there are none,
    // or if it was freed.
    MPI_Comm parent = MPI_COMM_NULL;
    // The program has set the error handler of MPI_COMM_SELF.
    bool self_has_own_errhandler = false;
    // The error handlers of errors for which there is no object: before MPI is initialized, and of
    // files that could not be opened (section 14.7).
    MPI_Errhandler initial_errhandler = MPI_ERRORS_ARE_FATAL;
    MPI_Errhandler file_errhandler = MPI_ERRORS_RETURN;

    // MPI_INFO_ENV. Made at the first call. Thread-safe.
    const Info& info_env();

    // The communicator whose error handler errors without an object invoke: MPI_COMM_SELF (MPI 5.0,
    // section 9.3). Before MPI 4.0 it was MPI_COMM_WORLD, and programs of that time set the handler
    // of MPI_COMM_WORLD only; so it is MPI_COMM_WORLD until the program sets a handler for
    // MPI_COMM_SELF. A program that sets neither cannot tell the difference.
    MPI_Comm default_error_comm() const noexcept {
        return self_has_own_errhandler ? MPI_COMM_SELF : MPI_COMM_WORLD;
    }

    // --- Objects by handle. Null if the handle names none. Thread-safe.
    CommBase* find_comm(MPI_Comm comm) noexcept;
    // MPI_GROUP_EMPTY is a group without members.
    const Members* find_group(MPI_Group group) noexcept;
    MembersPtr share_group(MPI_Group group) noexcept;
    // MPI_INFO_ENV is found by the const form only, because a program must not change it.
    Info* find_info(MPI_Info info) noexcept;
    const Info* find_readable_info(MPI_Info info);

    // A handle of a group with these members; MPI_GROUP_EMPTY if there are none.
    MPI_Group make_group(MembersPtr members);

    // --- References to error handlers, predefined or not.
    void retain(MPI_Errhandler handler) noexcept;
    void release(MPI_Errhandler handler);

  private:
    MembersPtr nobody_;
    std::once_flag info_env_made_;
    Info info_env_;
};

// Inline, because every function of MPI calls it.
inline Environment& environment() noexcept {
    static Environment* const the_environment = new Environment;
    return *the_environment;
}

}  // namespace poe::mpi
