// Vectors: the operands of a reduction as CCL sees them: the program's memory, or images of its
// elements (typed_reduction.hpp).
#pragma once

#include "mpi/collective/collective.hpp"

namespace poe::mpi::collective {

class Vectors {
  public:
    // Checks the operands and defines the sequence's reduction. `gives`, `gets`: which of the two
    // buffers this member uses. Faults are left in the sequence.
    Vectors(Sequence& sequence, const Operands& operands, bool gives, bool gets);

    // Precondition of all others: the sequence had no fault.
    const TypedReduction& reduction() const noexcept { return *reduction_; }
    // `count` elements of the program.
    Data program(const void* address, std::int64_t count) const noexcept {
        return Data(*type_, address, count);
    }
    // The address of an element of the program.
    std::byte* element(const void* address, std::int64_t number) const noexcept {
        return moved_address(address, number * type_->extent());
    }

    // A vector of `count` elements at `address`: the program's memory, or a copy of it.
    const std::byte* given(Sequence& sequence, const void* address, std::int64_t count,
                           bool copy) const;
    // Makes an image of the elements from `first` on.
    void make_image(Sequence& sequence, const void* address, std::int64_t first, std::int64_t count,
                    std::byte* image) const;
    // Memory for a result of `count` elements: the program's memory at `address`, or scratch
    // memory.
    std::byte* result(Sequence& sequence, void* address, std::int64_t count) const;
    // Copies a vector to the program's memory unless it is there.
    void put(Sequence& sequence, const std::byte* vector, void* address, std::int64_t count) const;
    // The elements of a vector of `count` elements, from `first` on.
    Data part(std::byte* vector, std::int64_t count, std::int64_t first,
              std::int64_t elements) const noexcept;

  private:
    const Datatype* type_ = nullptr;
    const TypedReduction* reduction_ = nullptr;
};

}  // namespace poe::mpi::collective
