// WakeFifos: wakes tasks that sleep in epoll_wait instead of on their doorbells. Every task with
// TCP connections and neighbours on its node has a FIFO `wake.TASK` in the directory of the node
// segment, mode 0600. One byte in it ends the sleep (wait.hpp shows why no wake-up is lost). If the
// segment is nameless, the FIFOs have no names either: the slot holds the descriptor's number,
// which other tasks open below /proc. This is separate because the sleeper (tcp_device) and the
// wakers (shm_device) are different devices of different tasks.
#pragma once

#include <string>
#include <unordered_map>

#include "base/segment/node_segment.hpp"
#include "base/types.hpp"
#include "base/unique_fd.hpp"

namespace poe::comm {

// The FIFOs of one node, as used by one task. For one thread.
class WakeFifos {
  public:
    // The segment must outlive this object.
    explicit WakeFifos(const NodeSegment& segment) : segment_(segment) {}

    // Creates this task's own FIFO and opens it for reading, non-blocking. Call it before the task
    // first sleeps. The caller owns the descriptor. Throws Error.
    UniqueFd make(TaskId own) const;
    // Writes a byte to another task's FIFO, which the first call opens. Never blocks. Errors are
    // ignored: a full FIFO already holds a byte, and a FIFO that is gone has no reader to wake.
    void wake(TaskId task) noexcept;

  private:
    std::string path_of(TaskId task) const;
    UniqueFd open_other(TaskId task) const;
    TaskSlot& slot_of(TaskId task) const;

    const NodeSegment& segment_;
    std::unordered_map<TaskId, UniqueFd> opened_;
};

}  // namespace poe::comm
