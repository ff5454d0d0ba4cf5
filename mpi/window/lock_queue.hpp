// LockQueue: the ranks that hold the lock of one task's window, and the queue of the requests for
// it (MPI 5.0, section 12.5.3). Requests are granted in the order in which they arrive. A request
// for a shared lock therefore waits if an exclusive one is ahead of it, and no request starves.
// Pure.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

namespace poe::mpi {

class LockQueue {
  public:
    struct Claim {
        int rank = 0;
        bool exclusive = false;
        std::uint32_t number = 0;  // the caller's
    };

    void request(const Claim& claim) { waiting_.push_back(claim); }
    // Precondition: the rank holds the lock.
    void release(int rank);
    // Takes the next claim that can be granted now; the rank then holds the lock.
    std::optional<Claim> grant();
    // A rank that holds the lock exclusively, or any that holds it; -1 if nobody does.
    int holder() const noexcept { return holders_.empty() ? -1 : holders_.front(); }
    bool idle() const noexcept { return holders_.empty() && waiting_.empty(); }

  private:
    std::vector<int> holders_;
    bool exclusive_ = false;
    std::deque<Claim> waiting_;
};

}  // namespace poe::mpi
