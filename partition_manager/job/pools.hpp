// Pools of nodes without a resource manager: a file that says which nodes belong to each pool, one
// pool a line, its name first. Format: poe-pools(5).
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

// The file that is read when MP_POOLFILE names no other.
inline constexpr const char* kDefaultPoolFile = "/etc/poe/pools";

// Reads the text of a pools file; `path` is only for messages. Pure; any bytes are allowed.
Result<Pools> parse_pools(std::string_view text, const std::string& path);

// Reads and parses the file. Blocks on the file system; a file that cannot be read is a UserError.
Result<Pools> load_pools(const std::string& path);

}  // namespace poe::pm
