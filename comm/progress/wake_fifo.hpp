// Waking a task that sleeps in epoll_wait and not on its doorbell: every task with TCP connections
// and neighbours on its node has a FIFO `wake.TASK` beside the node segment, mode 0600; one byte in
// it ends the sleep (see wait.hpp for why none is lost). Beside a nameless segment FIFOs have no
// names either: the slot tells the descriptor, which others open below /proc. Apart because the
// sleeper (tcp_device) and the wakers (shm_device) are different devices of different tasks.
#pragma once

#include <string>
#include <unordered_map>

#include "base/segment/node_segment.hpp"
#include "base/types.hpp"
#include "base/unique_fd.hpp"

namespace poe::comm {

// The FIFOs of one node, as one task uses them. For one thread.
class WakeFifos {
  public:
    // The segment must outlive it.
    explicit WakeFifos(const NodeSegment& segment) : segment_(segment) {}

    // Makes one's own and opens it for reading, non-blocking. To be called before the task first
    // sleeps. Throws Error.
    UniqueFd make(TaskId own) const;
    // Writes a byte into another task's; opens it at the first time. Never blocks; a FIFO that is
    // full has been written to, and one that is gone has nobody to wake.
    void wake(TaskId task) noexcept;

  private:
    std::string path_of(TaskId task) const;
    UniqueFd open_other(TaskId task) const;
    TaskSlot& slot_of(TaskId task) const;

    const NodeSegment& segment_;
    std::unordered_map<TaskId, UniqueFd> opened_;
};

}  // namespace poe::comm
