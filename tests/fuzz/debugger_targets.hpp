// What pdbx reads: gdb's machine interface and command lines, with what is promised for every
// input.
#pragma once

#include <vector>

#include "tests/fuzz/fuzz_driver.hpp"

namespace poe::fuzz {

const std::vector<FuzzTarget>& debugger_targets();

}  // namespace poe::fuzz
