// What the message layer remembers about an operation under way: sends, receives, and messages that
// arrived before anyone asked for them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/types.hpp"
#include "comm/matching/buffer_view.hpp"
#include "comm/matching/keyed_queues.hpp"
#include "comm/matching/pipe.hpp"

namespace poe::comm {

// How an operation ended.
enum class Outcome : std::uint8_t {
    kPending,
    kDone,
    kPeerBroken,   // the other task's pipe is broken
    kNoBuffer,     // a message to oneself is larger than the buffer memory left
    kNobodySends,  // a receive that no task can ever satisfy
};

// What a send and a receive have in common. `finish` is the one way to end either.
struct Request {
    Outcome outcome = Outcome::kPending;
    struct FinishedList* tell = nullptr;  // joins this list when it ends
    Request* next = nullptr;              // in that list
    Request* previous = nullptr;
    void* owner = nullptr;  // the caller's
};

// Requests that have ended, oldest first. `outcome` says kDone while there are any, so that one can
// wait for the list as for a single request.
struct FinishedList {
    Outcome outcome = Outcome::kPending;
    Request* head = nullptr;
    Request* tail = nullptr;

    void push(Request& request) noexcept {
        request.next = nullptr;
        request.previous = tail;
        (tail != nullptr ? tail->next : head) = &request;
        tail = &request;
        outcome = Outcome::kDone;
    }
    // Takes out one that is in the list.
    void remove(const Request& request) noexcept {
        (request.previous != nullptr ? request.previous->next : head) = request.next;
        (request.next != nullptr ? request.next->previous : tail) = request.previous;
        if (head == nullptr) outcome = Outcome::kPending;
    }
};

inline void finish(Request& request, Outcome outcome) noexcept {
    request.outcome = outcome;
    if (request.tell != nullptr) [[unlikely]]
        request.tell->push(request);
}

struct SendRequest;

// A frame waiting to go, or going, into a pipe.
struct OutFrame {
    FrameHeader header;
    BufferView payload;
    Bytes offset = 0;  // where the frame's payload starts in `payload`
    Bytes sent = 0;    // of the frame
    Bytes cost = 0;    // tokens it needs
    bool started = false;
    SendRequest* request = nullptr;  // null: a grant, owned by the message layer's pool
    OutFrame* next = nullptr;
    alignas(8) std::byte body[24] = {};
};

// A send. Owned by the caller, and it and the user's buffer must live until `outcome` says
// something else than kPending.
struct SendRequest : Request {
    SendRequest() = default;
    SendRequest(const BufferView& what, TaskId to, std::int32_t of_type, Context in)
        : view(what), dest(to), type(of_type), context(in) {}

    BufferView view;
    TaskId dest = 0;
    std::int32_t type = 0;
    Context context = Context::kUser;
    std::uint32_t number = 0;           // of the message among those to this task; for traces
    std::uint32_t id = 0;               // in the send table, while a rendezvous is under way
    struct Unexpected* kept = nullptr;  // a message to oneself that has not been received yet
    bool granted = false;
    Bytes to_send = 0;  // rendezvous: bytes the receiver wants
    Bytes sent = 0;     // of those, in finished frames
    OutFrame frame;
};

// A receive; owned likewise. The last three tell what arrived.
struct ReceiveRequest : Request {
    // As new, for a request that is used again and again: sets what the message layer looks at
    // before it writes it. A whole new one takes 20 ns.
    void reset(const BufferView& into, const MatchKey& from) noexcept {
        outcome = Outcome::kPending;
        view = into;
        wanted = from;
        id = 0;
        moved = 0;
        link.queue = nullptr;
        source = kWildcard;
        granted_ns = 0;
    }

    BufferView view;
    MatchKey wanted;
    std::uint32_t id = 0;     // in the receive table, while a rendezvous is under way
    std::uint64_t order = 0;  // of posting
    Bytes moved = 0;          // bytes already in the user's buffer
    Bytes expected = 0;       // bytes that will be moved
    QueueLink link;
    struct Unexpected* fills = nullptr;  // not a user's receive: it fills that message's buffer
    TaskId source = kWildcard;           // of the message, once matched
    std::int32_t type = 0;
    std::uint32_t number = 0;  // of the message, see Peer
    Bytes length = 0;          // of the message as sent; more than the buffer means that it was cut
    std::uint64_t granted_ns = 0;  // rendezvous: when its bytes were asked for; 0: not timed
};

// A message that came before its receive. Owned by the message layer.
struct Unexpected {
    enum class State : std::uint8_t {
        kArriving,  // its bytes are on the way into `data`
        kHere,      // complete in `data`
        kOffered,   // rendezvous: only announced, no bytes asked for
        kOwnSend,   // from this task itself: its bytes are still in the buffer of `own_send`
    };
    MatchKey from;
    std::uint32_t number = 0;  // see Peer
    Bytes length = 0;
    Bytes cost = 0;     // tokens to give back
    RequestBody offer;  // rendezvous
    struct SendRequest* own_send = nullptr;
    State state = State::kArriving;
    bool taken_in = false;              // rendezvous: fetched into `data` without a receive
    ReceiveRequest* claimed = nullptr;  // by a receive that came while it was arriving
    QueueLink links[4];
    ReceiveRequest fill;              // rendezvous: the receive that fills `data`
    std::vector<std::byte> data;      // at least as long as what it is for
    Unexpected* next_free = nullptr;  // while nobody uses it
};

// Small positive numbers for requests, to be named in frames and to users. A number that is not in
// use, or that was given back, finds nothing.
template <typename T>
class IdTable {
  public:
    std::uint32_t add(T& object) {
        if (free_.empty()) {
            free_.push_back(static_cast<std::uint32_t>(entries_.size()));
            entries_.emplace_back();
        }
        const std::uint32_t index = free_.back();
        free_.pop_back();
        entries_[index].object = &object;
        return (entries_[index].generation << kIndexBits | index) & 0x7fffffffu;
    }

    T* find(std::uint32_t id) const noexcept {
        const std::uint32_t index = id & ((1u << kIndexBits) - 1);
        if (index >= entries_.size()) return nullptr;
        const Entry& entry = entries_[index];
        return ((entry.generation << kIndexBits | index) & 0x7fffffffu) == id ? entry.object
                                                                              : nullptr;
    }

    void remove(std::uint32_t id) {
        const std::uint32_t index = id & ((1u << kIndexBits) - 1);
        Entry& entry = entries_[index];
        entry.object = nullptr;
        // Never a multiple of what the id has room for: 0 is no id.
        if (++entry.generation % (1u << (31 - kIndexBits)) == 0) ++entry.generation;
        free_.push_back(index);
    }

  private:
    static constexpr unsigned kIndexBits = 20;
    struct Entry {
        T* object = nullptr;
        std::uint32_t generation = 1;
    };
    std::vector<Entry> entries_;
    std::vector<std::uint32_t> free_;
};

}  // namespace poe::comm
