// ShownCall: shows a collective call of a fast path to watchers as long as it exists.
#pragma once

#include "comm/bootstrap/runtime.hpp"
#include "mpi/communicator/comm.hpp"
#include "tracer/probe/caller_site.hpp"

namespace poe::mpi {

// What watchers see: the function of MPI, and where the program has called it, unless a wrapper of
// the function knows better.
struct ShownAs {
    ::poe::Call function = ::poe::Call::kNone;
    const void* site = nullptr;
};

class ShownCall {
  public:
    ShownCall(comm::Runtime& runtime, const Comm& comm, const ShownAs& shown) noexcept
        : words_(runtime.doing()) {
        words_.set(shown.function, TaskActivity::kAnyPeer, comm.group_number(), 0,
                   caller_site != nullptr ? caller_site : shown.site, comm.context);
    }
    ~ShownCall() { words_.clear(); }
    ShownCall(const ShownCall&) = delete;
    ShownCall& operator=(const ShownCall&) = delete;

  private:
    TaskActivityWords& words_;
};

}  // namespace poe::mpi
