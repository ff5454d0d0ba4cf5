// Implementation of messages.hpp.
#include "tracer/read/messages.hpp"

#include <algorithm>

#include "tracer/probe/id_table.hpp"

namespace poe::trace {

MessageMatcher::Key MessageMatcher::key_of(const Message& message) {
    constexpr int kContextAt = 48;
    constexpr std::uint64_t kNumbered = std::uint64_t{1} << 63;
    const std::uint64_t context = std::uint64_t{message.context} << kContextAt;
    if (message.line != 0 && message.number != 0) {
        constexpr int kNumberBits = 16;
        const std::uint64_t line = mix(pair(message.line, message.type)) << kNumberBits;
        return {
            pair(static_cast<std::uint32_t>(message.from), static_cast<std::uint32_t>(message.to)),
            kNumbered | line | message.number};
    }
    return {pair(static_cast<std::uint32_t>(message.from), static_cast<std::uint32_t>(message.to)),
            message.number != 0 ? kNumbered | context | message.number : context | message.type};
}

std::optional<Message> MessageMatcher::match(const Message& end, bool is_send) {
    const Key key = key_of(end);
    const auto found = queues_.find(key);
    if (found != queues_.end() && found->second.sends != is_send) {
        Queue& queue = found->second;
        Message whole = queue.ends[queue.head++];
        --size_;
        if (is_send) {
            whole.sent = end.sent;
            whole.send_in = end.send_in;
            whole.bytes = end.bytes;
        } else {
            whole.received = end.received;
            whole.receive_in = end.receive_in;
        }
        if (queue.head == queue.ends.size()) queues_.erase(found);
        return whole;
    }
    if (size_ >= kMostWaiting) {
        ++given_up_;
        return std::nullopt;
    }
    Queue& queue = found != queues_.end() ? found->second : queues_[key];
    queue.sends = is_send;
    if (end.number != 0 && !queue.ends.empty()) {
        // The same number again: the trace does not contain the other end of the previous message.
        queue.ends.back() = end;
        ++given_up_;
        return std::nullopt;
    }
    queue.ends.push_back(end);
    ++size_;
    return std::nullopt;
}

Message* MessageMatcher::waiting_send(const Message& like) {
    const auto found = queues_.find(key_of(like));
    if (found == queues_.end() || !found->second.sends) return nullptr;
    std::vector<Message>& ends = found->second.ends;
    for (std::size_t i = ends.size(); i > found->second.head; --i)
        if (ends[i - 1].sent == like.sent) return &ends[i - 1];
    return nullptr;
}

std::vector<Message> MessageMatcher::waiting(bool sends) const {
    std::vector<Message> ends;
    for (const auto& [key, queue] : queues_)
        if (queue.sends == sends)
            ends.insert(ends.end(), queue.ends.begin() + static_cast<std::ptrdiff_t>(queue.head),
                        queue.ends.end());
    return ends;
}

void MessageMatcher::restore(const std::vector<Message>& messages, bool sends) {
    for (const Message& message : messages) match(message, sends);
}

}  // namespace poe::trace
