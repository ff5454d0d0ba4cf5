// See local_launcher.hpp.
#include "partition_manager/launch/local_launcher.hpp"

#include <cstring>
#include <sys/socket.h>
#include <unistd.h>

#include <climits>

#include "base/error.hpp"
#include "partition_manager/job/program_path.hpp"

namespace poe::pm {

namespace {

// Large enough for a few large frames, so that the daemon and poe need not alternate.
constexpr int kChannelBuffer = 1 << 20;

}  // namespace

std::string own_directory() {
    char path[PATH_MAX];
    const ssize_t length = ::readlink("/proc/self/exe", path, sizeof path - 1);
    if (length <= 0) return "";
    const std::string file(path, static_cast<std::size_t>(length));
    return file.substr(0, file.rfind('/'));
}

std::string find_pmd(const std::string& wanted, const char* path_variable) {
    const std::string path = path_variable != nullptr ? path_variable : "";
    if (!wanted.empty()) {
        ProgramPath found = find_program(wanted, path, ".");
        if (found.file.empty())
            throw Error("MP_PMD names the daemon \"" + wanted + "\", but " + found.trouble);
        return found.file;
    }
    std::string here = own_directory() + "/pmd";
    if (::access(here.c_str(), X_OK) == 0) return here;
    ProgramPath found = find_program("pmd", path, ".");
    if (found.file.empty())
        throw Error("cannot find the daemon pmd: it is neither " + here +
                    " nor in PATH; set MP_PMD to its path");
    return found.file;
}

std::string find_pmd_sibling(const std::string& name) {
    std::string file = own_directory() + "/" + name;
    if (::access(file.c_str(), X_OK) != 0)
        throw Error("the program " + file + " is missing; is the installation complete?");
    return file;
}

ChannelEnds make_channel_ends() {
    int ends[2];
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
        throw_errno("making the channel to pmd");
    for (const int end : ends)
        ::setsockopt(end, SOL_SOCKET, SO_SNDBUF, &kChannelBuffer, sizeof kChannelBuffer);
    return {UniqueFd(ends[0]), UniqueFd(ends[1])};
}

LaunchedDaemon launch_local(const std::string& pmd, const InheritedSignals& heritage,
                            char* const* environment) {
    ChannelEnds ends = make_channel_ends();
    char* argv[] = {const_cast<char*>("pmd"), const_cast<char*>("--channel"), nullptr};
    SpawnRequest request;
    request.path = pmd.c_str();
    request.argv = argv;
    request.envp = environment;
    request.stdin_fd = request.stdout_fd = ends.its.get();
    request.new_session = true;
    request.signal_mask = &heritage.blocked;
    request.ignored_signals = &heritage.ignored;
    const pid_t pid = spawn(request);
    if (pid < 0) throw Error("cannot start " + pmd + ": " + explain_exec_failure(pmd, -pid));
    return {pid, std::move(ends.ours), UniqueFd()};
}

}  // namespace poe::pm
