// TaskTracer: stands behind one task and, when a signal is about to end it, stops its threads, has
// somebody look at it, and lets it die. By ptrace, so that it works for every program, whatever it
// is linked to and in whatever state it is. Signals that the program handles itself are left to it;
// when its handler raises the signal again, to die of it, that is seen.
#pragma once

#include <functional>
#include <sys/types.h>
#include <vector>

namespace poe::pm {

class TaskTracer {
  public:
    // Called while all threads of the task stand still; `thread` is the one that got the signal.
    using OnFatal = std::function<void(pid_t thread, int signal)>;

    // `at_sigterm`: SIGTERM counts as fatal, too.
    TaskTracer(pid_t task, bool at_sigterm, OnFatal on_fatal)
        : task_(task), at_sigterm_(at_sigterm), on_fatal_(std::move(on_fatal)) {}

    // Begins to trace the task, whose parent need not be us. 0, or the errno that says why not.
    int attach();
    // Until the task has ended.
    void run();

  private:
    void on_stop(pid_t thread, int status);
    bool is_fatal(int signal) const;
    void stop_others(pid_t thread);
    void let_others_go();

    struct Stopped {
        pid_t thread = 0;
        int signal = 0;  // that it was to get
    };

    pid_t task_;
    bool at_sigterm_;
    OnFatal on_fatal_;
    std::vector<Stopped> others_;
};

}  // namespace poe::pm
