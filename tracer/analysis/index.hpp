// Index: what makes any moment of a trace near: keyframes, and sums from one to the next. Kept in a
// file beside the trace, or in the cache, or in memory when neither can be written. One that does
// not belong to the trace as it is now, or is damaged, is made again.
//
//   header (IndexHeader) | per keyframe: spent, state, ended | definitions | findings |
//   table (Entry each)
//
// `spent` is an array of i64 [tasks][kStates], in ns, from the begin of the trace to the keyframe,
// so that views of long stretches read a few words and replay nothing. `state` is a Keyframe,
// `ended` the sums of what came to an end since the keyframe before.
//
// The index of a trace that is being written grows with it. Whatever comes, be it in the order of
// time or not, has an effect from some moment on; the index goes on from the last state it knows
// before that moment. To have one near it keeps, besides the keyframes, the states of the last two
// ends: records of one task often come a little after later ones of another.
//
//   Invariant: a state is unaffected if it is of a time before all that is new, and stands in no
//   stream behind what is new there.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/unique_fd.hpp"
#include "tracer/analysis/ended.hpp"
#include "tracer/analysis/keyframe.hpp"
#include "tracer/read/mapped_file.hpp"

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

    // What a kept index of this trace says that had to be found out by reading all of it; nothing
    // when there is none. `repaired`: with or without repaired clocks.
    static std::optional<Findings> kept_findings(const TraceSource& source, const Places& places,
                                                 bool repaired);

    // That of the trace which `before` is of, opened again after it has grown; one that has become
    // another trace is indexed anew. Takes over what `before` has, whose source must still be
    // there.
    static Index grown(Index before, const TraceSource& source);

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
    // What ended between the keyframe before and this one; or adds it to other sums, at least the
    // wanted part of it.
    Ended ended(std::size_t keyframe) const;
    void add_ended(Ended& sums, std::size_t keyframe, EndedPart wanted = EndedPart::kAll) const;
    // Sets a replay, and where it goes on. Throws Error when the index has been damaged since.
    EventMerge::Positions restore(std::size_t keyframe, Replay& replay) const;
    // All names of the trace.
    Definitions definitions() const;
    // The file it is in; empty: in memory.
    const std::string& place() const { return place_; }
    bool was_made() const { return was_made_; }
    // Events that were replayed to make it, or to let it grow, in all its life.
    std::uint64_t replayed() const { return replayed_; }

  private:
    struct Entry {
        Time time{0};
        std::uint64_t events = 0;
        std::uint64_t spent_at = 0;
        std::uint64_t state_at = 0;
        std::uint64_t state_size = 0;
        std::uint64_t ended_at = 0;
        std::uint64_t ended_size = 0;
    };
    // A state that is no keyframe, with what ended since the last one.
    struct Rest {
        Time time{0};
        std::uint64_t events = 0;
        std::string state;
        Ended ended;
    };
    // From when on a grown trace is another one, and from which record on in each stream.
    struct Change {
        Time from = kFarthest;
        std::vector<std::uint64_t> first;
    };
    class Maker;

    Index(const TraceSource& source, MappedFile file) : source_(&source), file_(std::move(file)) {}
    static std::optional<Index> load(const TraceSource& source, const std::string& path,
                                     std::uint64_t between);
    static Index in_memory(const TraceSource& source, UniqueFd memory, Maker&& maker);
    bool read_table(std::uint64_t between);
    std::span<const std::byte> part(std::uint64_t at, std::uint64_t size) const;
    // Nothing: all of it may be another one.
    std::optional<Change> change_to(const TraceSource& grown) const;
    // A Rest, or else a keyframe, that a change leaves as it is; the last one.
    std::optional<Rest> unaffected(const Change& change) const;
    std::optional<Keyframe> unpacked(std::span<const std::byte> state) const;

    const TraceSource* source_;
    MappedFile file_;
    std::vector<Entry> entries_;
    Definitions::Tables tables_;
    std::size_t tasks_ = 0;
    std::size_t regions_ = 0;
    std::size_t sites_ = 0;
    std::uint64_t between_ = 0;
    std::string place_;
    bool was_made_ = false;
    std::uint64_t replayed_ = 0;
    // Of a trace that is being written.
    UniqueFd memory_;          // the file
    std::vector<Rest> rests_;  // the later first
    EventMerge::Positions ends_;
    EventMerge::Holes holes_;
};

// The places for the index of a trace: beside it, then in the cache folder (empty: none).
Index::Places index_places(const std::string& trace, const std::string& cache,
                           std::uint64_t identity);

}  // namespace poe::trace
