// KeyedQueues: FIFO queues that are found by (context, source, type) in constant time, however many
// there are. The message layer keeps posted receives in one object of this class, each under the
// key it was posted with; for unexpected messages see unexpected_messages.hpp. It is separate
// because only this code decides how fast 10,000 waiting messages are matched.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <vector>

#include "base/segment/match_queues.hpp"
#include "base/types.hpp"

namespace poe::comm {

using poe::KeyedQueue;
using poe::kWildcard;
using poe::MatchKey;
using poe::QueueLink;

// Not thread-safe. Allocates only if more distinct keys are in use at once than ever before.
class KeyedQueues {
  public:
    KeyedQueues();
    KeyedQueues(const KeyedQueues&) = delete;
    KeyedQueues& operator=(const KeyedQueues&) = delete;

    // Appends `link`, which must not be in a queue. The caller keeps ownership.
    void push(QueueLink& link, const MatchKey& key);
    // Removes `link` from its queue.
    void remove(QueueLink& link) noexcept;
    // Returns the oldest link under exactly this key; null if there is none.
    QueueLink* first(const MatchKey& key) const noexcept;
    bool empty() const noexcept { return table_.links == 0; }
    std::size_t size() const noexcept { return table_.links; }
    // The table for readers of this process's memory. Valid as long as this object, and always
    // current.
    const QueueTable& table() const noexcept { return table_; }

  private:
    std::size_t bucket_of(const MatchKey& key) const noexcept;
    KeyedQueue* find(const MatchKey& key) const noexcept {
        if (newest_ != nullptr && newest_->key == key) return newest_;
        return find_in_bucket(key);
    }
    KeyedQueue* find_in_bucket(const MatchKey& key) const noexcept;
    KeyedQueue& make(const MatchKey& key);
    void grow();

    std::vector<KeyedQueue*> buckets_;  // the size is a power of two
    std::deque<KeyedQueue> storage_;    // elements never move
    KeyedQueue* free_ = nullptr;
    // The queue to which a link was appended last, because it is often looked up next. Null: none,
    // or it has become empty since.
    KeyedQueue* newest_ = nullptr;
    std::size_t queues_ = 0;
    QueueTable table_;
};

}  // namespace poe::comm
