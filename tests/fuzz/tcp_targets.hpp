// What is fuzzed of the TCP pipe between two tasks, with what it promises for every input.
#pragma once

#include <string>
#include <vector>

#include "tests/fuzz/fuzz_driver.hpp"

namespace poe::fuzz {

const std::vector<FuzzTarget>& tcp_targets();

// Writes a corpus for the target to `folder`; the same whoever makes it.
void write_tcp_corpus(const std::string& folder);

}  // namespace poe::fuzz
