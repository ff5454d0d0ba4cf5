// PMIx on demand; pmix_activation.hpp explains the mechanism.
#include "partition_manager/pmi/pmix_activation.hpp"

#include <algorithm>
#include <arpa/inet.h>
#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/signalfd.h>
#include <sys/socket.h>

#include "base/check.hpp"
#include "base/error.hpp"
#include "partition_manager/launch/spawn.hpp"

namespace poe::pm {

namespace {

constexpr const char* kGateVariable = "PMIX_MCA_mca_base_override_param_file";

// The kernel reports a connection when its first bytes have arrived, or after this many seconds.
// Therefore a client that connects and sends nothing (a port scanner) starts no server and delays
// none.
constexpr int kDeferAcceptSeconds = 20;

bool is_set(const std::vector<std::string>& environment, std::string_view name) {
    return std::any_of(environment.begin(), environment.end(), [&](const std::string& entry) {
        return entry.size() > name.size() && entry[name.size()] == '=' && entry.starts_with(name);
    });
}

// The helper's environment. Variables that make a PMIx library believe that it is a task are
// removed, and the data stores that tasks were promised are set. libpmix starts hwloc. hwloc must
// not visit every core in turn (x86), and must not load its plugins, which load libraries of
// displays and accelerators; a server needs neither.
std::vector<std::string> helper_environment(const std::vector<std::string>& environment) {
    std::vector<std::string> result;
    for (const std::string& entry : environment) {
        const std::string_view name = std::string_view(entry).substr(0, entry.find('='));
        if (is_other_launchers_variable(name) || name == kGateVariable || name == "PMIX_MCA_gds")
            continue;
        result.push_back(entry);
    }
    result.push_back(std::string("PMIX_MCA_gds=") + kPmixStores);
    // The security mode that tasks were promised (pmix_environment), even if munge is available.
    // pmd-pmix itself checks the user of each connection.
    if (!is_set(environment, "PMIX_MCA_psec")) result.emplace_back("PMIX_MCA_psec=native");
    if (!is_set(environment, "HWLOC_COMPONENTS")) result.emplace_back("HWLOC_COMPONENTS=-x86");
    if (!is_set(environment, "HWLOC_PLUGINS_PATH"))
        result.emplace_back("HWLOC_PLUGINS_PATH=/nonexistent");
    return result;
}

std::vector<char*> pointers(std::vector<std::string>& strings) {
    std::vector<char*> result;
    result.reserve(strings.size() + 1);
    for (std::string& text : strings) result.push_back(text.data());
    result.push_back(nullptr);
    return result;
}

}  // namespace

PmixActivation PmixActivation::open(PmixJob job, const std::vector<std::string>& environment) {
    PmixActivation activation;
    activation.job_ = std::move(job);
    activation.open_listener();
    activation.environment_ =
        pmix_environment(activation.job_, activation.port_, pmix_system_tmpdir(environment));
    if (!is_set(environment, kGateVariable)) activation.open_gate();
    return activation;
}

void PmixActivation::open_listener() {
    listener_.reset(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* generic = reinterpret_cast<sockaddr*>(&address);
    ::setsockopt(listener_.get(), IPPROTO_TCP, TCP_DEFER_ACCEPT, &kDeferAcceptSeconds,
                 sizeof kDeferAcceptSeconds);
    if (!listener_ || ::bind(listener_.get(), generic, size) != 0 ||
        ::listen(listener_.get(), SOMAXCONN) != 0 ||
        ::getsockname(listener_.get(), generic, &size) != 0)
        throw Error("a socket for PMIx on 127.0.0.1 (is the interface lo up?)", errno);
    port_ = ntohs(address.sin_port);
}

// libpmix cannot mix tasks that use the shared store with tasks that do not. Therefore no task gets
// the store once a task has connected to the listener, because that task has already looked for the
// store and not found it.
bool PmixActivation::all_pass_the_gate() const {
    pollfd listener{listener_.get(), POLLIN, 0};
    return gate_ && ::poll(&listener, 1, 0) == 0;
}

// If the kernel or the file system has no leases, there is no gate, and only the listener is used.
void PmixActivation::open_gate() {
    const std::string path = job_.directory + "/pmix-gate";
    UniqueFd gate(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (!gate) throw_errno("making " + path);
    sigset_t sigio;
    ::sigemptyset(&sigio);
    ::sigaddset(&sigio, SIGIO);
    if (::pthread_sigmask(SIG_BLOCK, &sigio, nullptr) != 0) return;
    UniqueFd signal(::signalfd(-1, &sigio, SFD_CLOEXEC | SFD_NONBLOCK));
    signalfd_siginfo of_an_earlier_job;
    while (signal && ::read(signal.get(), &of_an_earlier_job, sizeof of_an_earlier_job) > 0) {
    }
    if (!signal || ::fcntl(gate.get(), F_SETLEASE, F_WRLCK) != 0) return;
    gate_ = std::move(gate);
    gate_signal_ = std::move(signal);
    environment_.emplace_back(kGateVariable, path);
}

Environment PmixActivation::environment(TaskId task) {
    promise_given_ = true;
    Environment entries = environment_;
    entries.emplace_back("PMIX_RANK", std::to_string(task));
    return entries;
}

void PmixActivation::start_helper(const std::string& program,
                                  const std::vector<std::string>& environment) {
    POE_CHECK(!started() && listener_);
    int ends[2];
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) != 0)
        throw_errno("a socket to " + program);
    control_.reset(ends[0]);
    const UniqueFd theirs(ends[1]);
    const UniqueFd nothing(::open("/dev/null", O_RDWR | O_CLOEXEC));

    std::vector<std::string> words = {program, std::to_string(listener_.get()),
                                      std::to_string(theirs.get())};
    std::vector<std::string> settings = helper_environment(environment);
    const std::vector<char*> argv = pointers(words);
    const std::vector<char*> envp = pointers(settings);
    SpawnRequest request;
    request.path = program.c_str();
    request.argv = argv.data();
    request.envp = envp.data();
    request.stdin_fd = nothing.get();
    request.stdout_fd = nothing.get();
    request.keep_fd[0] = listener_.get();
    request.keep_fd[1] = theirs.get();
    request.death_signal = SIGKILL;
    const pid_t child = spawn(request);
    if (child < 0) throw Error("starting the PMIx server " + program, -child);
    helper_ = child;
    const bool shared_store = all_pass_the_gate();
    listener_.reset();
    gate_signal_.reset();
    send(PmixStart{job_, environment_, promise_given_, shared_store});
}

void PmixActivation::know(JobSummary other) {
    if (started())
        send(PmixPassed{JobAnnounced{std::move(other)}});
    else
        job_.others.push_back(std::move(other));
}

// Closing the gate would be enough only if no process had inherited the descriptor (a process that
// is about to exec has it, too). Otherwise the kernel lets the tasks wait for its lease-break-time,
// 45 s.
void PmixActivation::open_the_gate_for_all() {
    if (gate_) ::fcntl(gate_.get(), F_SETLEASE, F_UNLCK);
    gate_.reset();
}

void PmixActivation::note(const PmixMessage& message) {
    if (const auto* ready = std::get_if<PmixReady>(&message)) {
        environment_ = ready->environment;
        open_the_gate_for_all();
    } else if (const auto* connected = std::get_if<PmixConnected>(&message)) {
        present_.insert(connected->task);
    } else if (const auto* finalized = std::get_if<PmixFinalized>(&message)) {
        present_.erase(finalized->task);
    }
}

std::vector<PmixMessage> PmixActivation::on_readable() {
    std::vector<PmixMessage> messages;
    while (control_) {
        char buffer[16384];
        const ssize_t count = ::recv(control_.get(), buffer, sizeof buffer, MSG_DONTWAIT);
        if (count < 0 && errno == EINTR) continue;
        if (count < 0 && errno == EAGAIN) break;
        try {
            if (count <= 0) throw Error("its server (pmd-pmix) has ended");
            decoder_.append({buffer, static_cast<std::size_t>(count)});
            while (auto message = decoder_.next()) {
                note(*message);
                messages.push_back(std::move(*message));
                if (std::holds_alternative<PmixFailed>(messages.back())) shutdown();
            }
        } catch (const Error& error) {
            shutdown();
            messages.push_back(PmixFailed{error.what()});
        }
    }
    return messages;
}

void PmixActivation::send(const PmixMessage& message) {
    if (!control_) return;
    outbox_ += pmix_encode(message);
    on_writable();
}

void PmixActivation::on_writable() {
    while (control_ && !outbox_.empty()) {
        const ssize_t count =
            ::send(control_.get(), outbox_.data(), outbox_.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
        if (count < 0 && errno == EINTR) continue;
        if (count < 0 && errno == EAGAIN) return;
        // The helper has ended; on_readable() will report it.
        if (count < 0) return outbox_.clear();
        outbox_.erase(0, static_cast<std::size_t>(count));
    }
}

void PmixActivation::shutdown() {
    listener_.reset();
    gate_signal_.reset();
    open_the_gate_for_all();
    control_.reset();
    outbox_.clear();
}

}  // namespace poe::pm
