// The faults of collective calls; see failures.hpp.
#include "mpi/collective/failures.hpp"

#include <string>

namespace poe::mpi {
namespace {

// Only the first failure is kept.
void note(Fault& fault, int code, std::string what, std::string remedy = {}) {
    if (!fault) fault = {code, "", std::move(what), std::move(remedy)};
}

}  // namespace

void note_failure(comm::Outcome outcome, TaskId task, Fault& fault) {
    if (outcome == comm::Outcome::kDone) return;
    const bool broken = outcome == comm::Outcome::kPeerBroken;
    note(fault, broken ? MPI_ERR_PROC_ABORTED : MPI_ERR_OTHER,
         "a message to or from task " + std::to_string(task) +
             (broken ? " failed, because a task has ended" : " cannot be completed"));
}

void note_failure(const comm::ReceiveRequest& receive, bool exact, Fault& fault) {
    note_failure(receive.outcome, receive.source >= 0 ? receive.source : receive.wanted.source,
                 fault);
    if (receive.outcome != comm::Outcome::kDone) return;
    const Bytes room = receive.view.size();
    if (receive.length > room)
        note(fault, MPI_ERR_TRUNCATE,
             "task " + std::to_string(receive.source) + " sends " + std::to_string(receive.length) +
                 " bytes, but this task receives " + std::to_string(room),
             "give matching counts and datatypes in all tasks");
    if (exact && receive.length < room)
        note(fault, MPI_ERR_TRUNCATE,
             "task " + std::to_string(receive.source) + " sends less than the " +
                 std::to_string(room) + " bytes that this task receives first",
             "give matching counts and datatypes in all tasks");
}

void note_failure(const collectives::ExchangeEnd& end, Fault& fault) {
    if (end.ok()) return;
    note_failure(end.outcome, end.culprit, fault);
    if (end.outcome != comm::Outcome::kDone) return;
    note(fault, MPI_ERR_TRUNCATE,
         "task " + std::to_string(end.culprit) + " sends " + std::to_string(end.came) +
             " bytes, but this task expects " + std::to_string(end.expected),
         "give matching counts and datatypes in all tasks");
}

}  // namespace poe::mpi
