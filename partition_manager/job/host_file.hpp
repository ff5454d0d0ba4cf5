// The host file: which node each task runs on, one node or one @pool per line, in task order.
// Reading is separate from mapping tasks (task_map.hpp), so that it can be fuzzed as text, and from
// finding nodes, which the launcher does. Format: poe-hostfile(5). Source: Parallel Environment,
// "Operation and Use".
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace poe::pm {

// The requested use of a node's adapter and processors (second and third word of a line).
enum class AdapterUse { kUnspecified, kShared, kDedicated };
enum class CpuUse { kUnspecified, kMultiple, kUnique };

// One line that is neither blank nor a comment. Line and column (of the name) count from 1.
struct HostLine {
    std::string name;      // a node or, without its '@', a pool
    bool is_pool = false;  // written as @name
    AdapterUse adapter_use = AdapterUse::kUnspecified;
    CpuUse cpu_use = CpuUse::kUnspecified;
    int line = 0;
    int column = 0;
};

struct HostFile {
    std::string path;  // as the user wrote it, for messages
    std::vector<HostLine> lines;
};

// The user's choice of a host file: -hostfile and MP_HOSTFILE.
enum class HostFileUse {
    kDefault,  // neither is given: host.list in the current directory, if it exists
    kNone,     // given as empty or NULL
    kGiven,    // a path
};

// The file name for kDefault.
inline constexpr const char* kDefaultHostFile = "host.list";

// Parses the text of a host file. `path` is used only in messages. Pure, does not block, accepts
// any bytes. A file without an entry is valid; make_task_map reports missing entries. Columns count
// bytes.
Result<HostFile> parse_host_file(std::string_view text, const std::string& path);

// Reads the host file that `use` and `path` (kGiven only) specify. Returns nothing if there is
// none. Blocks on the file system. If the file cannot be read, returns a UserError, except that a
// missing default file means none.
Result<std::optional<HostFile>> load_host_file(HostFileUse use, const std::string& path);

}  // namespace poe::pm
