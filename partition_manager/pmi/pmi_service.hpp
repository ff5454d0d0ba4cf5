// PmiService: other people's wire-up, on the daemon's loop. Gives each task a PMI-1 socket and the
// promise of a PMIx server (pmix_activation.hpp), moves bytes between sockets and the protocol
// machines, and turns what they say into the daemon's own events.
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

// Belongs to one loop; not thread-safe; never blocks, except in the constructor when the job wants
// the PMIx server before its tasks (JobSpec::eager_pmix).
class PmiService {
  public:
    struct Handlers {
        std::function<void(TaskAbort)> on_abort;
        std::function<void(TaskLeft)> on_left;
        std::function<void(std::string)> on_attention;
        std::function<void(std::string)> on_lost_server;          // the job cannot go on
        std::function<void(const KeyExchangePart&)> on_exchange;  // with the other nodes
        std::function<void(const Message&)> on_ask;  // poe, or by way of it another node
    };

    // `directory`: the job's directory. Throws Error when the PMIx port cannot be had.
    PmiService(asio::io_context& loop, const JobSpec& job, NodeIndex node,
               const std::string& directory, unsigned cpus, Handlers handlers);
    ~PmiService();

    // Just before its task is started: the descriptor that it keeps, and then what its environment
    // has for us. Throws Error when there are no sockets to be had.
    UniqueFd open_task(TaskId task);
    Environment environment_of(TaskId task);
    // All tasks are started (or not): they are served from now on.
    void tasks_started();

    // All nodes have given their parts of an exchange.
    void on_exchanged(const KeyExchangeDone& exchanged);

    // Another node asks for what a task of this one has put into PMIx.
    void on_keys_asked(const KeyRequest& ask);
    // The answer to what on_ask() was given.
    void on_keys(const KeyReply& keys);
    void on_names(const NameReply& names);
    void on_spawned(const TasksSpawned& spawned);
    // Another job runs beside this one.
    void on_other_job(JobSummary other);
    // A task of any node has ended without leaving PMIx or PMI-1.
    void on_peer_lost(TaskId task);

    // After the task's exit was reported: a task that ended between init and finalize is reported,
    // too.
    void on_task_exit(TaskId task);
    // Any child of the daemon that is no task was reaped.
    void on_child_exit(pid_t pid);
    // The running pmd-pmix, 0 when there is none; it is not a process of the job.
    pid_t helper_pid() const;
    // Ends the helper and waits for it.
    void shut_down();

  private:
    struct Client {
        explicit Client(asio::io_context& loop) : socket(loop) {}
        asio::posix::stream_descriptor socket;
        int task_fd = -1;  // the number that its other end has in the task
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
    Environment common_;  // for foreign MPIs, the same for every task
    Pmi1Server pmi1_;
    NodeIndex node_;
    std::size_t size_;
    bool spawned_;  // our tasks have been started by a task
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
