// See byte_queue.hpp.
#include "partition_manager/channel/byte_queue.hpp"

#include <algorithm>
#include <cstring>

#include "partition_manager/channel/stream_window.hpp"

namespace poe::pm {

namespace {

// More than the windows of a node's two output streams. A queue is longer only if it contains a
// large control message, which is rare; its space is released afterwards.
constexpr std::size_t kKeptBytes = std::size_t{4} * kStreamWindow;

}  // namespace

char* ByteQueue::reserve(std::size_t count) {
    if (capacity_ - end_ < count) {
        const std::size_t used = size();
        if (capacity_ < used + count || begin_ < used) {
            const std::size_t capacity = std::max(2 * capacity_, used + count);
            auto bytes = std::make_unique_for_overwrite<char[]>(capacity);
            if (used > 0) std::memcpy(bytes.get(), data(), used);
            bytes_ = std::move(bytes);
            capacity_ = capacity;
        } else {
            std::memcpy(bytes_.get(), data(), used);
        }
        begin_ = 0;
        end_ = used;
    }
    return bytes_.get() + end_;
}

void ByteQueue::take(std::size_t count) {
    begin_ += count;
    if (begin_ < end_) return;
    begin_ = end_ = 0;
    if (capacity_ > kKeptBytes) {
        bytes_.reset();
        capacity_ = 0;
    }
}

}  // namespace poe::pm
