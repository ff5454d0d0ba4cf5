// MessagesUnderWay: the simulator's messages that have been sent but not waited for. To find the
// message that a rank waits for costs about the same, however many others have sent to it. It is
// separate from simulator.cpp, which knows what messages cost.
//
// The first few messages for a rank are a list, which is searched linearly and is usually in the
// cache. Further messages are in a hash table that has a queue for each pair of sender and
// receiver. Invariant: while there are messages for a rank in the table, none is added to its list.
// Therefore the messages in the list are the older ones.
//
// The number of slots of the table is a power of two; at most half of the slots are used.
// Invariant: a queue is in the slot of its hash or in a later one, with no free slot between the
// two.
#pragma once

#include <cstdint>
#include <vector>

namespace poe::collectives {

struct MessageUnderWay {
    std::uint32_t from = 0;
    std::uint32_t bytes = 0;
    double sent = 0;
    double arrives = 0;
    std::uint32_t next = 0xffffffffu;  // link in its list or queue; for internal use
};

class MessagesUnderWay {
  public:
    static constexpr std::uint32_t kNone = 0xffffffffu;

    // The messages for one rank.
    struct Inbox {
        std::uint32_t first = kNone;  // of the list
        std::uint32_t in_table = 0;
    };

    MessagesUnderWay();

    // Stores the message and returns its place, which is valid until forget(). At most 2^32 - 1 at
    // once.
    std::uint32_t keep(const MessageUnderWay& message);
    MessageUnderWay& operator[](std::uint32_t place) { return messages_[place]; }
    void forget(std::uint32_t place);

    // Adds a stored message after all others of its sender.
    void enqueue(Inbox& inbox, std::uint32_t to, std::uint32_t place);
    // Removes and returns the first message of that sender, which remains stored; kNone: there is
    // none.
    std::uint32_t dequeue(Inbox& inbox, std::uint32_t from, std::uint32_t to);

  private:
    struct Queue {
        std::uint32_t from = 0;
        std::uint32_t to = 0;
        std::uint32_t first = kNone;  // kNone: the slot is free
        std::uint32_t last = kNone;
    };

    bool add_to_list(Inbox& inbox, std::uint32_t place);
    std::uint32_t take_from_list(Inbox& inbox, std::uint32_t from);
    void add_to_table(std::uint32_t to, std::uint32_t place);
    std::uint32_t take_from_table(std::uint32_t from, std::uint32_t to);

    std::size_t home(std::uint32_t from, std::uint32_t to) const;
    // Returns the slot of the queue, or the free slot where it belongs.
    std::size_t slot(std::uint32_t from, std::uint32_t to) const;
    void grow();
    // Frees a slot. Moves later queues up where the invariant requires it.
    void release(std::size_t slot);

    std::vector<Queue> table_;
    std::size_t used_ = 0;
    std::vector<MessageUnderWay> messages_;
    // The free places, the last freed one first, because it is in the cache.
    std::uint32_t free_ = kNone;
};

}  // namespace poe::collectives
