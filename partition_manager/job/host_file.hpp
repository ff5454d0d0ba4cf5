// The host file: which node each task runs on, one node or one @pool a line, in task order. Reading
// it is apart from mapping tasks (task_map.hpp) so that it can be fuzzed as text, and from looking
// for nodes, which is the launcher's work. Format: poe-hostfile(5); from the Parallel Environment's
// "Operation and Use".
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace poe::pm {

// How a job wants the adapter and the processors of a node (second and third word of a line).
// Recorded and checked; nothing on one node acts on it.
enum class AdapterUse { kUnspecified, kShared, kDedicated };
enum class CpuUse { kUnspecified, kMultiple, kUnique };

// One line that is neither blank nor a comment. Line and column (of the name) count from 1.
struct HostLine {
    std::string name;      // node or, without its '@', pool
    bool is_pool = false;  // written @name
    AdapterUse adapter_use = AdapterUse::kUnspecified;
    CpuUse cpu_use = CpuUse::kUnspecified;
    int line = 0;
    int column = 0;
};

struct HostFile {
    std::string path;  // as the user wrote it, for messages
    std::vector<HostLine> lines;
};

// Where the host file comes from: -hostfile and MP_HOSTFILE.
enum class HostFileUse {
    kDefault,  // neither given: host.list in the current directory if there is one
    kNone,     // given as empty or NULL
    kGiven,    // a path
};

// The name that kDefault looks for.
inline constexpr const char* kDefaultHostFile = "host.list";

// Reads the text of a host file; `path` is only for messages. Never blocks, no side effects, any
// bytes are allowed as input. A file without any entry is right; the task map says what is missing.
// Columns count bytes.
Result<HostFile> parse_host_file(std::string_view text, const std::string& path);

// Reads the host file that `use` and `path` (kGiven only) name; nothing when there is none. Blocks
// on the file system. A file that cannot be read is a UserError, except that a missing default file
// means none.
Result<std::optional<HostFile>> load_host_file(HostFileUse use, const std::string& path);

}  // namespace poe::pm
