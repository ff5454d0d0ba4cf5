// The core files of a job in the directories that poe gives them: coredir.0/core, coredir.1/core,
// ...
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "base/types.hpp"

namespace poe::debugger {

struct CoreFile {
    TaskId task = 0;
    std::string file;
    std::string program;  // the file that the task executed; empty: unknown
};

// Finds the core files below `directory`, which holds directories whose names end with a dot and
// the number of a task, or is one of these. Sorted by task.
Result<std::vector<CoreFile>> find_core_files(const std::string& directory);

// The first file that the process had mapped, which is its program: from the note NT_FILE of an ELF
// core file of 64 bits (see core(5) and elf(5)). `bytes` may be cut off after the notes. Empty if
// there is no such note. Pure.
std::string program_of_core(std::string_view bytes);

}  // namespace poe::debugger
