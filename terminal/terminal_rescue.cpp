// Implementation of terminal_rescue.hpp.
#include "terminal/terminal_rescue.hpp"

#include <algorithm>
#include <array>
#include <csignal>
#include <cstring>
#include <unistd.h>

namespace poe::terminal {
namespace {

constexpr std::array<int, 6> kDeadly{SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGSYS};

// The data of the signal handler. They are global, because a handler has no other way to get them.
struct Rescue {
    int fd = -1;
    std::size_t size = 0;
    std::array<char, 512> bytes{};
    termios settings{};
};
Rescue rescue;

void on_deadly(int signal) {
    std::size_t at = 0;
    while (at < rescue.size) {
        const ssize_t count = ::write(rescue.fd, rescue.bytes.data() + at, rescue.size - at);
        if (count <= 0) break;
        at += static_cast<std::size_t>(count);
    }
    ::tcsetattr(rescue.fd, TCSANOW, &rescue.settings);
    // SA_RESETHAND has restored the default action.
    ::raise(signal);
}

}  // namespace

void rescue_terminal(int fd, const std::string& bytes, const termios& settings) {
    rescue.fd = fd;
    rescue.size = std::min(bytes.size(), rescue.bytes.size());
    std::memcpy(rescue.bytes.data(), bytes.data(), rescue.size);
    rescue.settings = settings;
    struct sigaction action {};
    action.sa_handler = on_deadly;
    action.sa_flags = SA_RESETHAND | SA_NODEFER;
    for (const int signal : kDeadly) ::sigaction(signal, &action, nullptr);
}

void end_rescue() {
    for (const int signal : kDeadly) ::signal(signal, SIG_DFL);
}

}  // namespace poe::terminal
