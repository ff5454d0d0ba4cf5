// What the message layer keeps per peer task. Private to message_*.cpp.
#pragma once

#include "comm/fetch_choice.hpp"
#include "comm/handover_choice.hpp"
#include "comm/message_layer.hpp"
#include "tracer/probe/tracer.hpp"

namespace poe::comm {

// The frame being received from a peer.
struct MessageLayer::Inbound {
    bool active = false;
    FrameHeader header;
    Bytes got = 0;                   // payload bytes read or skipped
    ReceiveRequest* into = nullptr;  // kEager and kData; null for kEager means `kept`
    Unexpected* kept = nullptr;
    Bytes base = 0;                      // where the frame's payload starts in the destination
    Bytes room = 0;                      // bytes to keep, the rest is skipped
    std::uint64_t begun_ns = 0;          // kEager: when it was seen first; 0: not timed
    alignas(8) std::byte body[24] = {};  // kRequest, kGrant
};

// A first-in-first-out list of frames.
struct FrameQueue {
    OutFrame* head = nullptr;
    OutFrame* tail = nullptr;

    bool empty() const noexcept { return head == nullptr; }
    void push(OutFrame& frame) noexcept {
        frame.next = nullptr;
        (tail != nullptr ? tail->next : head) = &frame;
        tail = &frame;
    }
    void pop() noexcept {
        head = head->next;
        if (head == nullptr) tail = nullptr;
    }
    void remove(const OutFrame& frame) noexcept;
};

struct MessageLayer::Peer {
    TaskId task = 0;
    Pipe* pipe = nullptr;  // null for oneself
    const char* fault = nullptr;
    // Messages of each context so far, in the order of the calls that sent them; so both ends
    // number them alike, from 1 on. For traces.
    std::uint32_t messages_to[kContexts] = {};
    std::uint32_t messages_from[kContexts] = {};
    // Frames that need tokens keep their order among each other, within a context; those that need
    // none may overtake.
    OutFrame* current = nullptr;  // started, not finished
    FrameQueue urgent;
    FrameQueue ordered[kContexts];
    bool in_sending_list = false;
    Inbound in;
    Bytes eager_held[kContexts] = {};  // buffer memory in use for this peer's eager messages
    Bytes offers_held = 0;             // and for its announced ones
    FetchChoice fetch_choice;          // of messages from this peer
    HandoverLengths cheaper;           // as last said to this peer
    HandoverChoice handover;           // of messages to this peer
    std::uint32_t timed_eager = 0;     // counts eager messages that could be timed

    bool nothing_queued() const noexcept {
        return current == nullptr && urgent.empty() && ordered[index_of(Context::kUser)].empty() &&
               ordered[index_of(Context::kCollective)].empty();
    }
    bool idle() const noexcept { return nothing_queued() && fault == nullptr; }
};

// A message is about to be handed over: nobody can have received it before that is in the trace.
// Returns its number.
inline std::uint32_t MessageLayer::note_sent(Peer& to, Context context, std::int32_t type,
                                             Bytes bytes) {
    traffic_->add_sent(bytes);
    const std::uint32_t number = ++to.messages_to[index_of(context)];
    if (trace::the_tracer.on()) [[unlikely]]
        trace::the_tracer.sent(static_cast<std::uint8_t>(context), to.task, type, bytes, number);
    return number;
}

inline void MessageLayer::note_received(const ReceiveRequest& request) {
    traffic_->add_received(request.length);
    if (trace::the_tracer.on()) [[unlikely]]
        trace::the_tracer.received(static_cast<std::uint8_t>(request.wanted.context),
                                   request.source, request.type, request.length, request.number);
}

}  // namespace poe::comm
