// FlatTable: a hash table in one array, for lookups that may cost a few nanoseconds at every call.
// queue_table.hpp has one for several values with the same key.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/segment/observed_tables.hpp"

namespace poe::observe {

constexpr std::uint64_t mixed(std::uint64_t key) noexcept {
    key = (key ^ key >> 32) * 0x9e3779b97f4a7c15u;
    return key ^ key >> 29;
}

// `Key` is an integer or has hash() and ==. Not for several threads.
template <typename Key, typename Value>
class FlatTable {
  public:
    // `raw` follows where the entries are, for readers in another process (ObservedTables).
    explicit FlatTable(ObservedArray* raw = nullptr) : raw_(raw) {}

    std::size_t size() const noexcept { return size_; }

    // The value of this key; null if there is none. Valid until the next change of the table.
    Value* find(const Key& key) noexcept {
        const std::size_t at = place_of(key);
        return at == kNone ? nullptr : &entries_[at].value;
    }

    // The table must not have the key.
    void add(const Key& key, Value value) {
        if ((size_ + 1) * 2 > entries_.size()) grow();
        insert({key, std::move(value), kFull});
    }

    // Removes the entry with this key, if there is one.
    void remove(const Key& key) noexcept {
        std::size_t hole = place_of(key);
        if (hole == kNone) return;
        --size_;
        // Entries that could no longer be found across the hole move into it.
        for (std::size_t at = next(hole);; at = next(at)) {
            if (entries_[at].state == kEmpty) break;
            const std::size_t home = home_of(entries_[at].key);
            const bool stays = hole <= at ? hole < home && home <= at : hole < home || home <= at;
            if (stays) continue;
            entries_[hole] = std::move(entries_[at]);
            hole = at;
        }
        entries_[hole] = {};
    }

  private:
    static constexpr std::uint64_t kEmpty = 0;
    static constexpr std::uint64_t kFull = 1;
    static constexpr std::size_t kNone = ~std::size_t{0};
    static constexpr std::size_t kFirstPlaces = 64;

    struct Entry {
        Key key{};
        Value value{};
        std::uint64_t state = kEmpty;
    };

  public:
    static constexpr std::size_t kEntryBytes = sizeof(Entry);

  private:
    static std::uint64_t hash(const Key& key) noexcept {
        if constexpr (requires { key.hash(); })
            return key.hash();
        else
            return mixed(key);
    }
    std::size_t home_of(const Key& key) const noexcept { return hash(key) & (entries_.size() - 1); }
    std::size_t next(std::size_t at) const noexcept { return (at + 1) & (entries_.size() - 1); }

    std::size_t place_of(const Key& key) const noexcept {
        if (entries_.empty()) return kNone;
        for (std::size_t at = home_of(key); entries_[at].state != kEmpty; at = next(at))
            if (entries_[at].key == key) return at;
        return kNone;
    }

    void insert(Entry entry) noexcept {
        std::size_t at = home_of(entry.key);
        while (entries_[at].state != kEmpty) at = next(at);
        entries_[at] = std::move(entry);
        ++size_;
    }

    void grow() {
        std::vector<Entry> before(entries_.empty() ? kFirstPlaces : entries_.size() * 2);
        before.swap(entries_);
        size_ = 0;
        for (Entry& entry : before)
            if (entry.state != kEmpty) insert(std::move(entry));
        if (raw_ != nullptr)
            *raw_ = {reinterpret_cast<std::uint64_t>(entries_.data()), entries_.size()};
    }

    ObservedArray* raw_;
    std::vector<Entry> entries_;
    std::size_t size_ = 0;
};

}  // namespace poe::observe
