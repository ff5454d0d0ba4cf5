// See sampler_process.hpp.
#include "partition_manager/daemon/sampler_process.hpp"

#include <cerrno>
#include <chrono>
#include <csignal>
#include <fcntl.h>
#include <unistd.h>
#include <utility>

#include "base/error.hpp"
#include "partition_manager/launch/local_launcher.hpp"
#include "partition_manager/launch/spawn.hpp"

namespace poe::pm {
namespace {

constexpr std::chrono::seconds kPatience{5};

// What pmd-sample says before it ends by itself.
constexpr const char* kNoSamples = "the tasks are not sampled";

struct HelperPipe {
    UniqueFd read_end;
    UniqueFd write_end;
};

HelperPipe make_helper_pipe() {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) throw_errno("making a pipe for pmd-sample");
    return {move_up(UniqueFd(ends[0])), move_up(UniqueFd(ends[1]))};
}

}  // namespace

SamplerProcess::SamplerProcess(asio::io_context& loop, const std::string& stream, int rate,
                               std::function<void(std::string)> attention)
    : output_(loop), patience_(loop), attention_(std::move(attention)) {
    const std::string path = find_pmd_sibling("pmd-sample");
    std::array<std::string, 3> words{path, stream, std::to_string(rate)};
    std::array<char*, 4> argv{words[0].data(), words[1].data(), words[2].data(), nullptr};
    HelperPipe orders = make_helper_pipe();
    HelperPipe output = make_helper_pipe();
    SpawnRequest request;
    request.path = path.c_str();
    request.argv = argv.data();
    request.envp = environ;
    request.stdin_fd = orders.read_end.get();
    request.stdout_fd = output.write_end.get();
    request.death_signal = SIGKILL;
    pid_ = spawn(request);
    if (pid_ < 0) throw Error("cannot start " + path, -pid_);
    orders_ = std::move(orders.write_end);
    ::fcntl(orders_.get(), F_SETFL, ::fcntl(orders_.get(), F_GETFL) | O_NONBLOCK);
    output_.assign(output.read_end.release());
    read_output();
}

SamplerProcess::~SamplerProcess() {
    if (!ended_) ::kill(pid_, SIGKILL);
}

void SamplerProcess::add(TaskId task, pid_t process) {
    const std::string line = std::to_string(task) + " " + std::to_string(process) + "\n";
    if (orders_) static_cast<void>(::write(orders_.get(), line.data(), line.size()) < 0);
}

void SamplerProcess::read_output() {
    output_.async_read_some(
        asio::buffer(part_),
        [this, here = std::weak_ptr(here_)](const asio::error_code& error, std::size_t count) {
            if (here.expired()) return;
            text_.append(part_.data(), count);
            for (std::size_t end; (end = text_.find('\n')) != std::string::npos;) {
                explained_ = explained_ || text_.starts_with(kNoSamples);
                attention_(text_.substr(0, end));
                text_.erase(0, end + 1);
            }
            if (error) return over();
            read_output();
        });
}

void SamplerProcess::over() {
    ended_ = true;
    orders_.reset();
    patience_.cancel();
    if (!on_over_ && !explained_)
        attention_("pmd-sample has ended before the tasks; they are not sampled any more");
    if (const auto told = std::exchange(on_over_, nullptr)) told();
}

void SamplerProcess::finish(std::function<void()> on_over) {
    if (ended_) return on_over();
    on_over_ = std::move(on_over);
    orders_.reset();
    patience_.expires_after(kPatience);
    patience_.async_wait([this, here = std::weak_ptr(here_)](const asio::error_code& error) {
        if (!error && !here.expired()) ::kill(pid_, SIGKILL);
    });
}

}  // namespace poe::pm
