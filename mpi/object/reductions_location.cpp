// MPI_MAXLOC and MPI_MINLOC on pairs of a value and an index (MPI 5.0, section 6.9.4). Of equal
// values the one with the smaller index wins. The pairs of Fortran have an index of the type of the
// value.
#include <mpi.h>
#include <type_traits>

#include "mpi/object/elements.hpp"
#include "mpi/object/handle.hpp"
#include "mpi/object/reductions.hpp"

namespace poe::mpi {
namespace {

template <typename Value, typename Index>
struct Pair {
    Value value;
    Index index;
};

// Members are copied one by one, because the padding of a pair belongs to the program.
template <typename Value, typename Index, bool kMaximum>
void locate(const void* one, const void* two, void* out, std::size_t bytes) {
    using P = Pair<Value, Index>;
    const auto* a = static_cast<const char*>(one);
    const auto* b = static_cast<const char*>(two);
    auto* c = static_cast<char*>(out);
    for (std::size_t at = 0; at < bytes; at += sizeof(P)) {
        P left;
        P right;
        std::memcpy(&left, a + at, sizeof(P));
        std::memcpy(&right, b + at, sizeof(P));
        const bool better = kMaximum ? right.value < left.value : left.value < right.value;
        const bool first = better || (left.value == right.value && left.index < right.index);
        const P& found = first ? left : right;
        std::memcpy(c + at + offsetof(P, value), &found.value, sizeof(Value));
        std::memcpy(c + at + offsetof(P, index), &found.index, sizeof(Index));
    }
}

template <typename Value, typename Index>
ReductionKernel location_kernel(std::uintptr_t operation) noexcept {
    if (operation == value_of(MPI_MAXLOC)) return locate<Value, Index, true>;
    if (operation == value_of(MPI_MINLOC)) return locate<Value, Index, false>;
    return nullptr;
}

}  // namespace

ReductionKernel find_location_kernel(std::uintptr_t operation,
                                     const PredefinedType& type) noexcept {
    if (type.type_class != TypeClass::kPair) return nullptr;
    if (type.second == Element::kFloat32) return location_kernel<float, float>(operation);
    if (type.second == Element::kFloat64) return location_kernel<double, double>(operation);
    switch (type.element) {
        case Element::kInt16:
            return location_kernel<std::int16_t, int>(operation);
        case Element::kInt32:
            return location_kernel<std::int32_t, int>(operation);
        case Element::kInt64:
            return location_kernel<std::int64_t, int>(operation);
        case Element::kFloat32:
            return location_kernel<float, int>(operation);
        case Element::kFloat64:
            return location_kernel<double, int>(operation);
        case Element::kLongDouble:
            return location_kernel<long double, int>(operation);
        default:
            return nullptr;
    }
}

}  // namespace poe::mpi
