// LockQueue: the ranks that hold the lock of one task's window, and the queue of the requests for
// it (MPI 5.0, section 12.5.3). Requests are granted in the order in which they arrive. A request
// for a shared lock therefore waits if an exclusive one is ahead of it, and no request starves.
//
// An origin that holds or requests several locks, as in MPI_Win_lock_all, must not wait for another
// origin that itself only waits: each of two such origins could hold the lock for which an
// exclusive request waits that is ahead of the other one. Its requests for shared locks therefore
// go ahead of exclusive ones that wait, and wait only for an exclusive holder. So exclusive
// requests wait as long as such origins come and go without a pause. Pure.
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
        bool ahead = false;        // a shared lock, of an origin that holds or requests several
    };

    void request(const Claim& claim);
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
    // Claims that go ahead come first.
    std::deque<Claim> waiting_;
};

}  // namespace poe::mpi
