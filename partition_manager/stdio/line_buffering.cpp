// See line_buffering.hpp.
#include "partition_manager/stdio/line_buffering.hpp"

#include <fcntl.h>
#include <optional>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>

#include "base/unique_fd.hpp"
#include "partition_manager/job/elf_program.hpp"

namespace poe::pm {

namespace {

bool has_sanitizer(std::string_view names) {
    for (const char* runtime : {"libasan.so", "libtsan.so", "liblsan.so", "libubsan.so",
                                "libhwasan.so", "libclang_rt.", "__asan_init", "__tsan_init"})
        if (names.find(runtime) != std::string_view::npos) return true;
    return false;
}

bool is_plain_dynamic_program(int fd) {
    const std::optional<ElfProgram> program = read_elf_program(fd);
    return program && !has_sanitizer(program->names);
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

}  // namespace

bool accepts_preload(const std::string& file) {
    const UniqueFd fd(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
    if (!fd) return false;
    const std::string interpreter = interpreter_of(fd.get());
    if (interpreter.empty()) return is_plain_dynamic_program(fd.get());
    const UniqueFd other(::open(interpreter.c_str(), O_RDONLY | O_CLOEXEC));
    return other && is_plain_dynamic_program(other.get());
}

std::string find_unbuffered_library(const std::string& directory) {
    for (const char* libraries : {"/../" POE_LIBDIR, "/../lib"}) {
        std::string file = directory + libraries + "/poe/libpoe-unbuffered.so";
        if (::access(file.c_str(), R_OK) == 0) return file;
    }
    return "";
}

std::vector<std::pair<std::string, std::string>> line_buffering_variables(
    Unbuffered mode, const std::string& library, ino_t output,
    const std::vector<std::string>& environment) {
    const auto value_of = [&](std::string_view name) -> std::string {
        for (const std::string& entry : environment)
            if (entry.size() > name.size() && entry[name.size()] == '=' && entry.starts_with(name))
                return entry.substr(name.size() + 1);
        return "";
    };
    std::vector<std::pair<std::string, std::string>> variables;
    for (const auto& [name, value] :
         {std::pair("PYTHONUNBUFFERED", "1"), std::pair("GFORTRAN_UNBUFFERED_PRECONNECTED", "y")})
        if (value_of(name).empty()) variables.emplace_back(name, value);
    if (library.empty()) return variables;
    const std::string before = value_of("LD_PRELOAD");
    variables.emplace_back("LD_PRELOAD", before.empty() ? library : before + ":" + library);
    variables.emplace_back("MP_UNBUFFERED_PIPE", std::to_string(output));
    if (mode == Unbuffered::kPrograms) variables.emplace_back("MP_UNBUFFERED_PRELOAD", before);
    return variables;
}

}  // namespace poe::pm
