// The current call of a task, as four 8-byte words in its slot of the node segment. The task writes
// them with plain stores at every call; watchers (pmd, poestat) decode them. The words are not read
// atomically together, so a reader may combine the current call with the bytes of the previous one.
// That is accurate enough for display.
//
//   word 0:  type 63..32 | peer 31..11 | call 10..0
//   word 1:  since 63..32 | bytes 31..0
//   word 2:  context 63..32 | request 31..0
//   word 3:  site: the address in the task's memory to which the call returns in the program; 0: unknown
//
// context is the matching context (comm/matching/pipe.hpp), which names the communicator of an MPI
// call. request is the number of the request that the call is about, 0 for none.
// peer 0x1fffff means DONTCARE or none. bytes saturates. since counts milliseconds from the
// creation of the segment and wraps after 49 days. since is 0 until the wait has lasted a while:
// reading the clock costs more than a small message, so only a long wait is stamped. wait_notes.hpp
// has the exact peer that the task waits for, and whether anything moves.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/calls.hpp"
#include "base/types.hpp"

namespace poe {

struct TaskActivity {
    static constexpr TaskId kAnyPeer = -1;
    static constexpr std::int32_t kNoType = -1;

    Call call = Call::kNone;
    TaskId peer = kAnyPeer;
    std::int32_t type = 0;
    Bytes bytes = 0;
    std::uint32_t since_ms = 0;
    std::uint32_t context = 0;
    std::uint32_t request = 0;
    std::uint64_t site = 0;

    bool operator==(const TaskActivity&) const = default;
};

// For collective calls: true if both are the same call of the same group or communicator.
inline bool same_operation(const TaskActivity& a, const TaskActivity& b) noexcept {
    return a.call == b.call && a.type == b.type && a.context == b.context;
}

struct TaskActivityWords {
    std::atomic<std::uint64_t> call_peer_type{0};
    std::atomic<std::uint64_t> bytes_since{0};
    std::atomic<std::uint64_t> context_request{0};
    std::atomic<std::uint64_t> site{0};

    // Four stores, for the owning task only. Never blocks.
    void set(Call call, TaskId peer, std::int32_t type, Bytes bytes, const void* from,
             std::uint32_t context = 0, std::uint32_t request = 0) noexcept {
        site.store(reinterpret_cast<std::uintptr_t>(from), std::memory_order_relaxed);
        context_request.store(static_cast<std::uint64_t>(context) << 32 | request,
                              std::memory_order_relaxed);
        bytes_since.store(bytes < 0xffffffffu ? bytes : 0xffffffffu, std::memory_order_relaxed);
        call_peer_type.store(static_cast<std::uint64_t>(static_cast<std::uint32_t>(type)) << 32 |
                                 (static_cast<std::uint64_t>(peer) & kPeerMask) << kCallBits |
                                 (static_cast<std::uint64_t>(call) & kCallMask),
                             std::memory_order_relaxed);
    }

    void clear() noexcept { call_peer_type.store(0, std::memory_order_relaxed); }

    // Marks the call as waiting since `since_ms`, which must not be 0; no effect if already marked.
    void stamp(std::uint32_t since_ms) noexcept {
        const std::uint64_t now = bytes_since.load(std::memory_order_relaxed);
        if (now >> 32 != 0) return;
        bytes_since.store(static_cast<std::uint64_t>(since_ms) << 32 | now,
                          std::memory_order_release);
    }

    // The same for another process, while the task may set its next call. Returns false if it did.
    bool stamp_if_same(std::uint32_t since_ms) noexcept {
        std::uint64_t now = bytes_since.load(std::memory_order_relaxed);
        return now >> 32 != 0 || bytes_since.compare_exchange_strong(
                                     now, static_cast<std::uint64_t>(since_ms) << 32 | now,
                                     std::memory_order_release);
    }

    // For watchers. Any content decodes to something printable.
    TaskActivity read() const noexcept {
        const std::uint64_t what = call_peer_type.load(std::memory_order_acquire);
        const std::uint64_t amount = bytes_since.load(std::memory_order_acquire);
        TaskActivity doing;
        doing.call = static_cast<Call>(what & kCallMask);
        const auto peer = static_cast<std::uint32_t>(what >> kCallBits & kPeerMask);
        doing.peer = peer == kPeerMask ? TaskActivity::kAnyPeer : static_cast<TaskId>(peer);
        doing.type = static_cast<std::int32_t>(what >> 32);
        doing.bytes = amount & 0xffffffffu;
        doing.since_ms = static_cast<std::uint32_t>(amount >> 32);
        const std::uint64_t about = context_request.load(std::memory_order_acquire);
        doing.context = static_cast<std::uint32_t>(about >> 32);
        doing.request = static_cast<std::uint32_t>(about);
        doing.site = site.load(std::memory_order_relaxed);
        return doing;
    }

  private:
    static constexpr unsigned kCallBits = 11;
    static constexpr std::uint64_t kCallMask = (1u << kCallBits) - 1;
    static constexpr std::uint64_t kPeerMask = (1u << 21) - 1;
};

}  // namespace poe
