// Says once in a job that Open MPI's library for Fortran is of a version whose use of objects is
// not known (interface/layout.hpp).
#include <cstdio>
#include <cstdlib>
#include <link.h>
#include <string>
#include <string_view>

namespace poe::mpi::foreign {
namespace {

constexpr std::string_view kLibrary = "/libmpi_mpifh.so.40";
// The end of the file name of version 4.1 is a number that begins with it.
constexpr std::string_view kKnown = ".30.";

// Stores the path of the library, without symbolic links, if the process has loaded it.
int find_library(dl_phdr_info* info, std::size_t, void* found) {
    const std::string_view name = info->dlpi_name;
    if (name.find(kLibrary) == std::string_view::npos) return 0;
    if (char* path = ::realpath(info->dlpi_name, nullptr)) {
        *static_cast<std::string*>(found) = path;
        std::free(path);
    }
    return 1;
}

bool is_first_task() {
    const char* task = std::getenv("MP_CHILD");
    return task == nullptr || std::string_view(task) == "0";
}

// The libraries of the program are loaded when constructors run.
__attribute__((constructor)) void check_version() {
    std::string path;
    ::dl_iterate_phdr(find_library, &path);
    const std::size_t at = path.rfind(kLibrary);
    if (at == std::string::npos || !is_first_task()) return;
    const std::string version = path.substr(at + kLibrary.size());
    if (version.empty() || version.compare(0, kKnown.size(), kKnown) == 0) return;
    std::fprintf(
        stderr,
        "ATTENTION: 0032-151  -mpi poe knows version 4.1 of Open MPI's library for Fortran, "
        "and %s is of another one: calls of Fortran may fail; without -mpi poe the program "
        "runs with its own library\n",
        path.c_str());
}

}  // namespace
}  // namespace poe::mpi::foreign
