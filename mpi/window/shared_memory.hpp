// SharedMemory: the memory of a window that all its members on one node have mapped. Each node has
// its own.
//
// The memory is an anonymous file of the lowest rank on the node, which the others open through
// /proc. The system frees it with the last process that has mapped it, so nothing remains after a
// killed job. It begins with a control block for each member; the parts of the members on this node
// follow in rank order.
//
//   word         written by               meaning
//   accumulate   the origins, the target  0: free; otherwise 1 + the task that holds it
//   copying      that member              1 + the rank whose memory it accesses by single copy; 0: none
//   left         that member              1: nobody may access its memory by single copy any more
//
// Invariant: a task that executes an operation for which is_atomic() is true on a member's part
// holds that member's `accumulate` lock. This task is either an origin on the same node, or the
// target, which executes an operation that it has received from another node as a message. If a
// task dies while it holds the lock, the next task that wants the lock acquires it.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/types.hpp"
#include "comm/bootstrap/runtime.hpp"
#include "mpi/communicator/comm.hpp"
#include "mpi/object/fault.hpp"

namespace poe::mpi {

struct Window;

struct alignas(64) MemberControl {
    std::atomic<std::uint32_t> accumulate{0};
    // The lock of MPI_Win_lock; see shared_lock.hpp.
    std::atomic<std::uint32_t> holders{0};
    std::atomic<std::uint32_t> writers{0};
    std::atomic<std::uint32_t> waiting{0};
    std::atomic<std::uint32_t> copying{0};
    std::atomic<std::uint32_t> left{0};
};

class SharedMemory {
  public:
    // All members of `comm` make this call with the sizes of all parts; each part begins at a
    // multiple of `alignment` bytes. Blocks. If it fails at one member, all get a fault.
    static Fault make(comm::Runtime& runtime, Comm& comm, std::span<const std::int64_t> sizes,
                      std::int64_t alignment, std::shared_ptr<SharedMemory>& made);
    ~SharedMemory();
    SharedMemory(const SharedMemory&) = delete;
    SharedMemory& operator=(const SharedMemory&) = delete;

    // True if the member is on this node.
    bool has(int rank) const noexcept { return offsets_[static_cast<std::size_t>(rank)] > 0; }
    // True if all members are. The same at all members.
    bool has_all() const noexcept { return has_all_; }
    // Precondition of both: has(rank).
    std::byte* part(int rank) const noexcept {
        return start_ + offsets_[static_cast<std::size_t>(rank)];
    }
    MemberControl& control(int rank) const noexcept {
        return reinterpret_cast<MemberControl*>(start_)[rank];
    }

  private:
    SharedMemory() = default;

    std::byte* start_ = nullptr;
    Bytes length_ = 0;
    std::vector<std::int64_t> offsets_;  // 0: a member on another node
    bool has_all_ = true;
};

// True if all members of the communicator are on one node. The same at all members.
bool on_one_node(comm::Runtime& runtime, const Comm& comm);

// This task says here that it accesses the memory of a member by single copy, while the object
// exists. Never blocks. Precondition: the window has shared memory with the control of the member.
class SingleCopyInProgress {
  public:
    SingleCopyInProgress(const comm::Runtime& runtime, const Window& window, int rank) noexcept;
    ~SingleCopyInProgress() { copying_.store(0, std::memory_order_release); }
    SingleCopyInProgress(const SingleCopyInProgress&) = delete;
    SingleCopyInProgress& operator=(const SingleCopyInProgress&) = delete;

    // False if the member has left the window: its memory may be in other use.
    bool allowed() const noexcept { return allowed_; }

  private:
    std::atomic<std::uint32_t>& copying_;
    bool allowed_;
};

// True if the member has left the window by leave_early().
bool has_left(const Window& window, int rank) noexcept;

// This task leaves the window although other members may still use it, because a member has died.
// From then on they do not access its memory by single copy. Blocks for as long as a copy lasts.
//
// Copier and leaver cannot miss each other (base/fence.hpp): the copier stores `copying`, executes
// the light fence and loads `left`; the leaver stores `left`, executes the heavy fence and loads
// `copying`.
void leave_early(comm::Runtime& runtime, Window& window);

// Holds the accumulate lock of a member's part while it exists; does nothing if `needed` is false
// or the window has no shared memory. Blocks for as long as another task executes one operation.
class AccumulateLock {
  public:
    AccumulateLock(const Window& window, int rank, bool needed);
    ~AccumulateLock() {
        if (word_ != nullptr) word_->store(0, std::memory_order_release);
    }
    AccumulateLock(const AccumulateLock&) = delete;
    AccumulateLock& operator=(const AccumulateLock&) = delete;

  private:
    std::atomic<std::uint32_t>* word_ = nullptr;
};

}  // namespace poe::mpi
