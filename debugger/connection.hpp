// What pdbx is connected to: a job through its poe, or a gdb of its own that has opened core files.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "partition_manager/status/debug_socket.hpp"

namespace poe::debugger {

// Use by one thread at a time. Messages have the node that sends or gets them.
class Connection {
  public:
    virtual ~Connection() = default;
    // Returns the messages that have arrived since the last call. Does not block.
    virtual std::vector<std::pair<NodeIndex, pm::Message>> take() = 0;
    virtual void send(const pm::Message& message, NodeIndex to) = 0;
    // Writes what send() could not write. Does not block.
    virtual void flush() = 0;
    virtual bool must_write() const = 0;
    // Readable when messages have arrived; -1 once the other side has gone.
    virtual int fd() const = 0;
    bool over() const { return fd() < 0; }
};

// Through poe.
class JobConnection final : public Connection {
  public:
    explicit JobConnection(pm::DebugCall call) : call_(std::move(call)) {}

    std::vector<std::pair<NodeIndex, pm::Message>> take() override { return call_.take(); }
    void send(const pm::Message& message, NodeIndex to) override { call_.send(message, to); }
    void flush() override { call_.flush(); }
    bool must_write() const override { return call_.must_write(); }
    int fd() const override { return call_.fd(); }

  private:
    pm::DebugCall call_;
};

// A gdb that pdbx has started itself. It takes DebuggerInput, InterruptCommand and EndDebugger, and
// gives DebuggerOutput and DebuggerEnded as the daemon of node 0 would. Ends gdb when it is
// destroyed.
class OwnGdb final : public Connection {
  public:
    // Throws Error if gdb cannot be run.
    OwnGdb();
    OwnGdb(const OwnGdb&) = delete;
    OwnGdb& operator=(const OwnGdb&) = delete;
    ~OwnGdb() override;

    std::vector<std::pair<NodeIndex, pm::Message>> take() override;
    void send(const pm::Message& message, NodeIndex to) override;
    void flush() override;
    bool must_write() const override { return !queue_.empty(); }
    int fd() const override { return out_.get(); }

  private:
    pid_t pid_ = 0;
    UniqueFd in_;
    UniqueFd out_;
    std::string queue_;
    bool ending_ = false;
};

}  // namespace poe::debugger
