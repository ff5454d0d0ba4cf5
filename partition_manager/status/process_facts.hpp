// What /proc says about one process. Apart because only watchers ask.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <sys/types.h>

#include "base/types.hpp"

namespace poe::pm {

struct ProcessFacts {
    std::string name;  // of the executable file, at most 15 bytes
    char state = '?';  // R, S, D, T (stopped), Z ...
    pid_t parent = 0;
    uid_t owner = 0;
    std::chrono::milliseconds cpu{0};  // user and system time, with what its ended children used
    Bytes memory = 0;                  // resident
};

// Nothing when there is no such process, or only the remains of one. Never blocks.
std::optional<ProcessFacts> process_facts(pid_t pid);

// Its working directory; empty when that cannot be told.
std::string directory_of_process(pid_t pid);

// Its first word as it was started; empty when that cannot be told.
std::string program_of_process(pid_t pid);

}  // namespace poe::pm
