// Buffers in progress; see pending_buffers.hpp.
#include "mpi/check/pending_buffers.hpp"

#include <algorithm>

namespace poe::mpi::check {
namespace {

constexpr std::size_t kMostPieces = 4096;

// What a search looks at first, without following a pointer for each buffer.
struct Entry {
    std::uintptr_t first;
    std::uintptr_t end;
    bool receives;
    PendingBuffer* buffer;
};

std::vector<Entry>& pending() {
    static auto* const all = new std::vector<Entry>;
    return *all;
}

}  // namespace

void PendingBuffer::set(const comm::BufferView& view, bool receives, const Place& place) {
    pieces_.clear();
    receives_ = receives;
    place_ = place;
    for (Bytes at = 0; at < view.size();) {
        Bytes length = 0;
        const auto first = reinterpret_cast<std::uintptr_t>(view.piece(at, length));
        length = std::min(length, view.size() - at);
        at += length;
        if (!pieces_.empty() && pieces_.back().end == first) {
            pieces_.back().end += length;
            continue;
        }
        if (pieces_.size() == kMostPieces) {
            pieces_.clear();
            return;
        }
        pieces_.push_back({first, first + length});
    }
    std::sort(pieces_.begin(), pieces_.end(),
              [](const Piece& one, const Piece& other) { return one.first < other.first; });
}

bool PendingBuffer::conflicts_with(const PendingBuffer& other,
                                   std::uintptr_t& shared) const noexcept {
    if (!receives_ && !other.receives_) return false;
    auto one = pieces_.begin();
    auto two = other.pieces_.begin();
    while (one != pieces_.end() && two != other.pieces_.end()) {
        shared = std::max(one->first, two->first);
        if (shared < std::min(one->end, two->end)) return true;
        if (one->end <= two->end) {
            ++one;
        } else {
            ++two;
        }
    }
    return false;
}

const PendingBuffer* PendingBuffer::find_conflict(std::uintptr_t& shared) const {
    if (pieces_.empty()) return nullptr;
    const std::uintptr_t first = pieces_.front().first;
    const std::uintptr_t end = pieces_.back().end;
    for (const Entry& each : pending()) {
        if (each.first < end && first < each.end && (receives_ || each.receives) &&
            conflicts_with(*each.buffer, shared))
            return each.buffer;
    }
    return nullptr;
}

void PendingBuffer::begin() {
    if (pieces_.empty() || number_ != kNotPending) return;
    number_ = pending().size();
    pending().push_back({pieces_.front().first, pieces_.back().end, receives_, this});
}

void PendingBuffer::end() noexcept {
    if (number_ == kNotPending) return;
    std::vector<Entry>& all = pending();
    all[number_] = all.back();
    all[number_].buffer->number_ = number_;
    all.pop_back();
    number_ = kNotPending;
}

}  // namespace poe::mpi::check
