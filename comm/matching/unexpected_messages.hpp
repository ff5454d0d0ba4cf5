// UnexpectedMessages: the messages of a task that arrived before their receives were posted, oldest
// first, and queues in which a receive finds the one that it matches in constant time. It is
// separate because only this code decides what a waiting message costs.
//
// A receive may use four keys: source and type, each exact or any. Every message is in the queue of
// its exact key. The other three queues are filled at the first receive or probe with a wildcard,
// and kept until no message waits any more. Most programs name source and type, and if thousands of
// messages wait, four queues per message take three times as long as one, because each queue is
// somewhere else in memory.
//
// Invariant: while wildcards_kept_ is true, every message that a receive may match is in all four
// queues; otherwise it is in that of its exact key only.
#pragma once

#include "comm/matching/keyed_queues.hpp"
#include "comm/matching/request.hpp"

namespace poe::comm {

// Does not own the messages. Not thread-safe. Functions that add to queues may throw
// std::bad_alloc.
class UnexpectedMessages {
  public:
    // Appends a message, which must be in no queue. Its `from` has no wildcard.
    void add(Unexpected& message);
    // Returns the oldest message that a receive with this key matches; null if there is none.
    Unexpected* first(const MatchKey& wanted) {
        if (exact_.empty()) return nullptr;
        const bool exact = wanted.source != kWildcard && wanted.type != kWildcard;
        return owner_of(exact ? exact_.first(wanted) : first_by_wildcard(wanted));
    }
    // From here on no receive matches the message.
    void match(Unexpected& message) noexcept;
    // Removes a message, whatever its state.
    void remove(Unexpected& message) noexcept;
    // All messages, also those that a receive has matched already: follow `newer`.
    Unexpected* oldest() const noexcept { return oldest_; }
    // The number of messages that a receive may match.
    std::size_t matchable() const noexcept { return exact_.size(); }
    // For readers of this process's memory: the queues of the exact keys.
    const QueueTable& table() const noexcept { return exact_.table(); }

  private:
    static Unexpected* owner_of(const QueueLink* link) noexcept {
        return link != nullptr ? static_cast<Unexpected*>(link->owner) : nullptr;
    }
    const QueueLink* first_by_wildcard(const MatchKey& wanted);
    void push_wildcards(Unexpected& message);

    KeyedQueues exact_;
    KeyedQueues wildcards_;
    bool wildcards_kept_ = false;
    std::uint64_t arrivals_ = 0;
    Unexpected* oldest_ = nullptr;
    Unexpected* newest_ = nullptr;
};

}  // namespace poe::comm
