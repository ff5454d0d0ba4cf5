// The start of the library; see start_library.hpp.
#include "mpi/api/start_library.hpp"

#include <cstdlib>
#include <mpi.h>
#include <mutex>
#include <strings.h>

#include "collectives/engine/process_collectives.hpp"
#include "comm/bootstrap/process_runtime.hpp"
#include "mpi/check/message_check.hpp"
#include "mpi/communicator/comm.hpp"
#include "mpi/communicator/leaving.hpp"
#include "mpi/process/environment.hpp"

namespace poe::mpi {
namespace {

// Registered after the runtime's own handler, so it is called before that. A task that exits while
// it uses MPI has failed, and waits for nobody.
void leave_at_exit() {
    comm::Runtime& runtime = comm::the_runtime();
    if (environment().users.load() != 0 || !runtime.failure().empty()) return;
    if (runtime.turn().enter() != comm::RuntimeLock::Entry::kEntered) return;
    leave_connected(runtime);
    runtime.turn().leave();
}

void prepare(comm::Runtime& runtime) {
    collectives::Groups& groups = collectives::the_collectives(runtime).groups();
    const auto own = groups.number(runtime.task(), groups.counter());
    groups.count();
    make_predefined_comms(groups, runtime.tasks(), own.value_or(1));
    comm::MessageLayer& messages = runtime.messages();
    messages.name_contexts(name_of_context);
    if (runtime.segment() != nullptr) {
        messages.notice_ends(*runtime.segment(), [&messages](ContextId context, std::int32_t type) {
            return lost_member_of(context, type,
                                  [&messages](TaskId task) { return messages.lost(task); });
        });
    }
    const char* const checks = std::getenv("MP_MPICHECK");
    std::atexit(leave_at_exit);
    environment().checking = checks != nullptr && ::strcasecmp(checks, "yes") == 0;
    if (environment().checking) messages.add_envelope(check::kEnvelopeBytes);
}

}  // namespace

Fault start_library(int thread_level) {
    // Several threads may open their first sessions at the same time.
    static std::mutex lock;
    static bool prepared = false;
    const std::lock_guard guard(lock);
    comm::Runtime& runtime = comm::the_runtime();
    if (!runtime.failure().empty())
        return {MPI_ERR_OTHER, "", "messages are not available: " + runtime.failure(), ""};
    // A variable of the user is wrong.
    const std::string& wrong = collectives::the_collectives(runtime).failure();
    if (!wrong.empty()) return {MPI_ERR_OTHER, "", wrong, ""};
    if (!prepared) prepare(runtime);
    prepared = true;
    if (thread_level == MPI_THREAD_MULTIPLE) runtime.share_among_threads();
    return {};
}

}  // namespace poe::mpi
