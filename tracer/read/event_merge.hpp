// EventMerge: the events of all streams of a trace in the order of time. Where every stream stands
// is a value that can be kept, so that a walk goes on from any moment that somebody has noted.
#pragma once

#include <vector>

#include "tracer/read/trace_source.hpp"

namespace poe::trace {

// One thread. The source must outlive it. Cost of an event: a record read, and the logarithm of the
// number of streams.
class EventMerge {
  public:
    using Positions = std::vector<Cursor::Position>;        // by stream
    using Holes = std::vector<std::vector<std::uint64_t>>;  // numbers, by stream

    explicit EventMerge(const TraceSource& source) : EventMerge(source, begin_of(source)) {}
    // Positions that positions() has given for this trace; others are cut to what is there.
    // `holes`: those of streams that are being written are added there.
    EventMerge(const TraceSource& source, const Positions& from, Holes* holes = nullptr);
    static Positions begin_of(const TraceSource& source);

    // The next event; false at the end.
    bool next(Event& event);
    // The time of the event that next() will give; kFarthest at the end.
    Time next_time() const { return heap_.empty() ? kFarthest : heap_.front().time; }
    // Where each stream stands; what next() has given is behind.
    Positions positions() const;
    std::uint64_t holes() const;
    // Records that were left out because they cannot be as they are.
    std::uint64_t implausible() const;

  private:
    // The next event of a stream, read but not given out.
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
    std::vector<Cursor::Position> before_;  // of the stream's head
};

}  // namespace poe::trace
