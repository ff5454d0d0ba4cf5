// Reads the facts about one process from /proc. Separate, because only observers need them.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <sys/types.h>

#include "base/types.hpp"

namespace poe::pm {

struct ProcessFacts {
    std::string name;  // name of the executable file, at most 15 bytes
    char state = '?';  // R, S, D, T (stopped), Z ...
    pid_t parent = 0;
    uid_t owner = 0;
    std::chrono::milliseconds cpu{0};  // user and system time, including that of reaped children
    Bytes memory = 0;                  // resident, in bytes
};

// What a process has used so far; 0 for what the system does not report.
struct ProcessUse {
    std::uint64_t switches = 0;
    Bytes disk_read = 0;
    Bytes disk_written = 0;
};
ProcessUse process_use(pid_t pid);

// Returns nothing if there is no such process, or only a zombie. Never blocks.
std::optional<ProcessFacts> process_facts(pid_t pid);

// The process's working directory; empty if it cannot be determined.
std::string directory_of_process(pid_t pid);

// The first word of the process's command line; empty if it cannot be determined.
std::string program_of_process(pid_t pid);

}  // namespace poe::pm
