// UnexpectedPool: unused unexpected messages and their buffers. If one task is slightly ahead of
// another, nearly every message is unexpected, and an allocation for each would be most of its
// cost. It is separate because the message layer need not know how the memory is kept.
#pragma once

#include <array>
#include <memory>

#include "comm/matching/request.hpp"

namespace poe::comm {

// Not thread-safe. Keeps at most kMostKept unused bytes, which are 30,000 short messages. With a
// lower limit the allocator takes most of the time: to take and give back 10,000 messages took 60
// to 102 ticks each with a limit of 4 MB, and takes 23 to 30 with 16 MB.
class UnexpectedPool {
  public:
    static constexpr Bytes kMostKept = Bytes{16} << 20;
    static constexpr Bytes kLongest = Bytes{1} << 20;  // longer buffers are not kept

    UnexpectedPool() = default;
    ~UnexpectedPool();
    UnexpectedPool(const UnexpectedPool&) = delete;
    UnexpectedPool& operator=(const UnexpectedPool&) = delete;

    // Returns a message as after reset(), whose `data` has at least `room` bytes. The caller owns
    // it until give() or delete.
    Unexpected* take(Bytes room);
    void give(Unexpected* message) noexcept;
    // Unused bytes in the pool.
    Bytes kept() const noexcept { return kept_; }

  private:
    static constexpr std::size_t kKinds = 16;  // no buffer, 64 bytes, 128, ... kLongest
    static std::size_t kind_of(Bytes room) noexcept;

    std::array<Unexpected*, kKinds> free_{};
    Bytes kept_ = 0;
};

}  // namespace poe::comm
