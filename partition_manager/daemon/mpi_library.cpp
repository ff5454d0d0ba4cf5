// See mpi_library.hpp.
#include "partition_manager/daemon/mpi_library.hpp"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <sstream>
#include <unistd.h>

#include "partition_manager/job/elf_program.hpp"

namespace poe::pm {

namespace {

constexpr const char* kSoname = "libmpi_abi.so.1";

std::string with_origin(std::string directory, const std::string& origin) {
    for (const std::string word : {"${ORIGIN}", "$ORIGIN"})
        for (std::size_t at = 0; (at = directory.find(word)) != std::string::npos;)
            directory.replace(at, word.size(), origin);
    return directory;
}

// Returns the library that the loader finds in these directories; empty if it finds none.
std::string found_in(const std::string& directories, const std::string& origin) {
    std::istringstream list(directories);
    for (std::string directory; std::getline(list, directory, ':');) {
        const std::string file = with_origin(directory, origin) + "/" + kSoname;
        if (::access(file.c_str(), R_OK) == 0) return file;
    }
    return "";
}

}  // namespace

MpiLibraryChoice choose_mpi_library(const std::string& program, const std::string& own) {
    const std::optional<ElfProgram> elf = read_elf_program(program);
    if (own.empty() || !elf ||
        std::find(elf->needed.begin(), elf->needed.end(), kSoname) == elf->needed.end())
        return {};
    const bool by_rpath = elf->runpath.empty();
    const std::string origin = std::filesystem::path(program).parent_path().string();
    const std::string found = found_in(by_rpath ? elf->rpath : elf->runpath, origin);
    std::error_code error;
    if (!found.empty() && std::filesystem::equivalent(found, own, error)) return {};
    MpiLibraryChoice choice{own, ""};
    if (by_rpath && !found.empty()) {
        choice.attention = program + " names another MPI library in its DT_RPATH, " + found +
                           "; it gets that of poe instead, " + own +
                           "; use -mpi_library program to run it with its own one";
    }
    return choice;
}

std::string find_mpi_library(const std::string& directory) {
    for (const char* libraries : {"/../" POE_LIBDIR "/", "/../lib/"}) {
        std::string file = directory + libraries + kSoname;
        if (::access(file.c_str(), R_OK) == 0)
            return std::filesystem::path(file).lexically_normal().string();
    }
    return "";
}

}  // namespace poe::pm
