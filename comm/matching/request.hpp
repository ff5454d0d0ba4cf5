// The message layer's record of an operation in progress: sends, receives, and unexpected messages.
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
    kPeerBroken,      // the other task's pipe is broken
    kNoBuffer,        // a message to this task itself exceeds the free buffer memory
    kNobodySends,     // no task can ever satisfy the receive
    kNobodyReceives,  // a synchronous message to this task itself, which no receive can match
    kCancelled,       // cancelled before a receive and a message matched
};

// The common part of a send and a receive. Both end only through finish().
struct Request {
    Outcome outcome = Outcome::kPending;
    struct FinishedList* tell = nullptr;  // the request joins this list when it ends
    Request* next = nullptr;              // in that list
    Request* previous = nullptr;
    void* owner = nullptr;  // for the caller's use
};

// Requests that have ended, oldest first. `outcome` is kDone while the list is not empty, so that a
// caller can wait for the list as for a single request. Does not own the requests.
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
    // Precondition: `request` is in the list.
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

// A frame that is queued for a pipe or is being sent.
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

// A send. The caller owns it; it and the user's buffer must remain valid until `outcome` is no
// longer kPending.
struct SendRequest : Request {
    SendRequest() = default;
    SendRequest(const BufferView& what, TaskId to, std::int32_t of_type, ContextId in = kMplContext,
                FlowClass of_flow = FlowClass::kUser)
        : view(what), dest(to), type(of_type), context(in), flow(of_flow) {}
    // Prepares a request for its next message, which is not synchronous. Faster than constructing a
    // new request. Precondition: the previous message has ended.
    void reset(const BufferView& what, TaskId to, std::int32_t of_type, ContextId in,
               FlowClass of_flow) noexcept {
        view = what;
        dest = to;
        type = of_type;
        context = in;
        flow = of_flow;
        synchronous = false;
        reset();
    }
    // Resets a request that has ended, so that start() can send the same message again.
    void reset() noexcept {
        outcome = Outcome::kPending;
        id = 0;
        kept = nullptr;
        granted = false;
        cancelling = false;
        hopeless = false;
        to_send = 0;
        sent = 0;
        frame.offset = 0;
        frame.sent = 0;
        frame.started = false;
    }

    BufferView view;
    TaskId dest = 0;
    std::int32_t type = 0;
    ContextId context = kMplContext;
    FlowClass flow = FlowClass::kUser;
    // The send ends only when a receive has matched. The message is always announced first.
    bool synchronous = false;
    std::uint32_t number = 0;           // number among the messages to this task; for traces
    std::uint32_t id = 0;               // in the table of sends during a rendezvous
    struct Unexpected* kept = nullptr;  // a message to this task itself, not received yet
    bool granted = false;
    bool cancelling = false;  // rendezvous: kCancel was sent
    bool hopeless = false;    // it is cancelled because a task has ended (end_if_hopeless)
    Bytes to_send = 0;        // rendezvous: bytes that the receiver wants
    Bytes sent = 0;           // bytes of these in finished frames
    OutFrame frame;
};

// A receive. The caller owns it, as with a send. source, type, number and length describe what
// arrived.
struct ReceiveRequest : Request {
    // Resets a reused request: sets only the fields that the message layer reads before it writes
    // them, because constructing a new request takes 20 ns.
    void reset(const BufferView& into, const MatchKey& from) noexcept {
        outcome = Outcome::kPending;
        view = into;
        wanted = from;
        id = 0;
        moved = 0;
        link.queue = nullptr;
        source = kWildcard;
        in_burst = false;
    }

    BufferView view;
    MatchKey wanted;
    std::uint32_t id = 0;     // in the table of receives during a rendezvous
    std::uint64_t order = 0;  // order of posting
    Bytes moved = 0;          // bytes already in the user's buffer
    Bytes expected = 0;       // bytes that will be moved
    QueueLink link;
    struct Unexpected* fills = nullptr;  // set if this internal receive fills that message's buffer
    TaskId source = kWildcard;           // of the message, once matched
    std::int32_t type = 0;
    FlowClass flow = FlowClass::kUser;  // of the message
    std::uint32_t number = 0;           // of the message, see Peer
    Bytes length = 0;                   // of the message as sent; longer than the buffer: truncated
    bool in_burst = false;              // its bytes are on the way as part of Peer::burst
};

// A message that arrived before its receive was posted. The message layer owns it.
struct Unexpected {
    enum class State : std::uint8_t {
        kArriving,   // its bytes are arriving in `data`
        kHere,       // complete in `data`
        kOffered,    // rendezvous: announced; no bytes requested
        kOwnSend,    // from this task itself: its bytes are still in the buffer of `own_send`
        kWithdrawn,  // was kOwnSend and extracted; its send has ended with an error
    };
    // Resets a reused message: only the fields that are read before they are written, because
    // constructing all of them takes a quarter of the time of a short unexpected message.
    // Precondition: the message is in no queue.
    void reset() noexcept {
        own_send = nullptr;
        state = State::kArriving;
        taken_in = false;
        claimed = nullptr;
    }

    // The parts that every message uses, next to each other.
    MatchKey from;
    FlowClass flow = FlowClass::kUser;
    State state = State::kArriving;
    bool taken_in = false;     // rendezvous: fetched into `data` without a receive
    std::uint32_t number = 0;  // see Peer
    Bytes length = 0;
    Bytes cost = 0;  // tokens to give back
    struct SendRequest* own_send = nullptr;
    ReceiveRequest* claimed = nullptr;  // the receive that matched it while it was arriving
    std::uint64_t order = 0;            // of arrival
    QueueLink link;                     // in the queue of its exact key (unexpected_messages.hpp)
    std::vector<std::byte> data;        // may be longer than the message
    Unexpected* older = nullptr;        // in the list of all
    Unexpected* newer = nullptr;

    Unexpected* next_free = nullptr;  // while it is in the pool
    QueueLink wildcard_links[3];
    RequestBody offer;    // rendezvous
    ReceiveRequest fill;  // rendezvous: the internal receive that fills `data`

    // True if no receive may match the message any more, because one has matched it or it was
    // extracted.
    bool unmatchable() const noexcept { return link.queue == nullptr; }
    // True if a waiting task may fetch the message into `data` before a receive matches.
    bool may_be_taken_in() const noexcept {
        return state == State::kOffered && (offer.flags & kSynchronous) == 0;
    }
};

// Assigns small positive ids to requests, for use in frames and by users. find() returns null for
// an id that is not in use. Does not own the objects. Not thread-safe.
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

    bool any() const noexcept { return free_.size() < entries_.size(); }

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
        // The generation modulo its bits in the id is never 0, because 0 is not a valid id.
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
