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
// A foreign library: its folder below that of POE's libraries, and its name. The library of MPICH's
// interface has two names: MPICH's own one, and that of Debian.
struct Foreign {
    const char* folder;
    const char* soname;
};
constexpr Foreign kForeign[] = {{"mpich_abi", "libmpich.so.12"},
                                {"mpich_abi", "libmpi.so.12"},
                                {"openmpi_abi", "libmpi.so.40"}};
// Versions 4 and 5 of Open MPI have this library. Programs of all versions import the name.
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

// True if the program needs a library of MPI by name and imports variables of Open MPI's.
bool needs_library_of_open_mpi(const ElfProgram& program) {
    return program.names.find(kOpenMpiName) != std::string::npos &&
           std::any_of(program.needed.begin(), program.needed.end(),
                       [](const std::string& name) { return name.starts_with("libmpi.so."); });
}

void append(std::string& list, const std::string& file) {
    list += (list.empty() ? "" : ":") + file;
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

MpiLibraryChoice choose_foreign_library(const std::string& program,
                                        const std::vector<std::string>& folders) {
    const std::optional<ElfProgram> elf = read_elf_program(program);
    MpiLibraryChoice choice;
    if (folders.empty()) {
        choice.attention =
            "-mpi poe has no effect, because POE is installed without libmpich.so.12 and "
            "libmpi.so.40";
    } else if (elf && !needs(*elf, kOpenMpiSoname) && needs_library_of_open_mpi(*elf)) {
        choice.attention = program +
                           " was built with Open MPI, but not with version 4 or 5, whose library "
                           "is libmpi.so.40. It runs with its own library. To use POE's, compile "
                           "it with mpicc.poe";
    } else if (!elf && is_elf(program)) {
        choice.attention =
            program + " is linked statically, so -mpi poe cannot replace its MPI library";
    }
    if (!choice.attention.empty()) return choice;
    for (const std::string& folder : folders) append(choice.folders, folder);
    if (!elf || !elf->runpath.empty()) return choice;
    const std::string origin = std::filesystem::path(program).parent_path().string();
    for (const Foreign& foreign : kForeign) {
        if (found_in(elf->rpath, origin, foreign.soname).empty()) continue;
        for (const std::string& folder : folders)
            if (std::filesystem::path(folder).filename() == foreign.folder)
                append(choice.preload, folder + "/" + foreign.soname);
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

std::vector<std::string> find_foreign_folders(const std::string& directory) {
    std::vector<std::string> folders;
    for (const Foreign& foreign : kForeign) {
        const std::string library =
            find_installed(directory, std::string("poe/") + foreign.folder + "/" + foreign.soname);
        std::string folder = std::filesystem::path(library).parent_path().string();
        if (!folder.empty() && std::find(folders.begin(), folders.end(), folder) == folders.end())
            folders.push_back(std::move(folder));
    }
    return folders;
}

}  // namespace poe::pm
