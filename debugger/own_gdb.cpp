// A gdb of pdbx itself; see connection.hpp.
#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.hpp"
#include "base/hardware_watchpoints.hpp"
#include "debugger/child_program.hpp"
#include "debugger/connection.hpp"
#include "partition_manager/job/gdb_command.hpp"
#include "partition_manager/job/signal_words.hpp"

namespace poe::debugger {

namespace {
constexpr std::size_t kChunk = 64 << 10;
}

OwnGdb::OwnGdb() {
    int in[2];
    int out[2];
    if (::pipe2(in, O_CLOEXEC) != 0) throw_errno("making a pipe to gdb");
    const UniqueFd their_in(in[0]);
    in_ = UniqueFd(in[1]);
    if (::pipe2(out, O_CLOEXEC) != 0) throw_errno("making a pipe to gdb");
    out_ = UniqueFd(out[0]);
    const UniqueFd their_out(out[1]);
    for (const UniqueFd* end : {&in_, &out_}) ::fcntl(end->get(), F_SETFL, O_NONBLOCK);

    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_adddup2(&actions, their_in.get(), STDIN_FILENO);
    ::posix_spawn_file_actions_adddup2(&actions, their_out.get(), STDOUT_FILENO);
    ::posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    pid_ = start_child("gdb", pm::gdb_command(hardware_watchpoints_work()), ::environ, actions,
                       "; install the package gdb");
    ::posix_spawn_file_actions_destroy(&actions);
}

OwnGdb::~OwnGdb() {
    if (pid_ == 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
}

std::vector<std::pair<NodeIndex, pm::Message>> OwnGdb::take() {
    std::vector<std::pair<NodeIndex, pm::Message>> messages;
    while (out_) {
        std::string chunk(kChunk, '\0');
        const ssize_t count = ::read(out_.get(), chunk.data(), chunk.size());
        if (count < 0 && errno == EINTR) continue;
        if (count < 0 && errno == EAGAIN) break;
        if (count > 0) {
            chunk.resize(static_cast<std::size_t>(count));
            messages.emplace_back(0, pm::DebuggerOutput{std::move(chunk)});
            continue;
        }
        out_.reset();
        int status = 0;
        ::waitpid(pid_, &status, 0);
        pid_ = 0;
        std::string text;
        if (!ending_)
            text = WIFSIGNALED(status)
                       ? "gdb was killed by " + pm::signal_name(WTERMSIG(status))
                       : "gdb ended with code " + std::to_string(WEXITSTATUS(status));
        messages.emplace_back(0, pm::DebuggerEnded{std::move(text)});
    }
    return messages;
}

void OwnGdb::send(const pm::Message& message, NodeIndex) {
    if (const auto* input = std::get_if<pm::DebuggerInput>(&message)) queue_ += input->bytes;
    if (std::holds_alternative<pm::EndDebugger>(message)) ending_ = true;
    if (std::holds_alternative<pm::InterruptCommand>(message) && pid_ != 0) ::kill(pid_, SIGINT);
    flush();
}

void OwnGdb::flush() {
    while (in_ && !queue_.empty()) {
        const ssize_t count = ::write(in_.get(), queue_.data(), queue_.size());
        if (count < 0 && errno == EINTR) continue;
        if (count < 0 && errno == EAGAIN) return;
        if (count < 0) return queue_.clear();  // gdb has ended, which take() notices
        queue_.erase(0, static_cast<std::size_t>(count));
    }
    if (ending_) in_.reset();
}

}  // namespace poe::debugger
