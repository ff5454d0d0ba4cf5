// The parameters that are int in one form of a function and wider in the large-count form (_c), as
// bodies see them: one type for both.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <mpi.h>

#include "mpi/datatype/counts.hpp"

namespace poe::mpi {

// Where a function stores a count, or reads and updates one. Does not own it.
class CountOut {
  public:
    CountOut() noexcept = default;  // of the form of the function that has no such parameter
    template <std::signed_integral T>
    CountOut(T* to) noexcept : to_(to), is_wide_(sizeof(T) == 8) {
        static_assert(sizeof(T) == 4 || sizeof(T) == 8);
    }

    bool is_null() const noexcept { return to_ == nullptr; }
    MPI_Count get() const noexcept {
        return is_wide_ ? *static_cast<const std::int64_t*>(to_)
                        : *static_cast<const std::int32_t*>(to_);
    }
    // Stores the value; does nothing if is_null(). If the program's variable is an int that cannot
    // hold the value, stores MPI_UNDEFINED and returns false; the standard says for each function
    // whether this is an error.
    bool set(MPI_Count value) const noexcept {
        if (to_ == nullptr) return true;
        if (is_wide_) {
            *static_cast<std::int64_t*>(to_) = value;
            return true;
        }
        const bool fits = value >= std::numeric_limits<std::int32_t>::min() &&
                          value <= std::numeric_limits<std::int32_t>::max();
        *static_cast<std::int32_t*>(to_) = fits ? static_cast<std::int32_t>(value) : MPI_UNDEFINED;
        return fits;
    }

  private:
    void* to_ = nullptr;
    bool is_wide_ = false;
};

// A function of the program with counts of either type: at most one of the two is not null.
template <typename Narrow, typename Wide>
struct Callback {
    Callback(Narrow* function) noexcept : narrow(function) {}
    Callback(Wide* function) noexcept : wide(function) {}

    bool is_null() const noexcept { return narrow == nullptr && wide == nullptr; }

    Narrow* narrow = nullptr;
    Wide* wide = nullptr;
};

}  // namespace poe::mpi
