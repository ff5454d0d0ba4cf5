// Round: messages of a collective call that are all started at once. A round that is used again
// stops allocating.
#pragma once

#include <algorithm>
#include <vector>

#include "comm/matching/message_layer.hpp"
#include "mpi/collective/data.hpp"
#include "mpi/object/fault.hpp"

namespace poe::mpi {

class Round {
  public:
    // Adds a message. Receives from one task match its sends in order. `synchronous`: its bytes
    // move only after a receive has matched it.
    void send(TaskId task, const Data& data, bool synchronous) {
        sends_.push_back({.task = task, .data = data, .synchronous = synchronous});
    }
    // `exact`: a shorter message is a failure, too.
    void receive(TaskId task, const Data& data, bool exact) {
        receives_.push_back({.task = task, .data = data, .exact = exact});
    }
    // Removes all messages. Precondition: none is under way.
    void clear() noexcept {
        sends_.clear();
        receives_.clear();
    }
    // The number of messages of one direction for which there is memory.
    std::size_t capacity() const noexcept {
        return std::max(sends_.capacity(), receives_.capacity());
    }

    // Starts all messages, with this context and type. Does not block.
    void begin(comm::MessageLayer& messages, ContextId context, std::int32_t type);
    // Returns true if all messages have ended; stores the first failure in `fault`. Does not block.
    bool ended(Fault& fault);
    // The next three functions have the precondition that ended() has just returned false.
    //
    // Ends the message that the round waits for if it cannot complete.
    void end_if_hopeless(comm::MessageLayer& messages);
    // Blocks until that message has ended.
    void wait(comm::MessageLayer& messages);
    // Describes that message.
    Awaited awaited(const comm::MessageLayer& messages) const;

  private:
    struct Item {
        TaskId task = 0;
        Data data;
        bool exact = false;        // of a receive
        bool synchronous = false;  // of a send
    };
    bool receives_are_over() const noexcept { return receives_ended_ == receives_.size(); }

    std::vector<Item> sends_;
    std::vector<Item> receives_;
    std::vector<comm::SendRequest> sending_;
    std::vector<comm::ReceiveRequest> receiving_;
    std::size_t sends_ended_ = 0;
    std::size_t receives_ended_ = 0;
};

}  // namespace poe::mpi
