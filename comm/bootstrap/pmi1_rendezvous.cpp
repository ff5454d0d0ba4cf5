// Rendezvous over PMI-1, the protocol of MPICH's mpiexec. The task inherits a socket (PMI_FD) and
// sends lines "cmd=NAME key=value ...", each of which is answered by one line.
// partition_manager/pmi/pmi1_server.hpp is the other side.
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <optional>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

#include "base/error.hpp"
#include "base/parse.hpp"
#include "comm/bootstrap/rendezvous.hpp"

namespace poe::comm {
namespace {

int number_of(const Variables& variables, const char* name) {
    const char* text = variables(name);
    if (text == nullptr) throw Error(std::string("PMI_FD is set but ") + name + " is not");
    const int number = parse_number<int>(text).value_or(-1);
    if (number < 0) throw Error(std::string(name) + " is \"" + text + "\", which is not a number");
    return number;
}

// Returns the value of " name=" in an answer. The value of `value` extends to the end of the line.
std::optional<std::string> field(const std::string& line, const std::string& name) {
    const auto at = (" " + line).find(" " + name + "=");
    if (at == std::string::npos) return std::nullopt;
    const auto begin = at + name.size() + 1;
    const auto end = name == "value" ? line.size() : line.find(' ', begin);
    return line.substr(begin, end == std::string::npos ? end : end - begin);
}

// Waits until the launcher has read everything that this process has written to standard output and
// standard error, but at most one second. When mpiexec receives the abort command, it kills the tasks
// and does not read their pipes any more. An error message that is still in a pipe would be lost.
void wait_until_output_is_read() noexcept {
    constexpr auto kPause = std::chrono::milliseconds(1);
    int pauses_left = 1000;
    for (const int fd : {STDOUT_FILENO, STDERR_FILENO}) {
        struct stat file {};
        if (::fstat(fd, &file) != 0 || !S_ISFIFO(file.st_mode)) continue;
        int unread = 0;
        while (::ioctl(fd, FIONREAD, &unread) == 0 && unread != 0 && pauses_left-- > 0)
            std::this_thread::sleep_for(kPause);
    }
}

class Pmi1Rendezvous final : public Rendezvous {
  public:
    explicit Pmi1Rendezvous(const Variables& variables)
        : fd_(number_of(variables, "PMI_FD")),
          rank_(number_of(variables, "PMI_RANK")),
          size_(static_cast<std::uint32_t>(number_of(variables, "PMI_SIZE"))) {
        if (static_cast<std::uint32_t>(rank_) >= size_)
            throw Error("the launcher says that this is task " + std::to_string(rank_) + " of " +
                        std::to_string(size_) + " (PMI_RANK, PMI_SIZE)");
        ask("init pmi_version=1 pmi_subversion=1");
        const auto space = field(ask("get_my_kvsname"), "kvsname");
        if (!space) fail("the name of its store is missing");
        space_ = *space;
    }

    TaskId rank() const noexcept override { return rank_; }
    std::uint32_t size() const noexcept override { return size_; }

    void put(const std::string& key, const std::string& value) override {
        ask("put kvsname=" + space_ + " key=" + key_of(rank_, key) + " value=" + value);
    }

    void fence() override { ask("barrier_in"); }

    std::string get(TaskId task, const std::string& key) override {
        const auto value =
            field(ask("get kvsname=" + space_ + " key=" + key_of(task, key)), "value");
        if (!value) fail("there is no " + key + " of task " + std::to_string(task));
        return *value;
    }

    // The launcher sends nothing unasked, so readable input means the end of the connection.
    bool alive() noexcept override {
        pollfd connection{fd_, POLLIN, 0};
        return ::poll(&connection, 1, 0) <= 0 || (connection.revents & (POLLHUP | POLLERR)) == 0;
    }

    void abort(int code, const std::string&) noexcept override {
        wait_until_output_is_read();
        try {
            send_line("abort exitcode=" + std::to_string(code));
        } catch (const std::exception&) {
            // Without the launcher there is only this process to end.
        }
    }

    void finalize() noexcept override {
        try {
            ask("finalize");
        } catch (const std::exception&) {
            // The task ends anyway, whatever the error was.
        }
    }

  private:
    static std::string key_of(TaskId task, const std::string& key) {
        return "poe-" + std::to_string(task) + "-" + key;
    }

    [[noreturn]] static void fail(const std::string& why, int cause = 0) {
        throw Error("the launcher's PMI service (PMI_FD) does not answer as it should: " + why,
                    cause);
    }

    void send_line(const std::string& command) const {
        const std::string line = "cmd=" + command + "\n";
        for (std::size_t sent = 0; sent < line.size();) {
            const ssize_t n = ::send(fd_, line.data() + sent, line.size() - sent, MSG_NOSIGNAL);
            if (n < 0 && errno == EINTR) continue;
            if (n < 0) fail("it cannot be written to", errno);
            sent += static_cast<std::size_t>(n);
        }
    }

    std::string read_line() {
        for (;;) {
            const auto end = unread_.find('\n');
            if (end != std::string::npos) {
                std::string line = unread_.substr(0, end);
                unread_.erase(0, end + 1);
                return line;
            }
            std::array<char, 4096> bytes;
            const ssize_t n = ::read(fd_, bytes.data(), bytes.size());
            if (n < 0 && errno == EINTR) continue;
            if (n < 0) fail("it cannot be read from", errno);
            if (n == 0) fail("it has closed the connection");
            unread_.append(bytes.data(), static_cast<std::size_t>(n));
        }
    }

    // Sends a command and returns its answer. Throws Error if the answer reports a failure.
    std::string ask(const std::string& command) {
        send_line(command);
        std::string answer = read_line();
        const auto code = field(answer, "rc");
        if (code && *code != "0") fail("to \"" + command + "\" it says \"" + answer + "\"");
        return answer;
    }

    int fd_;  // owned by the launcher's environment; not closed
    TaskId rank_;
    std::uint32_t size_;
    std::string space_;
    std::string unread_;
};

}  // namespace

std::unique_ptr<Rendezvous> find_pmi1(const Variables& variables) {
    if (variables("PMI_FD") == nullptr || variables("PMI_RANK") == nullptr) return nullptr;
    return std::make_unique<Pmi1Rendezvous>(variables);
}

}  // namespace poe::comm
