// See child_program.hpp.
#include "debugger/child_program.hpp"

#include <csignal>

#include "base/error.hpp"

namespace poe::debugger {

pid_t start_child(const std::string& path, std::vector<std::string> words, char* const* environment,
                  const posix_spawn_file_actions_t& actions, const std::string& remedy) {
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    sigset_t none;
    ::sigemptyset(&none);
    sigset_t defaults;
    ::sigemptyset(&defaults);
    for (const int signal : {SIGINT, SIGPIPE, SIGTSTP, SIGTTOU}) ::sigaddset(&defaults, signal);
    posix_spawnattr_t attributes;
    ::posix_spawnattr_init(&attributes);
    ::posix_spawnattr_setsigmask(&attributes, &none);
    ::posix_spawnattr_setsigdefault(&attributes, &defaults);
    ::posix_spawnattr_setpgroup(&attributes, 0);
    ::posix_spawnattr_setflags(
        &attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    pid_t pid = 0;
    const int error =
        ::posix_spawnp(&pid, path.c_str(), &actions, &attributes, argv.data(), environment);
    ::posix_spawnattr_destroy(&attributes);
    if (error != 0) throw Error("cannot run " + path + remedy, error);
    return pid;
}

}  // namespace poe::debugger
