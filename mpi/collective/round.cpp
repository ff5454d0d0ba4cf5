// Rounds of messages; see round.hpp.
#include "mpi/collective/round.hpp"

#include <algorithm>

#include "mpi/collective/failures.hpp"

namespace poe::mpi {
namespace {

constexpr auto kPending = comm::Outcome::kPending;

}  // namespace

// Receives first, so that a message of this task to itself finds its receive.
void Round::begin(comm::MessageLayer& messages, ContextId context, std::int32_t type) {
    sending_.resize(std::max(sending_.size(), sends_.size()));
    receiving_.resize(std::max(receiving_.size(), receives_.size()));
    sends_ended_ = receives_ended_ = 0;
    for (std::size_t i = 0; i < receives_.size(); ++i) {
        receiving_[i].reset(receives_[i].data.view(), {context, receives_[i].task, type});
        messages.start(receiving_[i]);
    }
    for (std::size_t i = 0; i < sends_.size(); ++i) {
        sending_[i].reset(sends_[i].data.view(), sends_[i].task, type, context,
                          comm::FlowClass::kCollective);
        sending_[i].synchronous = sends_[i].synchronous;
        messages.start(sending_[i]);
    }
}

bool Round::ended(Fault& fault) {
    for (; receives_ended_ < receives_.size(); ++receives_ended_) {
        const comm::ReceiveRequest& receive = receiving_[receives_ended_];
        if (receive.outcome == kPending) return false;
        note_failure(receive, receives_[receives_ended_].exact, fault);
    }
    for (; sends_ended_ < sends_.size(); ++sends_ended_) {
        const comm::SendRequest& send = sending_[sends_ended_];
        if (send.outcome == kPending) return false;
        note_failure(send.outcome, send.dest, fault);
    }
    return true;
}

void Round::end_if_hopeless(comm::MessageLayer& messages) {
    if (!receives_are_over()) return messages.end_if_hopeless(receiving_[receives_ended_]);
    messages.end_if_hopeless(sending_[sends_ended_]);
}

void Round::wait(comm::MessageLayer& messages) {
    if (!receives_are_over()) return void(messages.wait(receiving_[receives_ended_]));
    messages.wait(sending_[sends_ended_]);
}

Awaited Round::awaited(const comm::MessageLayer& messages) const {
    if (!receives_are_over()) return messages.awaited_by(receiving_[receives_ended_]);
    return messages.awaited_by(sending_[sends_ended_]);
}

}  // namespace poe::mpi
