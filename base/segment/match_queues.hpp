// The queues of the message layer, as they are in a task's memory: posted receives, and messages
// that no receive has matched. The message layer works on them (comm/matching/keyed_queues.hpp),
// and the daemon reads them with process_vm_readv for a debugger
// (partition_manager/daemon/queue_reader.hpp). Both depend on the layout, so a change of it must
// increment kSegmentVersion.
//
// The task publishes the address of its MatcherTables once, in its slot, and nothing per message. A
// reader may therefore find the queues in the middle of a change. It recognizes this state: links
// and counts do not agree.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/contexts.hpp"
#include "base/types.hpp"

namespace poe {

inline constexpr std::int32_t kWildcard = -1;

struct MatchKey {
    ContextId context = kMplContext;
    TaskId source = kWildcard;
    std::int32_t type = kWildcard;
    bool operator==(const MatchKey&) const = default;
};

struct KeyedQueue;

// Membership of an object in a queue. It is embedded in the object, which must outlive it.
struct QueueLink {
    QueueLink* next = nullptr;
    QueueLink* previous = nullptr;
    KeyedQueue* queue = nullptr;
    void* owner = nullptr;
};

struct KeyedQueue {
    MatchKey key;
    QueueLink* head = nullptr;
    QueueLink* tail = nullptr;
    KeyedQueue* next = nullptr;  // in its bucket, or in the free list
};

// A hash table of queues.
struct QueueTable {
    KeyedQueue* const* buckets = nullptr;
    std::uint64_t bucket_count = 0;  // a power of two
    std::uint64_t links = 0;         // in all queues together
};

struct MatcherTables {
    static constexpr std::uint64_t kMagic = 0x5345'5545'5551'4f50ull;  // "POQUEUES" in memory

    std::uint64_t magic = kMagic;
    // The owner of each link is a receive. Posted receives do not include `blocking`.
    const QueueTable* posted = nullptr;
    // The owner of each link is a message, in the queue of its own key.
    const QueueTable* unexpected = nullptr;
    // The receive that a blocking call has posted last; null if there is none.
    void* const* blocking = nullptr;

    // Offsets in a receive: its MatchKey, the bytes of its buffer, and the order of posting (both
    // 64 bits).
    std::uint32_t wanted_at = 0;
    std::uint32_t room_at = 0;
    std::uint32_t order_at = 0;
    // Offsets in a message: its length, and the order of arrival (both 64 bits).
    std::uint32_t length_at = 0;
    std::uint32_t arrival_at = 0;

    // What the library adds to each message of MPI, and to the buffer of each receive of MPI, in
    // bytes. Watchers subtract it, because the program does not know of it.
    std::uint64_t envelope = 0;

    Bytes without_envelope(Bytes length, ContextId context) const noexcept {
        if (context < kFirstMpiContext || !is_of_program(context)) return length;
        return length < envelope ? 0 : length - envelope;
    }
};

}  // namespace poe
