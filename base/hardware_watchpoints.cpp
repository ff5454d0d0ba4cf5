// A test of hardware watchpoints; see hardware_watchpoints.hpp.
#include "base/hardware_watchpoints.hpp"

#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

namespace poe {

#if defined(__x86_64__)
namespace {

// Intel SDM, volume 3, section 18.2: the control register for a watchpoint in register 0 that is
// enabled for the task, stops when data are written, and is four bytes long.
constexpr std::uint64_t kEnabled = 1;
constexpr std::uint64_t kWrites = std::uint64_t{1} << 16;
constexpr std::uint64_t kFourBytes = std::uint64_t{3} << 18;
constexpr int kControl = 7;

alignas(4) volatile std::uint32_t watched = 0;

[[noreturn]] void write_once() noexcept {
    if (::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) != 0) ::_exit(1);
    ::raise(SIGSTOP);
    watched = 1;
    ::_exit(0);
}

bool set_register(pid_t process, int number, std::uint64_t value) noexcept {
    const std::size_t offset = offsetof(user, u_debugreg) + sizeof(value) * std::size_t(number);
    return ::ptrace(PTRACE_POKEUSER, process, offset, value) == 0;
}

int wait_for(pid_t process) noexcept {
    int status = 0;
    while (::waitpid(process, &status, 0) < 0 && errno == EINTR) {
    }
    return status;
}

}  // namespace

bool hardware_watchpoints_work() noexcept {
    const pid_t process = ::fork();
    if (process < 0) return true;
    if (process == 0) write_once();
    int status = wait_for(process);
    if (!WIFSTOPPED(status)) return true;  // it may not be traced
    const bool accepted = set_register(process, 0, reinterpret_cast<std::uintptr_t>(&watched)) &&
                          set_register(process, kControl, kEnabled | kWrites | kFourBytes);
    bool works = true;
    if (accepted && ::ptrace(PTRACE_CONT, process, nullptr, nullptr) == 0) {
        status = wait_for(process);
        works = WIFSTOPPED(status) && WSTOPSIG(status) == SIGTRAP;
        if (!WIFSTOPPED(status)) return works;  // it has ended
    }
    ::kill(process, SIGKILL);
    wait_for(process);
    return works;
}
#else
bool hardware_watchpoints_work() noexcept {
    return true;
}
#endif

}  // namespace poe
