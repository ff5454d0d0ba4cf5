// Session: a trace that is being looked at. Any moment of it, any stretch of it, found by the index
// and replayed from there. What views ask, in their words; nothing here knows how it will look.
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

// How long a task was in each state, by columns of equal length.
using StateBins = std::vector<std::array<Time, kStates>>;

// One thread. Costs are those of replaying up to kMostReplayed keyframes, or of reading sums. A
// longer stretch is answered from sums, which say nothing of what is between two keyframes, or for
// its end only; each question says which.
class Session {
  public:
    // A stretch of more keyframes is shown by sums instead of event by event.
    static constexpr std::size_t kMostReplayed = 8;

    Session(TraceSource source, const Index::Places& places,
            const std::function<void(double)>& progress, std::uint64_t between = Index::kBetween);

    // The same trace, opened again after it has grown: what is looked at is all of it now. Costs
    // what is new. Throws Error, and is of no use then, when there is no memory for the index.
    void grow(TraceSource grown);

    const TraceSource& source() const { return *source_; }
    const Index& index() const { return *index_; }
    const Definitions& definitions() const { return definitions_; }
    std::uint32_t counter_number(std::uint32_t stream, std::uint32_t id) {
        return definitions_.counter(stream, id);
    }
    Stretch whole() const { return {source_->begin(), source_->end()}; }

    // The job at a moment: all events up to then, that moment's included. Going a little forward
    // costs those events only.
    const JobState& at(Time moment);
    // Sent up to the moment of at(), but not received.
    std::vector<Message> in_flight() const { return replay_->messages().waiting(true); }

    // How far apart are the sums that answer for a stretch; nothing: it is replayed.
    std::optional<Time> step_of_sums(Stretch stretch) const;
    // What came to an end in the stretch: all of it, however long, but for the computing. Only the
    // wanted part of it need be right.
    Ended ended(Stretch stretch, EndedPart wanted = EndedPart::kAll);

    // The parts that the user's regions have.
    const TimeParts& parts() const { return parts_; }
    // What tasks did in the stretch: a row of bins for each `group` of the `count` tasks from
    // `first` on.
    std::vector<PartBins> part_bins(Stretch stretch, TaskId first, std::size_t count,
                                    std::size_t group, std::size_t columns);
    // The user's regions that a task was in, whatever it did there, by their depth: 0 is the
    // outermost. Nothing for a stretch that is answered from sums.
    struct Nested {
        TaskId task = 0;
        std::size_t depth = 0;
        std::uint32_t region = 0;
        Time from{0};
        Time to{0};
    };
    std::vector<Nested> nested(Stretch stretch, TaskId first, std::size_t count);

    // The same by states alone, a row for each task.
    std::vector<StateBins> bins(Stretch stretch, TaskId first, std::size_t count,
                                std::size_t columns);
    // Of all tasks together.
    StateBins sum_of_bins(Stretch stretch, std::size_t columns);
    // What each task did in a stretch.
    std::vector<std::array<Time, kStates>> spent(Stretch stretch);
    // Messages under way in the stretch, in the order of their arrival, at most `most`; those that
    // had not arrived at its end have `received` there. Of a long stretch, of its end.
    std::vector<Message> messages(Stretch stretch, std::size_t most);
    // What each of `count` tasks had on its way in each of as many columns of the stretch; of a
    // long stretch, what it sent, spread evenly from one keyframe to the next.
    struct Sent {
        double bytes = 0;
        double messages = 0;
    };
    std::vector<std::vector<Sent>> sent(Stretch stretch, TaskId first, std::size_t count,
                                        std::size_t columns);
    // Messages that arrived in the stretch, however long, by pairs of tasks.
    std::vector<PairSum> pairs(Stretch stretch);
    // Tells a listener of the stretch; of a long one, of its end.
    void listen(Stretch stretch, Listener& listener);

    // The first event after, or the last before, a moment for which a condition holds. `may_hold`
    // looks at the sums of the events between two keyframes: where it says no, they are passed
    // over; all others are read.
    using Condition = std::function<bool(const Event&, TaskId)>;
    using MayHold = std::function<bool(const Ended&)>;
    std::optional<Event> find(Time from, bool forward, const Condition& condition,
                              const MayHold& may_hold = {});
    // Tells a listener of what happens between a keyframe and the next one.
    void listen_from(std::size_t keyframe, Listener& listener);

  private:
    static constexpr std::uint64_t kBetweenForgetting = 1 << 16;

    std::optional<Event> find_from(std::size_t keyframe, Time from, bool forward,
                                   const Condition& condition);
    std::uint64_t events_until(std::size_t keyframe) const;
    // Tells a listener of what happens in the stretch, from a keyframe on up to so many events.
    void walk(std::size_t keyframe, Stretch stretch, std::uint64_t events, Listener& listener);
    std::size_t keyframes_in(Stretch stretch) const;
    // Called for each event that is replayed: what has been read of the files is given back from
    // time to time. Touching a page brings its neighbours along, in each of thousands of streams.
    void note_read() {
        if (++read_ >= kBetweenForgetting) forget();
    }
    void forget() const;
    void add_sums(std::vector<PartBins>& rows, Stretch stretch, TaskId first, std::size_t count,
                  std::size_t group) const;
    void learn_parts();
    // A part of the stretch that is not too long to be replayed.
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
