// CallSites: where the program has made a call. From C this is the return address. From Fortran the
// return address is in the library of the Fortran interface, and the place in the program is one or
// two frames above.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "mpi/observe/flat_table.hpp"
#include "mpi/observe/observed_call.h"

namespace poe::observe {

// Not for several threads.
class CallSites {
  public:
    const void* find(const PoeObservedCall& call) {
        return of_c_[place_in_cache(call.site)] == call.site ? call.site : find_in_table(call);
    }

  private:
    static std::size_t place_in_cache(const void* site) noexcept {
        return reinterpret_cast<std::uintptr_t>(site) / 4 % kCached;
    }

    // The first time that a return address is met, the stack is unwound, which takes microseconds.
    // After that the place is read from the same position of the stack, because each function of
    // such a library has a frame of one size.
    const void* find_in_table(const PoeObservedCall& call);

    static constexpr std::size_t kCached = 64;
    std::array<const void*, kCached> of_c_{};  // return addresses that are in no Fortran library
    // By return address: the distance from the call's object to the place on the stack; 0: no
    // Fortran library.
    FlatTable<unsigned long, std::ptrdiff_t> distances_;
};

}  // namespace poe::observe
