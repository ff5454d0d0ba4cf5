// Reads /proc/<pid>/task/<tid>/children; see process_tree.hpp.
#include "partition_manager/launch/process_tree.hpp"

#include <algorithm>
#include <charconv>
#include <fcntl.h>
#include <signal.h>
#include <string>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.hpp"
#include "base/proc_files.hpp"
#include "base/unique_fd.hpp"

namespace poe::pm {

namespace {

void append_children_of_thread(const std::string& path, std::vector<pid_t>& found) {
    const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!fd) return;
    std::string text;
    char buffer[4096];
    ssize_t count = 0;
    while ((count = ::read(fd.get(), buffer, sizeof buffer)) > 0)
        text.append(buffer, static_cast<std::size_t>(count));
    const char* at = text.data();
    const char* end = at + text.size();
    while (at < end) {
        pid_t pid = 0;
        const auto [next, error] = std::from_chars(at, end, pid);
        if (error == std::errc()) found.push_back(pid);
        at = next + 1;
    }
}

void append_children(pid_t parent, std::vector<pid_t>& found) {
    const std::string threads = "/proc/" + std::to_string(parent) + "/task/";
    for (const pid_t thread : threads_of(parent))
        append_children_of_thread(threads + std::to_string(thread) + "/children", found);
}

}  // namespace

void become_subreaper() {
    if (::prctl(PR_SET_CHILD_SUBREAPER, 1) != 0) throw_errno("becoming a child subreaper");
}

bool has_children() {
    siginfo_t info;
    return ::waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0;
}

std::vector<pid_t> descendants(std::span<const pid_t> except) {
    std::vector<pid_t> found;
    if (!has_children()) return found;
    append_children(::getpid(), found);
    const auto is_excepted = [except](pid_t pid) {
        return std::find(except.begin(), except.end(), pid) != except.end();
    };
    for (std::size_t i = 0; i < found.size(); ++i)
        if (!is_excepted(found[i])) append_children(found[i], found);
    std::erase_if(found, is_excepted);
    return found;
}

std::size_t signal_descendants(int signal, std::span<const pid_t> except) {
    const std::vector<pid_t> all = descendants(except);
    for (const pid_t pid : all) ::kill(pid, signal);
    return all.size();
}

}  // namespace poe::pm
