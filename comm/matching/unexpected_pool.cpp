// Free lists of messages by buffer size; see unexpected_pool.hpp.
#include "comm/matching/unexpected_pool.hpp"

#include <bit>
#include <utility>

namespace poe::comm {
namespace {

constexpr int kSmallest = 6;  // 64 bytes

Bytes cost_of(const Unexpected& message) noexcept {
    return sizeof message + message.data.size();
}

// Buffer size in bytes of the messages of a kind.
Bytes room_of(std::size_t kind) noexcept {
    return kind == 0 ? 0 : Bytes{1} << (static_cast<std::size_t>(kSmallest) + kind - 1);
}

}  // namespace

std::size_t UnexpectedPool::kind_of(Bytes room) noexcept {
    if (room == 0) return 0;
    const int bits = std::bit_width(room - 1);
    return bits <= kSmallest ? 1 : static_cast<std::size_t>(bits - kSmallest) + 1;
}

UnexpectedPool::~UnexpectedPool() {
    for (Unexpected* first : free_) {
        while (first != nullptr) delete std::exchange(first, first->next_free);
    }
}

Unexpected* UnexpectedPool::take(Bytes room) {
    const std::size_t kind = kind_of(room);
    Unexpected* message = room <= kLongest ? free_[kind] : nullptr;
    if (message == nullptr) {
        auto made = std::make_unique<Unexpected>();
        made->data.resize(room <= kLongest ? room_of(kind) : room);
        return made.release();
    }
    free_[kind] = message->next_free;
    kept_ -= cost_of(*message);
    message->reset();
    return message;
}

void UnexpectedPool::give(Unexpected* message) noexcept {
    const std::size_t kind = kind_of(message->data.size());
    // The buffer is not of a pooled size, or the pool is full.
    if (kind >= kKinds || message->data.size() != room_of(kind) ||
        kept_ + cost_of(*message) > kMostKept) {
        delete message;
        return;
    }
    kept_ += cost_of(*message);
    Unexpected*& first = free_[kind];
    message->next_free = first;
    first = message;
}

}  // namespace poe::comm
