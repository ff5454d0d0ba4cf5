// See mpi_library.hpp.
#include "partition_manager/daemon/mpi_library.hpp"

#include <algorithm>
#include <cstring>
#include <elf.h>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <unistd.h>

#include "partition_manager/job/elf_program.hpp"

namespace poe::pm {

namespace {

constexpr const char* kSoname = "libmpi_abi.so.1";
// The names of the library of MPICH's binary interface: MPICH's own one, and that of Debian.
constexpr const char* kMpichSonames[] = {"libmpi.so.12", "libmpich.so.12"};
// Open MPI's library. The second is a name that programs of all its versions import.
constexpr const char* kOpenMpiSoname = "libmpi.so.40";
constexpr const char* kOpenMpiName = "ompi_mpi_comm_world";

std::string with_origin(std::string directory, const std::string& origin) {
    for (const std::string word : {"${ORIGIN}", "$ORIGIN"})
        for (std::size_t at = 0; (at = directory.find(word)) != std::string::npos;)
            directory.replace(at, word.size(), origin);
    return directory;
}

// Returns the library that the loader finds in these directories; empty if it finds none.
std::string found_in(const std::string& directories, const std::string& origin,
                     const char* soname) {
    std::istringstream list(directories);
    for (std::string directory; std::getline(list, directory, ':');) {
        const std::string file = with_origin(directory, origin) + "/" + soname;
        if (::access(file.c_str(), R_OK) == 0) return file;
    }
    return "";
}

bool needs(const ElfProgram& program, const char* soname) {
    return std::find(program.needed.begin(), program.needed.end(), soname) != program.needed.end();
}

bool is_elf(const std::string& file) {
    std::ifstream stream(file, std::ios::binary);
    char magic[SELFMAG] = {};
    stream.read(magic, sizeof magic);
    return std::memcmp(magic, ELFMAG, sizeof magic) == 0;
}

}  // namespace

MpiLibraryChoice choose_mpi_library(const std::string& program, const std::string& own) {
    const std::optional<ElfProgram> elf = read_elf_program(program);
    if (own.empty() || !elf || !needs(*elf, kSoname)) return {};
    const bool by_rpath = elf->runpath.empty();
    const std::string origin = std::filesystem::path(program).parent_path().string();
    const std::string found = found_in(by_rpath ? elf->rpath : elf->runpath, origin, kSoname);
    std::error_code error;
    if (!found.empty() && std::filesystem::equivalent(found, own, error)) return {};
    MpiLibraryChoice choice{own, "", ""};
    if (by_rpath && !found.empty()) {
        choice.attention = program + " names another MPI library in its DT_RPATH, " + found +
                           "; it gets that of poe instead, " + own +
                           "; use -mpi_library program to run it with its own one";
    }
    return choice;
}

MpiLibraryChoice choose_mpich_library(const std::string& program, const std::string& folder) {
    const std::optional<ElfProgram> elf = read_elf_program(program);
    MpiLibraryChoice choice;
    if (folder.empty()) {
        choice.attention =
            "-mpi poe has no effect, because POE is installed without libmpich.so.12";
    } else if (elf && (needs(*elf, kOpenMpiSoname) ||
                       elf->names.find(kOpenMpiName) != std::string::npos)) {
        choice.attention = program +
                           " was built with Open MPI, whose handles are addresses of objects of "
                           "its own library, and -mpi poe serves programs of MPICH's binary "
                           "interface (libmpich.so.12, libmpi.so.12). It runs with its own "
                           "library. To use POE's, compile it with mpicc.poe or with MPICH";
    } else if (!elf && is_elf(program)) {
        choice.attention =
            program + " is linked statically, so -mpi poe cannot replace its MPI library";
    }
    if (!choice.attention.empty()) return choice;
    choice.folder = folder;
    if (!elf || !elf->runpath.empty()) return choice;
    const std::string origin = std::filesystem::path(program).parent_path().string();
    for (const char* soname : kMpichSonames) {
        if (found_in(elf->rpath, origin, soname).empty()) continue;
        choice.preload += (choice.preload.empty() ? "" : ":") + folder + "/" + soname;
    }
    return choice;
}

namespace {

// The file or folder below the directory of libraries.
std::string find_installed(const std::string& directory, const std::string& name) {
    for (const char* libraries : {"/../" POE_LIBDIR "/", "/../lib/"}) {
        std::string file = directory + libraries + name;
        if (::access(file.c_str(), R_OK) == 0)
            return std::filesystem::path(file).lexically_normal().string();
    }
    return "";
}

}  // namespace

std::string find_mpi_library(const std::string& directory) {
    return find_installed(directory, kSoname);
}

std::string find_mpich_folder(const std::string& directory) {
    const std::string library = find_installed(directory, "poe/mpich_abi/libmpich.so.12");
    return std::filesystem::path(library).parent_path().string();
}

}  // namespace poe::pm
