// How POE runs gdb: by its machine interface, without the settings of the user.
#pragma once

#include <string>
#include <vector>

namespace poe::pm {

// Ask no server for debugging information: the answer may take minutes.
inline std::vector<std::string> gdb_command() {
    return {"gdb", "-nx", "-q", "--interpreter=mi3", "-iex", "set debuginfod enabled off"};
}

}  // namespace poe::pm
