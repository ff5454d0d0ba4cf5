// Traces of any content, each with what reading promises for it.
#pragma once

#include <string>
#include <vector>

#include "tests/fuzz/fuzz_driver.hpp"

namespace poe::fuzz {

const std::vector<FuzzTarget>& trace_targets();
void write_trace_corpus(const std::string& folder);

}  // namespace poe::fuzz
