// What is fuzzed of the channel between poe and pmd, each with what it promises for every input.
#pragma once

#include <string>
#include <vector>

#include "tests/fuzz/fuzz_driver.hpp"

namespace poe::fuzz {

const std::vector<FuzzTarget>& channel_targets();

// Writes a corpus for the targets to `folder`: messages of all kinds, and frames. From numbers, so
// that it is the same whoever makes it.
void write_channel_corpus(const std::string& folder);

}  // namespace poe::fuzz
