// Hash: FNV-1a, a short hash that is the same in all processes and on all nodes. Different
// texts or lists have different hashes, except by accident. It is not a cryptographic hash: anybody
// can construct two texts with the same hash.
#pragma once

#include <cstdint>
#include <string_view>
#include <type_traits>

namespace poe {

// Word: std::uint32_t or std::uint64_t.
template <typename Word>
class Hash {
    static_assert(std::is_same_v<Word, std::uint32_t> || std::is_same_v<Word, std::uint64_t>);
    static constexpr bool kLong = sizeof(Word) == sizeof(std::uint64_t);

  public:
    constexpr Hash& add(Word value) noexcept {
        value_ = (value_ ^ value) * kPrime;
        return *this;
    }
    // Each byte of the text.
    constexpr Hash& add(std::string_view text) noexcept {
        for (const char letter : text) add(static_cast<Word>(static_cast<unsigned char>(letter)));
        return *this;
    }
    constexpr Word value() const noexcept { return value_; }

  private:
    static constexpr Word kPrime = static_cast<Word>(kLong ? 0x100000001b3u : 0x1000193u);
    Word value_ = static_cast<Word>(kLong ? 0xcbf29ce484222325u : 0x811c9dc5u);
};

using Hash32 = Hash<std::uint32_t>;
using Hash64 = Hash<std::uint64_t>;

}  // namespace poe
