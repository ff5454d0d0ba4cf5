// A gdb of pdbx itself; see connection.hpp.
#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.hpp"
#include "debugger/connection.hpp"
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

    std::string words[] = {
        "gdb", "-nx", "-q", "--interpreter=mi3", "-iex", "set debuginfod enabled off"};
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_adddup2(&actions, their_in.get(), STDIN_FILENO);
    ::posix_spawn_file_actions_adddup2(&actions, their_out.get(), STDOUT_FILENO);
    ::posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawnattr_t attributes;
    ::posix_spawnattr_init(&attributes);
    sigset_t none;
    ::sigemptyset(&none);
    sigset_t defaults;
    ::sigemptyset(&defaults);
    for (const int signal : {SIGINT, SIGPIPE}) ::sigaddset(&defaults, signal);
    ::posix_spawnattr_setsigmask(&attributes, &none);
    ::posix_spawnattr_setsigdefault(&attributes, &defaults);
    ::posix_spawnattr_setpgroup(&attributes, 0);  // Ctrl-C is for pdbx
    ::posix_spawnattr_setflags(
        &attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    const int error = ::posix_spawnp(&pid_, "gdb", &actions, &attributes, argv.data(), ::environ);
    ::posix_spawn_file_actions_destroy(&actions);
    ::posix_spawnattr_destroy(&attributes);
    if (error != 0) {
        pid_ = 0;
        throw Error("cannot run gdb; install the package gdb", error);
    }
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
