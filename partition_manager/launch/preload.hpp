// Libraries that are preloaded into tasks: which programs accept them, and where they are
// installed.
#pragma once

#include <string>

namespace poe::pm {

// Facts from the file of a program; for a script, from the file of its interpreter.
struct ProgramFile {
    // A library can be preloaded: the program is dynamically linked, for this computer's word size,
    // and has no sanitizer, because a sanitizer's runtime must be loaded first.
    bool accepts_preload = false;
    bool needs_mpl = false;      // it is linked to MPL
    bool needs_mpi_abi = false;  // it is linked to the library of MPI's standard ABI
};

// Reads the file. All false if that is not possible.
ProgramFile look_at_program(const std::string& file);

// The path of the library with this name, relative to the directory of pmd's program. Empty if it
// is not installed.
std::string find_preload(const std::string& directory, const std::string& name);

// The value of LD_PRELOAD with one more library.
std::string with_preload(const std::string& before, const std::string& library);

}  // namespace poe::pm
