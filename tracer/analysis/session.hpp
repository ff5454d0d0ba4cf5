// Session: an open trace. Finds any moment and any section of it with the index, and replays from
// there. Answers the questions of views; does not depend on their appearance.
#pragma once

#include <memory>
#include <optional>

#include "tracer/analysis/index.hpp"
#include "tracer/analysis/parts.hpp"

namespace poe::trace {

struct Stretch {
    Time from{0};
    Time to{0};
    Time length() const { return to - from; }
    bool operator==(const Stretch&) const = default;
};

// The time of a task in each state, by columns of equal length.
using StateBins = std::vector<std::array<Time, kStates>>;

// For one thread. A question costs replaying up to kMostReplayed keyframes, or reading sums. A
// longer section is answered from sums, which have no details between two keyframes, or for the end
// of the section only; each function says which.
class Session {
  public:
    // Sections of more keyframes are answered from sums instead of events.
    static constexpr std::size_t kMostReplayed = 8;

    Session(TraceSource source, const Index::Places& places,
            const std::function<void(double)>& progress, std::uint64_t between = Index::kBetween);

    // Switches to the same trace, opened again after it has grown. Costs are proportional to the
    // new data. Throws Error if there is no memory for the index; the session is then unusable.
    void grow(TraceSource grown);

    const TraceSource& source() const { return *source_; }
    const Index& index() const { return *index_; }
    const Definitions& definitions() const { return definitions_; }
    std::uint32_t counter_number(std::uint32_t stream, std::uint32_t id) {
        return definitions_.counter(stream, id);
    }
    Stretch whole() const { return {source_->begin(), source_->end()}; }

    // Returns the job's state at a moment, including the events of that moment. Moving slightly
    // forward costs only the events in between.
    const JobState& at(Time moment);
    // Messages that were sent up to the moment of at() and not received.
    std::vector<Message> in_flight() const { return replay_->messages().waiting(true); }

    // The distance of the sums that answer for a section; empty: the section is replayed.
    std::optional<Time> step_of_sums(Stretch stretch) const;
    // Returns what ended in the section, of any length, except the computing. Only the wanted part
    // needs to be correct.
    Ended ended(Stretch stretch, EndedPart wanted = EndedPart::kAll);

    // The parts of the user's regions.
    const TimeParts& parts() const { return parts_; }
    // Returns what tasks did in the section: a row of bins per `group` of the `count` tasks from
    // `first`.
    std::vector<PartBins> part_bins(Stretch stretch, TaskId first, std::size_t count,
                                    std::size_t group, std::size_t columns);
    // The user's regions that a task was in, whatever it did there, with their depth (0 is the
    // outermost), the rounds of its collective calls, and its multicasts (Definitions::round_of).
    // Empty for a section that is answered from sums.
    struct Nested {
        TaskId task = 0;
        std::size_t depth = 0;
        std::uint32_t region = 0;
        Time from{0};
        Time to{0};
    };
    std::vector<Nested> nested(Stretch stretch, TaskId first, std::size_t count);
    // The part whose colour such a region has.
    std::size_t part_of_nested(std::uint32_t region) const {
        return definitions_.region(region).of_user ? parts_.of_region(region)
                                                   : static_cast<std::size_t>(State::kCollective);
    }

    // The same by states alone, one row per task.
    std::vector<StateBins> bins(Stretch stretch, TaskId first, std::size_t count,
                                std::size_t columns);
    // The sums over all tasks.
    StateBins sum_of_bins(Stretch stretch, std::size_t columns);
    // The time of each task in each state, in a section.
    std::vector<std::array<Time, kStates>> spent(Stretch stretch);
    // Returns the messages in progress in the section, in order of arrival, at most `most`. If a
    // message did not arrive before the end of the section, `received` is the end. For a long
    // section: those of its end.
    std::vector<Message> messages(Stretch stretch, std::size_t most);
    // The amount that each of `count` tasks was sending in each column of the section. For a long
    // section: the amount sent, evenly distributed between keyframes.
    struct Sent {
        double bytes = 0;
        double messages = 0;
    };
    std::vector<std::vector<Sent>> sent(Stretch stretch, TaskId first, std::size_t count,
                                        std::size_t columns);
    // Messages that arrived in the section, of any length, by pairs of tasks.
    std::vector<PairSum> pairs(Stretch stretch);
    // Reports the section to a listener; for a long section, its end.
    void listen(Stretch stretch, Listener& listener);

    // Returns the first event after a moment, or the last before it, for which a condition holds.
    // `may_hold` gets the sums of the events between two keyframes; if it returns false, these
    // events are skipped without reading them.
    using Condition = std::function<bool(const Event&, TaskId)>;
    using MayHold = std::function<bool(const Ended&)>;
    std::optional<Event> find(Time from, bool forward, const Condition& condition,
                              const MayHold& may_hold = {});
    // Reports to a listener what happens from a keyframe to the next one.
    void listen_from(std::size_t keyframe, Listener& listener);

  private:
    static constexpr std::uint64_t kBetweenForgetting = 1 << 16;

    std::optional<Event> find_from(std::size_t keyframe, Time from, bool forward,
                                   const Condition& condition);
    std::uint64_t events_until(std::size_t keyframe) const;
    // Reports the section to a listener, from a keyframe for up to `events` events.
    void walk(std::size_t keyframe, Stretch stretch, std::uint64_t events, Listener& listener);
    std::size_t keyframes_in(Stretch stretch) const;
    // Called for each replayed event: regularly releases the memory of what was read. Touching a
    // page also maps its neighbours, in each of thousands of streams.
    void note_read() {
        if (++read_ >= kBetweenForgetting) forget();
    }
    void forget() const;
    void add_sums(std::vector<PartBins>& rows, Stretch stretch, TaskId first, std::size_t count,
                  std::size_t group) const;
    void learn_parts();
    // A part of the section that is short enough to be replayed.
    Stretch replayable(Stretch stretch) const;

    std::unique_ptr<TraceSource> source_;
    std::unique_ptr<Index> index_;
    Definitions definitions_;
    TimeParts parts_;
    std::unique_ptr<Replay> replay_;
    std::unique_ptr<EventMerge> merge_;
    std::optional<Time> at_;
    mutable std::uint64_t read_ = 0;  // events since the last forget()
};

}  // namespace poe::trace
