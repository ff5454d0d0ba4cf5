// Reads /proc/<pid>/stat and cmdline; see process_facts.hpp.
#include "partition_manager/status/process_facts.hpp"

#include <fcntl.h>
#include <sstream>
#include <sys/stat.h>
#include <unistd.h>

#include <climits>

#include "base/proc_files.hpp"
#include "base/unique_fd.hpp"

namespace poe::pm {
namespace {

// Returns the beginning of a small file of /proc.
std::string beginning_of(const std::string& path, UniqueFd* opened = nullptr) {
    UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!fd) return {};
    char buffer[4096];
    const ssize_t count = ::read(fd.get(), buffer, sizeof buffer);
    if (opened != nullptr) *opened = std::move(fd);
    return count > 0 ? std::string(buffer, static_cast<std::size_t>(count)) : std::string();
}

}  // namespace

ProcessUse process_use(pid_t pid) {
    const std::string folder = "/proc/" + std::to_string(pid);
    const std::string status = beginning_of(folder + "/status");
    const std::string io = beginning_of(folder + "/io");
    return {number_after(status, "voluntary_ctxt_switches:").value_or(0) +
                number_after(status, "nonvoluntary_ctxt_switches:").value_or(0),
            number_after(io, "read_bytes:").value_or(0),
            number_after(io, "write_bytes:").value_or(0)};
}

std::optional<ProcessFacts> process_facts(pid_t pid) {
    UniqueFd fd;
    const std::string text = beginning_of("/proc/" + std::to_string(pid) + "/stat", &fd);
    // "pid (name) state parent ...": the name may contain any characters, including parentheses.
    const std::size_t open = text.find('(');
    const std::size_t close = text.rfind(')');
    struct stat status {};
    if (open == std::string::npos || close == std::string::npos || close < open ||
        ::fstat(fd.get(), &status) != 0)
        return std::nullopt;
    ProcessFacts facts;
    facts.name = text.substr(open + 1, close - open - 1);
    facts.owner = status.st_uid;
    std::istringstream rest(text.substr(close + 1));
    std::string skipped;
    long long ticks = 0;
    rest >> facts.state >> facts.parent;
    for (int field = 5; field <= 24 && rest; ++field) {
        if (field >= 14 && field <= 17) {
            long long part = 0;
            rest >> part;
            ticks += part;
        } else if (field == 24) {
            rest >> facts.memory;
        } else {
            rest >> skipped;
        }
    }
    if (!rest || facts.state == 'Z' || facts.state == 'X') return std::nullopt;
    facts.memory *= static_cast<Bytes>(::sysconf(_SC_PAGESIZE));
    facts.cpu = std::chrono::milliseconds(ticks * 1000 / ::sysconf(_SC_CLK_TCK));
    return facts;
}

std::string program_of_process(pid_t pid) {
    const std::string line = beginning_of("/proc/" + std::to_string(pid) + "/cmdline");
    return line.substr(0, line.find('\0'));
}

std::string directory_of_process(pid_t pid) {
    char path[PATH_MAX];
    const std::string link = "/proc/" + std::to_string(pid) + "/cwd";
    const ssize_t length = ::readlink(link.c_str(), path, sizeof path);
    return length > 0 ? std::string(path, static_cast<std::size_t>(length)) : std::string();
}

}  // namespace poe::pm
