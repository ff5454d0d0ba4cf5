// Reads the dynamic section of a program: the libraries that it needs, and where the loader looks
// for them. Separate because several choices of libraries to preload need it.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace poe::pm {

struct ElfProgram {
    std::string names;                // of all symbols and libraries, each with a zero after it
    std::vector<std::string> needed;  // sonames of libraries (DT_NEEDED)
    std::string rpath;                // directories with colons (DT_RPATH); precede LD_LIBRARY_PATH
    std::string runpath;  // likewise (DT_RUNPATH); follow it. If present, rpath has no effect
};

// Reads a dynamically linked program of this computer's word size. Empty if the file is something
// else or cannot be read. Does not block on other processes.
std::optional<ElfProgram> read_elf_program(int fd);
std::optional<ElfProgram> read_elf_program(const std::string& file);

}  // namespace poe::pm
