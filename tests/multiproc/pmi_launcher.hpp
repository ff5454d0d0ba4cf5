// A small pmd for tests of other people's wire-up: starts tasks on this node with the environment,
// sockets and activation that pmd gives them, on a plain poll loop, and reports what happened.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <sys/types.h>
#include <vector>

#include "base/unique_fd.hpp"
#include "partition_manager/pmi/pmi1_server.hpp"
#include "partition_manager/pmi/pmix_activation.hpp"
#include "partition_manager/status/name_table.hpp"

namespace poe::test {

class PmiLauncher;

struct PmiJob {
    std::vector<std::string> command;
    std::uint32_t tasks = 2;
    bool eager = false;                                   // the server before the tasks
    std::vector<std::string> environment = {};            // "NAME=value", beside our own
    std::vector<std::uint32_t> appnums = {};              // by task; empty: all 0
    std::chrono::milliseconds deadline{20000};            // then everything is killed
    std::function<void(PmiLauncher&)> when_started = {};  // all tasks were started
    std::function<void(PmiLauncher&, const pm::PmixMessage&)> on_event = {};
};

struct PmiOutcome {
    using Milliseconds = std::chrono::duration<double, std::milli>;

    std::vector<int> statuses;  // of waitpid, by task
    std::string output;         // stdout and stderr of all tasks
    std::vector<pm::PmixMessage> events;
    std::vector<pm::Pmi1Actions::Abort> pmi1_aborts;
    std::vector<std::string> protocol_errors;
    std::vector<TaskId> vanished;  // ended between init and finalize, in that order
    bool timed_out = false;
    bool helper_started = false;
    Milliseconds setup{};     // of the activation
    Milliseconds start_up{};  // helper start to PmixReady
    Milliseconds total{};

    bool all_succeeded() const;
    template <typename Message>
    std::vector<Message> all() const {
        std::vector<Message> found;
        for (const pm::PmixMessage& event : events)
            if (const auto* message = std::get_if<Message>(&event)) found.push_back(*message);
        return found;
    }
};

// Runs one job in the calling thread. Its tasks are killed when that thread ends.
class PmiLauncher {
  public:
    // `helper`: path of pmd-pmix.
    PmiLauncher(PmiJob job, std::string helper);
    ~PmiLauncher();
    PmiLauncher(const PmiLauncher&) = delete;
    PmiLauncher& operator=(const PmiLauncher&) = delete;

    PmiOutcome run();

    // For the hooks.
    std::uint16_t pmix_port() const { return pm::pmix_port(pmix_->environment(0)); }
    pid_t helper_pid() const { return pmix_->helper_pid(); }
    const std::vector<pid_t>& tasks() const { return pids_; }
    const std::string& directory() const { return directory_; }

  private:
    void start_task(std::uint32_t task, int output);
    void poll_once();
    void on_pmix();
    void on_pmi1(std::size_t task);
    void perform(const pm::Pmi1Actions& actions);
    void read_output();
    void reap();
    void kill_tasks();
    void end_job();

    PmiJob job_;
    std::string helper_;
    std::string directory_;
    PmiOutcome outcome_;
    std::unique_ptr<pm::Pmi1Server> pmi1_;
    pm::NameTable names_;
    std::unique_ptr<pm::PmixActivation> pmix_;
    std::vector<std::string> base_environment_;
    std::vector<pid_t> pids_;
    std::vector<UniqueFd> sockets_;  // PMI-1, our ends, by task
    UniqueFd output_;
    std::size_t running_ = 0;
    bool ready_ = false;
    std::chrono::steady_clock::time_point helper_start_;
};

}  // namespace poe::test
