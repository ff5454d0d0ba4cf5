// KeyedQueues: first-in-first-out queues found by (context, source, type) in constant time, however
// many there are. The message layer keeps posted receives in one of these, each under the key that
// it was posted with, and unexpected messages in another, each under the four keys that a receive
// may ask for. Apart because matching speed with 10,000 waiting messages depends on nothing else.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <vector>

#include "base/types.hpp"
#include "comm/matching/pipe.hpp"

namespace poe::comm {

inline constexpr std::int32_t kWildcard = -1;

struct MatchKey {
    Context context = Context::kUser;
    TaskId source = kWildcard;
    std::int32_t type = kWildcard;
    bool operator==(const MatchKey&) const = default;
};

struct KeyedQueue;

// Membership of one object in one queue; embedded in the object, which must outlive it.
struct QueueLink {
    QueueLink* next = nullptr;
    QueueLink* previous = nullptr;
    KeyedQueue* queue = nullptr;
    void* owner = nullptr;
};

// Not thread-safe. Allocates only when more different keys are in use at once than ever before.
class KeyedQueues {
  public:
    KeyedQueues();
    KeyedQueues(const KeyedQueues&) = delete;
    KeyedQueues& operator=(const KeyedQueues&) = delete;

    // Appends link, which must not be in a queue.
    void push(QueueLink& link, const MatchKey& key);
    // Takes link out of its queue.
    void remove(QueueLink& link) noexcept;
    // The oldest link under exactly this key, or null.
    QueueLink* first(const MatchKey& key) const noexcept;
    bool empty() const noexcept { return size_ == 0; }
    std::size_t size() const noexcept { return size_; }

  private:
    std::size_t bucket_of(const MatchKey& key) const noexcept;
    KeyedQueue* find(const MatchKey& key) const noexcept;
    KeyedQueue& make(const MatchKey& key);
    void grow();

    std::vector<KeyedQueue*> buckets_;  // a power of two
    std::deque<KeyedQueue> storage_;    // never moves
    KeyedQueue* free_ = nullptr;
    std::size_t queues_ = 0;
    std::size_t size_ = 0;
};

struct KeyedQueue {
    MatchKey key;
    QueueLink* head = nullptr;
    QueueLink* tail = nullptr;
    KeyedQueue* next = nullptr;  // in its bucket, or in the free list
};

}  // namespace poe::comm
