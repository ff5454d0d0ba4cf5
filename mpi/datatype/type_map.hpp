// TypeMap: everything that the standard defines about a datatype through its type map (MPI 5.0,
// sections 5.1 and 5.1.6 to 5.1.8): size, bounds, extents, alignment and signature, and the typed
// layout of the data. Pure values: what a constructor means, separate from the object that a
// program's handle names.
#pragma once

#include <cstdint>
#include <stdexcept>

#include "mpi/datatype/node.hpp"
#include "mpi/datatype/predefined.hpp"
#include "mpi/datatype/signature.hpp"

namespace poe::mpi {

// Thrown when a size or a displacement does not fit 64 bits.
struct TypeTooLarge : std::overflow_error {
    TypeTooLarge() : std::overflow_error("the datatype is larger than 64-bit numbers can say") {}
};

std::int64_t checked_add(std::int64_t a, std::int64_t b);
std::int64_t checked_subtract(std::int64_t a, std::int64_t b);
std::int64_t checked_multiply(std::int64_t a, std::int64_t b);

struct TypeMap {
    Placed data;                 // typed
    std::int64_t size = 0;       // bytes of the packed form
    std::int64_t elements = 0;   // basic elements; a pair is two, a complex number one
    std::int64_t alignment = 1;  // the largest of all basic types
    Signature signature;

    // Bounds of the data itself. Meaningless if size is 0.
    std::int64_t data_lower = 0;
    std::int64_t data_upper = 0;
    // Bounds that MPI_Type_create_resized, subarray or darray have set. They replace those of the
    // data, also in types that are built from this one.
    bool bounded = false;
    std::int64_t bound_lower = 0;
    std::int64_t bound_upper = 0;

    // All of these throw TypeTooLarge if a result does not fit 64 bits. A Datatype has none of
    // which this is true.
    std::int64_t lower_bound() const;
    std::int64_t upper_bound() const;
    std::int64_t extent() const;
    std::int64_t true_lower_bound() const { return size == 0 ? 0 : data_lower; }
    std::int64_t true_extent() const;
};

TypeMap basic_type_map(const PredefinedType& type);

// `count` copies, `stride` bytes apart. Requires count >= 0.
TypeMap replicate(const TypeMap& one, std::int64_t count, std::int64_t stride);
// `count` copies, each directly after the extent of the one before.
TypeMap replicate(const TypeMap& one, std::int64_t count);
TypeMap displace(TypeMap map, std::int64_t displacement);
TypeMap with_bounds(TypeMap map, std::int64_t lower, std::int64_t extent);

// Concatenates type maps, each at its own displacement. add() takes constant time on average when
// the same map is added many times in a row.
class TypeMapJoiner {
  public:
    TypeMapJoiner() : nodes_(true) {}

    // Adds `count` consecutive copies of `map` at `displacement` bytes. `map` must stay until
    // finish().
    void add(const TypeMap& map, std::int64_t count, std::int64_t displacement);
    TypeMap finish();

  private:
    void include_bounds(const TypeMap& map, std::int64_t displacement);
    void add_signature();

    TypeMap result_;
    NodeJoiner nodes_;
    // The map that was added last, in the block length that was added last.
    const TypeMap* source_ = nullptr;
    std::int64_t count_ = 0;
    TypeMap block_;
    std::int64_t copies_ = 0;  // of *source_, whose signature is not in the result yet
};

}  // namespace poe::mpi
