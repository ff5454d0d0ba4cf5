// The task's end of a PMI-1 connection: lines "cmd=NAME key=value ...", each of which is answered
// by one line. The launcher, poe or another one, is the other end
// (partition_manager/pmi/pmi1_server.hpp).
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace poe::comm {

// For one thread.
class Pmi1Client {
  public:
    // Does not own the socket, which belongs to the process from its start (PMI_FD).
    explicit Pmi1Client(int fd) noexcept : fd_(fd) {}

    // Sends whole lines; blocks while the socket is full. Throws Error.
    void send(std::string_view lines);
    // The next line, without its line feed. Blocks. Throws Error if the connection has ended.
    std::string read_line();
    // The same without blocking; empty if the line has not arrived yet.
    std::optional<std::string> try_read_line();
    // Sends "cmd=`command`" and returns the answer. Blocks. Throws Error if it reports a failure.
    std::string ask(const std::string& command);
    // The launcher sends nothing unasked, so readable input means the end of the connection.
    bool alive() const noexcept;
    int fd() const noexcept { return fd_; }

  private:
    bool receive(int flags);

    int fd_;
    std::string unread_;
};

// Returns the value of " name=" in an answer. The value of `value` extends to the end of the line.
// Pure.
std::optional<std::string> pmi1_field(const std::string& line, const std::string& name);

// Throws Error that names the launcher's service.
[[noreturn]] void throw_pmi1_failure(const std::string& why, int cause = 0);

}  // namespace poe::comm
