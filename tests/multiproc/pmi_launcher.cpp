// The poll loop of the test launcher.
#include "tests/multiproc/pmi_launcher.hpp"

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.hpp"
#include "partition_manager/launch/spawn.hpp"

extern char** environ;

namespace poe::test {

namespace {

using Clock = std::chrono::steady_clock;

std::vector<std::string> own_environment() {
    std::vector<std::string> entries;
    for (char** entry = environ; *entry != nullptr; ++entry) {
        const std::string text = *entry;
        if (!pm::is_other_launchers_variable(text.substr(0, text.find('='))))
            entries.push_back(text);
    }
    return entries;
}

pm::PmixJob pmix_job(const PmiJob& job, const std::string& directory) {
    pm::PmixJob pmix;
    pmix.job_id = directory.substr(directory.rfind('/') + 1);
    pmix.nspace = pmix.job_id;
    pmix.nodes = {"testnode"};
    pmix.node_of_task.assign(job.tasks, 0);
    pmix.appnum_of_task = job.appnums;
    pmix.directory = directory;
    pmix.uid = ::getuid();
    pmix.gid = ::getgid();
    return pmix;
}

pm::Pmi1Job pmi1_job(const PmiJob& job) {
    pm::Pmi1Job pmi1;
    pmi1.kvsname = "kvs";
    pmi1.size = job.tasks;
    for (std::uint32_t task = 0; task < job.tasks; ++task)
        pmi1.local_tasks.push_back(static_cast<TaskId>(task));
    pmi1.appnum_of_task = job.appnums;
    pmi1.process_mapping = pm::pmi1_process_mapping(std::vector<NodeIndex>(job.tasks, 0));
    return pmi1;
}

void append(std::vector<std::string>& strings, const pm::Environment& entries) {
    for (const auto& [name, value] : entries) strings.push_back(name + "=" + value);
}

std::vector<char*> pointers(std::vector<std::string>& strings) {
    std::vector<char*> result;
    result.reserve(strings.size() + 1);
    for (std::string& text : strings) result.push_back(text.data());
    result.push_back(nullptr);
    return result;
}

}  // namespace

bool PmiOutcome::all_succeeded() const {
    return !timed_out &&
           std::all_of(statuses.begin(), statuses.end(), [](int status) { return status == 0; });
}

PmiLauncher::PmiLauncher(PmiJob job, std::string helper)
    : job_(std::move(job)), helper_(std::move(helper)) {
    char path[] = "/dev/shm/poe-test-XXXXXX";
    if (::mkdtemp(path) == nullptr) throw_errno("making a directory");
    directory_ = path;
    // Lower case, as job names are.
    std::string lower = directory_;
    for (char& c : lower)
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    if (lower != directory_ && ::rename(directory_.c_str(), lower.c_str()) == 0) directory_ = lower;
    pmi1_ = std::make_unique<pm::Pmi1Server>(pmi1_job(job_));
    base_environment_ = own_environment();
    base_environment_.insert(base_environment_.end(), job_.environment.begin(),
                             job_.environment.end());
}

PmiLauncher::~PmiLauncher() {
    end_job();
    std::error_code ignored;
    std::filesystem::remove_all(directory_, ignored);
}

PmiOutcome PmiLauncher::run() {
    const auto start = Clock::now();
    pmix_ = std::make_unique<pm::PmixActivation>(
        pm::PmixActivation::open(pmix_job(job_, directory_), base_environment_));
    outcome_.setup = Clock::now() - start;
    const auto deadline = start + job_.deadline;
    if (job_.eager) {
        pmix_->start_helper(helper_, base_environment_);
        while (!ready_ && pmix_->control_fd() >= 0 && Clock::now() < deadline) poll_once();
    }
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) throw_errno("making a pipe");
    output_.reset(ends[0]);
    const UniqueFd write_end(ends[1]);
    outcome_.statuses.assign(job_.tasks, -1);
    for (std::uint32_t task = 0; task < job_.tasks; ++task) start_task(task, write_end.get());
    if (job_.when_started) job_.when_started(*this);
    while (running_ > 0) {
        poll_once();
        reap();
        if (Clock::now() > deadline && !std::exchange(outcome_.timed_out, true)) kill_tasks();
    }
    read_output();
    outcome_.total = Clock::now() - start;
    outcome_.helper_started = pmix_->started();
    end_job();
    return std::move(outcome_);
}

void PmiLauncher::start_task(std::uint32_t task, int output) {
    int ends[2];
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
        throw_errno("making a socket");
    sockets_.emplace_back(ends[0]);
    const UniqueFd theirs(ends[1]);
    std::vector<std::string> environment = base_environment_;
    append(environment, pmix_->environment(static_cast<TaskId>(task)));
    append(environment, pm::foreign_mpi_environment(
                            {job_.tasks, static_cast<unsigned>(::sysconf(_SC_NPROCESSORS_ONLN)),
                             true, directory_},
                            base_environment_));
    append(environment, {{"PMI_FD", std::to_string(theirs.get())},
                         {"PMI_RANK", std::to_string(task)},
                         {"PMI_SIZE", std::to_string(job_.tasks)}});
    std::vector<std::string> words = job_.command;
    const std::vector<char*> argv = pointers(words);
    const std::vector<char*> envp = pointers(environment);
    pm::SpawnRequest request;
    request.path = job_.command.front().c_str();
    request.argv = argv.data();
    request.envp = envp.data();
    request.stdout_fd = request.stderr_fd = output;
    request.keep_fd[0] = theirs.get();
    request.death_signal = SIGKILL;
    const pid_t pid = pm::spawn(request);
    if (pid < 0) throw Error("starting " + job_.command.front(), -pid);
    pids_.push_back(pid);
    ++running_;
}

