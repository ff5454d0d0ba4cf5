// CheckedWork: an operation that begins when all members of the communicator have agreed on it
// (check mode, mpi/check/agreement.hpp).
#pragma once

#include <memory>

#include "mpi/check/agreement.hpp"
#include "mpi/point/request.hpp"

namespace poe::mpi {

class CheckedWork final : public Work {
  public:
    // `work` is null if there is nothing to do after the agreement.
    CheckedWork(std::unique_ptr<check::Agreement> agreement, WorkPtr work)
        : agreement_(std::move(agreement)), work_(std::move(work)) {}

    void start(comm::MessageLayer&) override { agreement_->start(); }
    bool advance(comm::MessageLayer& messages) override;
    Awaited awaited(const comm::MessageLayer& messages) override;
    Fault result() override;

  private:
    std::unique_ptr<check::Agreement> agreement_;
    WorkPtr work_;
    bool agreed_ = false;
};

}  // namespace poe::mpi
