// SegmentSource: rows of the tasks of this node, from the job's node segment and /proc. Read-only.
// The mapping outlives the job, so what the tasks wrote last can be read after its end.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "base/segment/node_segment.hpp"
#include "markerarray/model.hpp"
#include "partition_manager/status/job_listing.hpp"
#include "partition_manager/status/node_look.hpp"

namespace poe::markers {

class SegmentSource {
  public:
    using Clock = std::chrono::steady_clock;

    // Throws Error if the job cannot be read (it may have ended).
    SegmentSource(const pm::RunningJob& job, const std::string& node_name);

    const JobFacts& facts() const { return facts_; }
    // Returns the time since the start of the job.
    Moment elapsed(Clock::time_point now) const;
    // Puts all current rows. Reads processes about once a second. `over`: the job's daemon has
    // gone; a task whose end it has not seen is reported as lost.
    void put_rows(Model& model, Clock::time_point now, Moment moment, bool over);

    // The node of the tasks that run here, and the node of any task.
    NodeIndex node() const { return segment_.facts().node; }
    NodeIndex node_of(TaskId task) const { return segment_.node_of(task); }

  private:
    void name_programs(const std::vector<pm::WatchedTask>& tasks, Clock::time_point now);

    NodeSegment segment_;
    pm::NodeLook look_;
    JobFacts facts_;
    Clock::time_point named_{};
};

}  // namespace poe::markers
