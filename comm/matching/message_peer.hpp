// The message layer's state per peer task. Private to message_*.cpp.
#pragma once

#include <chrono>
#include <cstdint>

#include "comm/matching/handover_choice.hpp"
#include "comm/matching/pipe.hpp"
#include "comm/matching/request.hpp"
#include "comm/matching/single_copy_tuner.hpp"
#include "comm/matching/transfer_burst.hpp"
#include "comm/matching/unexpected_pool.hpp"

namespace poe::comm {

// The time by which transfers are measured.
inline std::uint64_t now_ns() noexcept {
    return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(
                                          std::chrono::steady_clock::now().time_since_epoch())
                                          .count());
}

// The frame being received from a peer.
struct InboundFrame {
    bool active = false;
    FrameHeader header;
    Bytes got = 0;                   // payload bytes read or skipped
    ReceiveRequest* into = nullptr;  // kEager and kData; null for kEager means `kept`
    Unexpected* kept = nullptr;
    Bytes base = 0;                      // where the frame's payload starts in the destination
    Bytes room = 0;                      // bytes to keep; the rest is skipped
    std::uint64_t begun_ns = 0;          // kEager: when first seen; 0: not timed
    alignas(8) std::byte body[24] = {};  // control frames
};

// A FIFO list of frames. Does not own them.
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
    // Puts `frame` into the place of `old`. False: `old` is not in the queue.
    bool replace(const OutFrame& old, OutFrame& frame) noexcept;
};

struct Peer {
    TaskId task = 0;
    Pipe* pipe = nullptr;  // null for this task itself
    const char* fault = nullptr;
    Bytes eager_limit = 0;
    Bytes at_once = 0;  // eager messages of up to this length are sent whole, or not at all
    // Messages of each class so far, in the order of the calls that sent them. Both ends
    // therefore give a message the same number, from 1 on. For traces.
    std::uint32_t messages_to[kFlowClasses] = {};
    std::uint32_t messages_from[kFlowClasses] = {};
    // Frames of a class that need tokens stay in order among each other. Frames that need none
    // may overtake them.
    OutFrame* current = nullptr;  // started but not finished
    FrameQueue urgent;
    FrameQueue ordered[kFlowClasses];
    bool in_sending_list = false;
    InboundFrame in;
    Bytes eager_held[kFlowClasses] = {};  // buffer memory in use for this peer's eager messages
    Bytes offers_held = 0;                // likewise, for announced messages
    SingleCopyTuner single_copy_tuner;    // for messages from this peer
    TransferBurst burst;                  // announced messages from this peer
    HandoverLengths cheaper;              // as last published to this peer
    HandoverChoice handover;              // for messages to this peer
    std::uint32_t timed_eager = 0;        // number of eager messages that could have been timed

    bool nothing_queued() const noexcept {
        return current == nullptr && urgent.empty() &&
               ordered[index_of(FlowClass::kUser)].empty() &&
               ordered[index_of(FlowClass::kCollective)].empty();
    }
    bool idle() const noexcept { return nothing_queued() && fault == nullptr; }
};

}  // namespace poe::comm
