// Probes (MPI 5.0, section 3.8).
#include <mpi.h>

#include "mpi/api/bodies.hpp"
#include "mpi/api/point_call.hpp"
#include "mpi/object/status.hpp"
#include "mpi/point/matched_message.hpp"
#include "mpi/point/outcomes.hpp"

namespace poe::mpi {
namespace {

// Resolves the arguments, and waits for a message that matches them (`blocks`) or looks for one.
// Returns the error code. `found` stays null if there is no message or none can come from
// MPI_PROC_NULL.
int find_message(Call& call, int source, int tag, MPI_Comm comm, bool blocks,
                 MessageArguments& wanted, const comm::Unexpected*& found) {
    if (!resolve_comm(call, comm, wanted) ||
        !resolve_wanted(call, source, tag, wanted, kReceiveNames))
        return call.code();
    if (wanted.nobody) return MPI_SUCCESS;
    const CallAbout about = wanted.about(0);
    const Noted noted(call, about);
    if (!blocks) {
        found = look_for(call.runtime(), wanted.key());
        return MPI_SUCCESS;
    }
    const Shown shown(call, about);
    comm::Outcome outcome = comm::Outcome::kDone;
    TaskId lost = wanted.task;
    found = wait_for_message(call.runtime(), wanted.key(), outcome, lost);
    if (found != nullptr) return MPI_SUCCESS;
    return fail_message(call, *wanted.comm, fault_of(call.runtime(), *wanted.comm, outcome, lost));
}

void store_status(MPI_Status* status, const MessageArguments& wanted,
                  const comm::Unexpected* found) noexcept {
    if (status == MPI_STATUS_IGNORE) return;
    if (found != nullptr) {
        set_probed(*status, *wanted.comm, *found);
    } else {
        set_from_nobody(*status);
    }
}

int probe_and_extract(Call& call, int source, int tag, MPI_Comm comm, int* flag,
                      MPI_Message* message, MPI_Status* status) {
    MessageArguments wanted;
    const comm::Unexpected* found = nullptr;
    const bool blocks = flag == nullptr;
    if (const int code = find_message(call, source, tag, comm, blocks, wanted, found)) return code;
    if (!blocks) *flag = found != nullptr || wanted.nobody ? 1 : 0;
    if (found == nullptr && !wanted.nobody) {
        *message = MPI_MESSAGE_NULL;
        return MPI_SUCCESS;
    }
    store_status(status, wanted, found);
    *message =
        wanted.nobody ? MPI_MESSAGE_NO_PROC : extract(call.runtime(), *wanted.comm, wanted.key());
    return MPI_SUCCESS;
}

}  // namespace

int probe(Call& call, int source, int tag, MPI_Comm comm, MPI_Status* status) {
    MessageArguments wanted;
    const comm::Unexpected* found = nullptr;
    if (const int code = find_message(call, source, tag, comm, true, wanted, found)) return code;
    store_status(status, wanted, found);
    return MPI_SUCCESS;
}

int iprobe(Call& call, int source, int tag, MPI_Comm comm, int* flag, MPI_Status* status) {
    MessageArguments wanted;
    const comm::Unexpected* found = nullptr;
    if (const int code = find_message(call, source, tag, comm, false, wanted, found)) return code;
    *flag = found != nullptr || wanted.nobody ? 1 : 0;
    if (*flag != 0) store_status(status, wanted, found);
    return MPI_SUCCESS;
}

int mprobe(Call& call, int source, int tag, MPI_Comm comm, MPI_Message* message,
           MPI_Status* status) {
    return probe_and_extract(call, source, tag, comm, nullptr, message, status);
}

int improbe(Call& call, int source, int tag, MPI_Comm comm, int* flag, MPI_Message* message,
            MPI_Status* status) {
    return probe_and_extract(call, source, tag, comm, flag, message, status);
}

}  // namespace poe::mpi
