// PMIx on demand, pmd's side. A PMIx server costs 10-20 ms, 18 MB and threads, and most jobs never
// ask for one; so pmd only promises it, and starts the helper program pmd-pmix when a task comes
// for it. Two things tell:
//
// - the gate: libpmix looks into the file named by PMIX_MCA_mca_base_override_param_file before
//   all else. We name an empty file on which we hold a lease, so that the open waits until the
//   kernel has told us (SIGIO, through gate_fd()) and the server is there. The task then finds
//   everything in place, the shared data store included.
// - the listener: the TCP port that PMIX_SERVER_URI names. It is opened here and becomes readable
//   when a task that did not pass the gate (another libpmix) connects; the helper inherits it.
//   Such a task is served as well, without the shared store.
//
// Life: open() -> environment() for each task -> [gate_fd() or listener_fd() readable ->
// start_helper() -> on_readable()/on_writable() of control_fd()] -> shutdown().
// Nothing here blocks and nothing is thread-safe; the caller's loop watches the descriptors.
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
    // Opens the listener and the gate; about 0.05 ms. Blocks SIGIO in the calling thread (spawn()
    // gives children a mask of their own). `environment` is the tasks' environment as the user has
    // it. Throws Error when there is no loopback network or no space.
    static PmixActivation open(PmixJob job, const std::vector<std::string>& environment);

    PmixActivation(PmixActivation&&) = default;
    PmixActivation& operator=(PmixActivation&&) = default;

    // The variables that one task gets. After PmixReady those of the real server.
    Environment environment(TaskId task);

    // Watch both for reading until one is readable, then call start_helper(). -1 once the helper
    // was started; gate_fd() also when leases are not to be had or the user set the variable.
    int listener_fd() const { return listener_.get(); }
    int gate_fd() const { return gate_signal_.get(); }

    // Starts `program` (the path of pmd-pmix) with `environment` and gives it the listener; to be
    // called once, at the first sign of need, or before the tasks are started (MP_PMIX=yes; wait
    // for PmixReady then). It is killed when the calling thread ends. Throws Error when it cannot
    // be started; call shutdown() then.
    void start_helper(const std::string& program, const std::vector<std::string>& environment);

    bool started() const { return helper_ > 0; }
    pid_t helper_pid() const { return helper_; }  // to be reaped by the caller; 0: not started

    // Another job runs beside this one.
    void know(JobSummary other);

    // Tells the helper what came from other nodes. Without one, or with one that is gone, nothing.
    void send(const PmixMessage& message);

    // Watch for reading always, for writing while wants_write(). -1: not started, or gone.
    int control_fd() const { return control_.get(); }
    bool wants_write() const { return !outbox_.empty(); }

    // What the helper said. When it is gone without being told, or talks nonsense, the last is
    // PmixFailed and control_fd() is -1 from then on. The tasks' PMIx calls fail then, or hang, so
    // that the job should end. What a task did is told before its process ends: to learn it in that
    // order, call this before dealing with an ended task.
    std::vector<PmixMessage> on_readable();
    void on_writable();

    // A task's process has ended. True when it had connected and not finalized, as far as
    // on_readable() has heard: then, whatever its status, the others may wait for it for ever, and
    // the job has failed.
    bool task_exited(TaskId task) { return present_.erase(task) > 0; }

    // Ends the service: what waits at the gate or connects is let go and refused, the helper is
    // told to end by closing its control socket (it does so at once). Safe at any time, also twice.
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
    UniqueFd gate_;         // holds the lease; closed to let tasks through
    UniqueFd gate_signal_;  // signalfd
    UniqueFd control_;
    pid_t helper_ = 0;
    std::uint16_t port_ = 0;
    bool promise_given_ = false;  // a task was told environment_
    std::set<TaskId> present_;    // connected and not finalized
    std::string outbox_;
    PmixDecoder decoder_;
};

}  // namespace poe::pm
