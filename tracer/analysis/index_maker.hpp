// Index::Maker: writes an index in one pass over the trace, or over its new part. Private to Index.
#pragma once

#include "tracer/analysis/index.hpp"

namespace poe::trace {

// For a single use.
class Index::Maker {
  public:
    // Writes to `file` from its beginning. Does not own the descriptor.
    Maker(const TraceSource& source, int file, std::uint64_t between)
        : source_(source), file_(file), between_(between) {}
    // False if the file cannot be written.
    bool run(const std::function<void(double)>& progress);
    // The same for a file with an index of the trace's earlier state, which is valid up to `from`.
    bool go_on(const Index& before, const Rest& from);

    std::uint64_t between() const { return between_; }
    std::uint64_t replayed() const { return replayed_; }
    // Gives `index` what it needs to grow, for a trace that is being written.
    void give_rests(Index& index);

  private:
    bool walk(EventMerge& merge, Replay& replay, const std::function<void(double)>& progress);
    void keyframe(const EventMerge& merge, const Replay& replay);
    void rest(const EventMerge& merge, const Replay& replay);
    // Returns the position of the written data in the file.
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
    Time rest_at_ = kFarthest;  // the last end; kFarthest: none
    std::vector<Rest> rests_;
    EventMerge::Positions ends_;
    EventMerge::Unfinished unfinished_;
};

}  // namespace poe::trace
