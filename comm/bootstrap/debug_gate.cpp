// Implementation of debug_gate.hpp.
#include "comm/bootstrap/debug_gate.hpp"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <exception>
#include <memory>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/parse.hpp"
#include "comm/bootstrap/control_line.hpp"

extern "C" {
// Debuggers look it up by its name.
[[gnu::used]] volatile int MPIR_debug_gate = 0;
}

namespace poe::comm {

namespace {

constexpr std::chrono::milliseconds kAskAgain{1000};

// True if a debugger has this process already.
bool is_traced() {
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> status(
        std::fopen("/proc/self/status", "re"), &std::fclose);
    if (!status) return false;
    char line[256];
    int tracer = 0;
    while (std::fgets(line, sizeof line, status.get()) != nullptr)
        if (std::sscanf(line, "TracerPid: %d", &tracer) == 1) break;
    return tracer != 0;
}

}  // namespace

void wait_for_debugger() noexcept {
    if (std::getenv("MP_DEBUG_GATE") == nullptr) return;
    constexpr timespec kPause{0, 10'000'000};
    while (MPIR_debug_gate == 0) ::nanosleep(&kPause, nullptr);
}

void wait_for_pdbx() noexcept {
    const char* control = std::getenv("MP_CONTROL");
    const char* child = std::getenv("MP_CHILD");
    if (std::getenv("MP_DEBUGGED") == nullptr || control == nullptr || child == nullptr) return;
    const auto task = parse_number<TaskId>(child);
    if (!task || is_traced()) return;
    // The debugger is no ancestor of this process, which the kernel may demand.
    ::prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
    try {
        ControlLine line(control);
        do {
            line.send(DebuggerRequest{.task = *task, .pid = ::getpid()});
        } while (!line.wait_for_debugger(kAskAgain));
    } catch (const std::exception&) {
        // There is no daemon, so there is no debugger.
    }
}

}  // namespace poe::comm
