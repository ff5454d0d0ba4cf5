// CallSites: where the program has made a call. From C this is the return address. From Fortran the return
// address is in the library of the Fortran interface, and the place in the program is one or two frames above.
#pragma once

#include <cstddef>

#include "mpi/observe/flat_table.hpp"
#include "mpi/observe/observed_call.h"

namespace poe::observe {

// Not for several threads.
class CallSites {
  public:
    // The first time that a return address is met, the stack is unwound, which takes microseconds. After that
    // the place is read from the same position of the stack, because each function of such a library has a
    // frame of one size.
    const void* find(const PoeObservedCall& call);

  private:
    // By return address: the distance from the call's object to the place on the stack; 0: no Fortran library.
    FlatTable<unsigned long, std::ptrdiff_t> distances_;
};

}  // namespace poe::observe
