// See sampler_process.hpp.
#include "partition_manager/daemon/sampler_process.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>
#include <utility>

#include "base/error.hpp"
#include "partition_manager/launch/local_launcher.hpp"
#include "partition_manager/launch/spawn.hpp"
#include "partition_manager/sampling/sample_slots.h"

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

bool allows_perf_events() {
    perf_event_attr attributes{};
    attributes.size = sizeof attributes;
    attributes.type = PERF_TYPE_SOFTWARE;
    attributes.config = PERF_COUNT_SW_TASK_CLOCK;
    attributes.exclude_kernel = attributes.exclude_hv = 1;
    return static_cast<bool>(UniqueFd(static_cast<int>(
        ::syscall(SYS_perf_event_open, &attributes, 0, -1, -1, PERF_FLAG_FD_CLOEXEC))));
}

// Since Linux 5.9, x86-64 handles these timers when it returns from the kernel to the program.
bool has_safe_timer_signals() {
#ifdef __x86_64__
    utsname system = {};
    int major = 0;
    int minor = 0;
    return ::uname(&system) == 0 && std::sscanf(system.release, "%d.%d", &major, &minor) == 2 &&
           std::pair(major, minor) >= std::pair(5, 9);
#else
    return false;
#endif
}

void make_sample_slots(const std::string& path, int rate) {
    PoeSampleSlots head = {};
    head.slots = kPoeSlotsPerProcessor *
                 static_cast<std::uint64_t>(std::max(1L, ::sysconf(_SC_NPROCESSORS_ONLN)));
    head.period = 1'000'000'000u / static_cast<std::uint64_t>(rate);
    const UniqueFd file(::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
    const auto bytes = static_cast<off_t>(sizeof head + head.slots * sizeof(PoeSampleSlot));
    if (!file || ::pwrite(file.get(), &head, sizeof head, 0) != sizeof head)
        throw_errno("making " + path);
    // Reserved, because a task that stores to a full disk would get SIGBUS.
    if (const int error = ::posix_fallocate(file.get(), 0, bytes); error != 0)
        throw Error("reserving " + path, error);
}

std::vector<std::pair<std::string, std::string>> sample_variables(const std::string& slots,
                                                                  TaskId task) {
    return {{POE_SAMPLE_SLOTS, slots}, {POE_SAMPLE_TASK, std::to_string(task)}};
}

SamplerProcess::SamplerProcess(asio::io_context& loop, const std::string& stream, int rate,
                               const std::string& slots, std::function<void(std::string)> attention)
    : output_(loop), patience_(loop), attention_(std::move(attention)) {
    const std::string path = find_pmd_sibling("pmd-sample");
    std::array<std::string, 4> words{path, stream, std::to_string(rate), slots};
    std::array<char*, 5> argv{words[0].data(), words[1].data(), words[2].data(),
                              slots.empty() ? nullptr : words[3].data(), nullptr};
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
