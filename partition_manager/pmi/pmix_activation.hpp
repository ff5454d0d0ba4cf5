// PMIx on demand, pmd's side. A PMIx server costs 10 to 20 ms, 18 MB and threads, and most jobs
// never need one. Therefore pmd only predicts the server's settings for the tasks, and starts the
// helper program pmd-pmix when a task needs it. Two events show that:
//
// - The gate: before anything else, libpmix opens the file named by
//   PMIX_MCA_mca_base_override_param_file. pmd names an empty file on which it holds a lease.
//   Therefore the open blocks until the kernel has notified pmd (SIGIO, through gate_fd()) and the
//   server runs. The task then finds everything in place, including the shared data store.
// - The listener: the TCP port that PMIX_SERVER_URI names. It is opened here, and becomes readable
//   when a task that did not pass the gate (another libpmix) connects. The helper inherits it. Such
//   a task is served as well, but without the shared store.
//
// Life:
//   1. open()
//   2. environment() for each task
//   3. When gate_fd() or listener_fd() is readable: start_helper()
//   4. on_readable() and on_writable() of control_fd()
//   5. shutdown()
//
// No call blocks. Not thread-safe; the caller's event loop watches the descriptors.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <sys/types.h>
#include <vector>

#include "base/unique_fd.hpp"
#include "partition_manager/pmi/pmix_environment.hpp"
#include "partition_manager/pmi/pmix_messages.hpp"

namespace poe::pm {

class PmixActivation {
  public:
    // Opens the listener and the gate; takes about 0.05 ms. Blocks the signal SIGIO in the calling
    // thread (spawn() gives children their own mask). `environment` is the tasks' environment as
    // the user has set it. Throws Error if there is no loopback network or no space.
    static PmixActivation open(PmixJob job, const std::vector<std::string>& environment);

    PmixActivation(PmixActivation&&) = default;
    PmixActivation& operator=(PmixActivation&&) = default;

    // The variables of one task. After PmixReady, those that the server has reported.
    Environment environment(TaskId task);

    // Watch both for reading until one is readable, then call start_helper(). -1 once the helper
    // has been started. gate_fd() is also -1 if leases are unavailable or the user has set the
    // variable.
    int listener_fd() const { return listener_.get(); }
    int gate_fd() const { return gate_signal_.get(); }

    // Starts `program` (the path of pmd-pmix) with `environment` and passes it the listener. To be
    // called once: when one of the two events occurs, or before the tasks are started (MP_PMIX=yes;
    // then wait for PmixReady). The helper is killed when the calling thread ends. Throws Error if
    // it cannot be started; call shutdown() then.
    void start_helper(const std::string& program, const std::vector<std::string>& environment);

    bool started() const { return helper_ > 0; }
    pid_t helper_pid() const { return helper_; }  // the caller reaps it; 0: not started

    // Another job of the same poe runs.
    void know(JobSummary other);

    // Sends the helper a message from another node. Ignored if the helper has not been started or
    // has ended.
    void send(const PmixMessage& message);

    // Watch for reading always, and for writing while wants_write(). -1: not started, or ended.
    int control_fd() const { return control_.get(); }
    bool wants_write() const { return !outbox_.empty(); }

    // Returns the messages of the helper. If the helper has ended unexpectedly or sends invalid
    // data, the last message is PmixFailed, and control_fd() is -1 from then on. The tasks' PMIx
    // calls then fail or hang, so the job should end. The helper reports what a task did before the
    // task's process ends. To preserve this order, call this function before you handle the end of
    // a task.
    std::vector<PmixMessage> on_readable();
    void on_writable();

    // A task's process has ended. Returns true if the task had connected and not finalized,
    // according to the messages that on_readable() has received. In this case the job has failed,
    // whatever the task's status, because other tasks may wait for it forever.
    bool task_exited(TaskId task) { return present_.erase(task) > 0; }

    // Ends the service. Tasks that wait at the gate continue, connections are refused, and the
    // helper ends because its control socket is closed (it does so at once). May be called at any
    // time and repeatedly.
    void shutdown();

  private:
    PmixActivation() = default;
    void open_listener();
    void open_gate();
    bool all_pass_the_gate() const;
    void open_the_gate_for_all();
    void note(const PmixMessage& message);

    PmixJob job_;
    Environment environment_;
    UniqueFd listener_;
    UniqueFd gate_;         // holds the lease; closed to let tasks continue
    UniqueFd gate_signal_;  // signalfd
    UniqueFd control_;
    pid_t helper_ = 0;
    std::uint16_t port_ = 0;
    bool promise_given_ = false;  // a task was given environment_
    std::set<TaskId> present_;    // tasks that have connected and not finalized
    std::string outbox_;
    PmixDecoder decoder_;
};

}  // namespace poe::pm
