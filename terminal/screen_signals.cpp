// Implementation of screen_signals.hpp.
#include "terminal/screen_signals.hpp"

#include <csignal>
#include <poll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "base/error.hpp"

namespace poe::terminal {

ScreenSignals::ScreenSignals() {
    sigset_t set;
    ::sigemptyset(&set);
    for (const int signal : {SIGTERM, SIGHUP, SIGINT, SIGQUIT, SIGWINCH, SIGTSTP, SIGCONT})
        ::sigaddset(&set, signal);
    fd_ = UniqueFd(::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
    if (!fd_) throw_errno("cannot listen to signals");
    ::sigprocmask(SIG_BLOCK, &set, nullptr);
}

bool ScreenSignals::wait(int timeout) const {
    pollfd inputs[] = {{STDIN_FILENO, POLLIN, 0}, {fd_.get(), POLLIN, 0}};
    ::poll(inputs, 2, timeout);
    return (inputs[0].revents & (POLLHUP | POLLERR | POLLNVAL)) == 0;
}

int ScreenSignals::take(Screen& screen, bool& changed) const {
    signalfd_siginfo info{};
    while (::read(fd_.get(), &info, sizeof info) == sizeof info) {
        const int signal = static_cast<int>(info.ssi_signo);
        if (signal == SIGWINCH) {
            screen.resized();
            changed = true;
        } else if (signal == SIGTSTP) {
            screen.leave();
            ::raise(SIGSTOP);
            screen.come_back();
            changed = true;
        } else if (signal != SIGCONT) {
            return signal;
        }
    }
    return 0;
}

}  // namespace poe::terminal
