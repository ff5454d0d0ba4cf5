// SleepWatch: the stacks of sleeping threads, which use no processor time and therefore have no
// samples. /proc shows where a sleeping thread is, and its stack is read without stopping it, so no
// system call is interrupted.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string_view>
#include <sys/types.h>
#include <vector>

#include "base/types.hpp"
#include "base/unique_fd.hpp"
#include "partition_manager/sampling/stack_memory.hpp"

namespace poe::pm {

struct Sleeper {
    TaskId task = 0;
    pid_t process = 0;
    pid_t thread = 0;
    bool unchanged = false;  // the thread has not run since it was last reported; the rest is empty
    Registers registers{};   // those that are known: the stack pointer and the address
    std::vector<std::byte> stack{};
};

// The registers in the text of /proc/PID/task/TID/syscall; empty if the thread runs.
std::optional<Registers> sleeping_registers(std::string_view text);

// For one thread.
class SleepWatch {
  public:
    // Watches all threads of the process, also later ones.
    void add(TaskId task, pid_t process);
    // Returns the threads that sleep at present. `list`: look for new threads first.
    std::vector<Sleeper> look(bool list);
    // Called for each process that has ended since the threads were listed before.
    std::function<void(pid_t)> on_ended;
    // True if the kernel has forbidden to read the state of a thread.
    bool refused() const { return refused_; }

  private:
    struct Thread {
        TaskId task = 0;
        pid_t process = 0;
        UniqueFd ran{};       // its time on processors
        UniqueFd position{};  // where it is
        std::uint64_t known_ran = 0;
        bool reported = false;
    };

    void list_threads();
    bool look_at(pid_t id, Thread& thread, std::vector<Sleeper>& found);

    std::map<pid_t, TaskId> processes_;
    std::map<pid_t, Thread> threads_;
    bool refused_ = false;
};

}  // namespace poe::pm
