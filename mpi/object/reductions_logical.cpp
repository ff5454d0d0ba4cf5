// The bitwise operations MPI_BAND, MPI_BOR, MPI_BXOR and the logical operations MPI_LAND, MPI_LOR,
// MPI_LXOR. A logical result is 0 or 1, which is also what gfortran means by .FALSE. and .TRUE.
#include <mpi.h>

#include "mpi/object/elements.hpp"
#include "mpi/object/handle.hpp"
#include "mpi/object/reductions.hpp"

namespace poe::mpi {
namespace {

struct BitsAnd {
    template <typename T>
    T operator()(T a, T b) const {
        return static_cast<T>(a & b);
    }
};
struct BitsOr {
    template <typename T>
    T operator()(T a, T b) const {
        return static_cast<T>(a | b);
    }
};
struct BitsXor {
    template <typename T>
    T operator()(T a, T b) const {
        return static_cast<T>(a ^ b);
    }
};

template <typename T>
bool is_true(T value) {
    return value != static_cast<T>(0);
}
template <typename T>
T truth(bool value) {
    return static_cast<T>(value ? 1 : 0);
}
struct LogicalAnd {
    template <typename T>
    T operator()(T a, T b) const {
        return truth<T>(is_true(a) & is_true(b));
    }
};
struct LogicalOr {
    template <typename T>
    T operator()(T a, T b) const {
        return truth<T>(is_true(a) | is_true(b));
    }
};
struct LogicalXor {
    template <typename T>
    T operator()(T a, T b) const {
        return truth<T>(is_true(a) != is_true(b));
    }
};

template <typename T>
ReductionKernel bit_kernel(std::uintptr_t operation) noexcept {
    if (operation == value_of(MPI_BAND)) return kernel_of<T, BitsAnd>();
    if (operation == value_of(MPI_BOR)) return kernel_of<T, BitsOr>();
    if (operation == value_of(MPI_BXOR)) return kernel_of<T, BitsXor>();
    return nullptr;
}
template <typename T>
ReductionKernel truth_kernel(std::uintptr_t operation) noexcept {
    if (operation == value_of(MPI_LAND)) return kernel_of<T, LogicalAnd>();
    if (operation == value_of(MPI_LOR)) return kernel_of<T, LogicalOr>();
    if (operation == value_of(MPI_LXOR)) return kernel_of<T, LogicalXor>();
    return nullptr;
}

bool has_bits(const PredefinedType& type) noexcept {
    switch (type.type_class) {
        case TypeClass::kInteger:
        case TypeClass::kFortranInteger:
        case TypeClass::kByte:
        case TypeClass::kMultiLanguage:
            return true;
        case TypeClass::kCharacter:
            return type.code == value_of(MPI_CHAR);
        default:
            return false;
    }
}

}  // namespace

ReductionKernel find_logical_kernel(std::uintptr_t operation, const PredefinedType& type) noexcept {
    if (has_bits(type)) {
        const ReductionKernel kernel = with_integer(
            type.element, [&](auto zero) { return bit_kernel<decltype(zero)>(operation); });
        if (kernel != nullptr) return kernel;
    }
    if (type.type_class == TypeClass::kFloating) {
        return with_floating(type.element,
                             [&](auto zero) { return truth_kernel<decltype(zero)>(operation); });
    }
    if (type.type_class == TypeClass::kLogical ||
        (has_bits(type) && type.type_class != TypeClass::kByte)) {
        return with_integer(type.element,
                            [&](auto zero) { return truth_kernel<decltype(zero)>(operation); });
    }
    return nullptr;
}

}  // namespace poe::mpi
