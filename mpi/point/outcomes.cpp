// The texts of failed messages; see outcomes.hpp.
#include "mpi/point/outcomes.hpp"

#include <string>

#include "mpi/check/message_check.hpp"
#include "mpi/process/environment.hpp"

namespace poe::mpi {

int rank_of_peer(const Comm& comm, TaskId task) noexcept {
    const int rank = comm.peers().rank_of(task);
    return rank == MPI_UNDEFINED ? task : rank;
}

Fault fault_of(comm::Runtime& runtime, const Comm& comm, comm::Outcome outcome, TaskId peer) {
    using comm::Outcome;
    switch (outcome) {
        case Outcome::kPeerBroken: {
            const char* reason = runtime.messages().fault_of(peer);
            return {MPI_ERR_PROC_ABORTED, "",
                    "there are no more messages with rank " +
                        std::to_string(rank_of_peer(comm, peer)) + " (" +
                        (reason != nullptr ? reason : "reason unknown") + ")",
                    "find out whether that task has ended or has written outside of its arrays"};
        }
        case Outcome::kNoBuffer:
            return {MPI_ERR_OTHER, "",
                    "this would wait forever: the message to the own rank does not fit into the "
                    "buffer memory of " +
                        std::to_string(runtime.buffer_mem()) + " bytes, and no receive matches it",
                    "start the receive first, or raise MP_BUFFER_MEM"};
        case Outcome::kNobodyReceives:
            return {MPI_ERR_OTHER, "",
                    "this would wait forever: no receive matches the synchronous message to the "
                    "own rank",
                    "start the receive first"};
        case Outcome::kNobodySends:
            return {MPI_ERR_OTHER, "",
                    "this would wait forever: no such message has been sent, and only this task "
                    "could send it",
                    "start the send first"};
        case Outcome::kPending:
        case Outcome::kDone:
        case Outcome::kCancelled:
            break;
    }
    return {};
}

Fault truncation(const Comm& comm, const comm::ReceiveRequest& receive) {
    const Bytes envelope = environment().checking ? check::kEnvelopeBytes : 0;
    return {MPI_ERR_TRUNCATE, "",
            "the message of " + std::to_string(receive.length - envelope) + " bytes from rank " +
                std::to_string(rank_of_peer(comm, receive.source)) + " with tag " +
                std::to_string(receive.type) + " does not fit into the buffer of " +
                std::to_string(receive.view.size() - envelope) + " bytes",
            "receive with a larger count, or find the length with MPI_Probe"};
}

}  // namespace poe::mpi
