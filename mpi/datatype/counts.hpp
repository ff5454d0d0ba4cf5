// Counts: an array of counts or displacements of the program. Separate, because both datatypes and
// the bodies of functions see arrays this way.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>

namespace poe::mpi {

// An array of counts or displacements of the program, of int, MPI_Aint or MPI_Count. Does not own
// it.
class Counts {
  public:
    template <std::signed_integral T>
    Counts(const T* first) noexcept : first_(first), is_wide_(sizeof(T) == 8) {
        static_assert(sizeof(T) == 4 || sizeof(T) == 8);
    }
    Counts(std::nullptr_t) noexcept : first_(nullptr), is_wide_(true) {}

    bool is_null() const noexcept { return first_ == nullptr; }
    template <std::integral Index>
    std::int64_t operator[](Index i) const noexcept {
        return is_wide_ ? static_cast<const std::int64_t*>(first_)[i]
                        : static_cast<const std::int32_t*>(first_)[i];
    }

  private:
    const void* first_;
    bool is_wide_;
};

}  // namespace poe::mpi
