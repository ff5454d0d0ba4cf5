// Rendezvous over PMI-1, the protocol of MPICH's mpiexec.
#include <chrono>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

#include "base/error.hpp"
#include "base/parse.hpp"
#include "comm/bootstrap/pmi1_client.hpp"
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

// Waits until the launcher has read everything that this process has written to standard output and
// standard error, but at most one second. When mpiexec receives the abort command, it kills the
// tasks and does not read their pipes any more. An error message that is still in a pipe would be
// lost.
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
        : client_(number_of(variables, "PMI_FD")),
          rank_(number_of(variables, "PMI_RANK")),
          size_(static_cast<std::uint32_t>(number_of(variables, "PMI_SIZE"))) {
        if (static_cast<std::uint32_t>(rank_) >= size_)
            throw Error("the launcher says that this is task " + std::to_string(rank_) + " of " +
                        std::to_string(size_) + " (PMI_RANK, PMI_SIZE)");
        client_.ask("init pmi_version=1 pmi_subversion=1");
        const auto space = pmi1_field(client_.ask("get_my_kvsname"), "kvsname");
        if (!space) throw_pmi1_failure("the name of its store is missing");
        space_ = *space;
    }

    TaskId rank() const noexcept override { return rank_; }
    std::uint32_t size() const noexcept override { return size_; }

    void put(const std::string& key, const std::string& value) override {
        client_.ask("put kvsname=" + space_ + " key=" + key_of(rank_, key) + " value=" + value);
    }

    void fence() override { client_.ask("barrier_in"); }

    std::string get(TaskId task, const std::string& key) override {
        const auto value =
            pmi1_field(client_.ask("get kvsname=" + space_ + " key=" + key_of(task, key)), "value");
        if (!value) throw_pmi1_failure("there is no " + key + " of task " + std::to_string(task));
        return *value;
    }

    bool alive() noexcept override { return client_.alive(); }

    void abort(int code, const std::string&) noexcept override {
        wait_until_output_is_read();
        try {
            client_.send("cmd=abort exitcode=" + std::to_string(code) + "\n");
        } catch (const std::exception&) {
            // Without the launcher there is only this process to end.
        }
    }

    void finalize() noexcept override {
        try {
            client_.ask("finalize");
        } catch (const std::exception&) {
            // The task ends anyway, whatever the error was.
        }
    }

  private:
    static std::string key_of(TaskId task, const std::string& key) {
        return "poe-" + std::to_string(task) + "-" + key;
    }

    Pmi1Client client_;
    TaskId rank_;
    std::uint32_t size_;
    std::string space_;
};

}  // namespace

std::unique_ptr<Rendezvous> find_pmi1(const Variables& variables) {
    if (variables("PMI_FD") == nullptr || variables("PMI_RANK") == nullptr) return nullptr;
    return std::make_unique<Pmi1Rendezvous>(variables);
}

}  // namespace poe::comm
