// Index::Maker: writes an index in one walk through the trace, or the rest of one. Private to
// Index.
#pragma once

#include "tracer/analysis/index.hpp"

namespace poe::trace {

// One use.
class Index::Maker {
  public:
    // Writes to this file, from its begin.
    Maker(const TraceSource& source, int file, std::uint64_t between)
        : source_(source), file_(file), between_(between) {}
    // False when the file does not take it.
    bool run(const std::function<void(double)>& progress);
    // The same where the file holds an index of the trace as it was, which is right up to `from`.
    bool go_on(const Index& before, const Rest& from);

    std::uint64_t between() const { return between_; }
    std::uint64_t replayed() const { return replayed_; }
    // What the index of a trace that is being written keeps in order to grow.
    void give_rests(Index& index);

  private:
    bool walk(EventMerge& merge, Replay& replay, const std::function<void(double)>& progress);
    void keyframe(const EventMerge& merge, const Replay& replay);
    void rest(const EventMerge& merge, const Replay& replay);
    // Where it came to stand.
    std::uint64_t write(const void* bytes, std::size_t size);

    const TraceSource& source_;
    int file_;
    std::uint64_t between_;
    std::uint64_t at_ = 0;
    bool fine_ = true;
    std::vector<Entry> entries_;
    Definitions definitions_;
    Ended ended_;  // since the last keyframe
    Packer packer_;
    std::uint64_t replayed_ = 0;
    Time rest_at_ = kFarthest;  // the last end, if there was one
    std::vector<Rest> rests_;
    EventMerge::Positions ends_;
    EventMerge::Holes holes_;
};

}  // namespace poe::trace
