// The buffers of messages that are in progress: two of them must not share memory if one of them
// receives (MPI 5.0, section 3.7.2). For the thread that has the turn.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "comm/matching/buffer_view.hpp"
#include "mpi/check/place.hpp"

namespace poe::mpi::check {

// A buffer, from begin() to end() or the end of this object.
class PendingBuffer {
  public:
    PendingBuffer() = default;
    ~PendingBuffer() { end(); }
    PendingBuffer(const PendingBuffer&) = delete;
    PendingBuffer& operator=(const PendingBuffer&) = delete;

    // Makes it the memory of a message. Memory of more than 4096 pieces is not compared.
    void set(const comm::BufferView& view, bool receives, const Place& place);
    // Returns the buffer in progress that it may not share memory with; null if there is none.
    // `shared`: the first address that both contain.
    const PendingBuffer* find_conflict(std::uintptr_t& shared) const;
    bool conflicts_with(const PendingBuffer& other, std::uintptr_t& shared) const noexcept;
    void begin();
    void end() noexcept;

    bool receives() const noexcept { return receives_; }
    const Place& place() const noexcept { return place_; }

  private:
    struct Piece {
        std::uintptr_t first;
        std::uintptr_t end;
    };
    static constexpr std::size_t kNotPending = ~std::size_t{0};

    std::vector<Piece> pieces_;  // in the order of addresses; none: not compared
    bool receives_ = false;
    Place place_;
    std::size_t number_ = kNotPending;
};

}  // namespace poe::mpi::check
