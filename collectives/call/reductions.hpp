// Reductions: the functions that mpc_reduce and its like are given. The predefined ones are real
// functions, d_vadd and so on, that programs may also call themselves; the executor knows them by
// their addresses, and so knows their elements and that they are commutative. Anything else is the
// user's: associative, perhaps not commutative, of elements that nobody here knows.
#pragma once

#include <cstddef>

#include "base/types.hpp"

namespace poe::collectives {

// out = one op two, *len bytes. The predefined ones may be given an out that is one of the others.
using ReduceFunction = void (*)(void* one, void* two, void* out, int* len);

// A function and what is known of it.
struct Reduction {
    ReduceFunction function = nullptr;
    const char* name = nullptr;  // null: the user's, which may not commute; all others do
    Bytes element = 0;           // likewise 0
    bool exact = false;          // the same bits in whatever order; not of floating-point numbers
};

Reduction find_reduction(ReduceFunction function) noexcept;

// The longest vector that a function can be told of.
inline constexpr Bytes kLongestVector = 0x7fffffff;

// out = one op two; out may be one of the others. `scratch` is room for `length` bytes when the
// function is the user's, whose arguments never overlap; else it is not used. Long vectors of
// predefined functions go in pieces.
void reduce_to(const Reduction& reduction, std::byte* out, const std::byte* one,
               const std::byte* two, Bytes length, std::byte* scratch);

// The same, to = to op from (append), or from op to.
void reduce_into(const Reduction& reduction, std::byte* to, const std::byte* from, Bytes length,
                 bool append, std::byte* scratch);

}  // namespace poe::collectives
