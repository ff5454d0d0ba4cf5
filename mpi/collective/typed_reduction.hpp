// TypedReduction: an operation of MPI on a datatype, in the form in which CCL reduces (MPI 5.0,
// section 6.9).
//
// CCL reduces vectors of bytes. A vector of a predefined datatype, or of a contiguous one, is the
// program's memory. The program's function expects elements of its datatype laid out as in memory,
// so a vector of any other datatype is an image: the elements at their distances, without what lies
// between them. Images are made before and copied back after the call; what lies between the
// elements in the program's memory stays as it is.
#pragma once

#include <cstddef>
#include <mpi.h>
#include <vector>

#include "collectives/call/call.hpp"
#include "collectives/call/reductions.hpp"
#include "mpi/datatype/datatype.hpp"
#include "mpi/object/fault.hpp"
#include "mpi/object/operation.hpp"
#include "mpi/object/reductions.hpp"

namespace poe::mpi {

// A predefined operation on a predefined datatype, as it was looked up. Programs repeat their
// reductions, so a communicator keeps the last one.
struct KnownReduction {
    MPI_Op op = MPI_OP_NULL;
    MPI_Datatype type = MPI_DATATYPE_NULL;
    ReductionKernel kernel = nullptr;
    bool commutative = false;
    bool exact = false;
};

class TypedReduction final : public collectives::ReductionOperation {
  public:
    TypedReduction() = default;
    ~TypedReduction();
    TypedReduction(const TypedReduction&) = delete;
    TypedReduction& operator=(const TypedReduction&) = delete;

    // Makes it the operation `op` on `type`. The operation stays until the destructor; the datatype
    // must stay as well. Refuses what is no operation, and a predefined operation that is not
    // defined on the datatype. Called once. `last` is the reduction that was defined last; it is
    // replaced if this one is predefined.
    Fault define(MPI_Op op, MPI_Datatype handle, const Datatype& type, KnownReduction& last);

    // Makes it a predefined operation that was defined before, and returns it for CCL. Only for an
    // object that nobody calls define() for; may be called again.
    const collectives::Reduction& repeat(const KnownReduction& known) noexcept;

    // For CCL: out = one op two, where `one` is the operand of the lower ranks. May call the
    // program's function.
    void reduce(std::byte* out, const std::byte* one, const std::byte* two,
                Bytes length) const override;

    collectives::Reduction reduction() const noexcept;
    // Sets what the shape of a call says of its reduction.
    void describe(collectives::Shape& shape) const noexcept;
    bool commutative() const noexcept { return commutative_; }
    bool calls_program() const noexcept { return kernel_ == nullptr; }

    // True if the program's memory is the vector.
    bool direct() const noexcept { return direct_; }
    // The bytes of a vector of `count` elements.
    Bytes bytes(std::int64_t count) const noexcept;
    // The address to which the datatype refers in a vector of `count` elements that begins at
    // `vector`.
    std::byte* origin(std::byte* vector, std::int64_t count) const noexcept;

  private:
    void use(const KnownReduction& known, std::int64_t extent) noexcept;
    std::int64_t elements(Bytes length) const noexcept;
    void apply_program(const std::byte* in, std::byte* inout, Bytes length) const;

    MPI_Op op_ = MPI_OP_NULL;
    MPI_Datatype handle_ = MPI_DATATYPE_NULL;
    Operation* operation_ = nullptr;  // of the program; holds a reference
    ReductionKernel kernel_ = nullptr;
    bool commutative_ = false;
    bool exact_ = false;
    bool direct_ = true;
    bool separate_ = true;  // elements do not overlap, so that a vector may be cut between them
    std::int64_t extent_ = 1;
    std::int64_t lower_ = 0;  // true lower bound
    std::int64_t span_ = 0;   // true extent
    mutable std::vector<std::byte> copy_;
    collectives::Reduction repeated_;  // of repeat()
};

}  // namespace poe::mpi
