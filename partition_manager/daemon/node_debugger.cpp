// See node_debugger.hpp.
#include "partition_manager/daemon/node_debugger.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <string>
#include <string_view>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>
#include <vector>

#include "base/hardware_watchpoints.hpp"
#include "base/proc_files.hpp"
#include "base/unique_fd.hpp"
#include "partition_manager/job/gdb_command.hpp"
#include "partition_manager/job/program_path.hpp"
#include "partition_manager/job/signal_words.hpp"
#include "partition_manager/launch/spawn.hpp"

namespace poe::pm {

namespace {

// gdb may take this long to detach from its tasks.
constexpr std::chrono::seconds kDetachLimit{10};

constexpr std::size_t kChunk = 64 << 10;
constexpr int kMostLastChunks = 64;
constexpr std::size_t kKeptErrors = 1000;

constexpr const char* kNoGdb =
    "gdb is not installed on this node, or not in PATH; install the package gdb";

struct Pipe {
    UniqueFd read_end;
    UniqueFd write_end;

    bool open() {
        int ends[2];
        if (::pipe2(ends, O_CLOEXEC) != 0) return false;
        read_end = UniqueFd(ends[0]);
        write_end = UniqueFd(ends[1]);
        return true;
    }
};

// Returns the process that debugs `process`; 0: none does.
pid_t tracer_of(pid_t process) {
    std::ifstream status("/proc/" + std::to_string(process) + "/status");
    constexpr std::string_view kTracer = "TracerPid:";
    for (std::string line; std::getline(status, line);)
        if (line.starts_with(kTracer)) return std::atoi(line.c_str() + kTracer.size());
    return 0;
}

// Returns true if gdb lets a thread of the process run.
bool has_running_thread(pid_t process) {
    const std::string threads = "/proc/" + std::to_string(process) + "/task/";
    for (const pid_t thread : threads_of(process)) {
        std::ifstream stat(threads + std::to_string(thread) + "/stat");
        std::string line;
        std::getline(stat, line);
        const std::size_t name_end = line.rfind(") ");
        if (name_end != std::string::npos && line[name_end + 2] != 't') return true;
    }
    return false;
}

}  // namespace

NodeDebugger::~NodeDebugger() {
    if (pid_ != 0) ::kill(pid_, SIGKILL);
}

void NodeDebugger::start(std::vector<TaskProcess> tasks) {
    if (pid_ != 0 && ending_) {  // the previous pdbx has just detached
        next_ = std::move(tasks);
        return;
    }
    DebuggerStarted started{std::move(tasks), ""};
    if (pid_ != 0) {
        started.trouble = "another gdb of this node is running";
        return handlers_.send(std::move(started));  // and its tasks stay as they are
    }
    const char* path = std::getenv("PATH");
    const ProgramPath gdb = find_program("gdb", path != nullptr ? path : "/usr/bin:/bin", "/");
    if (gdb.file.empty()) return refuse(std::move(started), kNoGdb);
    Pipe in;
    Pipe out;
    Pipe err;
    if (!in.open() || !out.open() || !err.open())
        return refuse(std::move(started),
                      "cannot make pipes to gdb: " + std::string(std::strerror(errno)));
    std::vector<std::string> words = gdb_command(hardware_watchpoints_work());
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    SpawnRequest request;
    request.path = gdb.file.c_str();
    request.argv = argv.data();
    request.envp = ::environ;
    request.stdin_fd = in.read_end.get();
    request.stdout_fd = out.write_end.get();
    request.stderr_fd = err.write_end.get();
    request.death_signal = SIGKILL;
    const pid_t pid = spawn(request);
    const auto own = [this](UniqueFd& end) {
        UniqueFd moved = move_up(std::move(end));
        ::fcntl(moved.get(), F_SETFL, O_NONBLOCK);
        return std::make_unique<asio::posix::stream_descriptor>(loop_, moved.release());
    };
    in_ = own(in.write_end);
    out_ = own(out.read_end);
    err_ = own(err.read_end);
    if (pid < 0) {
        close_all();
        return refuse(std::move(started), "cannot run " + gdb.file + ": " + std::strerror(-pid));
    }
    pid_ = pid;
    ending_ = false;
    room_ = kDebuggerWindow;
    errors_.clear();
    queue_.clear();
    handlers_.send(std::move(started));
    read(false);
    read(true);
}

// The tasks are not debugged, so they must not wait for that.
void NodeDebugger::refuse(DebuggerStarted started, const std::string& trouble) {
    started.trouble = trouble;
    handlers_.send(std::move(started));
    handlers_.on_end();
}

void NodeDebugger::write(const std::string& bytes) {
    if (!in_ || ending_) return;
    queue_ += bytes;
    if (!writing_) flush();
}

void NodeDebugger::flush() {
    while (in_ && !queue_.empty()) {
        const ssize_t count = ::write(in_->native_handle(), queue_.data(), queue_.size());
        if (count > 0) {
            queue_.erase(0, static_cast<std::size_t>(count));
        } else if (errno == EAGAIN) {
            writing_ = true;
            in_->async_wait(asio::posix::stream_descriptor::wait_write,
                            [this](const asio::error_code& error) {
                                if (error) return;
                                writing_ = false;
                                flush();
                            });
            return;
        } else if (errno != EINTR) {
            queue_.clear();  // gdb has ended; the end of its output reports that
        }
    }
    if (ending_) in_.reset();
}

void NodeDebugger::on_credit(std::uint64_t bytes) {
    room_ = std::min<std::int64_t>(
        kDebuggerWindow,
        room_ + static_cast<std::int64_t>(std::min<std::uint64_t>(bytes, kDebuggerWindow)));
    if (!reading_) read(false);
}

// Returns false at the end of the stream.
bool NodeDebugger::take(bool errors) {
    std::string chunk(kChunk, '\0');
    const ssize_t count =
        ::read((errors ? err_ : out_)->native_handle(), chunk.data(), chunk.size());
    if (count < 0) return errno == EAGAIN || errno == EINTR;
    if (count == 0) return false;
    chunk.resize(static_cast<std::size_t>(count));
    if (errors) {
        errors_ += chunk;
        if (errors_.size() > kKeptErrors) errors_.erase(0, errors_.size() - kKeptErrors);
    } else {
        room_ -= count;
        handlers_.send(DebuggerOutput{std::move(chunk)});
    }
    return true;
}

void NodeDebugger::read(bool errors) {
    const auto& stream = errors ? err_ : out_;
    if (!stream || (!errors && room_ <= 0)) return;
    if (!errors) reading_ = true;
    stream->async_wait(asio::posix::stream_descriptor::wait_read,
                       [this, errors](const asio::error_code& error) {
                           if (error) return;
                           if (!errors) reading_ = false;
                           if (take(errors)) read(errors);
                       });
}

void NodeDebugger::end() {
    next_.reset();
    if (pid_ == 0 || ending_) return;
    ending_ = true;
    room_ = std::int64_t{1} << 40;  // from now on gdb's output needs no reader
    if (!reading_) read(false);
    if (queue_.empty()) in_.reset();
    timer_.expires_after(kDetachLimit);
    timer_.async_wait([this](const asio::error_code& error) {
        if (!error) kill();
    });
}

// A function that gdb has called in a task ends if the task gets SIGINT, and so does a command that
// gdb itself executes if gdb gets it. A stopped task must not get the signal: it would stay
// pending, and kill the task after gdb has detached.
void NodeDebugger::interrupt(pid_t task) {
    if (pid_ == 0) return;
    const bool executes = task != 0 && tracer_of(task) == pid_ && has_running_thread(task);
    ::kill(executes ? task : pid_, SIGINT);
}

void NodeDebugger::kill() {
    if (pid_ != 0) ::kill(pid_, SIGKILL);
}

void NodeDebugger::close_all() {
    in_.reset();
    out_.reset();
    err_.reset();
    queue_.clear();
    writing_ = reading_ = false;
}

bool NodeDebugger::on_child_exit(pid_t pid, int status) {
    if (pid_ == 0 || pid != pid_) return false;
    pid_ = 0;
    timer_.cancel();
    room_ = std::int64_t{1} << 40;
    // The last output of gdb is still in the pipes.
    for (const bool errors : {false, true})
        for (int chunks = 0; chunks < kMostLastChunks && take(errors); ++chunks) {
        }
    std::string text;
    if (!ending_) {
        text = WIFSIGNALED(status) ? "gdb was killed by " + signal_name(WTERMSIG(status))
                                   : "gdb ended with code " + std::to_string(WEXITSTATUS(status));
        while (!errors_.empty() && errors_.back() == '\n') errors_.pop_back();
        if (!errors_.empty()) text += ": " + errors_;
    }
    close_all();
    // If a next gdb waits, its pdbx must not learn of the end of this one.
    if (!next_) handlers_.send(DebuggerEnded{std::move(text)});
    handlers_.on_end();
    if (next_) start(*std::exchange(next_, std::nullopt));
    return true;
}

}  // namespace poe::pm
