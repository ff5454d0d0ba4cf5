// Cursor: the records of one stream, one after the other, holes left out, with their times made
// whole. Also what belongs to a record and stands behind it: texts, large numbers.
#pragma once

#include <string>
#include <vector>

#include "tracer/read/stream.hpp"

namespace poe::trace {

// The time nearest to `before` that is `time` modulo 2^48: records may be a little out of order,
// and 39 hours apart.
std::uint64_t unwrapped(std::uint64_t before, std::uint64_t time) noexcept;

class Cursor {
  public:
    // Where a walk through a stream stands; enough to go on from there.
    struct Position {
        std::uint64_t number = 0;  // of the next record
        std::uint64_t time = 0;    // of the last one, ns since the stream's origin
        bool operator==(const Position&) const = default;
    };

    explicit Cursor(const Stream& stream) : stream_(&stream), at_{stream.first, 0} {}
    Cursor(const Stream& stream, Position at) : stream_(&stream), at_(at) {}

    // Goes to the next whole record that stands for itself; null at the end. Cost: a hole, too, is
    // looked at. It is valid until the next call.
    const Record* next();
    // Of the record that next() gave: its time in ns since the origin, modulo 2^64; its number.
    std::uint64_t time() const noexcept { return at_.time; }
    std::uint64_t number() const noexcept { return at_.number - 1; }
    Position position() const noexcept { return at_; }
    std::uint64_t holes() const noexcept { return holes_; }
    // Records that were left out because they cannot be as they are.
    std::uint64_t implausible() const noexcept { return implausible_; }
    // True when the record that next() gave is of a damaged block.
    bool doubtful() const noexcept {
        return stream_->trust(number() % stream_->capacity) == Stream::Trust::kStrict;
    }
    // Notes the numbers of the holes that next() finds, as far as there are not too many already:
    // a hole of a stream that is being written may become a record.
    void note_holes(std::vector<std::uint64_t>* into) noexcept { noted_ = into; }
    static constexpr std::size_t kMostNoted = std::size_t{1} << 16;

    // The record of this number if it is whole, else null; it is valid until the next call. Does
    // not move the cursor.
    const Record* look(std::uint64_t number);

  private:
    // Whether a record can be of that time, by what comes next in its stream.
    bool plausible(const Record& record, std::uint64_t time);
    const Record* next_of_time(std::uint64_t number);

    const Stream* stream_;
    Position at_;
    std::uint64_t holes_ = 0;
    std::uint64_t implausible_ = 0;
    Record kept_;  // the record that next() gives, where others had to be looked at meanwhile
    std::vector<std::uint64_t>* noted_ = nullptr;
    // What is read ahead of a stream in a file: slots from window_at_ on.
    std::vector<Record> window_;
    std::uint64_t window_at_ = 0;
};

// The text of `bytes` bytes behind record `number`; shorter when part of it is missing.
std::string text_behind(const Stream& stream, std::uint64_t number, std::size_t bytes);
// The bytes of a message or collective call.
Bytes bytes_of(const Stream& stream, std::uint64_t number, const Record& record);

}  // namespace poe::trace
