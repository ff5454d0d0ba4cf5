// IdTable: assigns small numbers to names or code addresses. Any thread finds an entry in a few
// nanoseconds. Entries are only added, and exist as long as the process.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <string>
#include <string_view>

namespace poe::trace {

// The last step of splitmix64: spreads the bits over the whole word.
constexpr std::uint64_t mix(std::uint64_t z) noexcept {
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
}

// The bytes of `text` from position `at`, as an integer.
template <typename Word>
Word word_of(std::string_view text, std::size_t at) noexcept {
    Word word = 0;
    std::memcpy(&word, text.data() + at, sizeof word);
    return word;
}

// Hashes eight bytes at a time; the last word may overlap the one before. No copy has a variable
// length, and short names, which are the most frequent, need no loop.
inline std::uint64_t hash_of(std::string_view name) noexcept {
    const auto word_at = [&](std::size_t at) { return word_of<std::uint64_t>(name, at); };
    std::uint64_t sum = name.size() * 0x9e3779b97f4a7c15ull;
    if (name.size() < sizeof(std::uint32_t)) {
        for (const char c : name) sum = sum << 8 ^ static_cast<unsigned char>(c);
        return mix(sum);
    }
    if (name.size() < sizeof sum) {
        const std::uint64_t begin = word_of<std::uint32_t>(name, 0);
        const std::uint64_t end = word_of<std::uint32_t>(name, name.size() - sizeof(std::uint32_t));
        return mix(sum ^ (begin << 32 | end));
    }
    for (std::size_t at = 0; at + sizeof sum < name.size(); at += sizeof sum)
        sum = (sum ^ word_at(at)) * 0x9e3779b97f4a7c15ull;
    return mix(sum ^ word_at(name.size() - sizeof sum));
}
// True if the texts are equal; as fast as hash_of.
inline bool same(std::string_view a, std::string_view b) noexcept {
    constexpr std::size_t kWord = sizeof(std::uint64_t);
    constexpr std::size_t kHalf = sizeof(std::uint32_t);
    if (a.size() != b.size()) return false;
    if (a.size() < kHalf) return a == b;
    if (a.size() < kWord)
        return word_of<std::uint32_t>(a, 0) == word_of<std::uint32_t>(b, 0) &&
               word_of<std::uint32_t>(a, a.size() - kHalf) ==
                   word_of<std::uint32_t>(b, b.size() - kHalf);
    for (std::size_t at = 0; at + kWord < a.size(); at += kWord)
        if (word_of<std::uint64_t>(a, at) != word_of<std::uint64_t>(b, at)) return false;
    return word_of<std::uint64_t>(a, a.size() - kWord) ==
           word_of<std::uint64_t>(b, b.size() - kWord);
}
inline bool same(const void* a, const void* b) noexcept {
    return a == b;
}
inline std::uint64_t hash_of(const void* address) noexcept {
    return mix(reinterpret_cast<std::uintptr_t>(address) * 0x9e3779b97f4a7c15ull);
}

// Kept: the type of key that an entry stores (std::string, an address); Key: the type for lookups.
template <typename Kept, typename Key>
class IdTable {
  public:
    struct Entry {
        Kept key;
        std::uint64_t hash = 0;
        std::uint32_t id = 0;
    };
    static constexpr std::size_t kMost = 3072;

    // Returns the entry of this key; null if there is none. Never blocks.
    const Entry* find(Key key) const noexcept {
        const std::uint64_t hash = hash_of(key);
        for (std::size_t at = hash % kPlaces;; at = (at + 1) % kPlaces) {
            const Entry* entry = places_[at].load(std::memory_order_acquire);
            if (entry == nullptr) return nullptr;
            if (entry->hash == hash && same(entry->key, key)) return entry;
        }
    }

    // Adds a key that was not found, with the next number (the first is `first`), and calls
    // added(entry) before other threads can find the entry. If another thread has added the key
    // meanwhile, returns that entry. Null: the table is full. Blocks while another thread adds.
    template <typename Added>
    const Entry* add(Key key, std::uint32_t first, Added&& added) {
        const std::scoped_lock lock(mutex_);
        if (const Entry* known = find(key)) return known;
        if (size_ == kMost) return nullptr;
        const auto* entry =
            new Entry{Kept(key), hash_of(key), first + static_cast<std::uint32_t>(size_++)};
        added(*entry);
        std::size_t at = entry->hash % kPlaces;
        while (places_[at].load(std::memory_order_relaxed) != nullptr) at = (at + 1) % kPlaces;
        places_[at].store(entry, std::memory_order_release);
        return entry;
    }

  private:
    static constexpr std::size_t kPlaces = 4096;

    std::array<std::atomic<const Entry*>, kPlaces> places_{};
    std::mutex mutex_;
    std::size_t size_ = 0;
};

using NameTable = IdTable<std::string, std::string_view>;
using SiteTable = IdTable<const void*, const void*>;

}  // namespace poe::trace
