// How POE runs gdb: by its machine interface, without the settings of the user.
#pragma once

#include <string>
#include <vector>

namespace poe::pm {

// The words of the command. `hardware_watchpoints`: whether they work on the node of this gdb.
inline std::vector<std::string> gdb_command(bool hardware_watchpoints) {
    // Ask no server for debugging information: the answer may take minutes.
    std::vector<std::string> words{
        "gdb", "-nx", "-q", "--interpreter=mi3", "-iex", "set debuginfod enabled off"};
    // gdb then executes one instruction at a time, and looks at the variable after each.
    if (!hardware_watchpoints) words.insert(words.end(), {"-iex", "set can-use-hw-watchpoints 0"});
    return words;
}

}  // namespace poe::pm
