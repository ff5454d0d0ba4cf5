// What the tests of this room share: folders, pipes and sockets that vanish again, and waiting for
// a condition with a deadline. SIGPIPE is ignored, as poe and pmd do.
#pragma once

#include <chrono>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <functional>
#include <signal.h>
#include <sstream>
#include <string>
#include <string_view>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <asio/io_context.hpp>

#include "base/check.hpp"
#include "base/unique_fd.hpp"

namespace poe::pm::test {

inline const bool kSigpipeIgnored = ::signal(SIGPIPE, SIG_IGN) != SIG_ERR;

inline constexpr std::chrono::seconds kDeadline{60};

class TempDirectory {
  public:
    TempDirectory() {
        std::string name = (std::filesystem::temp_directory_path() / "poe-test-XXXXXX").string();
        POE_CHECK(::mkdtemp(name.data()) != nullptr);
        path_ = name;
    }
    ~TempDirectory() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
    TempDirectory(const TempDirectory&) = delete;
    TempDirectory& operator=(const TempDirectory&) = delete;

    const std::string& path() const { return path_; }
    std::string operator/(const std::string& name) const { return path_ + "/" + name; }

    std::string write(const std::string& name, const std::string& text, mode_t mode = 0644) const {
        std::string file = *this / name;
        std::ofstream(file, std::ios::binary) << text;
        ::chmod(file.c_str(), mode);
        return file;
    }

  private:
    std::string path_;
};

inline std::string read_file(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    std::ostringstream content;
    content << file.rdbuf();
    return content.str();
}

struct FdPair {
    UniqueFd read;
    UniqueFd write;
};

inline FdPair make_pipe() {
    int fds[2];
    POE_CHECK(::pipe2(fds, O_CLOEXEC) == 0);
    return {UniqueFd(fds[0]), UniqueFd(fds[1])};
}

// Both ends read and write.
inline FdPair make_socket_pair() {
    int fds[2];
    POE_CHECK(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) == 0);
    return {UniqueFd(fds[0]), UniqueFd(fds[1])};
}

inline void set_flag(int fd, int flag) {
    ::fcntl(fd, F_SETFL, ::fcntl(fd, F_GETFL) | flag);
}

// Blocks until all is written; false when it cannot be.
inline bool write_all(int fd, std::string_view text) {
    while (!text.empty()) {
        const ssize_t count = ::write(fd, text.data(), text.size());
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) return false;
        text.remove_prefix(static_cast<std::size_t>(count));
    }
    return true;
}

// Blocks until the end of input.
inline std::string read_all(int fd) {
    std::string text;
    char buffer[65536];
    ssize_t count = 0;
    while ((count = ::read(fd, buffer, sizeof buffer)) > 0)
        text.append(buffer, static_cast<std::size_t>(count));
    return text;
}

// What is there at this moment, at most `limit` bytes.
inline std::string read_now(int fd, std::size_t limit = std::size_t{1} << 24) {
    const int flags = ::fcntl(fd, F_GETFL);
    ::fcntl(fd, F_SETFL, flags | O_NONBLOCK);
    std::string text;
    char buffer[65536];
    while (text.size() < limit) {
        const ssize_t count = ::read(fd, buffer, std::min(sizeof buffer, limit - text.size()));
        if (count <= 0) break;
        text.append(buffer, static_cast<std::size_t>(count));
    }
    ::fcntl(fd, F_SETFL, flags);
    return text;
}

// Runs the loop until `done` holds; false when it does not in time.
inline bool run_until(asio::io_context& loop, const std::function<bool()>& done) {
    const auto deadline = std::chrono::steady_clock::now() + kDeadline;
    while (!done()) {
        if (std::chrono::steady_clock::now() > deadline) return false;
        if (loop.stopped()) loop.restart();
        loop.run_one_for(std::chrono::milliseconds(5));
    }
    return true;
}

// Runs what is ready, until nothing is.
inline void run_ready(asio::io_context& loop) {
    do {
        if (loop.stopped()) loop.restart();
    } while (loop.poll() > 0);
}

// True when `done` holds in time.
inline bool wait_until(const std::function<bool()>& done) {
    const auto deadline = std::chrono::steady_clock::now() + kDeadline;
    while (!done()) {
        if (std::chrono::steady_clock::now() > deadline) return false;
        ::usleep(500);
    }
    return true;
}

// Does `work` in a process of its own, which may crash or hang. Returns its exit code, 1000 +
// signal when it was killed; SIGALRM: it did not end in time.
inline int in_child(const std::function<int()>& work) {
    const pid_t child = ::fork();
    if (child == 0) {
        const rlimit no_core = {0, 0};
        ::setrlimit(RLIMIT_CORE, &no_core);
        ::signal(SIGALRM, SIG_DFL);
        for (const int fatal : {SIGSEGV, SIGABRT, SIGFPE, SIGBUS, SIGILL}) ::signal(fatal, SIG_DFL);
        ::alarm(60);
        ::_exit(work());
    }
    int status = 0;
    while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    return WIFSIGNALED(status) ? 1000 + WTERMSIG(status) : WEXITSTATUS(status);
}

}  // namespace poe::pm::test
