// Sockets and events of PMI-1 and PMIx; see pmi_service.hpp.
#include "partition_manager/pmi/pmi_service.hpp"

#include <cerrno>
#include <cstring>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.hpp"
#include "partition_manager/job/program_path.hpp"
#include "partition_manager/launch/local_launcher.hpp"
#include "partition_manager/launch/spawn.hpp"

namespace poe::pm {

namespace {

constexpr int kEagerStartMilliseconds = 10000;

// The name of the key exchange of a PMI-1 barrier. PMIx fences have other names.
constexpr const char* kPmi1Key = "pmi1";

// Neither keys nor values contain line ends, because they come from lines. Keys contain no equals
// sign.
std::string pairs_to_text(const std::vector<KeyValue>& pairs) {
    std::string text;
    for (const auto& [key, value] : pairs) text.append(key).append("=").append(value).append("\n");
    return text;
}

std::vector<KeyValue> pairs_from_text(std::string_view text) {
    std::vector<KeyValue> pairs;
    while (!text.empty()) {
        const std::size_t feed = text.find('\n');
        const std::string_view line = text.substr(0, feed);
        const std::size_t equals = line.find('=');
        if (equals != std::string_view::npos)
            pairs.emplace_back(line.substr(0, equals), line.substr(equals + 1));
        text.remove_prefix(feed == std::string_view::npos ? text.size() : feed + 1);
    }
    return pairs;
}

using Descriptor = asio::posix::stream_descriptor;

std::vector<NodeIndex> node_of_task(const JobSpec& job) {
    std::vector<NodeIndex> nodes;
    for (const TaskSpec& task : job.tasks) nodes.push_back(task.node);
    return nodes;
}

std::vector<std::uint32_t> appnum_of_task(const JobSpec& job) {
    std::vector<std::uint32_t> numbers;
    for (const TaskSpec& task : job.tasks) numbers.push_back(task.command);
    return numbers;
}

PmixJob pmix_job(const JobSpec& job, NodeIndex node, const std::string& directory) {
    PmixJob pmix;
    pmix.job_id = job.id;
    pmix.nspace = pmix_nspace(job.id);
    pmix.nodes = job.nodes;
    pmix.this_node = node;
    pmix.node_of_task = node_of_task(job);
    pmix.appnum_of_task = appnum_of_task(job);
    pmix.directory = directory;
    pmix.uid = ::getuid();
    pmix.gid = ::getgid();
    if (job.spawned) {
        pmix.others = job.spawned->others;
        pmix.parent = job.spawned->parent;
        pmix.parent_task = job.spawned->parent_task;
        pmix.first = job.spawned->first;
    }
    return pmix;
}

Pmi1Job pmi1_job(const JobSpec& job, NodeIndex node) {
    Pmi1Job pmi1;
    pmi1.kvsname = "poe-" + job.id;
    pmi1.size = static_cast<std::uint32_t>(job.tasks.size());
    pmi1.local_tasks = tasks_on(job, node);
    pmi1.appnum_of_task = appnum_of_task(job);
    pmi1.process_mapping = pmi1_process_mapping(node_of_task(job));
    if (job.spawned) pmi1.pairs = job.spawned->pairs;
    pmi1.first = public_number(job, 0);
    return pmi1;
}

ForeignMpiFacts foreign_facts(const JobSpec& job, NodeIndex node, const std::string& directory,
                              unsigned cpus) {
    ForeignMpiFacts facts;
    facts.local_tasks = static_cast<std::uint32_t>(tasks_on(job, node).size());
    facts.cpus = cpus;
    facts.one_node = job.nodes.size() == 1;
    facts.directory = directory;
    if (!job.spawned) return facts;
    // The tasks of these jobs share the processors and communicate with the tasks of this job.
    for (const JobSummary& other : job.spawned->others) {
        facts.one_node = facts.one_node && other.nodes.size() == 1;
        for (const NodeIndex place : other.node_of_task)
            if (other.nodes[static_cast<std::size_t>(place)] ==
                job.nodes[static_cast<std::size_t>(node)])
                ++facts.local_tasks;
    }
    return facts;
}

}  // namespace

PmiService::PmiService(asio::io_context& loop, const JobSpec& job, NodeIndex node,
                       const std::string& directory, unsigned cpus, Handlers handlers)
    : loop_(loop),
      handlers_(std::move(handlers)),
      user_environment_(job.environment),
      common_(foreign_mpi_environment(foreign_facts(job, node, directory, cpus), job.environment)),
      pmi1_(pmi1_job(job, node)),
      node_(node),
      size_(job.tasks.size()),
      spawned_(job.spawned.has_value()),
      nodes_(static_cast<std::uint32_t>(job.nodes.size())),
      listener_(loop),
      gate_(loop),
      control_(loop) {
    pmix_.emplace(PmixActivation::open(pmix_job(job, node, directory), job.environment));
    if (job.eager_pmix) wait_eagerly();
}

PmiService::~PmiService() {
    shut_down();
}

Environment PmiService::environment_of(TaskId task, const PlaceOnNode& place) {
    Environment entries = common_;
    const Environment ranks = rank_environment(task, size_, place);
    entries.insert(entries.end(), ranks.begin(), ranks.end());
    entries.emplace_back("PMI_FD", std::to_string(clients_.at(task)->task_fd));
    if (spawned_) entries.emplace_back("PMI_SPAWNED", "1");
    const Environment pmix = pmix_->environment(task);
    entries.insert(entries.end(), pmix.begin(), pmix.end());
    return entries;
}

UniqueFd PmiService::open_task(TaskId task) {
    int ends[2];
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
        throw_errno("making a PMI socket for a task");
    UniqueFd task_end(ends[1]);
    auto client = std::make_unique<Client>(loop_);
    client->socket.assign(move_up(UniqueFd(ends[0])).release());
    client->task_fd = task_end.get();
    clients_.emplace(task, std::move(client));
    return task_end;
}

void PmiService::tasks_started() {
    for (const auto& [task, client] : clients_) read_client(task);
    watch_pmix();
}

void PmiService::read_client(TaskId task) {
    Client& client = *clients_.at(task);
    client.socket.async_wait(Descriptor::wait_read, [this, task](const asio::error_code& error) {
        if (error) return;
        Client& from = *clients_.at(task);
        char buffer[8192];
        const ssize_t count =
            ::recv(from.socket.native_handle(), buffer, sizeof buffer, MSG_DONTWAIT);
        if (count < 0 && (errno == EAGAIN || errno == EINTR)) return read_client(task);
        if (count <= 0) return from.socket.close();
        perform(pmi1_.on_bytes(task, {buffer, static_cast<std::size_t>(count)}));
        if (from.socket.is_open()) read_client(task);
    });
}

void PmiService::write_client(TaskId task) {
    Client& client = *clients_.at(task);
    while (client.socket.is_open() && !client.outbox.empty()) {
        const ssize_t count = ::send(client.socket.native_handle(), client.outbox.data(),
                                     client.outbox.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
        if (count >= 0) {
            client.outbox.erase(0, static_cast<std::size_t>(count));
        } else if (errno == EAGAIN) {
            if (client.writing) return;
            client.writing = true;
            client.socket.async_wait(Descriptor::wait_write,
                                     [this, task](const asio::error_code& error) {
                                         if (error) return;
                                         clients_.at(task)->writing = false;
                                         write_client(task);
                                     });
            return;
        } else if (errno != EINTR) {
            client.outbox.clear();  // the task has ended; its exit is reported elsewhere
        }
    }
}

void PmiService::perform(const Pmi1Actions& actions) {
    for (const Pmi1Actions::Reply& reply : actions.replies) {
        clients_.at(reply.task)->outbox += reply.bytes;
        write_client(reply.task);
    }
    for (const Pmi1Actions::ProtocolError& error : actions.errors) {
        handlers_.on_attention(error.text);
        if (error.fatal) clients_.at(error.task)->socket.close();
    }
    for (const NameRequest& names : actions.names) ask(names);
    for (const SpawnTasks& tasks : actions.spawns) ask(tasks);
    if (actions.barrier)
        handlers_.on_exchange({kPmi1Key, nodes_, 1, pairs_to_text(*actions.barrier), {}});
    if (actions.abort)
        handlers_.on_abort({actions.abort->task, actions.abort->code, actions.abort->message});
}

void PmiService::on_exchanged(const KeyExchangeDone& exchanged) {
    if (exchanged.key == kPmi1Key)
        perform(pmi1_.release(pairs_from_text(exchanged.data)));
    else if (!shut_down_)
        pmix_->send(PmixFenced{exchanged.key, exchanged.data});
}

// The task may not have connected to PMIx yet; the server then waits for it.
void PmiService::on_keys_asked(const KeyRequest& ask) {
    if (shut_down_) return;
    if (!pmix_->started() && pmix_->listener_fd() >= 0) start_helper();
    pmix_->send(PmixPassed{ask});
}

void PmiService::on_keys(const KeyReply& keys) {
    if (!shut_down_) pmix_->send(PmixPassed{keys});
}

void PmiService::on_names(const NameReply& names) {
    if (names.asker.request >= kPmi1Requests)
        perform(pmi1_.on_names(names));
    else if (!shut_down_)
        pmix_->send(PmixPassed{names});
}

void PmiService::on_spawned(const TasksSpawned& spawned) {
    if (spawned.asker.request >= kPmi1Requests)
        perform(pmi1_.on_spawned(spawned));
    else if (!shut_down_)
        pmix_->send(PmixPassed{spawned});
}

void PmiService::on_other_job(JobSummary other) {
    if (!shut_down_) pmix_->know(std::move(other));
}

// The sender of the request has set its number. This function adds the node.
void PmiService::ask(Message question) {
    if (auto* keys = std::get_if<KeyRequest>(&question)) keys->asker.node = node_;
    if (auto* names = std::get_if<NameRequest>(&question)) names->asker.node = node_;
    if (auto* tasks = std::get_if<SpawnTasks>(&question)) tasks->asker.node = node_;
    handlers_.on_ask(question);
}

void PmiService::on_peer_lost(TaskId task) {
    if (!shut_down_) pmix_->send(PmixPeerLost{task});
}

void PmiService::watch_pmix() {
    if (pmix_->started()) return read_control();
    const auto watch = [this](Descriptor& descriptor, int fd) {
        if (fd < 0) return;
        descriptor.assign(fd);
        descriptor.async_wait(Descriptor::wait_read, [this](const asio::error_code& error) {
            if (!error && !pmix_->started()) start_helper();
        });
    };
    watch(listener_, pmix_->listener_fd());
    watch(gate_, pmix_->gate_fd());
}

void PmiService::forget_pmix_descriptors() {
    // pmix_ owns the descriptors and closes them.
    for (Descriptor* descriptor : {&listener_, &gate_, &control_})
        if (descriptor->is_open()) descriptor->release();
}

void PmiService::start_helper() {
    forget_pmix_descriptors();
    try {
        pmix_->start_helper(find_pmd_sibling("pmd-pmix"), user_environment_);
    } catch (const Error& error) {
        handlers_.on_attention(std::string("PMIx is not available to the tasks: ") + error.what());
        pmix_->shutdown();
        return;
    }
    read_control();
}

// MP_PMIX=yes: starts the server before the tasks, so that tasks get the environment from the
// server itself instead of the predicted one.
void PmiService::wait_eagerly() {
    pmix_->start_helper(find_pmd_sibling("pmd-pmix"), user_environment_);
    while (!ready_ && pmix_->control_fd() >= 0) {
        pollfd wait{pmix_->control_fd(),
                    static_cast<short>(POLLIN | (pmix_->wants_write() ? POLLOUT : 0)), 0};
        if (::poll(&wait, 1, kEagerStartMilliseconds) <= 0)
            throw Error("the PMIx server (pmd-pmix) does not come up");
        if ((wait.revents & POLLOUT) != 0) pmix_->on_writable();
        if ((wait.revents & (POLLIN | POLLHUP)) != 0)
            for (const PmixMessage& message : pmix_->on_readable()) on_pmix(message);
    }
}

void PmiService::read_control() {
    if (pmix_->control_fd() < 0) return;
    if (!control_.is_open()) control_.assign(pmix_->control_fd());
    control_.async_wait(Descriptor::wait_read, [this](const asio::error_code& error) {
        if (error) return;
        hear_helper();
    });
    watch_control_writable();
}

void PmiService::hear_helper() {
    if (control_.is_open()) control_.release();  // the call below may close it
    for (const PmixMessage& message : pmix_->on_readable()) on_pmix(message);
    if (!shut_down_) read_control();
}

void PmiService::watch_control_writable() {
    if (!control_.is_open() || !pmix_->wants_write()) return;
    control_.async_wait(Descriptor::wait_write, [this](const asio::error_code& error) {
        if (error) return;
        pmix_->on_writable();
        watch_control_writable();
    });
}

void PmiService::on_pmix(const PmixMessage& message) {
    if (std::get_if<PmixReady>(&message)) {
        ready_ = true;
    } else if (const auto* abort = std::get_if<PmixAbort>(&message)) {
        handlers_.on_abort({abort->task, abort->status, abort->text});
    } else if (const auto* fence = std::get_if<PmixFence>(&message)) {
        handlers_.on_exchange({fence->key, fence->nodes, 1, fence->data, fence->jobs});
    } else if (const auto* passed = std::get_if<PmixPassed>(&message)) {
        ask(passed->message);
    } else if (const auto* attention = std::get_if<PmixAttention>(&message)) {
        handlers_.on_attention(attention->text);
    } else if (const auto* failed = std::get_if<PmixFailed>(&message)) {
        // Tasks that have connected to the server would wait for it forever.
        if (!shut_down_)
            handlers_.on_lost_server("the PMIx server (pmd-pmix) failed: " + failed->text);
    }
}

// Both protocols report a finalize before they let the task continue. If no finalize has been
// received by now, the task has not called it.
void PmiService::on_task_exit(TaskId task) {
    if (pmix_->control_fd() >= 0) hear_helper();
    const bool inside_pmix = pmix_->task_exited(task);
    const bool inside_pmi1 = pmi1_.initialized(task) && !pmi1_.finalized(task);
    if (inside_pmix || inside_pmi1) handlers_.on_left({task});
}

void PmiService::on_child_exit(pid_t pid) {
    if (pid == pmix_->helper_pid()) helper_reaped_ = true;
}

pid_t PmiService::helper_pid() const {
    return helper_reaped_ ? 0 : pmix_->helper_pid();
}

void PmiService::shut_down() {
    if (shut_down_) return;
    shut_down_ = true;
    forget_pmix_descriptors();
    const pid_t helper = helper_pid();
    pmix_->shutdown();
    if (helper == 0) return;
    // All files of the helper are in the job's directory, so it need not clean up.
    ::kill(helper, SIGKILL);
    ::waitpid(helper, nullptr, 0);
    helper_reaped_ = true;
}

}  // namespace poe::pm
