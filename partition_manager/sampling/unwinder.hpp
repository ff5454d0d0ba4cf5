// Unwinding: the return addresses of a thread whose registers and stack were copied. Pure but for
// the rules, which the caller looks up.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "partition_manager/sampling/unwind_rule.hpp"

namespace poe::pm {

struct StackWalk {
    // The address of the instruction, and then for each caller the last byte of its call
    // instruction: innermost first.
    std::vector<std::uint64_t> addresses;
    bool whole = false;  // the outermost function was reached
};

struct UnwindSources {
    // Returns the rule at an address of the process; null if the address is in no code.
    std::function<const UnwindRule*(std::uint64_t)> rule_of;
    // Returns a word of the thread's stack.
    std::function<std::optional<std::uint64_t>(std::uint64_t)> word_at;
};

inline constexpr std::size_t kDeepestStack = 1024;

// A function without unwind tables is left by its frame pointer if this leads to code, as in
// programs that were compiled by a just-in-time compiler.
StackWalk walk_stack(Registers registers, const UnwindSources& sources);

}  // namespace poe::pm
