// See started_poe.hpp.
#include "debugger/started_poe.hpp"

#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <climits>

#include "base/error.hpp"
#include "debugger/child_program.hpp"

namespace poe::debugger {

namespace {

// As poe/debugger_interface.hpp has it.
constexpr const char* kDebuggerVariable = "MP_DEBUGGER_FD";

// poe is beside pdbx; otherwise it is found in PATH.
std::string poe_path() {
    char path[PATH_MAX];
    const ssize_t length = ::readlink("/proc/self/exe", path, sizeof path - 1);
    if (length <= 0) return "poe";
    std::string own(path, static_cast<std::size_t>(length));
    own.erase(own.rfind('/') + 1);
    return ::access((own + "poe").c_str(), X_OK) == 0 ? own + "poe" : "poe";
}

}  // namespace

StartedPoe start_poe(const std::vector<std::string>& arguments, const std::string& input) {
    StartedPoe poe;
    int pair[2];
    int out[2];
    int err[2];
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0 ||
        ::pipe2(out, O_CLOEXEC) != 0 || ::pipe2(err, O_CLOEXEC) != 0)
        throw_errno("making the connection to poe");
    poe.debugger = UniqueFd(pair[0]);
    poe.out = UniqueFd(out[0]);
    poe.err = UniqueFd(err[0]);
    const UniqueFd theirs(pair[1]);
    const UniqueFd their_out(out[1]);
    const UniqueFd their_err(err[1]);
    const std::string file = input.empty() ? "/dev/null" : input;
    const UniqueFd in(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
    if (!in) throw_errno("cannot read " + file);

    std::vector<std::string> words{"poe"};
    words.insert(words.end(), arguments.begin(), arguments.end());
    std::string variable = std::string(kDebuggerVariable) + "=" + std::to_string(theirs.get());
    std::vector<char*> envp;
    for (char** entry = ::environ; *entry != nullptr; ++entry)
        if (!std::string_view(*entry).starts_with(kDebuggerVariable)) envp.push_back(*entry);
    envp.push_back(variable.data());
    envp.push_back(nullptr);

    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_adddup2(&actions, in.get(), STDIN_FILENO);
    ::posix_spawn_file_actions_adddup2(&actions, their_out.get(), STDOUT_FILENO);
    ::posix_spawn_file_actions_adddup2(&actions, their_err.get(), STDERR_FILENO);
    // A descriptor that is duplicated to itself loses close-on-exec.
    ::posix_spawn_file_actions_adddup2(&actions, theirs.get(), theirs.get());
    poe.pid = start_child(poe_path(), std::move(words), envp.data(), actions);
    ::posix_spawn_file_actions_destroy(&actions);
    return poe;
}

}  // namespace poe::debugger
