// MPI_SUM, MPI_PROD, MPI_MAX and MPI_MIN.
#include <mpi.h>
#include <type_traits>

#include "mpi/object/elements.hpp"
#include "mpi/object/handle.hpp"
#include "mpi/object/reductions.hpp"

namespace poe::mpi {
namespace {

// The type in which integers are added and multiplied: unsigned, so that an overflow wraps around,
// and not so short that the operands would be promoted to int.
template <typename T>
struct WrappingType {
    using Type = std::conditional_t<sizeof(T) <= 4, std::uint32_t,
                                    std::conditional_t<sizeof(T) == 8, std::uint64_t, Uint128>>;
};

template <typename T>
inline constexpr bool kIsFloating =
    std::is_floating_point_v<T> || std::is_same_v<T, Half> || std::is_same_v<T, Float128>;

struct Sum {
    template <typename T>
    T operator()(T a, T b) const {
        if constexpr (kIsFloating<T>) {
            return static_cast<T>(a + b);
        } else {
            using W = typename WrappingType<T>::Type;
            return static_cast<T>(static_cast<W>(a) + static_cast<W>(b));
        }
    }
};

struct Product {
    template <typename T>
    T operator()(T a, T b) const {
        if constexpr (kIsFloating<T>) {
            return static_cast<T>(a * b);
        } else {
            using W = typename WrappingType<T>::Type;
            return static_cast<T>(static_cast<W>(a) * static_cast<W>(b));
        }
    }
};

// If an operand is NaN, the maximum and the minimum are NaN, whatever its position, so that the
// result does not depend on the order of the members. Two conditional expressions, which the
// compiler can vectorize.
struct Maximum {
    template <typename T>
    T operator()(T a, T b) const {
        const T more = a < b ? b : a;
        return b != b ? b : more;
    }
};
struct Minimum {
    template <typename T>
    T operator()(T a, T b) const {
        const T fewer = b < a ? b : a;
        return b != b ? b : fewer;
    }
};

// Halves are multiplied as floats, and rounded once.
struct ComplexProduct {
    template <typename T>
    Complex<T> operator()(const Complex<T>& a, const Complex<T>& b) const {
        using W = std::conditional_t<std::is_same_v<T, Half>, float, T>;
        const W ar = a.real;
        const W ai = a.imaginary;
        const W br = b.real;
        const W bi = b.imaginary;
        return {static_cast<T>(ar * br - ai * bi), static_cast<T>(ar * bi + ai * br)};
    }
};

template <typename T>
ReductionKernel real_kernel(std::uintptr_t operation) noexcept {
    if (operation == value_of(MPI_SUM)) return kernel_of<T, Sum>();
    if (operation == value_of(MPI_PROD)) return kernel_of<T, Product>();
    if (operation == value_of(MPI_MAX)) return kernel_of<T, Maximum>();
    if (operation == value_of(MPI_MIN)) return kernel_of<T, Minimum>();
    return nullptr;
}
// A sum of complex numbers is two independent sums.
template <typename T>
ReductionKernel complex_kernel(std::uintptr_t operation) noexcept {
    if (operation == value_of(MPI_SUM)) return kernel_of<T, Sum>();
    if (operation == value_of(MPI_PROD)) return kernel_of<Complex<T>, ComplexProduct>();
    return nullptr;
}

}  // namespace

ReductionKernel find_arithmetic_kernel(std::uintptr_t operation,
                                       const PredefinedType& type) noexcept {
    switch (type.type_class) {
        case TypeClass::kCharacter:
            if (type.code != value_of(MPI_CHAR)) return nullptr;
            [[fallthrough]];
        case TypeClass::kInteger:
        case TypeClass::kFortranInteger:
        case TypeClass::kMultiLanguage:
            return with_integer(type.element,
                                [&](auto zero) { return real_kernel<decltype(zero)>(operation); });
        case TypeClass::kFloating:
            return with_floating(type.element,
                                 [&](auto zero) { return real_kernel<decltype(zero)>(operation); });
        case TypeClass::kComplex:
            return with_floating(
                type.element, [&](auto zero) { return complex_kernel<decltype(zero)>(operation); });
        default:
            return nullptr;
    }
}

}  // namespace poe::mpi
