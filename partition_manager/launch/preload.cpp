// See preload.hpp.
#include "partition_manager/launch/preload.hpp"

#include <fcntl.h>
#include <initializer_list>
#include <optional>
#include <string_view>
#include <unistd.h>

#include "base/unique_fd.hpp"
#include "partition_manager/job/elf_program.hpp"

namespace poe::pm {

namespace {

bool contains(std::string_view names, std::initializer_list<const char*> some) {
    for (const char* one : some)
        if (names.find(one) != std::string_view::npos) return true;
    return false;
}

// Returns the interpreter that the first line of a script names; empty if the file is not a script.
std::string interpreter_of(int fd) {
    char text[256];
    const ssize_t count = ::pread(fd, text, sizeof text, 0);
    if (count < 3 || text[0] != '#' || text[1] != '!') return "";
    std::string_view line(text + 2, static_cast<std::size_t>(count) - 2);
    line = line.substr(0, line.find('\n'));
    const std::size_t begin = line.find_first_not_of(" \t");
    if (begin == std::string_view::npos) return "";
    line.remove_prefix(begin);
    return std::string(line.substr(0, line.find_first_of(" \t")));
}

ProgramFile facts_from(const std::optional<ElfProgram>& elf) {
    if (!elf) return {};
    ProgramFile program;
    program.accepts_preload =
        !contains(elf->names, {"libasan.so", "libtsan.so", "liblsan.so", "libubsan.so",
                               "libhwasan.so", "libclang_rt.", "__asan_init", "__tsan_init"});
    program.needs_mpl = contains(elf->names, {"libmpl.so."});
    program.needs_mpi_abi = contains(elf->names, {"libmpi_abi.so."});
    return program;
}

}  // namespace

ProgramFile look_at_program(const std::string& file) {
    const UniqueFd fd(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
    if (!fd) return {};
    const std::string interpreter = interpreter_of(fd.get());
    return facts_from(interpreter.empty() ? read_elf_program(fd.get())
                                          : read_elf_program(interpreter));
}

std::string find_preload(const std::string& directory, const std::string& name) {
    for (const char* libraries : {"/../" POE_LIBDIR, "/../lib"}) {
        std::string file = directory + libraries + "/poe/" + name;
        if (::access(file.c_str(), R_OK) == 0) return file;
    }
    return "";
}

std::string with_preload(const std::string& before, const std::string& library) {
    return before.empty() ? library : before + ":" + library;
}

}  // namespace poe::pm
