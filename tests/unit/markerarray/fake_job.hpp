// A job without tasks: the directory, the lock and the node segment that a daemon would make, to be
// written by the test.
#pragma once

#include <optional>
#include <string>
#include <unistd.h>

#include "base/segment/node_segment.hpp"
#include "partition_manager/status/job_directory.hpp"

namespace poe::markers::test {

class FakeJob {
  public:
    // Below /dev/shm the programs find it, too.
    FakeJob(const std::string& parent, const std::string& id, unsigned tasks)
        : directory_(pm::JobDirectory::create(parent, ::geteuid(), id)), id_(id) {
        NodeSegmentSpec spec;
        spec.job_id = id;
        spec.path = directory_->file("segment");
        spec.node_of_task.assign(tasks, 0);
        spec.pmd_pid = ::getpid();
        segment_.emplace(NodeSegment::create(spec));
        // It seems to run for a while: its clock shows whole seconds.
        segment_->header().facts.created_ns -= 100'000'000'000;
        // The tasks seem to have begun; no process belongs to them.
        for (unsigned task = 0; task < tasks; ++task) segment_->slot(task).started_pid = 1 << 30;
    }

    const std::string& id() const { return id_; }
    MarkerRow& marks(unsigned task) { return segment_->markers(task); }
    TaskSlot& slot(unsigned task) { return segment_->slot(task); }
    void end() {
        for (unsigned task = 0; task < segment_->local_tasks(); ++task)
            if (slot(task).ended == 0) slot(task).ended = task_end(0);
        directory_.reset();
    }
    // As when poe and its daemon are killed: nobody says how the tasks ended.
    void die() { directory_.reset(); }

    // An id that no other job on this computer has.
    static std::string unique_id(const std::string& name) {
        return name + "-" + std::to_string(::getpid()) + "-0";
    }

  private:
    std::optional<pm::JobDirectory> directory_;
    std::optional<NodeSegment> segment_;
    std::string id_;
};

}  // namespace poe::markers::test
