// A hash table of queues. A queue that becomes empty leaves the table and is reused.
#include "comm/matching/keyed_queues.hpp"

#include "base/check.hpp"

namespace poe::comm {

KeyedQueues::KeyedQueues() : buckets_(64, nullptr), table_{buckets_.data(), buckets_.size(), 0} {}

std::size_t KeyedQueues::bucket_of(const MatchKey& key) const noexcept {
    std::uint64_t hash = static_cast<std::uint64_t>(static_cast<std::uint32_t>(key.source)) << 32 |
                         static_cast<std::uint32_t>(key.type);
    // Types rarely have 20 bits, so contexts and types rarely fall on the same bits.
    hash ^= static_cast<std::uint64_t>(key.context) << 20;
    hash *= 0x9e3779b97f4a7c15ull;  // 2^64 / golden ratio
    return (hash >> 32) & (buckets_.size() - 1);
}

KeyedQueue* KeyedQueues::find_in_bucket(const MatchKey& key) const noexcept {
    KeyedQueue* queue = buckets_[bucket_of(key)];
    while (queue != nullptr && queue->key != key) queue = queue->next;
    return queue;
}

KeyedQueue& KeyedQueues::make(const MatchKey& key) {
    if (queues_ >= buckets_.size()) grow();
    KeyedQueue* queue = free_;
    if (queue != nullptr) {
        free_ = queue->next;
    } else {
        queue = &storage_.emplace_back();
    }
    KeyedQueue*& bucket = buckets_[bucket_of(key)];
    *queue = KeyedQueue{key, nullptr, nullptr, bucket};
    bucket = queue;
    ++queues_;
    return *queue;
}

void KeyedQueues::grow() {
    std::vector<KeyedQueue*> old(buckets_.size() * 4, nullptr);
    old.swap(buckets_);
    for (KeyedQueue* queue : old) {
        while (queue != nullptr) {
            KeyedQueue* next = queue->next;
            KeyedQueue*& bucket = buckets_[bucket_of(queue->key)];
            queue->next = bucket;
            bucket = queue;
            queue = next;
        }
    }
    table_.buckets = buckets_.data();
    table_.bucket_count = buckets_.size();
}

void KeyedQueues::push(QueueLink& link, const MatchKey& key) {
    POE_CHECK(link.queue == nullptr);
    KeyedQueue* queue = find(key);
    if (queue == nullptr) queue = &make(key);
    link.queue = queue;
    link.next = nullptr;
    link.previous = queue->tail;
    (queue->tail != nullptr ? queue->tail->next : queue->head) = &link;
    queue->tail = &link;
    newest_ = queue;
    ++table_.links;
}

void KeyedQueues::remove(QueueLink& link) noexcept {
    KeyedQueue* queue = link.queue;
    POE_CHECK(queue != nullptr);
    (link.previous != nullptr ? link.previous->next : queue->head) = link.next;
    (link.next != nullptr ? link.next->previous : queue->tail) = link.previous;
    link.queue = nullptr;
    --table_.links;
    if (queue->head != nullptr) return;
    if (queue == newest_) newest_ = nullptr;
    KeyedQueue** at = &buckets_[bucket_of(queue->key)];
    while (*at != queue) at = &(*at)->next;
    *at = queue->next;
    queue->next = free_;
    free_ = queue;
    --queues_;
}

QueueLink* KeyedQueues::first(const MatchKey& key) const noexcept {
    if (empty()) return nullptr;
    const KeyedQueue* queue = find(key);
    return queue != nullptr ? queue->head : nullptr;
}

}  // namespace poe::comm
