// The order of locks; see lock_queue.hpp.
#include "mpi/window/lock_queue.hpp"

#include <algorithm>

namespace poe::mpi {

void LockQueue::request(const Claim& claim) {
    const auto place = claim.ahead ? std::find_if(waiting_.begin(), waiting_.end(),
                                                  [](const Claim& each) { return !each.ahead; })
                                   : waiting_.end();
    waiting_.insert(place, claim);
}

void LockQueue::release(int rank) {
    const auto found = std::find(holders_.begin(), holders_.end(), rank);
    if (found != holders_.end()) holders_.erase(found);
}

std::optional<LockQueue::Claim> LockQueue::grant() {
    if (waiting_.empty()) return std::nullopt;
    const Claim claim = waiting_.front();
    if (!holders_.empty() && (exclusive_ || claim.exclusive)) return std::nullopt;
    waiting_.pop_front();
    holders_.push_back(claim.rank);
    exclusive_ = claim.exclusive;
    return claim;
}

}  // namespace poe::mpi
