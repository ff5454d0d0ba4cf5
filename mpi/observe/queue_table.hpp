// QueueTable: a hash table in which several values may have the same key; they leave in the order
// in which they came. A library may give many requests one handle: MPICH does so for all sends that
// have ended at once. So the values of a key are a list, and each operation takes the same time
// however many there are.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "mpi/observe/flat_table.hpp"

namespace poe::observe {

// `Key` as for FlatTable. Not for several threads.
template <typename Key, typename Value>
class QueueTable {
  public:
    std::size_t size() const noexcept { return size_; }

    // The oldest value with this key; null if there is none. Valid until the next change of the
    // table.
    Value* find(const Key& key) noexcept {
        const Queue* const queue = queues_.find(key);
        return queue == nullptr ? nullptr : &nodes_[queue->first].value;
    }

    void add(const Key& key, Value value) {
        const std::uint32_t node = new_node(std::move(value));
        ++size_;
        if (Queue* const queue = queues_.find(key)) {
            nodes_[queue->last].next = node;
            queue->last = node;
        } else {
            queues_.add(key, {node, node});
        }
    }

    // Removes the oldest value with this key, if there is one.
    void remove(const Key& key) noexcept {
        Queue* const queue = queues_.find(key);
        if (queue == nullptr) return;
        --size_;
        const std::uint32_t node = queue->first;
        if (queue->first == queue->last)
            queues_.remove(key);
        else
            queue->first = nodes_[node].next;
        nodes_[node] = {.value = {}, .next = free_};
        free_ = node;
    }

  private:
    static constexpr std::uint32_t kNone = ~std::uint32_t{0};

    // Places in nodes_.
    struct Queue {
        std::uint32_t first = kNone;
        std::uint32_t last = kNone;
    };
    struct Node {
        Value value{};
        std::uint32_t next = kNone;
    };

    std::uint32_t new_node(Value value) {
        if (free_ == kNone) {
            nodes_.push_back({.value = std::move(value), .next = kNone});
            return static_cast<std::uint32_t>(nodes_.size() - 1);
        }
        const std::uint32_t node = free_;
        free_ = nodes_[node].next;
        nodes_[node] = {.value = std::move(value), .next = kNone};
        return node;
    }

    FlatTable<Key, Queue> queues_;
    std::vector<Node> nodes_;
    std::uint32_t free_ = kNone;  // the first node that is not in use
    std::size_t size_ = 0;
};

}  // namespace poe::observe
