// MessageMatcher: finds the receive that belongs to each send. It uses the message's number if the
// trace has one, otherwise the order within context, type and pair of tasks. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "tracer/probe/format.hpp"
#include "tracer/read/trace_time.hpp"

namespace poe::trace {

// The outermost call in which a task recorded one end of a message. Outside calls, `region` is that
// of the program and `since` is the time of the record.
struct InCall {
    Time since{0};
    std::uint32_t region = 0;  // a number of Definitions
    std::uint32_t site = 0;
};

// A call in which the sender could not know whether its message would be received: it was in the
// call from `from`, and `to` is the end of the send. None if from == to.
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
    // 0: `number` counts the messages of the class; otherwise those with this matching context and
    // type.
    std::uint32_t line = 0;
    Bytes bytes = 0;
    Time sent{0};      // time of the kSend record
    Time received{0};  // time of the kReceive record
    InCall send_in{};
    InCall receive_in{};
    // The longest such call so far; known for a message that is received after the send has ended.
    Hold hold{};
};

// For one thread at a time. Memory is bounded: ends beyond kMostWaiting unmatched ones are dropped.
class MessageMatcher {
  public:
    static constexpr std::size_t kMostWaiting = std::size_t{1} << 18;

    // Adds one end of a message, with the fields of its side. Returns the whole message if the
    // other end has been added already.
    std::optional<Message> send(const Message& message) { return match(message, true); }
    std::optional<Message> receive(const Message& message) { return match(message, false); }

    // Returns the unmatched send with this key and time; null if there is none.
    Message* waiting_send(const Message& like);
    // Returns the unmatched sends, or the unmatched receives, so far, in no particular order.
    std::vector<Message> waiting(bool sends) const;
    // Restores what waiting() returned.
    void restore(const std::vector<Message>& messages, bool sends);
    std::uint64_t given_up() const { return given_up_; }
    std::size_t size() const { return size_; }

  private:
    struct Key {
        std::uint64_t pair;
        std::uint64_t what;  // class, then type or number, or all of line, type and number
        bool operator==(const Key&) const = default;
    };
    struct KeyHash {
        std::size_t operator()(const Key& key) const noexcept {
            const std::uint64_t mixed =
                (key.pair ^ key.what * 0x9e3779b97f4a7c15u) * 0xff51afd7ed558ccdu;
            return static_cast<std::size_t>(mixed ^ mixed >> 32);
        }
    };
    // Unmatched ends of one side; the earliest is at `head`.
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
