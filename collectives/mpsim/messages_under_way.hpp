// The messages of the simulator that have been sent and not yet been waited for. A rank finds what
// it waits for at about the same cost however many others have sent to it. Apart from
// simulator.cpp, which says what messages cost.
//
// The first few for a rank are a list, which is looked through, and mostly in the cache. More are
// in a table, a queue for each sender and receiver. Invariant: while there are any for a rank in
// the table, none is added to its list, so those in the list are the older ones.
//
// The table has a power of two of slots, at most half of them used. Invariant: a queue is in the
// slot that its hash says or behind it, with no free one between.
#pragma once

#include <cstdint>
#include <vector>

namespace poe::collectives {

struct MessageUnderWay {
    std::uint32_t from = 0;
    std::uint32_t bytes = 0;
    double sent = 0;
    double arrives = 0;
    std::uint32_t next = 0xffffffffu;  // in its list or queue: not for others
};

class MessagesUnderWay {
  public:
    static constexpr std::uint32_t kNone = 0xffffffffu;

    // What there is for a rank.
    struct Inbox {
        std::uint32_t first = kNone;  // of the list
        std::uint32_t in_table = 0;
    };

    MessagesUnderWay();

    // Where the message is until it is forgotten. Not more than 2^32 - 1 at once.
    std::uint32_t keep(const MessageUnderWay& message);
    MessageUnderWay& operator[](std::uint32_t place) { return messages_[place]; }
    void forget(std::uint32_t place);

    // One that is kept comes after all others from its sender.
    void enqueue(Inbox& inbox, std::uint32_t to, std::uint32_t place);
    // Takes out the first one from that sender, which still is kept; kNone: there is none.
    std::uint32_t dequeue(Inbox& inbox, std::uint32_t from, std::uint32_t to);

  private:
    struct Queue {
        std::uint32_t from = 0;
        std::uint32_t to = 0;
        std::uint32_t first = kNone;  // the slot is free
        std::uint32_t last = kNone;
    };

    bool add_to_list(Inbox& inbox, std::uint32_t place);
    std::uint32_t take_from_list(Inbox& inbox, std::uint32_t from);
    void add_to_table(std::uint32_t to, std::uint32_t place);
    std::uint32_t take_from_table(std::uint32_t from, std::uint32_t to);

    std::size_t home(std::uint32_t from, std::uint32_t to) const;
    // The slot of the queue, or the free one where it belongs.
    std::size_t slot(std::uint32_t from, std::uint32_t to) const;
    void grow();
    // Those behind it move up where they may, so that the invariant holds.
    void release(std::size_t slot);

    std::vector<Queue> table_;
    std::size_t used_ = 0;
    std::vector<MessageUnderWay> messages_;
    // Places that have become free are the next ones taken: they are in the cache.
    std::uint32_t free_ = kNone;
};

}  // namespace poe::collectives
