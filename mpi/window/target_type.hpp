// TargetType: the target's datatype of an operation, and how it is described to another task. A
// datatype of the program exists at the origin only, so the origin sends its layout: the tree of
// nodes (mpi/datatype/node.hpp) as a sequence of numbers.
//
//   node        numbers
//   kRun        kind, size
//   kLoop       kind, count, stride, child
//   kBlocks     kind, block, blocks, displacement of each; if block is 0: length of each
//   kSequence   kind, children, then for each: displacement, node
//
// The tree comes after the displacement of its root and the extent of the datatype. Pure.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "mpi/datatype/datatype.hpp"
#include "mpi/datatype/node.hpp"
#include "mpi/datatype/typed_layout.hpp"

namespace poe::mpi {

using TypeNumbers = std::vector<std::int64_t>;

// The description of a committed datatype.
TypeNumbers describe_type(const Datatype& type);

// A datatype from its description. The layouts are valid while this object exists.
class TargetType {
  public:
    TargetType() = default;
    // Throws std::runtime_error if the numbers describe no datatype.
    explicit TargetType(std::span<const std::int64_t> numbers);

    TypedLayout layout(std::int64_t count) const noexcept {
        return TypedLayout(data_, count, extent_);
    }

  private:
    Placed data_;
    std::int64_t extent_ = 0;
};

// The code of the predefined datatype of which all elements of the datatype are; 0 if they differ.
std::uint16_t element_of(const Datatype& type) noexcept;

}  // namespace poe::mpi
