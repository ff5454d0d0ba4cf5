// See task_terminal.hpp.
#include "partition_manager/stdio/task_terminal.hpp"

#include <cstdlib>
#include <fcntl.h>
#include <sys/ioctl.h>
#include <termios.h>

#include "base/error.hpp"

namespace poe::pm {

TaskTerminal make_task_terminal(const TerminalSpec& spec, bool for_person) {
    TaskTerminal made;
    made.master.reset(::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC));
    if (!made.master || ::unlockpt(made.master.get()) != 0)
        throw_errno("making a terminal for a task (-pty)");
    made.slave.reset(::ioctl(made.master.get(), TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC));
    if (!made.slave) throw_errno("opening the terminal of a task (-pty)");
    if (!for_person) {
        termios settings = {};
        ::tcgetattr(made.slave.get(), &settings);
        settings.c_oflag &= ~static_cast<tcflag_t>(ONLCR);
        ::tcsetattr(made.slave.get(), TCSANOW, &settings);
    }
    resize_terminal(made.master.get(), spec.rows, spec.columns);
    return made;
}

void resize_terminal(int master, std::uint16_t rows, std::uint16_t columns) noexcept {
    winsize size = {};
    size.ws_row = rows;
    size.ws_col = columns;
    ::ioctl(master, TIOCSWINSZ, &size);
}

}  // namespace poe::pm
