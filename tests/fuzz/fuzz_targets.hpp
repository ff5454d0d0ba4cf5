// The parsers that are fuzzed, each with what it promises for every input.
#pragma once

#include <vector>

#include "tests/fuzz/fuzz_driver.hpp"

namespace poe::fuzz {

const std::vector<Parser>& parsers();

}  // namespace poe::fuzz
