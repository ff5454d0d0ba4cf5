// ByteQueue: the memory between a producer and a consumer of bytes. Apart because both directions
// of a channel keep their bytes in one.
#pragma once

#include <cstddef>
#include <memory>

namespace poe::pm {

// Bytes between a producer that writes at the end and a consumer that takes from the front. Unlike
// std::string it does not fill the space that it hands out, and it gives back an unusual amount of
// space when it is empty.
class ByteQueue {
  public:
    std::size_t size() const { return end_ - begin_; }
    const char* data() const { return bytes_.get() + begin_; }
    // Space for `count` more bytes behind the last; valid until the next call.
    char* reserve(std::size_t count);
    void append(std::size_t count) { end_ += count; }
    void take(std::size_t count);
    std::size_t capacity() const { return capacity_; }
    // How much can be appended to what reserve() gave.
    std::size_t space() const { return capacity_ - end_; }

  private:
    std::unique_ptr<char[]> bytes_;
    std::size_t capacity_ = 0;
    std::size_t begin_ = 0;
    std::size_t end_ = 0;
};

}  // namespace poe::pm
