// Runtime: this process as a task. Finds out from the environment that pmd made whether it is one,
// attaches to the node segment, and owns the message layer with what is below it. The one object
// behind the C API.
#pragma once

#include <memory>
#include <string>

#include "comm/base/error.hpp"
#include "comm/base/fence.hpp"
#include "comm/base/node_segment.hpp"
#include "comm/message_layer.hpp"
#include "comm/shm_device.hpp"
#include "comm/tcp_device.hpp"
#include "comm/wait.hpp"

namespace poe::comm {

// The environment of a task (see poe(1)), read once.
struct TaskEnvironment {
    const char* child = nullptr;    // MP_CHILD
    const char* segment = nullptr;  // MP_SEGMENT
};

// One thread at a time.
class Runtime {
  public:
    // Without MP_CHILD: the only task of its own job. Never throws: what went wrong is in
    // failure().
    explicit Runtime(const TaskEnvironment& environment);

    // Why there are no messages in this process; empty when there are.
    const std::string& failure() const noexcept { return failure_; }
    void fail(std::string why) { failure_ = std::move(why); }

    TaskId task() const noexcept { return task_; }
    std::uint32_t tasks() const noexcept { return tasks_; }
    NodeIndex node() const noexcept { return segment_ ? segment_->facts().node : 0; }
    std::uint32_t nodes() const noexcept { return segment_ ? segment_->facts().nodes : 1; }
    Bytes eager_limit() const noexcept { return settings_.eager_limit; }
    Bytes buffer_mem() const noexcept { return settings_.buffer_mem; }

    // Precondition: failure() is empty.
    MessageLayer& messages() noexcept { return *messages_; }
    // What the task is doing, for watchers; a word of its own in a job of one task.
    DoingWords& doing() noexcept { return *doing_; }

    // At the task's exit: waits until what it has sent over TCP is out of its hands, however long
    // the receivers compute, but not beyond the end of the job. Nothing to do without TCP.
    void finish_sending() noexcept;
    // Leaves word for pmd that this task ends the job with that code.
    void note_stopall(int code) noexcept;
    // Leaves word that the task's exit handlers ran.
    void note_finished() noexcept;

  private:
    void attach(const TaskEnvironment& environment);
    void make_devices(std::uint32_t index);
    void set_limits(Bytes eager_limit, Bytes buffer_mem);

    std::string failure_;
    TaskId task_ = 0;
    std::uint32_t tasks_ = 1;
    MessageLayerSettings settings_;
    std::unique_ptr<NodeSegment> segment_;
    TaskSlot* slot_ = nullptr;
    DoingWords own_doing_;
    DoingWords* doing_ = &own_doing_;
    Fences fences_{false};
    std::unique_ptr<Waiter> waiter_;
    std::unique_ptr<ShmDevice> shared_memory_;  // null when all go over TCP
    std::unique_ptr<TcpDevice> tcp_;            // null in a job without TCP
    std::unique_ptr<MessageLayer> messages_;
};

}  // namespace poe::comm
