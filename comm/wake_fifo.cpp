// FIFOs to wake by. They are opened for reading and writing, which Linux allows: then a waker gets
// no SIGPIPE when the sleeper has died, and the sleeper sees no end of file when a waker dies.
#include "comm/wake_fifo.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "comm/base/error.hpp"

namespace poe::comm {

WakeFifos::WakeFifos(const std::string& segment)
    : directory_(segment.substr(0, segment.rfind('/') + 1)) {}

UniqueFd WakeFifos::make(TaskId own) const {
    const std::string path = path_of(own);
    if (::mkfifo(path.c_str(), 0600) != 0) throw_errno("cannot make the FIFO " + path);
    UniqueFd fd(::open(path.c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC | O_NOFOLLOW));
    if (!fd) throw_errno("cannot open the FIFO " + path);
    return fd;
}

void WakeFifos::wake(TaskId task) noexcept {
    try {
        UniqueFd& fd = opened_[task];
        if (!fd)
            fd.reset(::open(path_of(task).c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC | O_NOFOLLOW));
        const char byte = 1;
        if (fd) [[maybe_unused]]
            const ssize_t written = ::write(fd.get(), &byte, 1);
    } catch (const std::bad_alloc&) {
        // The sleep ends by its time limit.
    }
}

}  // namespace poe::comm
