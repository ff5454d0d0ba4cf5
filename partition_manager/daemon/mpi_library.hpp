// Chooses the MPI library of a program that was built for the standard's binary interface: POE's
// own, unless the user wants the program's (-mpi_library). The program may name directories in
// which another library is installed, and those in DT_RPATH precede LD_LIBRARY_PATH. Therefore
// POE's library is preloaded. The loader then uses it wherever a library with the same soname is
// needed.
//
// On request (-mpi poe) a program that was built for the binary interface of MPICH or Open MPI gets
// POE's library, too, through POE's libmpich.so.12 or libmpi.so.40 (mpi/foreign_abi). The folders
// that contain these two come first in LD_LIBRARY_PATH. Therefore they also serve a program that
// loads its MPI library at run time, and one that a script starts.
#pragma once

#include <string>
#include <vector>

namespace poe::pm {

struct MpiLibraryChoice {
    std::string preload;    // the libraries to preload, with colons; empty: none
    std::string folders;    // put first into LD_LIBRARY_PATH, with colons; empty: none
    std::string attention;  // what the user should know; empty: nothing
};

// `program` is the file of the program, `own` that of POE's library; empty if it is not installed.
// A program that finds POE's library by itself, one that needs no libmpi_abi.so.1, and a script get
// nothing. Reads the program's file.
MpiLibraryChoice choose_mpi_library(const std::string& program, const std::string& own);

// The same for programs of foreign interfaces. `folders` are those of find_foreign_folders(). A
// program of another version of Open MPI, and one that needs no libraries, gets nothing, and the
// attention says so.
MpiLibraryChoice choose_foreign_library(const std::string& program,
                                        const std::vector<std::string>& folders);

// The path of POE's library, relative to the directory of pmd's program. Empty if it is not
// installed.
std::string find_mpi_library(const std::string& directory);
// The folders of POE's libmpich.so.12 and libmpi.so.40 likewise, of those that are installed.
std::vector<std::string> find_foreign_folders(const std::string& directory);

}  // namespace poe::pm
