// The ptrace loop; see task_tracer.hpp.
#include "partition_manager/core/task_tracer.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <string>
#include <sys/ptrace.h>
#include <sys/wait.h>

#include "base/proc_files.hpp"

namespace poe::pm {

namespace {

constexpr std::array kFatal = {SIGSEGV, SIGBUS,  SIGABRT, SIGFPE,  SIGILL,
                               SIGQUIT, SIGTRAP, SIGSYS,  SIGXCPU, SIGXFSZ};

int event_of(int status) {
    return status >> 16;
}

void go_on(pid_t thread, int signal) {
    ::ptrace(PTRACE_CONT, thread, 0, signal);
}

// True if the process handles the signal or ignores it.
bool has_own_way(pid_t process, int signal) {
    std::ifstream status("/proc/" + std::to_string(process) + "/status");
    for (std::string line; std::getline(status, line);)
        if (line.starts_with("SigCgt:") || line.starts_with("SigIgn:"))
            if ((std::strtoull(line.c_str() + 7, nullptr, 16) >> (signal - 1) & 1) != 0)
                return true;
    return false;
}

}  // namespace

int TaskTracer::attach() {
    return ::ptrace(PTRACE_SEIZE, task_, 0, PTRACE_O_TRACECLONE) == 0 ? 0 : errno;
}

void TaskTracer::run() {
    while (true) {
        int status = 0;
        const pid_t thread = ::waitpid(-1, &status, __WALL);
        if (thread < 0 && errno == EINTR) continue;
        if (thread < 0) return;
        if (WIFSTOPPED(status)) on_stop(thread, status);
    }
}

void TaskTracer::on_stop(pid_t thread, int status) {
    const int signal = WSTOPSIG(status);
    if (event_of(status) == PTRACE_EVENT_STOP) {
        // New threads begin with this event. If the signal is one of the stopping signals, another
        // process has stopped the task, and it must stay stopped until it is continued.
        const bool stays =
            signal == SIGSTOP || signal == SIGTSTP || signal == SIGTTIN || signal == SIGTTOU;
        ::ptrace(stays ? PTRACE_LISTEN : PTRACE_CONT, thread, 0, 0);
    } else if (event_of(status) != 0) {
        go_on(thread, 0);
    } else {
        if (is_fatal(signal)) {
            stop_others(thread);
            on_fatal_(thread, signal);
            let_others_go();
        }
        go_on(thread, signal);
    }
}

bool TaskTracer::is_fatal(int signal) const {
    const bool ends = std::find(kFatal.begin(), kFatal.end(), signal) != kFatal.end() ||
                      (at_sigterm_ && signal == SIGTERM);
    return ends && !has_own_way(task_, signal);
}

void TaskTracer::stop_others(pid_t thread) {
    for (const pid_t other : threads_of(task_)) {
        if (other == thread || ::ptrace(PTRACE_INTERRUPT, other, 0, 0) != 0) continue;
        int status = 0;
        if (::waitpid(other, &status, __WALL) != other || !WIFSTOPPED(status)) continue;
        others_.push_back({other, event_of(status) == 0 ? WSTOPSIG(status) : 0});
    }
}

void TaskTracer::let_others_go() {
    for (const Stopped& other : others_) go_on(other.thread, other.signal);
    others_.clear();
}

}  // namespace poe::pm
