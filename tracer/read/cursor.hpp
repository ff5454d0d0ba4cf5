// Cursor: iterates over the records of a stream, skips holes, and reconstructs full times. Also
// reads what follows a record and belongs to it: texts, large numbers.
#pragma once

#include <string>
#include <vector>

#include "tracer/probe/tracer.hpp"
#include "tracer/read/stream.hpp"

namespace poe::trace {

// Returns the time nearest to `before` that equals `time` modulo 2^48. Records may therefore be
// slightly out of order, and up to 39 hours apart.
std::uint64_t unwrapped(std::uint64_t before, std::uint64_t time) noexcept;

class Cursor {
  public:
    // A position in a stream, from which an iteration can be continued.
    struct Position {
        std::uint64_t number = 0;  // of the next record
        std::uint64_t time = 0;    // of the last record, ns since the stream's origin
        bool ending = false;       // the next record is a kWholeCall whose beginning was returned
        bool operator==(const Position&) const = default;
    };

    // A place in a stream that is being written and may change.
    struct Unfinished {
        std::uint64_t number = 0;
        bool call = false;  // the beginning of a call, which may become a kWholeCall; false: a hole
    };

    explicit Cursor(const Stream& stream) : stream_(&stream), at_{stream.first} {}
    Cursor(const Stream& stream, Position at) : stream_(&stream), at_(at) {}

    // Advances to the next complete record that is not part of another one; null at the end. A hole
    // costs as much as a record. A kWholeCall is returned as two kCalls, its beginning and its end,
    // each with its time. The result is valid until the next call.
    const Record* next();
    // For the record that next() returned: its time in ns since the origin, modulo 2^64; its
    // number.
    std::uint64_t time() const noexcept { return at_.time; }
    std::uint64_t number() const noexcept { return at_.ending ? at_.number : at_.number - 1; }
    Position position() const noexcept { return at_; }
    std::uint64_t holes() const noexcept { return holes_; }
    // Records that were skipped because they cannot be valid.
    std::uint64_t implausible() const noexcept { return implausible_; }
    // True if the record that next() returned is in a damaged block.
    bool doubtful() const noexcept {
        return stream_->trust(number() % stream_->capacity) == Stream::Trust::kStrict;
    }
    // Appends the places that next() finds and that may change to `into`, up to kMostNoted. For a
    // stream that is being written.
    void note_unfinished(std::vector<Unfinished>* into) noexcept { noted_ = into; }
    static constexpr std::size_t kMostNoted = std::size_t{1} << 16;

    // Returns the record of this number if it is complete, else null; valid until the next call.
    // Does not move the cursor.
    const Record* look(std::uint64_t number);

  private:
    // True if a record can have that time, judged by the records after it.
    bool plausible(const Record& record, std::uint64_t time);
    const Record* begin_of_call(const Record& whole);
    const Record* end_of_call();
    void note(std::uint64_t number, bool call);
    const Record* next_of_time(std::uint64_t number);

    const Stream* stream_;
    Position at_;
    std::uint64_t holes_ = 0;
    std::uint64_t implausible_ = 0;
    // What next() returns if the stream does not contain that record, or if look() was used
    // meanwhile.
    Record kept_;
    Record looked_;  // what look() returns in a stream that is being written
    std::vector<Unfinished>* noted_ = nullptr;
    // The read-ahead buffer of a stream in a file: slots from window_at_ on.
    std::vector<Record> window_;
    std::uint64_t window_at_ = 0;
};

// Returns the text of `bytes` bytes after record `number`; shorter if part of it is missing.
std::string text_behind(const Stream& stream, std::uint64_t number, std::size_t bytes);
// Returns the bytes of a message or collective call.
Bytes bytes_of(const Stream& stream, std::uint64_t number, const Record& record);
// Returns the matching context and the request of a call or message; both 0 if none are recorded.
About about_of(const Stream& stream, std::uint64_t number);

}  // namespace poe::trace
