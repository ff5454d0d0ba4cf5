// Model: the rows of a job as they are, and how they came to be during the last minute, so that a
// display can stand still or go back while the job runs on. Pure: time is what the caller says.
//
// The past is a list of rows as they were before each change. A moment is reached by undoing
// changes from now backwards: standing at the present costs nothing.
#pragma once

#include <cstddef>
#include <deque>
#include <vector>

#include "markerarray/snapshot.hpp"

namespace poe::markers {

// One thread at a time.
class Model {
  public:
    static constexpr Moment kRemembered{60'000};

    // Bytes that the past may take; beyond that the oldest changes are forgotten early.
    explicit Model(std::size_t memory = std::size_t{64} << 20) : memory_(memory) {}

    // A new job, with unknown rows and no past.
    void begin(JobFacts job, Moment now);
    // A row as it is now; one that has not changed costs nothing. Rows of tasks that the job does
    // not have are dropped. Moments never go back. True when something changed.
    bool put(TaskRow row, Moment now);
    // What the job runs, once it is known.
    void name_program(const std::string& program) { picture_.job.program = program; }
    // The time that the job has run; whether it is over.
    void tick(Moment now, Moment elapsed, bool ended);

    const Picture& now() const { return picture_; }
    // As it was at that moment, or as early as is remembered.
    Picture at(Moment moment) const;
    // The earliest moment that at() can show.
    Moment earliest() const;

    // How many lights have ever been set, counted from the left: the columns worth showing.
    std::size_t lights_used() const { return lights_used_; }
    bool any_progress() const { return any_progress_; }

    // When the marks of one task changed, with the row as it was from then on; the latest first, at
    // most `most`.
    struct Mark {
        Moment at{0};
        TaskRow row;
    };
    std::vector<Mark> marks_of(TaskId task, std::size_t most) const;

  private:
    // A row before a change, and when that came.
    struct Change {
        Moment at{0};
        TaskRow before;
    };

    void remember(Moment now, TaskRow before);
    void note_progress(const TaskRow& before, TaskRow& row, Moment now);
    static std::size_t cost_of(const Change& change);

    std::size_t memory_;
    Picture picture_;
    Moment began_{0};  // of the job, on the display's clock
    std::deque<Change> past_;
    std::size_t past_cost_ = 0;
    Moment forgotten_{0};  // changes up to here are not remembered
    std::size_t lights_used_ = 0;
    bool any_progress_ = false;
};

}  // namespace poe::markers
