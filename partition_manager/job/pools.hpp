// Pools of nodes without a resource manager: a file that lists the nodes of each pool, one pool per
// line, its name first. Format: poe-pools(5).
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace poe::pm {

struct Pools {
    std::string path;  // for messages
    std::map<std::string, std::vector<std::string>> nodes;
};

// The file that is read if MP_POOLFILE names no other.
inline constexpr const char* kDefaultPoolFile = "/etc/poe/pools";

// Parses the text of a pools file. `path` is used only in messages. Pure; accepts any bytes.
Result<Pools> parse_pools(std::string_view text, const std::string& path);

// Reads and parses the file. Blocks on the file system. If the file cannot be read, returns a
// UserError.
Result<Pools> load_pools(const std::string& path);

}  // namespace poe::pm
