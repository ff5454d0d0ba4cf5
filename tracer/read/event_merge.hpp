// EventMerge: the events of all streams of a trace in order of time. The positions of all streams
// are a value that can be stored, so an iteration can continue from any stored moment.
#pragma once

#include <vector>

#include "tracer/read/trace_source.hpp"

namespace poe::trace {

// For one thread. The source must outlive this object. An event costs reading a record and the
// logarithm of the number of streams.
class EventMerge {
  public:
    using Positions = std::vector<Cursor::Position>;                  // by stream
    using Unfinished = std::vector<std::vector<Cursor::Unfinished>>;  // by stream

    explicit EventMerge(const TraceSource& source) : EventMerge(source, begin_of(source)) {}
    // `from`: positions that positions() returned for this trace; others are limited to the valid
    // range. The places of streams that are being written and may change are added to `unfinished`.
    EventMerge(const TraceSource& source, const Positions& from, Unfinished* unfinished = nullptr);
    static Positions begin_of(const TraceSource& source);

    // Stores the next event; false at the end.
    bool next(Event& event);
    // Returns the time of the event that next() will return; kFarthest at the end.
    Time next_time() const { return heap_.empty() ? kFarthest : heap_.front().time; }
    // Returns the position of each stream, after the events that next() has returned.
    Positions positions() const;
    std::uint64_t holes() const;
    // Records that were skipped because they cannot be valid.
    std::uint64_t implausible() const;

  private:
    // The next event of a stream, read but not returned yet.
    struct Head {
        Time time{0};
        std::uint32_t stream = 0;
        const Record* record = nullptr;
    };
    bool read(Head& head);
    void sift_down();
    void fill();

    const TraceSource& source_;
    std::vector<Cursor> cursors_;
    std::vector<Head> heap_;
    std::vector<Cursor::Position> before_;  // positions before the streams' heads
};

}  // namespace poe::trace
