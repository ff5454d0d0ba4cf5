// Reductions: the functions that are passed to mpc_reduce and similar calls. The predefined ones,
// such as d_vadd, are real functions that programs may also call themselves. The executor
// recognizes them by address, and thus knows their element size and that they are commutative.
// Every other function is a user's function: it is associative but may not be commutative, and its
// elements are unknown.
#pragma once

#include <cstddef>

#include "base/types.hpp"

namespace poe::collectives {

// Sets out = one op two, for *len bytes. For predefined functions, `out` may be `one` or `two`.
using ReduceFunction = void (*)(void* one, void* two, void* out, int* len);

// An operation that needs more than its operands, such as one of MPI on a datatype. Its owner keeps
// it while calls use it.
class ReductionOperation {
  public:
    // Sets out = one op two, for `length` bytes; `out` may be `one` or `two`. `one` and `two` do
    // not overlap. Does not block.
    virtual void reduce(std::byte* out, const std::byte* one, const std::byte* two,
                        Bytes length) const = 0;

  protected:
    ~ReductionOperation() = default;
};

// A function or an operation, and what is known about it.
struct Reduction {
    ReduceFunction function = nullptr;
    const char* name = nullptr;  // null: a user's function, which may not commute; all others do
    Bytes element = 0;           // bytes; 0: a user's function
    bool exact = false;          // the same bits in every order; not for floating-point numbers
    const ReductionOperation* operation = nullptr;  // used instead of `function` if it is not null

    // True if a reduction calls a function of the program.
    bool calls_user() const noexcept {
        return name == nullptr && (function != nullptr || operation != nullptr);
    }
};

Reduction find_reduction(ReduceFunction function) noexcept;

// The longest vector, in bytes, whose length can be passed to a function.
inline constexpr Bytes kLongestVector = 0x7fffffff;

// Sets out = one op two; `out` may be `one` or `two`. For a user's function, whose arguments must
// not overlap, `scratch` has room for `length` bytes; otherwise it is not used. Predefined
// functions get long vectors in pieces. Does not block.
void reduce_to(const Reduction& reduction, std::byte* out, const std::byte* one,
               const std::byte* two, Bytes length, std::byte* scratch);

// The same: to = to op from (append), or to = from op to.
void reduce_into(const Reduction& reduction, std::byte* to, const std::byte* from, Bytes length,
                 bool append, std::byte* scratch);

}  // namespace poe::collectives
