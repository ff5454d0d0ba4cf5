// The predefined reductions: {i,s,d} x {vadd, vmul, vmax, vmin}, {b,l} x {vand, vor, vxor}. i is
// int, s float, d double; b works on bits, l on logicals, which are ints that are 0 or not. The
// compiler vectorizes the loops. They are entry points of libmpl; what calls them is in
// reducing.cpp.
#include "collectives/call/reductions.hpp"

#include <cstdint>

#include "base/elementwise.hpp"
#include "comm/api/api_call.hpp"
#include "comm/api/mpproto.h"

namespace poe::collectives {
namespace {

// A processor that has AVX2 executes a version for it, which computes the same bits and is up to
// twice as fast on data in the caches.
template <typename T, typename Op>
[[gnu::optimize("O3")]] void each_plain(const void* one, const void* two, void* out,
                                        const int* bytes) {
    for_each_element<T>(one, two, out, static_cast<std::size_t>(*bytes), Op{});
}
#ifdef __x86_64__
template <typename T, typename Op>
[[gnu::optimize("O3"), gnu::target("avx2")]] void each_wide(const void* one, const void* two,
                                                            void* out, const int* bytes) {
    for_each_element<T>(one, two, out, static_cast<std::size_t>(*bytes), Op{});
}
#endif
template <typename T, typename Op>
void reduce(const void* one, const void* two, void* out, const int* bytes) {
#ifdef __x86_64__
    static const bool is_wide = __builtin_cpu_supports("avx2") != 0;
    if (is_wide) return each_wide<T, Op>(one, two, out, bytes);
#endif
    each_plain<T, Op>(one, two, out, bytes);
}

// Signed overflow wraps around, as on the computers that these functions come from.
int add(int a, int b) {
    return static_cast<int>(static_cast<unsigned>(a) + static_cast<unsigned>(b));
}
int multiply(int a, int b) {
    return static_cast<int>(static_cast<unsigned>(a) * static_cast<unsigned>(b));
}

// NaNs propagate: the maximum and the minimum are NaN if any operand is NaN, whatever its position.
// Two conditional expressions, which the compiler can vectorize.
template <typename T>
T greater(T a, T b) {
    const T more = a < b ? b : a;
    return b != b ? b : more;
}
template <typename T>
T less(T a, T b) {
    const T fewer = b < a ? b : a;
    return b != b ? b : fewer;
}

}  // namespace
}  // namespace poe::collectives

// Weak in the static library, so that a program's own function of the same name takes precedence.
// The Fortran name is an alias of the same function.
#define MPL_REDUCTION(NAME, TYPE, EXPRESSION)                                                    \
    extern "C" MPL_EXPORT __attribute__((weak)) void NAME(void* one, void* two, void* out,       \
                                                          int* len) {                            \
        using Op = decltype([](TYPE a, TYPE b) -> TYPE { return EXPRESSION; });                  \
        poe::collectives::reduce<TYPE, Op>(one, two, out, len);                                  \
    }                                                                                            \
    extern "C" MPL_EXPORT __attribute__((weak, alias(#NAME))) void NAME##_(void* one, void* two, \
                                                                           void* out, int* len);

MPL_REDUCTION(i_vadd, int, poe::collectives::add(a, b))
MPL_REDUCTION(i_vmul, int, poe::collectives::multiply(a, b))
MPL_REDUCTION(i_vmax, int, a < b ? b : a)
MPL_REDUCTION(i_vmin, int, b < a ? b : a)
MPL_REDUCTION(s_vadd, float, a + b)
MPL_REDUCTION(s_vmul, float, a* b)
MPL_REDUCTION(s_vmax, float, poe::collectives::greater(a, b))
MPL_REDUCTION(s_vmin, float, poe::collectives::less(a, b))
MPL_REDUCTION(d_vadd, double, a + b)
MPL_REDUCTION(d_vmul, double, a* b)
MPL_REDUCTION(d_vmax, double, poe::collectives::greater(a, b))
MPL_REDUCTION(d_vmin, double, poe::collectives::less(a, b))
MPL_REDUCTION(b_vand, unsigned char, static_cast<unsigned char>(a& b))
MPL_REDUCTION(b_vor, unsigned char, static_cast<unsigned char>(a | b))
MPL_REDUCTION(b_vxor, unsigned char, static_cast<unsigned char>(a ^ b))
MPL_REDUCTION(l_vand, int, (a != 0 && b != 0) ? 1 : 0)
MPL_REDUCTION(l_vor, int, (a != 0 || b != 0) ? 1 : 0)
MPL_REDUCTION(l_vxor, int, ((a != 0) != (b != 0)) ? 1 : 0)

namespace poe::collectives {

Reduction find_reduction(ReduceFunction function) noexcept {
    static const Reduction predefined[] = {
        {i_vadd, "i_vadd", sizeof(int), true}, {i_vmul, "i_vmul", sizeof(int), true},
        {i_vmax, "i_vmax", sizeof(int), true}, {i_vmin, "i_vmin", sizeof(int), true},
        {s_vadd, "s_vadd", sizeof(float)},     {s_vmul, "s_vmul", sizeof(float)},
        {s_vmax, "s_vmax", sizeof(float)},     {s_vmin, "s_vmin", sizeof(float)},
        {d_vadd, "d_vadd", sizeof(double)},    {d_vmul, "d_vmul", sizeof(double)},
        {d_vmax, "d_vmax", sizeof(double)},    {d_vmin, "d_vmin", sizeof(double)},
        {b_vand, "b_vand", 1, true},           {b_vor, "b_vor", 1, true},
        {b_vxor, "b_vxor", 1, true},           {l_vand, "l_vand", sizeof(int), true},
        {l_vor, "l_vor", sizeof(int), true},   {l_vxor, "l_vxor", sizeof(int), true},
    };
    for (const Reduction& known : predefined) {
        if (known.function == function) return known;
    }
    return {function, nullptr, 0};
}

}  // namespace poe::collectives
