// Memory for messages that came before their receive, used again: tasks that run ahead of each
// other by a little do so in every call, and an allocation for each such message would be most of
// its cost. Apart from the message layer, which need not know how it is kept.
#pragma once

#include <array>
#include <memory>

#include "comm/matching/request.hpp"

namespace poe::comm {

// Not thread-safe. Keeps at most kMostKept bytes that nobody uses.
class UnexpectedPool {
  public:
    static constexpr Bytes kMostKept = Bytes{4} << 20;
    static constexpr Bytes kLongest = Bytes{1} << 20;  // longer data is not kept

    UnexpectedPool() = default;
    ~UnexpectedPool();
    UnexpectedPool(const UnexpectedPool&) = delete;
    UnexpectedPool& operator=(const UnexpectedPool&) = delete;

    // As new, but for `data`, which has room for that many bytes at least. The caller's until
    // give() or delete.
    Unexpected* take(Bytes room);
    void give(Unexpected* message) noexcept;
    // Bytes that nobody uses.
    Bytes kept() const noexcept { return kept_; }

  private:
    static constexpr std::size_t kKinds = 16;  // no data, 64 bytes, 128, ... kLongest
    static std::size_t kind_of(Bytes room) noexcept;

    std::array<Unexpected*, kKinds> free_{};
    Bytes kept_ = 0;
};

}  // namespace poe::comm
