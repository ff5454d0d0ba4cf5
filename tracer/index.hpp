// Index: what makes any moment of a trace near: keyframes, and sums from one to the next. Kept in a
// file beside the trace, or in the cache, or in memory when neither can be written. One that does
// not belong to the trace as it is now, or is damaged, is made again.
//
//   header (IndexHeader) | per keyframe: spent, state, pairs | definitions | table (Entry each)
//
// `spent` is an array of i64 [tasks][kStates], in ns, from the begin of the trace to the keyframe,
// so that views of long stretches read a few words and replay nothing. `state` is a Keyframe,
// `pairs` the messages since the keyframe before.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tracer/keyframe.hpp"
#include "tracer/mapped_file.hpp"
#include "tracer/summary.hpp"

namespace poe::trace {

// Of the name of a trace's index, which lies beside it.
inline constexpr std::string_view kIndexSuffix = ".vtindex";

class Index {
  public:
    // Where an index may be kept: files, the better first.
    using Places = std::vector<std::string>;

    // The one that is kept, or a new one. `progress` is told the share that is done. `between`:
    // events from one keyframe to the next.
    static Index open(const TraceSource& source, const Places& places,
                      const std::function<void(double)>& progress,
                      std::uint64_t between = kBetween);

    // A seek replays at most so many events: 10 ms.
    static constexpr std::uint64_t kBetween = 1 << 16;

    // Keyframes; there is always one, at the begin.
    std::size_t size() const { return entries_.size(); }
    Time time(std::size_t keyframe) const { return entries_[keyframe].time; }
    std::uint64_t events(std::size_t keyframe) const { return entries_[keyframe].events; }
    // The last keyframe that is not after the moment; the first for earlier ones.
    std::size_t before(Time moment) const;
    // Gives the memory of what has been read back.
    void forget() const noexcept { file_.forget(); }
    // What a task did from the begin to the keyframe.
    std::array<Time, kStates> spent(std::size_t keyframe, TaskId task) const;
    // Messages whose second end came between the keyframe before and this one.
    std::vector<PairSum> pairs(std::size_t keyframe) const;
    // Sets a replay, and where it goes on. Throws Error when the index has been damaged since.
    EventMerge::Positions restore(std::size_t keyframe, Replay& replay) const;
    // All names of the trace.
    Definitions definitions() const;
    // The file it is in; empty: in memory.
    const std::string& place() const { return place_; }
    bool was_made() const { return was_made_; }

  private:
    struct Entry {
        Time time{0};
        std::uint64_t events = 0;
        std::uint64_t spent_at = 0;
        std::uint64_t state_at = 0;
        std::uint64_t state_size = 0;
        std::uint64_t pairs_at = 0;
        std::uint64_t pairs_size = 0;
    };
    struct Header;
    class Maker;

    Index(const TraceSource& source, MappedFile file) : source_(&source), file_(std::move(file)) {}
    static std::optional<Index> load(const TraceSource& source, const std::string& path,
                                     std::uint64_t between);
    bool read_table(std::uint64_t between);
    std::span<const std::byte> part(std::uint64_t at, std::uint64_t size) const;

    const TraceSource* source_;
    MappedFile file_;
    std::vector<Entry> entries_;
    Definitions::Tables tables_;
    std::size_t tasks_ = 0;
    std::size_t regions_ = 0;
    std::size_t sites_ = 0;
    std::string place_;
    bool was_made_ = false;
};

// The places for the index of a trace: beside it, then in the cache folder (empty: none).
Index::Places index_places(const std::string& trace, const std::string& cache,
                           std::uint64_t identity);

}  // namespace poe::trace
