// Which MPI library a program gets that somebody has built for the standard's binary interface: POE's own,
// unless the user wants that of the program (-mpi_library). The program may name directories in which
// another one is installed, and those in DT_RPATH precede LD_LIBRARY_PATH. Therefore POE's library is
// preloaded. The loader then uses it wherever a library with the same soname is needed.
#pragma once

#include <string>

namespace poe::pm {

struct MpiLibraryChoice {
    std::string preload;    // the library to preload; empty: none
    std::string attention;  // what the user should know; empty: nothing
};

// `program` is the file of the program, `own` that of POE's library; empty if it is not installed. A
// program that finds POE's library by itself, one that needs no libmpi_abi.so.1, and a script get
// nothing. Reads the program's file.
MpiLibraryChoice choose_mpi_library(const std::string& program, const std::string& own);

// The path of POE's library, relative to the directory of pmd's program. Empty if it is not installed.
std::string find_mpi_library(const std::string& directory);

}  // namespace poe::pm
