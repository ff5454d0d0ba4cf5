// CallTurn: the turn of an entry point to use the message layer, while the object exists.
#pragma once

#include "comm/bootstrap/runtime.hpp"
#include "comm/progress/runtime_lock.hpp"
#include "tracer/probe/process_context.hpp"

namespace poe::mpi {

// A local variable of an entry point, which has no turn until it takes it. For the thread that made
// it. The functions are inline, because a short message takes 150 ns.
class CallTurn {
  public:
    CallTurn() noexcept = default;
    ~CallTurn() {
        if (entered()) leave();
    }
    CallTurn(const CallTurn&) = delete;
    CallTurn& operator=(const CallTurn&) = delete;

    // May block while another thread of this task has the turn. Does nothing before MPI_Init.
    void take() noexcept {
        runtime_ = process_context().runtime;  // null before MPI_Init
        if (runtime_ != nullptr) [[likely]]
            entry_ = runtime_->turn().enter();
    }

    // True if this call has taken the turn, or is part of a turn that its thread has already.
    bool is_held() const noexcept { return entry_ != comm::RuntimeLock::Entry::kRefused; }
    // True if this call has taken the turn.
    bool entered() const noexcept { return entry_ == comm::RuntimeLock::Entry::kEntered; }
    // Null before take() and before MPI_Init.
    comm::Runtime* runtime() const noexcept { return runtime_; }

  private:
    void leave() noexcept {
        if (runtime_->handlers_due()) [[unlikely]]
            runtime_->call_handlers();
        runtime_->turn().leave();
    }

    comm::Runtime* runtime_ = nullptr;
    comm::RuntimeLock::Entry entry_ = comm::RuntimeLock::Entry::kRefused;
};

}  // namespace poe::mpi
