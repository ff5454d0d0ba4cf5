// Index: provides fast access to any moment of a trace, by keyframes and by sums between them. It
// is stored in a file next to the trace, or in the cache, or in memory if neither can be written.
// If it does not belong to the trace in its current state, or is damaged, it is created again.
//
//   header (IndexHeader) | per keyframe: spent, state, ended | definitions | findings |
//   table (Entry each)
//
//   spent   array of i64 [tasks][kStates], in ns, from the start of the trace to the keyframe, so
//           that views of long sections read a few words and replay nothing
//   state   a Keyframe
//   ended   the sums of what ended since the previous keyframe
//
// The index of a trace that is being written grows with it. New data, in order of time or not, have
// an effect only from some moment on, and the index continues from its last state before that
// moment. To have such a state nearby, it also stores the states at the last two ends, because
// records of one task often come slightly after later ones of another task.
//
//   Invariant: a state remains valid if its time is before all new data and its position in each
//   stream is not after the new data there.
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

// The suffix of the name of a trace's index, which is next to the trace.
inline constexpr std::string_view kIndexSuffix = ".vtindex";

class Index {
  public:
    // Files in which the index may be stored, in order of preference.
    using Places = std::vector<std::string>;

    // Returns the stored index, or creates one. `progress` is called with the fraction done.
    // `between`: events from one keyframe to the next.
    static Index open(const TraceSource& source, const Places& places,
                      const std::function<void(double)>& progress,
                      std::uint64_t between = kBetween);

    // Returns the findings in a stored index of this trace (results of reading the whole trace);
    // empty if there is none. `repaired`: with or without repaired clocks.
    static std::optional<Findings> kept_findings(const TraceSource& source, const Places& places,
                                                 bool repaired);

    // Returns the index of the trace of `before`, which was opened again after it has grown. If it
    // is a different trace now, a new index is created. Takes over the contents of `before`, whose
    // source must still exist.
    static Index grown(Index before, const TraceSource& source);

    // The maximum number of events that a seek replays: about 10 ms.
    static constexpr std::uint64_t kBetween = 1 << 16;

    // The number of keyframes; there is always one, at the start.
    std::size_t size() const { return entries_.size(); }
    Time time(std::size_t keyframe) const { return entries_[keyframe].time; }
    std::uint64_t events(std::size_t keyframe) const { return entries_[keyframe].events; }
    // Returns the last keyframe that is not after the moment; the first for earlier moments.
    std::size_t before(Time moment) const;
    // Releases the memory of what has been read.
    void forget() const noexcept { file_.forget(); }
    // The time of a task in each state from the start to the keyframe.
    std::array<Time, kStates> spent(std::size_t keyframe, TaskId task) const;
    // Returns what ended between the previous keyframe and this one; or adds that to other sums, at
    // least the wanted part.
    Ended ended(std::size_t keyframe) const;
    void add_ended(Ended& sums, std::size_t keyframe, EndedPart wanted = EndedPart::kAll) const;
    // Restores a replay. Returns the positions from which it continues. Throws Error if the index
    // was damaged meanwhile.
    EventMerge::Positions restore(std::size_t keyframe, Replay& replay) const;
    // All names of the trace.
    Definitions definitions() const;
    // The file of the index; empty: it is in memory.
    const std::string& place() const { return place_; }
    bool was_made() const { return was_made_; }
    // The total number of events that were replayed to create and extend the index.
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
    // A state that is not a keyframe, with what ended since the last keyframe.
    struct Rest {
        Time time{0};
        std::uint64_t events = 0;
        std::string state;
        Ended ended;
    };
    // From which time, and from which record in each stream, a grown trace is different.
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
    // Empty: everything may be different.
    std::optional<Change> change_to(const TraceSource& grown) const;
    // Returns the last Rest, or else keyframe, that a change does not affect.
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
    // For a trace that is being written.
    UniqueFd memory_;          // the file
    std::vector<Rest> rests_;  // latest first
    EventMerge::Positions ends_;
    EventMerge::Unfinished unfinished_;
};

// Returns the places for a trace's index: next to it, then in the cache folder (empty: none).
Index::Places index_places(const std::string& trace, const std::string& cache,
                           std::uint64_t identity);

}  // namespace poe::trace
