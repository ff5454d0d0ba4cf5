// ByteQueue: the buffer between a producer and a consumer of bytes. Separate, because both
// directions of a channel have one.
#pragma once

#include <cstddef>
#include <memory>

namespace poe::pm {

// A queue of bytes: the producer writes at the end, the consumer takes from the front. Unlike
// std::string it does not initialize the space that it hands out, and when it is empty, it releases
// an unusually large amount of space. Not thread-safe.
class ByteQueue {
  public:
    std::size_t size() const { return end_ - begin_; }
    const char* data() const { return bytes_.get() + begin_; }
    // Returns space for `count` more bytes after the last one; valid until the next call.
    char* reserve(std::size_t count);
    // Adds the first `count` bytes of that space to the queue.
    void append(std::size_t count) { end_ += count; }
    // Removes the first `count` bytes. Precondition: count <= size().
    void take(std::size_t count);
    std::size_t capacity() const { return capacity_; }
    // The number of bytes that fit into the space that reserve() has returned.
    std::size_t space() const { return capacity_ - end_; }

  private:
    std::unique_ptr<char[]> bytes_;
    std::size_t capacity_ = 0;
    std::size_t begin_ = 0;
    std::size_t end_ = 0;
};

}  // namespace poe::pm
