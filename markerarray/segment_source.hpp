// SegmentSource: rows of the tasks of this node, from the job's node segment and /proc. It only
// looks. The mapping outlives the job: what the tasks wrote last can be read after its end.
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

    // Throws Error when the job cannot be read (it may have ended).
    SegmentSource(const pm::RunningJob& job, const std::string& node_name);

    const JobFacts& facts() const { return facts_; }
    // The time since the job began.
    Moment elapsed(Clock::time_point now) const;
    // Puts all rows as they are now. Looks at processes about once a second. `over`: the job's
    // daemon is gone; tasks of which it has not seen the end went with it.
    void put_rows(Model& model, Clock::time_point now, Moment moment, bool over);

    // Of the tasks of this job that run here.
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
