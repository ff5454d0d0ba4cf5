// Counts: an array of counts, block lengths or displacements as the user passed it, of `int` or of
// 64-bit numbers (MPI_Count, MPI_Aint). One body therefore serves a function and its `_c` form.
#pragma once

#include <cstddef>
#include <cstdint>

namespace poe::mpi {

// Does not own the array. It must live until the call returns.
class Counts {
  public:
    Counts() = default;
    explicit Counts(const int* narrow) noexcept : narrow_(narrow) {}
    explicit Counts(const std::int64_t* wide) noexcept : wide_(wide) {}

    bool null() const noexcept { return narrow_ == nullptr && wide_ == nullptr; }
    std::int64_t operator[](std::int64_t i) const noexcept {
        return wide_ != nullptr ? wide_[i] : narrow_[i];
    }

  private:
    const int* narrow_ = nullptr;
    const std::int64_t* wide_ = nullptr;
};

}  // namespace poe::mpi
