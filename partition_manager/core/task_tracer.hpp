// TaskTracer: traces one task. If a signal is about to end the task, it stops the task's threads,
// calls on_fatal, and lets the task die. It uses ptrace, so it works for every program, whatever
// the program is linked to and whatever its state is. A signal that the program handles is passed
// to the program. If the handler then raises the signal again to die from it, the tracer sees the
// second signal.
#pragma once

#include <functional>
#include <sys/types.h>
#include <vector>

namespace poe::pm {

class TaskTracer {
  public:
    // Called while all threads of the task are stopped. `thread` is the one that received the
    // signal.
    using OnFatal = std::function<void(pid_t thread, int signal)>;

    // `at_sigterm`: SIGTERM counts as fatal, too.
    TaskTracer(pid_t task, bool at_sigterm, OnFatal on_fatal)
        : task_(task), at_sigterm_(at_sigterm), on_fatal_(std::move(on_fatal)) {}

    // Begins to trace the task, which need not be a child of this process. Returns 0, or the errno
    // of the failure.
    int attach();
    // Blocks until the task has ended.
    void run();

  private:
    void on_stop(pid_t thread, int status);
    bool is_fatal(int signal) const;
    void stop_others(pid_t thread);
    void let_others_go();

    struct Stopped {
        pid_t thread = 0;
        int signal = 0;  // the signal that it was about to receive
    };

    pid_t task_;
    bool at_sigterm_;
    OnFatal on_fatal_;
    std::vector<Stopped> others_;
};

}  // namespace poe::pm
