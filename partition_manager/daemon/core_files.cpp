// See core_files.hpp.
#include "partition_manager/daemon/core_files.hpp"

#include <filesystem>
#include <fstream>
#include <sys/stat.h>
#include <unistd.h>

namespace poe::pm {

namespace {

// Returns the first line of a file without the newline. Empty if the file cannot be read.
std::string first_line_of(const std::string& path) {
    std::ifstream file(path);
    std::string line;
    std::getline(file, line);
    return line;
}

// Returns the file name that the kernel derives from its pattern. Empty if the name depends on
// values that are not known here.
std::string core_name(const std::string& pattern, bool uses_pid, pid_t process) {
    if (pattern.empty() || pattern.front() == '|') return "";
    std::string name;
    bool has_pid = false;
    for (std::size_t i = 0; i < pattern.size(); ++i) {
        if (pattern[i] != '%') {
            name += pattern[i];
            continue;
        }
        if (++i == pattern.size()) break;
        switch (pattern[i]) {
            case '%':
                name += '%';
                break;
            case 'p':
                name += std::to_string(process);
                has_pid = true;
                break;
            case 'u':
                name += std::to_string(::getuid());
                break;
            case 'g':
                name += std::to_string(::getgid());
                break;
            default:
                return "";
        }
    }
    if (uses_pid && !has_pid) name += "." + std::to_string(process);
    return name;
}

}  // namespace

std::string core_directory(const CoreSpec& spec, TaskId task) {
    return spec.prefix.empty() || spec.prefix == "none" ? ""
                                                        : spec.prefix + "." + std::to_string(task);
}

std::vector<std::string> stack_keeper(const CoreSpec& spec, TaskId task,
                                      const std::string& helper) {
    if (spec.format.empty()) return {};
    const std::string directory = core_directory(spec, task);
    const std::string file = spec.format == "STDERR" ? spec.format
                             : directory.empty()     ? spec.format + "." + std::to_string(task)
                                                     : directory + "/" + spec.format;
    std::vector<std::string> words{helper};
    if (spec.at_sigterm) words.emplace_back("-sigterm");
    words.push_back(std::to_string(task));
    words.push_back(file);
    return words;
}

bool move_core(const CoreSpec& spec, TaskId task, pid_t process, const std::string& directory,
               std::chrono::system_clock::time_point youngest, const std::string& pattern,
               bool uses_pid) {
    namespace fs = std::filesystem;
    const std::string target = core_directory(spec, task);
    const std::string name = core_name(pattern, uses_pid, process);
    if (target.empty() || name.empty()) return false;
    const fs::path core = fs::path(directory) / name;
    struct stat facts = {};
    if (::lstat(core.c_str(), &facts) != 0 || !S_ISREG(facts.st_mode) ||
        facts.st_uid != ::getuid() ||
        facts.st_mtime < std::chrono::system_clock::to_time_t(youngest))
        return false;
    std::error_code error;
    const fs::path home = fs::path(directory) / target;
    fs::create_directories(home, error);
    fs::rename(core, home / "core", error);
    return !error;
}

bool move_core(const CoreSpec& spec, TaskId task, pid_t process, const std::string& directory,
               std::chrono::system_clock::time_point youngest) {
    return move_core(spec, task, process, directory, youngest,
                     first_line_of("/proc/sys/kernel/core_pattern"),
                     first_line_of("/proc/sys/kernel/core_uses_pid") == "1");
}

}  // namespace poe::pm
