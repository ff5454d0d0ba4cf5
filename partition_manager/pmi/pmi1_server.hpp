// PMI-1, the wire-up protocol of MPICH and its kin: one text line per command over a socket that
// each task inherits (PMI_FD). This is the daemon's side as a state machine without input or
// output: bytes in, actions out. The event loop, the sockets and the tasks belong to the caller.
//
// The protocol: a command is "cmd=NAME key=value ...\n" (or "mcmd=NAME\nkey=value\n...endcmd\n").
// Blanks part keys and values, but `value=` runs to the end of its line. Every command but abort
// is answered, in order.
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

// Key and value as a task put them.
using KeyValue = std::pair<std::string, std::string>;

// What the protocol has to tell about a job.
struct Pmi1Job {
    std::string kvsname;                        // no blanks; unique per job
    std::uint32_t size = 0;                     // tasks of the job, on all nodes
    std::uint32_t universe_size = 0;            // how many could run; 0: as many as `size`
    std::vector<TaskId> local_tasks;            // those whose bytes come here
    std::vector<std::uint32_t> appnum_of_task;  // by task id; empty: one program, 0
    std::string process_mapping;                // see pmi1_process_mapping(); empty: not told
    std::vector<KeyValue> pairs = {};           // that are there from the start
    TaskId first = 0;                           // what people call task 0
};

// "(vector,(first node,nodes,tasks per node),...)" for a task map, or "" when it would not fit into
// a value; MPICH then finds out by comparing host names.
std::string pmi1_process_mapping(const std::vector<NodeIndex>& node_of_task);

// What the caller has to do now, in this order.
struct Pmi1Actions {
    struct Reply {
        TaskId task = 0;
        std::string bytes;  // to be written to the task's socket, in order
    };
    struct Abort {
        TaskId task = 0;
        int code = 0;
        std::string message;  // the task's own words, may be empty
    };
    struct ProtocolError {
        TaskId task = 0;
        std::string text;    // one sentence for an ATTENTION line
        bool fatal = false;  // nothing sensible comes any more: close the socket
    };
    std::vector<Reply> replies;
    std::vector<ProtocolError> errors;
    // For the table of the whole job; the answer to each is given to on_names().
    std::vector<NameRequest> names;
    // More tasks to be started; the answer to each is given to on_spawned().
    std::vector<SpawnTasks> spawns;
    std::optional<Abort> abort;
    // Several nodes only: all local tasks are in the barrier. The pairs that were put here since
    // the last one; send them to all nodes, then call release() with what all nodes sent.
    std::optional<std::vector<KeyValue>> barrier;
};

// One node's PMI-1 for one job. Never blocks, never throws for anything that a task sends; not
// thread-safe. Memory grows only by what tasks put: at most kMaxPairs pairs of kMaxLine bytes.
class Pmi1Server {
  public:
    static constexpr std::size_t kMaxLine = 8192;  // the longest line that is read
    static constexpr std::size_t kMaxPairs = 1U << 20;
    static constexpr std::size_t kMaxSpawnBytes = 4U << 20;  // of one request to start tasks
    static constexpr std::uint32_t kMaxErrors = 8;  // a task that makes so many is not listened to

    explicit Pmi1Server(Pmi1Job job);

    // Bytes that a local task sent, in pieces of any size. POE_CHECK: the task is local.
    Pmi1Actions on_bytes(TaskId task, std::string_view bytes);

    // All nodes are in the barrier, and these are the pairs that they put, of all nodes together.
    Pmi1Actions release(const std::vector<KeyValue>& pairs);

    // The answer to what a task has asked about names. One that nobody has asked for is dropped.
    Pmi1Actions on_names(const NameReply& tell);
    // Likewise to what it has asked to be started.
    Pmi1Actions on_spawned(const TasksSpawned& spawned);

    // True once the task has said `init`, and once it has said `finalize`. A task that ends
    // between the two has left others behind that may wait for it.
    bool initialized(TaskId task) const { return client(task).initialized; }
    bool finalized(TaskId task) const { return client(task).finalized; }

  private:
    // A command while its lines come in.
    struct Multiline {
        std::string name;
        std::vector<KeyValue> lines;
        std::size_t bytes = 0;
    };
    // The requests of one MPI_Comm_spawn_multiple come one after the other and get one answer.
    struct Spawn {
        SpawnTasks ask;
        std::size_t bytes = 0;
        std::string trouble;
    };
    struct Client {
        std::string line;       // the beginning of a line
        bool overlong = false;  // the rest of the line is dropped
        std::uint32_t errors = 0;
        bool initialized = false;
        bool finalized = false;
        bool in_barrier = false;
        std::optional<Multiline> multiline;
        std::optional<Spawn> spawn;
        bool spawning = false;                  // all are, and the answer is awaited
        std::optional<NameRequest::What> asks;  // its question about names is open
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

    // One per command that is answered at once: the answer without its newline.
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
    std::vector<KeyValue> new_pairs_;  // since the last barrier
    std::size_t waiting_ = 0;          // tasks in the barrier
};

}  // namespace poe::pm
