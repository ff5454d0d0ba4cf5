// SharedPointer: the shared file pointer of an open file (MPI 5.0, section 14.4.4), a number of
// etypes that all members add to.
//
//   members             place                     operation
//   on one node         memory that all have      atomic addition
//                       mapped
//   on several nodes,   a window of the member    MPI_Fetch_and_op; the member answers
//   or MP_EUILIB=ip     of rank 0                 while it computes, too
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "comm/bootstrap/runtime.hpp"
#include "mpi/object/fault.hpp"
#include "mpi/window/window.hpp"

namespace poe::mpi {

class SharedPointer {
  public:
    // All members of `comm` make this call. Blocks. If it fails at one member, all get a fault. The
    // pointer is 0.
    static Fault make(comm::Runtime& runtime, Comm& comm, std::shared_ptr<SharedPointer>& made);
    // All members make this call, before the object is destroyed.
    Fault close(comm::Runtime& runtime);

    // Each blocks until the pointer has been read or changed.
    Fault add(comm::Runtime& runtime, std::int64_t etypes, std::int64_t& before);
    // Replaces the value. Nobody else may access the pointer at the same time.
    Fault store(comm::Runtime& runtime, std::int64_t etypes);

  private:
    Fault operate(comm::Runtime& runtime, AccessKind kind, MPI_Op op, std::int64_t given,
                  std::int64_t& before);

    std::shared_ptr<SharedMemory> memory_;
    std::atomic<std::int64_t>* value_ = nullptr;  // in the memory
    Window* window_ = nullptr;                    // if there is no such memory
};

}  // namespace poe::mpi
