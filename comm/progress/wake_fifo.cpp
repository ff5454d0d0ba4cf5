// FIFOs for wake-ups. They are opened for reading and writing, which Linux allows. A waker then
// gets no SIGPIPE if the sleeper has died, and the sleeper sees no end of file when a waker dies.
#include "comm/progress/wake_fifo.hpp"

#include <array>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/check.hpp"
#include "base/error.hpp"

namespace poe::comm {

namespace {

// Returns a FIFO without a name: a pipe whose both ends are one descriptor.
UniqueFd nameless_fifo() {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) throw_errno("cannot make a FIFO");
    const UniqueFd in(ends[0]);
    const UniqueFd out(ends[1]);
    const std::string path = "/proc/self/fd/" + std::to_string(in.get());
    UniqueFd both(::open(path.c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC));
    if (!both) throw_errno("cannot open " + path);
    return both;
}

}  // namespace

TaskSlot& WakeFifos::slot_of(TaskId task) const {
    const auto index = segment_.local_index(task);
    POE_CHECK(index.has_value(), task);
    return segment_.slot(*index);
}

std::string WakeFifos::path_of(TaskId task) const {
    if (segment_.nameless()) {
        const TaskSlot& slot = slot_of(task);
        return "/proc/" + std::to_string(slot.pid) + "/fd/" + std::to_string(slot.wake_fd);
    }
    const std::string& segment = segment_.path();
    return segment.substr(0, segment.rfind('/') + 1) + "wake." + std::to_string(task);
}

UniqueFd WakeFifos::make(TaskId own) const {
    if (segment_.nameless()) {
        UniqueFd fd = nameless_fifo();
        slot_of(own).wake_fd = fd.get();
        return fd;
    }
    const std::string path = path_of(own);
    if (::mkfifo(path.c_str(), 0600) != 0) throw_errno("cannot make the FIFO " + path);
    UniqueFd fd(::open(path.c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC | O_NOFOLLOW));
    if (!fd) throw_errno("cannot open the FIFO " + path);
    return fd;
}

// The descriptor's number comes from another task, so the descriptor is returned only if it is a
// FIFO.
UniqueFd WakeFifos::open_other(TaskId task) const {
    const int links = segment_.nameless() ? 0 : O_NOFOLLOW;
    UniqueFd fd(::open(path_of(task).c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC | links));
    struct stat state {};
    if (fd && (::fstat(fd.get(), &state) != 0 || !S_ISFIFO(state.st_mode))) fd.reset();
    return fd;
}

void WakeFifos::wake(TaskId task) noexcept {
    try {
        UniqueFd& fd = opened_[task];
        if (!fd) fd = open_other(task);
        const char byte = 1;
        if (fd) [[maybe_unused]]
            const ssize_t written = ::write(fd.get(), &byte, 1);
    } catch (const std::bad_alloc&) {
        // Without the FIFO the other task's sleep ends by its time limit.
    }
}

}  // namespace poe::comm
