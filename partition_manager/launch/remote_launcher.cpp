// See remote_launcher.hpp.
#include "partition_manager/launch/remote_launcher.hpp"

#include <cstdlib>
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>
#include <vector>

#include "base/error.hpp"
#include "partition_manager/job/commands_file.hpp"
#include "partition_manager/job/program_path.hpp"

namespace poe::pm {

namespace {

std::string path_in(char* const* environment) {
    for (; *environment != nullptr; ++environment) {
        const std::string_view entry = *environment;
        if (entry.starts_with("PATH=")) return std::string(entry.substr(5));
    }
    return "/bin:/usr/bin";
}

}  // namespace

std::string remote_command(const std::string& pmd, const std::string& arguments) {
    // The inner shell is always /bin/sh, whatever the user's shell is. Between single quotes no
    // character of the line is special to csh or fish.
    const std::string script =
        "p=" + shell_quoted(pmd) +
        "; [ -x \"$p\" ] || p=$(command -v pmd) || { echo \"the daemon pmd is "
        "neither \"" +
        shell_quoted(pmd) +
        "\" nor in PATH here; install POE there, or set MP_PMD to its path\" "
        ">&2; exit 127; }; exec \"$p\" " +
        arguments;
    return "exec /bin/sh -c " + shell_quoted(script);
}

std::vector<std::string> remote_shell_words(const LaunchSpec& launch, const std::string& node,
                                            const std::string& arguments) {
    std::vector<std::string> words = launch.remote_shell;
    bool named = false;
    for (std::string& word : words) {
        const std::size_t at = word.find("%h");
        if (at == std::string::npos) continue;
        word.replace(at, 2, node);
        named = true;
    }
    if (!named) words.push_back(node);
    words.push_back(remote_command(launch.pmd, arguments));
    return words;
}

LaunchedDaemon launch_remote(const LaunchSpec& launch, const std::string& node,
                             const InheritedSignals& heritage, char* const* environment) {
    if (launch.remote_shell.empty()) throw Error("there is no remote shell (MP_REMOTE_SHELL)");
    const std::string& program = launch.remote_shell.front();
    const ProgramPath shell = find_program(program, path_in(environment), ".");
    if (shell.file.empty())
        throw Error("cannot run the remote shell \"" + program +
                    "\" (MP_REMOTE_SHELL): " + shell.trouble);
    std::vector<std::string> words = remote_shell_words(launch, node, kDaemonArguments);
    std::vector<char*> argv;
    argv.reserve(words.size() + 1);
    for (std::string& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);

    ChannelEnds ends = make_channel_ends();
    int said[2];
    if (::pipe2(said, O_CLOEXEC) != 0) throw_errno("making a pipe for the remote shell");
    UniqueFd said_read(said[0]);
    const UniqueFd said_write(said[1]);
    SpawnRequest request;
    request.path = shell.file.c_str();
    request.argv = argv.data();
    request.envp = environment;
    request.stdin_fd = request.stdout_fd = ends.its.get();
    request.stderr_fd = said_write.get();
    request.new_session = true;
    request.death_signal = SIGKILL;  // a remote shell that hangs would outlive this process
    request.signal_mask = &heritage.blocked;
    request.ignored_signals = &heritage.ignored;
    const pid_t pid = spawn(request);
    if (pid < 0)
        throw Error("cannot start " + shell.file + ": " + explain_exec_failure(shell.file, -pid));
    return {pid, move_up(std::move(ends.ours)), move_up(std::move(said_read))};
}

}  // namespace poe::pm
