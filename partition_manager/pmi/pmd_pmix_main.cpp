// pmd-pmix: the PMIx server of one job on one node. pmd starts it when a task needs it.
//
//   pmd-pmix LISTENER CONTROL      two inherited descriptors
//
// It is a separate program, because libpmix creates threads, uses 18 MB, and may misbehave if a
// task sends it invalid data. It ends when pmd closes the control socket, whatever libpmix is
// doing. Its files are in the job's directory, which pmd removes.
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <mutex>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "base/unique_fd.hpp"
#include "partition_manager/pmi/pmix_adoption.hpp"
#include "partition_manager/pmi/pmix_host.hpp"
#include "partition_manager/pmi/pmix_messages.hpp"

namespace {

using namespace poe::pm;
using poe::UniqueFd;

// The connection to pmd. Only the main thread uses it. Writing may block, because pmd always reads,
// and no task waits for this thread meanwhile.
class Control {
  public:
    explicit Control(int fd) : fd_(fd) {}
    int fd() const { return fd_.get(); }

    void send(const PmixMessage& message) {
        const std::string bytes = pmix_encode(message);
        for (std::size_t sent = 0; sent < bytes.size();) {
            const ssize_t count =
                ::send(fd_.get(), bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
            if (count >= 0) {
                sent += static_cast<std::size_t>(count);
            } else if (errno == EAGAIN) {
                wait(POLLOUT);
            } else if (errno != EINTR) {
                ::_exit(0);  // pmd has ended
            }
        }
    }

    // Returns the next message that has arrived. If `block` is true, blocks until one arrives. Ends
    // the program if pmd has closed the connection.
    std::optional<PmixMessage> receive(bool block) {
        while (true) {
            if (auto message = decoder_.next()) return message;
            char buffer[16384];
            const ssize_t count = ::recv(fd_.get(), buffer, sizeof buffer, MSG_DONTWAIT);
            if (count > 0) {
                decoder_.append({buffer, static_cast<std::size_t>(count)});
            } else if (count == 0 || (errno != EAGAIN && errno != EINTR)) {
                ::_exit(0);
            } else if (block) {
                wait(POLLIN);
            } else {
                return std::nullopt;
            }
        }
    }

  private:
    void wait(short events) {
        pollfd one{fd_.get(), events, 0};
        ::poll(&one, 1, -1);
    }

    UniqueFd fd_;
    PmixDecoder decoder_;
};

// Functions that libpmix's thread posts to the main thread.
class Posts {
  public:
    Posts() : event_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
        if (!event_) poe::throw_errno("making an eventfd");
    }
    int fd() const { return event_.get(); }

    void post(std::function<void()> function) {
        const std::lock_guard lock(mutex_);
        functions_.push_back(std::move(function));
        ::eventfd_write(event_.get(), 1);
    }

    void run() {
        eventfd_t count = 0;
        ::eventfd_read(event_.get(), &count);
        std::vector<std::function<void()>> functions;
        {
            const std::lock_guard lock(mutex_);
            functions.swap(functions_);
        }
        for (const auto& function : functions) function();
    }

  private:
    UniqueFd event_;
    std::mutex mutex_;
    std::vector<std::function<void()>> functions_;
};

// libpmix creates its shared store under a name with its own process id, but tasks were given
// another name. Links the two.
void link_store(const Environment& real, const PmixJob& job) {
    const std::string promised = job.pmix_directory() + "/" + kPmixStoreName;
    for (const auto& [name, value] : real)
        if (name == kPmixStoreVariable && value != promised &&
            ::symlink(value.c_str(), promised.c_str()) != 0)
            poe::throw_errno("linking " + promised);
}

// Raises the limit of descriptors: two per task. libpmix's thread waits with select(), which is
// limited to 1024, but only for the listener, which is opened first.
void allow_many_descriptors() {
    rlimit limit;
    if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
    limit.rlim_cur = limit.rlim_max;
    ::setrlimit(RLIMIT_NOFILE, &limit);
}

Environment start_serving(PmixHost& host, const PmixStart& start, int listener, Control& control) {
    Environment real = host.start();
    const std::string difference = pmix_environment_difference(start.promised, real);
    if (start.promise_given && !difference.empty())
        control.send(PmixAttention{
            "tasks were started with other PMIx settings than this libpmix has (" + difference +
            "); if they fail to start, set MP_PMIX=yes to have the PMIx server started first"});
    if (start.shared_store) link_store(real, start.job);
    adopt_listener(listener, pmix_port(real));
    set_pmix_port(real, pmix_port(start.promised));
    return real;
}

void take_passed(const Message& message) {
    if (const auto* ask = std::get_if<KeyRequest>(&message))
        fetch_pmix_keys(*ask);
    else if (const auto* keys = std::get_if<KeyReply>(&message))
        finish_pmix_fetch(*keys);
    else if (const auto* names = std::get_if<NameReply>(&message))
        finish_pmix_names(*names);
    else if (const auto* spawned = std::get_if<TasksSpawned>(&message))
        finish_pmix_spawn(*spawned);
    else if (const auto* other = std::get_if<JobAnnounced>(&message)) {
        know_pmix_job(other->job);
        PmixHost::know(other->job);
    }
}

[[noreturn]] void serve(int listener, Control& control, Posts& posts) {
    const auto first = control.receive(true);
    const auto* start = std::get_if<PmixStart>(&*first);
    if (start == nullptr) throw poe::Error("pmd did not say which job it is");
    allow_many_descriptors();
    PmixHost host(start->job,
                  {[&](std::function<void()> function) { posts.post(std::move(function)); },
                   [&](const PmixMessage& message) { control.send(message); }});
    control.send(PmixReady{start_serving(host, *start, listener, control)});
    while (true) {
        pollfd both[2] = {{control.fd(), POLLIN, 0}, {posts.fd(), POLLIN, 0}};
        if (::poll(both, 2, -1) < 0 && errno != EINTR) poe::throw_errno("waiting");
        posts.run();
        while (const auto message = control.receive(false)) {
            if (const auto* fenced = std::get_if<PmixFenced>(&*message))
                poe::pm::finish_pmix_fence(*fenced);
            else if (const auto* passed = std::get_if<PmixPassed>(&*message))
                take_passed(passed->message);
            else if (const auto* lost = std::get_if<PmixPeerLost>(&*message))
                poe::pm::announce_lost_peer(*lost);
        }
    }
}

}  // namespace

int main(int argc, char** argv) {
    if (argc == 2 && std::strcmp(argv[1], "--version") == 0) {
        std::puts("pmd-pmix " POE_VERSION);
        return 0;
    }
    const int listener = argc == 3 ? std::atoi(argv[1]) : 0;
    const int control_fd = argc == 3 ? std::atoi(argv[2]) : 0;
    int type = 0;
    socklen_t size = sizeof type;
    if (listener < 3 || control_fd < 3 ||
        ::getsockopt(control_fd, SOL_SOCKET, SO_TYPE, &type, &size) != 0) {
        std::fputs("pmd-pmix is started by pmd; see pmd-pmix(8)\n", stderr);
        return 2;
    }
    Control control(control_fd);
    Posts posts;
    try {
        serve(listener, control, posts);
    } catch (const std::exception& error) {
        control.send(PmixFailed{error.what()});
    }
    ::_exit(1);  // libpmix's threads still run, so no destructors are called
}
