// MPI_SUM, MPI_PROD, MPI_MAX and MPI_MIN. The compiler vectorizes the loops.
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

template <typename T>
T add(T a, T b) {
    if constexpr (kIsFloating<T>) {
        return static_cast<T>(a + b);
    } else {
        using W = typename WrappingType<T>::Type;
        return static_cast<T>(static_cast<W>(a) + static_cast<W>(b));
    }
}
template <typename T>
T multiply(T a, T b) {
    if constexpr (kIsFloating<T>) {
        return static_cast<T>(a * b);
    } else {
        using W = typename WrappingType<T>::Type;
        return static_cast<T>(static_cast<W>(a) * static_cast<W>(b));
    }
}

// If an operand is NaN, the maximum and the minimum are NaN, whatever its position, so that the
// result does not depend on the order of the members. Two conditional expressions, which the
// compiler can vectorize.
template <typename T>
T greater(T a, T b) {
    const T more = a < b ? b : a;
    return b != b ? b : more;
}
template <typename T>
T smaller(T a, T b) {
    const T fewer = b < a ? b : a;
    return b != b ? b : fewer;
}

template <typename T>
void sum(const void* in, void* inout, std::size_t count) {
    for_each_element<T>(in, inout, count, [](T a, T b) { return add(a, b); });
}
template <typename T>
void product(const void* in, void* inout, std::size_t count) {
    for_each_element<T>(in, inout, count, [](T a, T b) { return multiply(a, b); });
}
template <typename T>
void maximum(const void* in, void* inout, std::size_t count) {
    for_each_element<T>(in, inout, count, [](T a, T b) { return greater(a, b); });
}
template <typename T>
void minimum(const void* in, void* inout, std::size_t count) {
    for_each_element<T>(in, inout, count, [](T a, T b) { return smaller(a, b); });
}

template <typename T>
void complex_sum(const void* in, void* inout, std::size_t count) {
    // Pairs of independent sums.
    sum<T>(in, inout, 2 * count);
}
template <typename T>
void complex_product(const void* in, void* inout, std::size_t count) {
    // Halves are multiplied as floats, and rounded once.
    using W = std::conditional_t<std::is_same_v<T, Half>, float, T>;
    for_each_element<Complex<T>>(in, inout, count, [](const Complex<T>& a, const Complex<T>& b) {
        const W ar = a.real;
        const W ai = a.imaginary;
        const W br = b.real;
        const W bi = b.imaginary;
        return Complex<T>{static_cast<T>(ar * br - ai * bi), static_cast<T>(ar * bi + ai * br)};
    });
}

template <typename T>
ReductionKernel real_kernel(std::uintptr_t operation) noexcept {
    if (operation == value_of(MPI_SUM)) return sum<T>;
    if (operation == value_of(MPI_PROD)) return product<T>;
    if (operation == value_of(MPI_MAX)) return maximum<T>;
    if (operation == value_of(MPI_MIN)) return minimum<T>;
    return nullptr;
}
template <typename T>
ReductionKernel complex_kernel(std::uintptr_t operation) noexcept {
    if (operation == value_of(MPI_SUM)) return complex_sum<T>;
    if (operation == value_of(MPI_PROD)) return complex_product<T>;
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
