// Model: the current rows of a job and their changes during the last minute, so that a display can
// stop or go back while the job continues. Pure: the caller supplies the time.
//
// The past is a list of the rows before each change. at() undoes changes from the present
// backwards, so the present costs nothing.
#pragma once

#include <cstddef>
#include <deque>
#include <vector>

#include "markerarray/snapshot.hpp"

namespace poe::markers {

// For one thread at a time.
class Model {
  public:
    static constexpr Moment kRemembered{60'000};

    // Limits the past to `memory` bytes; beyond that the oldest changes are forgotten early.
    explicit Model(std::size_t memory = std::size_t{64} << 20) : memory_(memory) {}

    // Starts a new job, with unknown rows and no past.
    void begin(JobFacts job, Moment now);
    // Stores a row; an unchanged row costs nothing. Rows of tasks that the job does not have are
    // dropped. `now` must not decrease. Returns true if something changed.
    bool put(TaskRow row, Moment now);
    // The job has at least so many tasks from now on, because tasks have started more.
    void grow(std::size_t tasks);
    // Sets the job's program once it is known.
    void name_program(const std::string& program) { picture_.job.program = program; }
    // Sets the time that the job has run, and whether it has ended.
    void tick(Moment now, Moment elapsed, bool ended);

    const Picture& now() const { return picture_; }
    // Returns the picture at that moment, or at the earliest remembered one.
    Picture at(Moment moment) const;
    // Returns the earliest moment that at() can show.
    Moment earliest() const;

    // The number of columns of lights worth showing: one more than the index of the rightmost light
    // that was ever set.
    std::size_t lights_used() const { return lights_used_; }
    bool any_progress() const { return any_progress_; }

    // Returns when the marks of a task changed, with its row from then on; newest first, at most
    // `most`.
    struct Mark {
        Moment at{0};
        TaskRow row;
    };
    std::vector<Mark> marks_of(TaskId task, std::size_t most) const;

  private:
    // The row before a change, and the time of the change.
    struct Change {
        Moment at{0};
        TaskRow before;
    };

    void remember(Moment now, TaskRow before);
    void note_progress(const TaskRow& before, TaskRow& row, Moment now);
    static std::size_t cost_of(const Change& change);

    std::size_t memory_;
    Picture picture_;
    Moment began_{0};  // start of the job, on the display's clock
    std::deque<Change> past_;
    std::size_t past_cost_ = 0;
    Moment forgotten_{0};  // changes up to here are not remembered
    std::size_t lights_used_ = 0;
    bool any_progress_ = false;
};

}  // namespace poe::markers
