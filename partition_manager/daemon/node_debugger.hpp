// NodeDebugger: the gdb of a node, which debugs all tasks of the node for pdbx (debug_socket.hpp).
// The daemon starts it and carries its machine interface; it knows nothing of the commands.
//
//   1. StartDebugger: gdb is started, and DebuggerStarted is sent.
//   2. DebuggerInput is written to gdb. What gdb writes is sent as DebuggerOutput, within the
//      window that DebuggerCredit opens.
//   3. EndDebugger, or the loss of poe, closes gdb's input. gdb then detaches from its tasks and
//      ends. If it does not end in time, it is killed, and the kernel detaches it.
//   4. DebuggerEnded is sent. Tasks that were left stopped are continued.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <sys/types.h>
#include <vector>

#include <asio/io_context.hpp>
#include <asio/posix/stream_descriptor.hpp>
#include <asio/steady_timer.hpp>

#include "partition_manager/channel/messages.hpp"

namespace poe::pm {

// Call only from the event loop's thread. No call blocks, except that starting a process takes a
// moment.
class NodeDebugger {
  public:
    struct Handlers {
        std::function<void(Message)> send;
        // gdb has ended. The tasks must continue.
        std::function<void()> on_end;
    };

    NodeDebugger(asio::io_context& loop, Handlers handlers)
        : loop_(loop), handlers_(std::move(handlers)), timer_(loop) {}
    NodeDebugger(const NodeDebugger&) = delete;
    NodeDebugger& operator=(const NodeDebugger&) = delete;
    ~NodeDebugger();

    // Starts gdb. `tasks` are those that run. If a gdb is ending, the new one starts after its end.
    // If gdb runs already, it is left as it is.
    void start(std::vector<TaskProcess> tasks);
    void write(const std::string& bytes);
    void on_credit(std::uint64_t bytes);
    // Ends gdb as described above.
    void end();
    // Interrupts the function that gdb executes in this process. If gdb executes none in it, or if
    // it is 0, what gdb itself executes is interrupted.
    void interrupt(pid_t task);
    // Kills gdb.
    void kill();

    // 0: there is none.
    pid_t pid() const { return pid_; }
    // The daemon has reaped this child. Returns false if it is not gdb.
    bool on_child_exit(pid_t pid, int status);

  private:
    void refuse(DebuggerStarted started, const std::string& trouble);
    void read(bool errors);
    bool take(bool errors);
    void flush();
    void close_all();

    asio::io_context& loop_;
    Handlers handlers_;
    asio::steady_timer timer_;
    pid_t pid_ = 0;
    bool ending_ = false;
    std::optional<std::vector<TaskProcess>> next_;  // the tasks of a gdb that is to be started
    std::unique_ptr<asio::posix::stream_descriptor> in_;
    std::unique_ptr<asio::posix::stream_descriptor> out_;
    std::unique_ptr<asio::posix::stream_descriptor> err_;
    std::string queue_;  // not yet written to gdb
    bool writing_ = false;
    bool reading_ = false;
    std::int64_t room_ = 0;
    std::string errors_;  // the end of what gdb wrote to its standard error
};

}  // namespace poe::pm