void PmiLauncher::poll_once() {
    std::vector<pollfd> fds;
    const auto watch = [&](int fd) { fds.push_back({fd, POLLIN, 0}); };
    watch(pmix_->gate_fd());  // poll ignores -1
    watch(pmix_->listener_fd());
    watch(pmix_->control_fd());
    watch(output_.get());
    for (const UniqueFd& socket : sockets_) watch(socket.get());
    if (pmix_->wants_write()) fds[2].events |= POLLOUT;
    // Ends of tasks come without a descriptor here; they are looked for at least this often.
    if (::poll(fds.data(), fds.size(), 2) <= 0) return;
    if (!pmix_->started() && (fds[0].revents != 0 || fds[1].revents != 0)) {
        helper_start_ = Clock::now();
        pmix_->start_helper(helper_, base_environment_);
    }
    if ((fds[2].revents & POLLOUT) != 0) pmix_->on_writable();
    if ((fds[2].revents & (POLLIN | POLLHUP)) != 0) on_pmix();
    if (fds[3].revents != 0) read_output();
    for (std::size_t task = 0; task < sockets_.size(); ++task)
        if (fds[4 + task].revents != 0) on_pmi1(task);
}

void PmiLauncher::on_pmix() {
    for (pm::PmixMessage& message : pmix_->on_readable()) {
        if (std::holds_alternative<pm::PmixReady>(message)) {
            ready_ = true;
            outcome_.start_up = Clock::now() - helper_start_;
        }
        if (const auto* passed = std::get_if<pm::PmixPassed>(&message)) {
            if (const auto* ask = std::get_if<pm::NameRequest>(&passed->message))
                for (const pm::NameReply& told : names_.ask(*ask))
                    pmix_->send(pm::PmixPassed{told});
            if (const auto* ask = std::get_if<pm::SpawnTasks>(&passed->message))
                pmix_->send(pm::PmixPassed{pm::TasksSpawned{ask->asker, "", "none here"}});
        }
        if (job_.on_event) job_.on_event(*this, message);
        if (std::holds_alternative<pm::PmixAbort>(message) ||
            std::holds_alternative<pm::PmixFailed>(message))
            kill_tasks();
        outcome_.events.push_back(std::move(message));
    }
}

void PmiLauncher::on_pmi1(std::size_t task) {
    char buffer[4096];
    const ssize_t count = ::recv(sockets_[task].get(), buffer, sizeof buffer, MSG_DONTWAIT);
    if (count <= 0) return sockets_[task].reset();
    perform(pmi1_->on_bytes(static_cast<TaskId>(task), {buffer, static_cast<std::size_t>(count)}));
}

void PmiLauncher::perform(const pm::Pmi1Actions& actions) {
    for (const pm::NameRequest& ask : actions.names)
        for (const pm::NameReply& told : names_.ask(ask)) perform(pmi1_->on_names(told));
    for (const pm::SpawnTasks& ask : actions.spawns)
        perform(pmi1_->on_spawned(pm::TasksSpawned{ask.asker, "", "none here"}));
    for (const auto& reply : actions.replies)
        if (const int fd = sockets_[static_cast<std::size_t>(reply.task)].get(); fd >= 0)
            ::send(fd, reply.bytes.data(), reply.bytes.size(), MSG_NOSIGNAL);
    for (const auto& error : actions.errors) outcome_.protocol_errors.push_back(error.text);
    if (!actions.abort) return;
    outcome_.pmi1_aborts.push_back(*actions.abort);
    kill_tasks();
}

void PmiLauncher::kill_tasks() {
    for (const pid_t pid : pids_)
        if (pid > 0) ::kill(pid, SIGKILL);
}

void PmiLauncher::read_output() {
    char buffer[65536];
    pollfd one{output_.get(), POLLIN, 0};
    while (::poll(&one, 1, 0) > 0 && (one.revents & POLLIN) != 0) {
        const ssize_t count = ::read(output_.get(), buffer, sizeof buffer);
        if (count <= 0) return;
        outcome_.output.append(buffer, static_cast<std::size_t>(count));
    }
}

void PmiLauncher::reap() {
    for (std::size_t task = 0; task < pids_.size(); ++task) {
        int status = 0;
        if (pids_[task] <= 0 || ::waitpid(pids_[task], &status, WNOHANG) != pids_[task]) continue;
        outcome_.statuses[task] = status;
        pids_[task] = 0;
        --running_;
        on_pmix();
        on_pmi1(task);
        const auto id = static_cast<TaskId>(task);
        if (!pmix_->task_exited(id) && (!pmi1_->initialized(id) || pmi1_->finalized(id))) continue;
        outcome_.vanished.push_back(id);
        kill_tasks();
    }
}

// Kills what still runs and waits for it.
void PmiLauncher::end_job() {
    for (std::size_t task = 0; task < pids_.size(); ++task) {
        if (pids_[task] <= 0) continue;
        ::kill(pids_[task], SIGKILL);
        ::waitpid(pids_[task], nullptr, 0);
        pids_[task] = 0;
    }
    running_ = 0;
    if (!pmix_) return;
    const pid_t helper = pmix_->helper_pid();
    pmix_->shutdown();
    pmix_.reset();
    if (helper > 0) ::waitpid(helper, nullptr, 0);
}

}  // namespace poe::test
