// JobFollower: keeps a Model up to date with a job of this computer. It finds the job, keeps its
// last state when it ends, and continues with the next job. It is the logic of a display without
// the display. A job of this computer has tasks on it, or its poe.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <sys/types.h>

#include "markerarray/model.hpp"
#include "markerarray/poe_source.hpp"
#include "markerarray/segment_source.hpp"

namespace poe::markers {

class JobFollower {
  public:
    using Clock = std::chrono::steady_clock;

    struct Settings {
        std::string parent;     // the directory of the jobs' directories
        uid_t owner = 0;        // whose jobs are considered
        std::string node_name;  // of this computer
        bool go_on = true;      // after a job has ended, continue with the next one
        std::size_t memory = std::size_t{64} << 20;  // bytes for the past
    };

    JobFollower(Settings settings, Clock::time_point now);

    // Follows that job. Throws Error if it cannot be read.
    void follow(const pm::RunningJob& job, Clock::time_point now);
    // Updates the model. If there is no job, or it has ended and go_on is set, searches for the
    // newest one every 0.2 s. Does not block.
    void update(Clock::time_point now);
    // Switches to the job that was started after this one, or to the first. False: there is no
    // other.
    bool next_job(Clock::time_point now);
    // Returns the jobs that exist, oldest first. Jobs that tasks have started are parts of theirs.
    std::vector<pm::RunningJob> jobs() const;
    const pm::RunningJob& job() const { return job_; }
    bool ended() const { return ended_; }

    // Returns the last lines of a task's output that have arrived. Call it repeatedly while they
    // are shown, because it also requests newer ones.
    const std::vector<std::string>& lines_of(TaskId task, Clock::time_point now);

    // True if there is information about every task, or no more will arrive.
    bool complete() const;

    bool has_job() const { return poe_ != nullptr; }
    const Model& model() const { return model_; }
    // The time on the display's clock.
    Moment moment(Clock::time_point now) const {
        return std::chrono::duration_cast<Moment>(now - began_);
    }

  private:
    void find_newest(Clock::time_point now);
    void look_at_job(Clock::time_point now);
    Moment elapsed(Clock::time_point now) const;

    Settings settings_;
    Clock::time_point began_;
    Clock::time_point searched_{};
    Model model_;
    std::unique_ptr<SegmentSource> source_;  // null if the job has no tasks here
    std::unique_ptr<PoeSource> poe_;
    pm::RunningJob job_;
    Clock::time_point followed_;
    Moment ended_after_{0};
    bool ended_ = false;
};

}  // namespace poe::markers
