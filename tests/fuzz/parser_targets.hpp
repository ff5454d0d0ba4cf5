// The parsers that are fuzzed, each with what it promises for every input.
#pragma once

#include <vector>

#include "tests/fuzz/fuzz_driver.hpp"

namespace poe::fuzz {

const std::vector<FuzzTarget>& parser_targets();

}  // namespace poe::fuzz
