// Agreement: how the members of a communicator find out whether they make the same collective call.
// It never blocks, so non-blocking calls can use it.
//
//   1. Every member sends its description to the judge: rank 0, of an intercommunicator rank 0 of
//      the group whose number makes the context.
//   2. The judge compares them when all have come (judge.hpp), and sends the verdict to all.
//
// A member that cannot make the call, because an argument is wrong, takes part all the same. Its
// description says why; so no other member waits forever for a call that is not made.
//
// All members count the agreements of a communicator alike. The number is the type of the messages,
// so that several agreements can be in progress.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "comm/bootstrap/runtime.hpp"
#include "mpi/check/judge.hpp"
#include "mpi/communicator/comm.hpp"

namespace poe::mpi::check {

// What the judge does with a fault before the others learn of it: it reports the fault, once for
// all members. Does not return if the error handler of the communicator ends the job.
using Report = void (*)(Comm& comm, Function function, const void* site, const Fault& fault);

// For the thread that has the turn. Must not be destroyed between start() and the end. The
// communicator must outlive it.
class Agreement {
  public:
    // `site` is that of the call.
    Agreement(comm::Runtime& runtime, Comm& comm, const Description& own, const void* site,
              Report report);
    ~Agreement();
    Agreement(const Agreement&) = delete;
    Agreement& operator=(const Agreement&) = delete;

    void start();
    // Continues. Returns true if it has ended. Never blocks.
    bool advance();
    Awaited awaited() const;
    // After the end: what is wrong with the call; no fault if all members agree.
    const Fault& fault() const noexcept { return fault_; }

  private:
    struct Exchange;

    void judge_all();
    void answer(const Fault& verdict);

    comm::Runtime& runtime_;
    Comm& comm_;
    const void* site_;
    Report report_;
    std::unique_ptr<Exchange> exchange_;
    Fault fault_;
};

}  // namespace poe::mpi::check
