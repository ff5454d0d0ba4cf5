// Duplication: how the members of a communicator agree on the number of a duplicate (MPI 5.0,
// section 7.4.2). It never blocks, so MPI_Comm_idup can use it.
//
//   1. Rank 0 takes a number of its counter. The rank 0 of an intercommunicator exchanges it with
//      the rank 0 of the remote group.
//   2. Rank 0 sends the numbers to all members of its group along a binomial tree.
//
// If members belong to several jobs, they agree when the duplicate is made (numbers.hpp). A caller
// that must not wait then takes numbers that the communicator has for this purpose, and no message
// is necessary.
//
// The messages of the n-th duplicate have the type n, so several duplications can be in progress.
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "mpi/communicator/exchange.hpp"
#include "mpi/communicator/numbers.hpp"

namespace poe::mpi {

// Must not be destroyed between start() and the end. The communicator must outlive it.
class Duplication {
  public:
    // `may_wait`: the caller may wait for the other members when it makes the duplicate of
    // result().
    Duplication(comm::Runtime& runtime, Comm& parent, bool may_wait = true);

    void start();
    // Continues. Returns true if it has ended. Never blocks.
    bool advance();
    // Blocks until it has ended.
    void finish();

    // After the end. Gives the members and the numbers, or the reason of failure.
    const Fault& fault() const noexcept { return fault_; }
    NewComm result() const { return made_; }

  private:
    bool leads() const noexcept { return parent_.rank == 0; }
    bool numbers_known();
    bool ended(comm::SendRequest& request);
    bool ended(comm::ReceiveRequest& request);
    void send_to_children();
    void note(comm::Outcome outcome, TaskId task);

    comm::Runtime& runtime_;
    Comm& parent_;
    Route route_;
    TreePlace place_;
    // The own group's number and that of the remote group.
    std::array<std::int32_t, 2> numbers_{Reservation::kNoNumber, Reservation::kNoNumber};
    std::int32_t own_number_ = Reservation::kNoNumber;
    comm::ReceiveRequest receive_;  // from the parent in the tree, or from the remote rank 0
    bool receives_ = false;
    comm::SendRequest send_;  // to the remote rank 0
    bool sends_ = false;
    bool forwarded_ = false;
    std::unique_ptr<comm::SendRequest[]> to_children_;
    const bool spans_jobs_;
    const bool may_wait_;
    NewComm made_;
    Fault fault_;
};

}  // namespace poe::mpi
