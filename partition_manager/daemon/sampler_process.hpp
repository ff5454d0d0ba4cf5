// SamplerProcess: the child pmd-sample of a daemon, which records the call stacks of the node's
// tasks (partition_manager/sampling). The daemon names the tasks to it, and ends it by closing its
// standard input.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <string>
#include <sys/types.h>
#include <utility>
#include <vector>

#include <asio/io_context.hpp>
#include <asio/posix/stream_descriptor.hpp>
#include <asio/steady_timer.hpp>

#include "base/types.hpp"
#include "base/unique_fd.hpp"

namespace poe::pm {

// True if the kernel allows perf events of a process of this user; tried on this process.
bool allows_perf_events();
// True if on this kernel the signals of a timer of processor time never interrupt a system call.
bool has_safe_timer_signals();
// Creates the file into which tasks copy their stacks `rate` times per second. Throws Error.
void make_sample_slots(const std::string& path, int rate);
// Returns the environment variables of a task that copies its stacks into this file.
std::vector<std::pair<std::string, std::string>> sample_variables(const std::string& slots,
                                                                  TaskId task);

// Call only from the event loop's thread.
class SamplerProcess {
  public:
    // Starts the process. `stream`: the path of the stream that it writes. `rate`: stacks per
    // second. `slots`: the file into which the tasks copy their stacks; empty: perf events.
    // `attention` receives sentences for the user. Throws Error.
    SamplerProcess(asio::io_context& loop, const std::string& stream, int rate,
                   const std::string& slots, std::function<void(std::string)> attention);
    ~SamplerProcess();
    SamplerProcess(const SamplerProcess&) = delete;
    SamplerProcess& operator=(const SamplerProcess&) = delete;

    // Never blocks. Ignored if the process has ended.
    void add(TaskId task, pid_t process);
    // Makes the process write its last records and end. `on_over` is called once, when it has
    // ended; if this takes longer than some seconds, the process is killed first.
    void finish(std::function<void()> on_over);
    pid_t pid() const { return pid_; }

  private:
    void read_output();
    void over();

    asio::posix::stream_descriptor output_;
    asio::steady_timer patience_;
    UniqueFd orders_;
    pid_t pid_ = 0;
    std::function<void(std::string)> attention_;
    std::function<void()> on_over_;
    bool ended_ = false;
    bool explained_ = false;  // it has said why it ends
    std::string text_;
    std::array<char, 1024> part_{};
    // A handler of a cancelled operation may run after this object has gone.
    std::shared_ptr<const bool> here_ = std::make_shared<const bool>(true);
};

}  // namespace poe::pm
