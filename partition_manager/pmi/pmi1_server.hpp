// PMI-1, the wire-up protocol of MPICH and its derivatives: one text line per command, over a
// socket that each task inherits (PMI_FD). This is the daemon's side as a state machine without
// I/O: bytes go in, actions come out. The caller owns the event loop, the sockets and the tasks.
//
// A command is "cmd=NAME key=value ...\n" or "mcmd=NAME\nkey=value\n...endcmd\n". Blanks separate
// keys and values, but `value=` extends to the end of its line. Every command except abort is
// answered, in order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/types.hpp"
#include "partition_manager/channel/messages.hpp"

namespace poe::pm {

// A key and its value as a task has put them.
using KeyValue = std::pair<std::string, std::string>;

// The facts about a job that the protocol provides.
struct Pmi1Job {
    std::string kvsname;                        // no blanks; unique per job
    std::uint32_t size = 0;                     // tasks of the job, on all nodes
    std::uint32_t universe_size = 0;            // how many tasks could run; 0: as many as `size`
    std::vector<TaskId> local_tasks;            // the tasks whose bytes this object receives
    std::vector<std::uint32_t> appnum_of_task;  // by task id; empty: one program, 0
    std::string process_mapping;                // see pmi1_process_mapping(); empty: not provided
    std::vector<KeyValue> pairs = {};           // the initial pairs
    TaskId first = 0;                           // the number by which users know task 0
};

// Returns "(vector,(first node,nodes,tasks per node),...)" for a task map. Returns "" if it would
// not fit into a value; MPICH then compares host names instead.
std::string pmi1_process_mapping(const std::vector<NodeIndex>& node_of_task);

// The actions that the caller must perform, in this order.
struct Pmi1Actions {
    struct Reply {
        TaskId task = 0;
        std::string bytes;  // to be written to the task's socket, in order
    };
    struct Abort {
        TaskId task = 0;
        int code = 0;
        std::string message;  // the task's own text; may be empty
    };
    struct ProtocolError {
        TaskId task = 0;
        std::string text;    // one sentence for an ATTENTION line
        bool fatal = false;  // no valid commands are expected any more: close the socket
    };
    std::vector<Reply> replies;
    std::vector<ProtocolError> errors;
    // Requests to the table of the whole job. Pass each answer to on_names().
    std::vector<NameRequest> names;
    // Requests to start more tasks. Pass each answer to on_spawned().
    std::vector<SpawnTasks> spawns;
    std::optional<Abort> abort;
    // Set if there are several nodes and all local tasks are in the barrier: the pairs that local
    // tasks have put since the last barrier. Send them to all nodes, then call release() with the
    // pairs of all nodes.
    std::optional<std::vector<KeyValue>> barrier;
};

// The PMI-1 server of one node for one job. Never blocks. Never throws because of what a task
// sends. Not thread-safe. Memory grows only with the pairs that tasks put: at most kMaxPairs pairs
// of kMaxLine bytes.
class Pmi1Server {
  public:
    static constexpr std::size_t kMaxLine = 8192;  // maximum length of a line in bytes
    static constexpr std::size_t kMaxPairs = 1U << 20;
    static constexpr std::size_t kMaxSpawnBytes = 4U << 20;  // of one request to start tasks
    static constexpr std::uint32_t kMaxErrors = 8;  // after this many errors a task is ignored

    explicit Pmi1Server(Pmi1Job job);

    // Processes bytes that a local task has sent, in pieces of any size. Precondition (POE_CHECK):
    // the task is local.
    Pmi1Actions on_bytes(TaskId task, std::string_view bytes);

    // To be called when all nodes are in the barrier. `pairs` are those that the tasks of all nodes
    // have put.
    Pmi1Actions release(const std::vector<KeyValue>& pairs);

    // Processes the answer to a request about names. If no task waits for it, it is dropped.
    Pmi1Actions on_names(const NameReply& tell);
    // Processes the answer to a request to start tasks, likewise, or the news that one of these
    // tasks has ended too early, which our own library gets as a line that answers no command.
    Pmi1Actions on_spawned(const TasksSpawned& spawned);

    // True once the task has sent `init`, and once it has sent `finalize`. If a task ends between
    // the two, other tasks may wait for it forever.
    bool initialized(TaskId task) const { return client(task).initialized; }
    bool finalized(TaskId task) const { return client(task).finalized; }
    // True if there are initial pairs and the task has read none of them.
    bool unjoined(TaskId task) const { return !job_.pairs.empty() && !client(task).joined; }

  private:
    // A multi-line command that is incomplete.
    struct Multiline {
        std::string name;
        std::vector<KeyValue> lines;
        std::size_t bytes = 0;
    };
    // MPI_Comm_spawn_multiple sends one request per command; all of them get one answer.
    struct Spawn {
        SpawnTasks ask;
        std::size_t bytes = 0;
        std::string trouble;
        bool is_own = false;
    };
    struct Client {
        std::string line;       // the beginning of an incomplete line
        bool overlong = false;  // the rest of the line is discarded
        std::uint32_t errors = 0;
        bool initialized = false;
        bool finalized = false;
        bool in_barrier = false;
        std::optional<Multiline> multiline;
        std::optional<Spawn> spawn;
        bool spawning = false;                  // the request is complete; the answer is pending
        bool own_request = false;               // see Pmi1Spawn::is_own
        bool joined = false;                    // has read an initial pair
        std::optional<NameRequest::What> asks;  // set while a request about names is pending
    };
    struct Command;
    using Handler = std::string (Pmi1Server::*)(TaskId, const Command&);

    static Handler handler_of(std::string_view name);
    void on_line(TaskId task, std::string_view line, Pmi1Actions& actions);
    void on_command(TaskId task, std::string_view line, Pmi1Actions& actions);
    void on_multiline(TaskId task, std::string_view line, Pmi1Actions& actions);
    void on_spawn(TaskId task, const Multiline& request, Pmi1Actions& actions);
    void on_barrier(TaskId task, Pmi1Actions& actions);
    void on_names_command(TaskId task, NameRequest::What what, const Command& command,
                          Pmi1Actions& actions);
    void refuse(TaskId task, const std::string& answer, const std::string& text,
                Pmi1Actions& actions);
    void release_local(Pmi1Actions& actions);

    // One handler for each command that is answered at once. Returns the answer without its
    // newline.
    std::string init(TaskId task, const Command& command);
    std::string get_maxes(TaskId task, const Command& command);
    std::string get_appnum(TaskId task, const Command& command);
    std::string get_my_kvsname(TaskId task, const Command& command);
    std::string get_universe_size(TaskId task, const Command& command);
    std::string put(TaskId task, const Command& command);
    std::string get(TaskId task, const Command& command);
    std::string getbyidx(TaskId task, const Command& command);
    std::string create_kvs(TaskId task, const Command& command);
    std::string destroy_kvs(TaskId task, const Command& command);
    std::string finalize(TaskId task, const Command& command);

    Client& client(TaskId task);
    const Client& client(TaskId task) const;

    Pmi1Job job_;
    std::map<TaskId, Client> clients_;
    std::map<std::string, std::string, std::less<>> pairs_;
    std::vector<KeyValue> new_pairs_;  // put since the last barrier
    std::size_t waiting_ = 0;          // number of tasks in the barrier
};

}  // namespace poe::pm
