// MessageMatcher: which receive belongs to which send. By the number of the message where the trace
// has one, else by order within context, type and pair of tasks. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "tracer/probe/format.hpp"
#include "tracer/read/trace_time.hpp"

namespace poe::trace {

// The outermost call that a task was in when it noted one end of a message. Outside of calls the
// region is that of the program and `since` the moment itself.
struct InCall {
    Time since{0};
    std::uint32_t region = 0;  // of Definitions
    std::uint32_t site = 0;
};

// A call in which a sender could not know whether its message would be taken: it was in it from
// `from` on, and `to` is when the send had ended. Empty when from == to.
struct Hold {
    Time from{0};
    Time to{0};
    std::uint32_t region = 0;
    std::uint32_t site = 0;
    Time length() const { return to - from; }
};

struct Message {
    TaskId from = 0;
    TaskId to = 0;
    std::uint32_t type = 0;
    std::uint8_t context = kUserMessages;
    std::uint16_t number = 0;
    Bytes bytes = 0;
    Time sent{0};      // when the send was noted
    Time received{0};  // when the receive was
    InCall send_in{};
    InCall receive_in{};
    // The longest one so far; known for a message that is received after the send has ended.
    Hold hold{};
};

// One thread at a time. Memory is bounded: of more than kMostWaiting ends the later are given up.
class MessageMatcher {
  public:
    static constexpr std::size_t kMostWaiting = std::size_t{1} << 18;

    // One end of a message, with the fields of its side; the whole message when the other end has
    // been seen.
    std::optional<Message> send(const Message& message) { return match(message, true); }
    std::optional<Message> receive(const Message& message) { return match(message, false); }

    // The send with this key and time whose receive has not been seen; null: there is none.
    Message* waiting_send(const Message& like);
    // Sends without receive, or receives without send, so far; in no particular order.
    std::vector<Message> waiting(bool sends) const;
    // Takes back what waiting() gave.
    void restore(const std::vector<Message>& messages, bool sends);
    std::uint64_t given_up() const { return given_up_; }
    std::size_t size() const { return size_; }

  private:
    struct Key {
        std::uint64_t pair;
        std::uint64_t what;  // context, then type or number
        bool operator==(const Key&) const = default;
    };
    struct KeyHash {
        std::size_t operator()(const Key& key) const noexcept {
            const std::uint64_t mixed =
                (key.pair ^ key.what * 0x9e3779b97f4a7c15u) * 0xff51afd7ed558ccdu;
            return static_cast<std::size_t>(mixed ^ mixed >> 32);
        }
    };
    // Ends of one side only, the earliest at `head`.
    struct Queue {
        std::vector<Message> ends;
        std::size_t head = 0;
        bool sends = true;
    };

    static Key key_of(const Message& message);
    std::optional<Message> match(const Message& end, bool is_send);

    std::unordered_map<Key, Queue, KeyHash> queues_;
    std::size_t size_ = 0;
    std::uint64_t given_up_ = 0;
};

}  // namespace poe::trace
