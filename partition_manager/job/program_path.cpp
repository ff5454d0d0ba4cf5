// PATH search and explanations of failed execs; see program_path.hpp.
#include "partition_manager/job/program_path.hpp"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/unique_fd.hpp"

namespace poe::pm {

namespace {

std::string first_bytes(const std::string& file, std::size_t count) {
    const UniqueFd fd(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    std::string bytes(count, '\0');
    const ssize_t got = fd ? ::read(fd.get(), bytes.data(), count) : 0;
    bytes.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
    return bytes;
}

constexpr const char* kMissing = "there is no such file";

// Returns an empty string if `file` can be tried; otherwise the reason why it cannot.
std::string trouble_with(const std::string& file) {
    struct stat status = {};
    if (::stat(file.c_str(), &status) != 0) {
        if (errno == ENOENT) return kMissing;
        return std::strerror(errno);
    }
    if (S_ISDIR(status.st_mode)) return "it is a directory, not a program";
    if (!S_ISREG(status.st_mode)) return "it is not a regular file";
    if (::access(file.c_str(), X_OK) == 0) return "";
    constexpr mode_t kAnybody = S_IXUSR | S_IXGRP | S_IXOTH;
    if ((status.st_mode & kAnybody) == 0) return "it is not executable (chmod +x)";
    struct statvfs where = {};
    if (::statvfs(file.c_str(), &where) == 0 && (where.f_flag & ST_NOEXEC) != 0)
        return "it is on a file system without execution (mount option noexec)";
    return "you may not execute it (`ls -l` shows who may)";
}

std::string joined(const std::string& directory, const std::string& name) {
    if (!name.empty() && name[0] == '/') return name;
    return directory.empty() || directory.back() == '/' ? directory + name : directory + "/" + name;
}

}  // namespace

ProgramPath find_program(const std::string& program, std::string_view path,
                         const std::string& directory) {
    ProgramPath result;
    if (program.empty()) {
        result.trouble = "the program's name is empty";
        return result;
    }
    if (program.find('/') != std::string::npos) {
        const std::string file = joined(directory, program);
        result.trouble = trouble_with(file);
        if (result.trouble.empty()) result.file = program[0] == '/' ? program : file;
        return result;
    }
    std::string almost;
    for (std::size_t at = 0; at <= path.size();) {
        const std::size_t end = std::min(path.find(':', at), path.size());
        std::string place(path.substr(at, end - at));
        at = end + 1;
        if (place.empty()) place = ".";
        const std::string file = joined(joined(directory, place), program);
        const std::string trouble = trouble_with(file);
        if (trouble.empty()) {
            result.file = file;
            return result;
        }
        const bool about_the_program = trouble != kMissing && trouble != std::strerror(ENOTDIR);
        if (almost.empty() && about_the_program) almost = file + ": " + trouble;
    }
    result.trouble = "it is not in PATH";
    if (!almost.empty()) result.trouble += " (" + almost + ")";
    if (trouble_with(joined(directory, program)).empty())
        result.trouble += "; did you mean ./" + program + " ?";
    return result;
}

bool is_shell_text(const std::string& file) {
    const std::string start = first_bytes(file, 256);
    return start.find('\0') == std::string::npos && start.compare(0, 2, "#!") != 0;
}

std::string explain_exec_failure(const std::string& file, int exec_errno) {
    const std::string start = first_bytes(file, 256);
    if (start.compare(0, 2, "#!") == 0 && (exec_errno == ENOENT || exec_errno == EACCES)) {
        const std::size_t begin = start.find_first_not_of(" \t", 2);
        const std::size_t end = start.find_first_of(" \t\r\n", begin);
        const std::string interpreter =
            begin == std::string::npos ? "" : start.substr(begin, end - begin);
        std::string text = "its interpreter \"" + interpreter +
                           "\" (first line) cannot be run: " + std::strerror(exec_errno);
        if (end != std::string::npos && start[end] == '\r')
            text += "; the line ends in a carriage return (a file from Windows?)";
        return text;
    }
    if (exec_errno == ENOENT) return "its loader or interpreter is missing on this node";
    if (exec_errno == ENOEXEC)
        return "it is not a program for this machine (wrong architecture, or damaged)";
    if (exec_errno == E2BIG)
        return "its arguments and environment are too long together (see `getconf ARG_MAX`)";
    if (exec_errno == EAGAIN) return "the limit of processes is reached (see `ulimit -u`)";
    if (exec_errno == ETXTBSY) return "it is being written to at this moment";
    return std::strerror(exec_errno);
}

}  // namespace poe::pm
