// What a task is doing now, as two 8-byte words in its slot of the node segment: written by the
// task with plain stores at every call, decoded by whoever watches (pmd, poestat). The two words
// are not read as one, so a reader may see the call of now with the bytes of before: good enough to
// show.
//
//   word 0:  type 63..32 | peer 31..8 | call 7..0
//   word 1:  since 63..32 | bytes 31..0
//
// peer 0xffffff means DONTCARE or none. bytes saturates. since counts milliseconds from the
// creation of the segment; 0 means that the wait is too young to have been timed (the clock costs
// more than a small message does, so only a wait that turns out long is stamped).
#pragma once

#include <atomic>
#include <cstdint>

#include "comm/base/types.hpp"

namespace poe {

enum class Call : std::uint8_t {
    kNone = 0,
    kBsend = 1,
    kBrecv = 2,
    kSync = 3,
    kBsendrecv = 4,
    kBvsend = 5,
    kBvrecv = 6,
    kWaitSend = 7,     // mpc_wait for one send
    kWaitReceive = 8,  // mpc_wait for one receive
    kWaitAny = 9,      // mpc_wait(DONTCARE)
    kWaitAll = 10,     // mpc_wait(ALLMSG): peer and type are those of one of them
    kFlush = 11,
};

// The C name of the call, "computing" for none and "?" for a value that no task should write.
inline const char* call_name(Call call) noexcept {
    switch (call) {
        case Call::kNone:
            return "computing";
        case Call::kBsend:
            return "mpc_bsend";
        case Call::kBrecv:
            return "mpc_brecv";
        case Call::kSync:
            return "mpc_sync";
        case Call::kBsendrecv:
            return "mpc_bsendrecv";
        case Call::kBvsend:
            return "mpc_bvsend";
        case Call::kBvrecv:
            return "mpc_bvrecv";
        case Call::kWaitSend:
        case Call::kWaitReceive:
        case Call::kWaitAny:
        case Call::kWaitAll:
            return "mpc_wait";
        case Call::kFlush:
            return "mpc_flush";
    }
    return "?";
}

struct TaskDoing {
    static constexpr TaskId kAnyPeer = -1;

    Call call = Call::kNone;
    TaskId peer = kAnyPeer;
    std::int32_t type = 0;
    Bytes bytes = 0;
    std::uint32_t since_ms = 0;
};

struct DoingWords {
    std::atomic<std::uint64_t> call_peer_type{0};
    std::atomic<std::uint64_t> bytes_since{0};

    // The owner's two stores. Never blocks; only the owning task writes.
    void set(Call call, TaskId peer, std::int32_t type, Bytes bytes) noexcept {
        bytes_since.store(bytes < 0xffffffffu ? bytes : 0xffffffffu, std::memory_order_relaxed);
        call_peer_type.store(static_cast<std::uint64_t>(static_cast<std::uint32_t>(type)) << 32 |
                                 (static_cast<std::uint64_t>(peer) & 0xffffffu) << 8 |
                                 static_cast<std::uint64_t>(call),
                             std::memory_order_relaxed);
    }

    void clear() noexcept { call_peer_type.store(0, std::memory_order_relaxed); }

    // Marks the call as one that waits, from `since_ms` on.
    void stamp(std::uint32_t since_ms) noexcept {
        const std::uint64_t bytes = bytes_since.load(std::memory_order_relaxed) & 0xffffffffu;
        bytes_since.store(static_cast<std::uint64_t>(since_ms) << 32 | bytes,
                          std::memory_order_relaxed);
    }

    // The watcher's view; any content decodes to something printable.
    TaskDoing read() const noexcept {
        const std::uint64_t what = call_peer_type.load(std::memory_order_relaxed);
        const std::uint64_t amount = bytes_since.load(std::memory_order_relaxed);
        TaskDoing doing;
        doing.call = static_cast<Call>(what & 0xffu);
        const auto peer = static_cast<std::uint32_t>(what >> 8 & 0xffffffu);
        doing.peer = peer == 0xffffffu ? TaskDoing::kAnyPeer : static_cast<TaskId>(peer);
        doing.type = static_cast<std::int32_t>(what >> 32);
        doing.bytes = amount & 0xffffffffu;
        doing.since_ms = static_cast<std::uint32_t>(amount >> 32);
        return doing;
    }
};

}  // namespace poe
