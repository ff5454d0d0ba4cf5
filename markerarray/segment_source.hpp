// SegmentSource: rows of the tasks of this node, from the job's node segment and /proc. It only
// looks. The mapping outlives the job: what the tasks wrote last can be read after its end.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "comm/base/node_segment.hpp"
#include "markerarray/model.hpp"
#include "markerarray/process_sums.hpp"
#include "partition_manager/job_listing.hpp"
#include "partition_manager/task_state.hpp"

namespace poe::markers {

// What a task's state and processes (null: gone) mean: sets activity, doing and waits_ms. Pure.
void describe(const pm::TaskState& state, const ProcessSum* processes, TaskRow& row);

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

  private:
    struct Known {
        MarkerTextView text;
        std::optional<ProcessSum> processes;
        std::chrono::milliseconds cpu_before{0};
        int cpu_percent = -1;
    };

    void look_at_processes(Clock::time_point now);
    void read_marks(const MarkerRow& marks, Known& known, TaskRow& row) const;

    NodeSegment segment_;
    uid_t owner_;
    JobFacts facts_;
    std::vector<Known> known_;  // by local index
    ProcessSums sums_;
    Clock::time_point looked_{};
};

}  // namespace poe::markers
