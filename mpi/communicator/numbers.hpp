// The numbers of new communicators. A communicator takes the number of a group of CCL, which the
// task of rank 0 counts (collectives/call/groups.hpp). An intercommunicator takes two numbers, one
// per group: each is the number of the group of that side, and the smaller one makes the context.
//
// Jobs count independently. A communicator with tasks of several jobs therefore takes a block of
// numbers that start at kFirstSharedNumber or later. The first member proposes a random block. Each
// member votes against it if one of its communicators, or another proposal, has this block. If a
// member votes against it, the first member proposes another block. The first two numbers of the
// block are those of the communicator. The others are for its duplicates, so that MPI_Comm_idup
// need not wait for an agreement.
#pragma once

#include <optional>

#include "collectives/engine/process_collectives.hpp"
#include "comm/bootstrap/runtime.hpp"
#include "mpi/communicator/comm.hpp"
#include "mpi/communicator/exchange.hpp"

namespace poe::mpi {

// A number of this task's counter that is reserved while members agree on a communicator. It is
// given back unless it is used.
class Reservation {
  public:
    explicit Reservation(collectives::Groups& groups) noexcept
        : groups_(groups), counter_(groups.counter()) {
        groups_.count();
    }
    ~Reservation() {
        if (!used_) groups_.uncount(counter_);
    }
    Reservation(const Reservation&) = delete;
    Reservation& operator=(const Reservation&) = delete;

    std::int32_t counter() const noexcept { return static_cast<std::int32_t>(counter_); }
    void use() noexcept { used_ = true; }
    // The number of the group that this task leads; kNoNumber if numbers have run out.
    std::int32_t number() const noexcept {
        return groups_.number(groups_.task(), counter_).value_or(kNoNumber);
    }
    static constexpr std::int32_t kNoNumber = -1;
    // Sent instead of a number: the sender has failed.
    static constexpr std::int32_t kFailed = -2;

  private:
    collectives::Groups& groups_;
    std::uint32_t counter_;
    bool used_ = false;
};

// The number of the group that `leader` leads, from the counter that the leader has published.
inline std::int32_t number_from(collectives::Groups& groups, TaskId leader,
                                std::int32_t counter) noexcept {
    return groups.number(leader, static_cast<std::uint32_t>(counter))
        .value_or(Reservation::kNoNumber);
}

// The groups of a communicator that is being made, and their numbers.
struct NewComm {
    MembersPtr local;
    MembersPtr remote;  // null: an intracommunicator
    std::int32_t number = Reservation::kNoNumber;
    std::int32_t remote_number = Reservation::kNoNumber;  // of an intercommunicator
    // If members belong to several jobs, they agree on other numbers by messages of this route,
    // unless they have done so. `local_first`: the first of them is a member of `local`.
    Route agreement{};
    bool local_first = true;
    bool agreed = false;
    NumberRange spare_numbers{};
};

// A communicator, a reason why there is none, or neither: MPI_COMM_NULL.
struct MadeComm {
    Comm* comm = nullptr;
    Fault fault;
};

// True if members belong to another job than this task.
bool spans_jobs(const comm::Runtime& runtime, const Members& members) noexcept;
bool spans_jobs(const comm::Runtime& runtime, const Comm& comm) noexcept;

// Takes numbers for a duplicate from the spare ones of `parent`; false if there are not enough.
bool take_spare_numbers(Comm& parent, NewComm& made) noexcept;

// Makes the communicator once the members have agreed. Refused if numbers have run out. Blocks if
// members belong to several jobs and have not agreed yet; all members then make this call. For the
// members of a communicator, `parent`, the second form fills in how they agree.
MadeComm make_comm(const CommBase& parent, NewComm made);
MadeComm make_comm(const Comm& parent, NewComm made);
// The same in an object that exists already.
Fault fill_in(Comm& comm, const CommBase& parent, NewComm made);

}  // namespace poe::mpi
