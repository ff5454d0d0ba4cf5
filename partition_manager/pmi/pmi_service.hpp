// PmiService: the wire-up protocols of other MPI libraries, in the daemon's event loop. It gives
// each task a PMI-1 socket and the address of a PMIx server that is started on demand
// (pmix_activation.hpp), moves bytes between sockets and the protocol state machines, and turns
// their actions into the daemon's events.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include <asio/io_context.hpp>
#include <asio/posix/stream_descriptor.hpp>

#include "base/unique_fd.hpp"
#include "partition_manager/channel/messages.hpp"
#include "partition_manager/job/job.hpp"
#include "partition_manager/pmi/pmi1_server.hpp"
#include "partition_manager/pmi/pmix_activation.hpp"

namespace poe::pm {

// Belongs to one event loop; not thread-safe. No call blocks, except shut_down(), which reaps the
// helper, and the constructor if the job wants the PMIx server before its tasks
// (JobSpec::eager_pmix).
class PmiService {
  public:
    struct Handlers {
        std::function<void(TaskAbort)> on_abort;
        std::function<void(TaskLeft)> on_left;
        std::function<void(std::string)> on_attention;
        std::function<void(std::string)> on_lost_server;          // the job cannot continue
        std::function<void(const KeyExchangePart&)> on_exchange;  // send to the other nodes
        std::function<void(const Message&)> on_ask;  // send to poe, or through poe to another node
    };

    // `directory` is the job's directory. Throws Error if the PMIx port cannot be opened.
    PmiService(asio::io_context& loop, const JobSpec& job, NodeIndex node,
               const std::string& directory, unsigned cpus, Handlers handlers);
    ~PmiService();

    // To be called just before the task is started: first open_task, which returns the descriptor
    // that the task inherits, then environment_of, which returns the variables for it. Throws Error
    // if no socket can be created.
    UniqueFd open_task(TaskId task);
    Environment environment_of(TaskId task, const PlaceOnNode& place);
    // To be called when all tasks have been started (or could not be). From now on they are served.
    void tasks_started();

    // All nodes have contributed their parts of a key exchange.
    void on_exchanged(const KeyExchangeDone& exchanged);

    // Another node requests what a task of this node has put into PMIx.
    void on_keys_asked(const KeyRequest& ask);
    // The answers to what was passed to on_ask().
    void on_keys(const KeyReply& keys);
    void on_names(const NameReply& names);
    void on_spawned(const TasksSpawned& spawned);
    // Another job of the same poe runs.
    void on_other_job(JobSummary other);
    // A task of any node has ended without leaving PMIx or PMI-1.
    void on_peer_lost(TaskId task);

    // True if another task has started this one and given it initial pairs, which it has not read.
    bool unjoined(TaskId task) const { return pmi1_.unjoined(task); }
    // To be called after the task's exit was reported. If the task ended between init and finalize,
    // calls on_left.
    void on_task_exit(TaskId task);
    // To be called when any child of the daemon that is not a task has been reaped.
    void on_child_exit(pid_t pid);
    // The process id of the running pmd-pmix; 0 if there is none. It is not a process of the job.
    pid_t helper_pid() const;
    // Kills the helper and reaps it.
    void shut_down();

  private:
    struct Client {
        explicit Client(asio::io_context& loop) : socket(loop) {}
        asio::posix::stream_descriptor socket;
        int task_fd = -1;  // the descriptor number of the socket's other end in the task
        std::string outbox;
        bool writing = false;
    };

    void read_client(TaskId task);
    void write_client(TaskId task);
    void perform(const Pmi1Actions& actions);
    void ask(Message question);
    void start_helper();
    void wait_eagerly();
    void watch_pmix();
    void read_control();
    void watch_control_writable();
    void on_pmix(const PmixMessage& message);
    void forget_pmix_descriptors();
    void hear_helper();

    asio::io_context& loop_;
    Handlers handlers_;
    std::vector<std::string> user_environment_;
    Environment common_;  // for other MPI libraries, the same for every task
    Pmi1Server pmi1_;
    NodeIndex node_;
    std::size_t size_;
    bool spawned_;  // a task has started the tasks of this job
    std::uint32_t nodes_;
    std::unordered_map<TaskId, std::unique_ptr<Client>> clients_;
    std::optional<PmixActivation> pmix_;
    asio::posix::stream_descriptor listener_;
    asio::posix::stream_descriptor gate_;
    asio::posix::stream_descriptor control_;
    bool helper_reaped_ = false;
    bool shut_down_ = false;
    bool ready_ = false;
};

}  // namespace poe::pm
