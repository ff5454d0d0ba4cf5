// CallLines: what calls have in common that are made again and again, and the record of a stream
// that defines it (Defined::kCallLine). With it, the beginning or the end of a call is one record
// (Kind::kCall).
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>

#include "base/types.hpp"
#include "tracer/probe/id_table.hpp"

namespace poe::trace {

struct CallLine {
    std::uint32_t region = 0;
    TaskId peer = -1;
    std::int32_t type = 0;
    std::uint32_t context = 0;  // of the communicator
    TaskId root = -1;           // of a collective operation; -1: none
    const void* site = nullptr;

    bool operator==(const CallLine&) const = default;
};

inline std::uint64_t hash_of(const CallLine& line) noexcept {
    constexpr std::uint64_t kFirst = 0x9e3779b97f4a7c15ull;
    constexpr std::uint64_t kSecond = 0xbf58476d1ce4e5b9ull;
    constexpr int kHalf = 32;
    const std::uint64_t who = std::uint64_t{static_cast<std::uint32_t>(line.peer)} << kHalf |
                              static_cast<std::uint32_t>(line.type);
    const std::uint64_t where = std::uint64_t{line.context} << kHalf | line.region;
    const std::uint64_t sum = (who + static_cast<std::uint32_t>(line.root)) * kFirst ^
                              (where ^ reinterpret_cast<std::uintptr_t>(line.site) << 1) * kSecond;
    return sum ^ sum >> kHalf;
}

// The lines of one stream. Any thread may call any function.
class CallLines {
  public:
    // Calls of further lines are recorded in several records each.
    static constexpr std::size_t kMost = 6144;

    // Returns the number of the record that defines this line; 0 if there is none. Never blocks.
    std::uint32_t find(const CallLine& line) const noexcept {
        for (std::size_t at = hash_of(line) % kPlaces;; at = (at + 1) % kPlaces) {
            const Entry* entry = places_[at].load(std::memory_order_acquire);
            if (entry == nullptr) return 0;
            if (entry->line == line) return entry->number;
        }
    }

    // Adds a line that was not found. define() records the definition and returns its number; 0:
    // there was no room for it. Returns the same, or 0 if the table is full. Blocks while another
    // thread adds.
    template <typename Define>
    std::uint32_t add(const CallLine& line, Define&& define) {
        const std::scoped_lock lock(mutex_);
        if (const std::uint32_t known = find(line); known != 0 || size_ == kMost) return known;
        const std::uint32_t number = define();
        if (number == 0) return 0;
        entries_[size_] = {line, number};
        std::size_t at = hash_of(line) % kPlaces;
        while (places_[at].load(std::memory_order_relaxed) != nullptr) at = (at + 1) % kPlaces;
        places_[at].store(&entries_[size_++], std::memory_order_release);
        return number;
    }

  private:
    static constexpr std::size_t kPlaces = 8192;

    struct Entry {
        CallLine line;
        std::uint32_t number = 0;
    };
    std::array<std::atomic<const Entry*>, kPlaces> places_{};
    std::unique_ptr<Entry[]> entries_ = std::make_unique<Entry[]>(kMost);
    std::mutex mutex_;
    std::size_t size_ = 0;
};

}  // namespace poe::trace
