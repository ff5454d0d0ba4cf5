// JobFollower: keeps a Model up to date with a job of this computer: finds it, stays with it, keeps
// its last state, and goes on to the next one. What a display shows, without the display. A job of
// this computer has tasks here, or its poe.
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
        uid_t owner = 0;        // whose jobs
        std::string node_name;  // of this computer
        bool go_on = true;      // from a job that has ended to the next one that begins
        std::size_t memory = std::size_t{64} << 20;  // for the past
    };

    JobFollower(Settings settings, Clock::time_point now);

    // Stays with that job. Throws Error when it cannot be read.
    void follow(const pm::RunningJob& job, Clock::time_point now);
    // Takes in what has changed. Without a job, or when the job has ended, looks for one about
    // twice a second, for the newest.
    void update(Clock::time_point now);
    // On to the job that was started after this one, or to the first. False when there is no other.
    bool next_job(Clock::time_point now);
    // The jobs that there are, the oldest first.
    std::vector<pm::RunningJob> jobs() const;
    const pm::RunningJob& job() const { return job_; }
    bool ended() const { return ended_; }

    // The last lines of a task's output, as far as they have come: to be asked for again and again
    // while they are shown.
    const std::vector<std::string>& lines_of(TaskId task, Clock::time_point now);

    // Every task has been heard of, or nothing more will be.
    bool complete() const;

    bool has_job() const { return poe_ != nullptr; }
    const Model& model() const { return model_; }
    // The display's clock.
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
    std::unique_ptr<SegmentSource> source_;  // of a job that has tasks here
    std::unique_ptr<PoeSource> poe_;
    pm::RunningJob job_;
    Clock::time_point followed_;
    Moment ended_after_{0};
    bool ended_ = false;
};

}  // namespace poe::markers
