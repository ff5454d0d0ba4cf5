// Probes; see matched_message.hpp.
#include "mpi/point/matched_message.hpp"

#include <functional>
#include <utility>

#include "mpi/check/message_check.hpp"
#include "mpi/object/status.hpp"
#include "mpi/point/waiting.hpp"
#include "mpi/process/environment.hpp"

namespace poe::mpi {

void MatchedMessage::reset() noexcept {
    message = nullptr;
    if (Comm* used = std::exchange(comm, nullptr); used != nullptr && used->integer != 0)
        comm_pool().release(*used);
}

Pool<MatchedMessage>& matched_messages() noexcept {
    static auto* const pool = [] {
        auto* made = new Pool<MatchedMessage>(Kind::kMessage);
        environment().pools[static_cast<std::size_t>(Kind::kMessage)] = made;
        return made;
    }();
    return *pool;
}

const comm::Unexpected* look_for(comm::Runtime& runtime, const comm::MatchKey& wanted) {
    comm::MessageLayer& messages = runtime.messages();
    if (const comm::Unexpected* message = messages.probe(wanted)) return message;
    messages.progress();
    messages.help();
    if (const comm::Unexpected* message = messages.probe(wanted)) return message;
    runtime.pause_between_looks();
    return messages.probe(wanted);
}

const comm::Unexpected* wait_for_message(comm::Runtime& runtime, const comm::MatchKey& wanted,
                                         comm::Outcome& outcome, TaskId& lost) {
    comm::MessageLayer& messages = runtime.messages();
    const comm::Unexpected* found = messages.probe(wanted);
    outcome = comm::Outcome::kDone;
    lost = wanted.source;
    if (found != nullptr) return found;
    const bool only_self =
        !messages.shared() && (runtime.messages().alone() || wanted.source == runtime.task());
    if (only_self && !has_works()) {
        outcome = comm::Outcome::kNobodySends;
        return nullptr;
    }
    const auto awaited = [&] {
        return Awaited{Awaited::Kind::kMessage, wanted.source, wanted.type, wanted.context};
    };
    const auto over = [&] {
        found = messages.probe(wanted);
        return found != nullptr;
    };
    const std::function<bool()> give_up = [&] {
        lost = messages.lost_sender(wanted);
        if (lost < 0) return false;
        outcome = comm::Outcome::kPeerBroken;
        return true;
    };
    // References, because copies of the functions would be allocated.
    wait_until(runtime, std::ref(over), std::ref(awaited), &give_up);
    return found;
}

MPI_Message extract(comm::Runtime& runtime, Comm& comm, const comm::MatchKey& wanted) {
    MatchedMessage& matched = matched_messages().make();
    matched.message = runtime.messages().extract(wanted);
    matched.comm = &comm;
    if (comm.integer != 0) add_reference(comm);
    return handle_of<MPI_Message>(static_cast<Object&>(matched));
}

void set_probed(MPI_Status& status, const Comm& comm, const comm::Unexpected& message) noexcept {
    set_status(
        status, comm.peers().rank_of(message.from.source), message.from.type,
        static_cast<std::int64_t>(environment().checking ? check::without_envelope(message.length)
                                                         : message.length));
}

}  // namespace poe::mpi
