// The promise of PMIx: the gate waits and tells, the listener listens, both end when told.
#include "partition_manager/pmi/pmix_activation.hpp"

#include <arpa/inet.h>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>

#include "base/error.hpp"
#include "partition_manager/pmi/pmix_peer.hpp"
#include "tests/unit/partition_manager/support.hpp"

namespace {

using namespace poe;
using namespace poe::pm;

struct Directory {
    Directory() {
        char name[] = "/dev/shm/poe-unit-XXXXXX";
        REQUIRE(::mkdtemp(name) != nullptr);
        path = name;
    }
    ~Directory() { std::filesystem::remove_all(path); }
    std::string path;
};

PmixJob job_in(const std::string& directory) {
    PmixJob job;
    job.job_id = "unit";
    job.nspace = "poe-unit";
    job.nodes = {"here"};
    job.node_of_task = {0, 0};
    job.directory = directory;
    job.uid = ::getuid();
    job.gid = ::getgid();
    return job;
}

bool readable(int fd, int milliseconds) {
    pollfd one{fd, POLLIN, 0};
    return ::poll(&one, 1, milliseconds) > 0;
}

std::string value_of(const Environment& environment, const std::string& name) {
    for (const auto& entry : environment)
        if (entry.first == name) return entry.second;
    return "";
}

UniqueFd connect_to(std::uint16_t port) {
    UniqueFd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(port);
    if (::connect(fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) fd.reset();
    return fd;
}

constexpr const char* kGate = "PMIX_MCA_mca_base_override_param_file";

}  // namespace

TEST_CASE("PMIx is promised with a rank, a port and a gate, and nothing is asked for yet") {
    Directory directory;
    PmixActivation activation = PmixActivation::open(job_in(directory.path), {});
    const Environment environment = activation.environment(1);
    CHECK(value_of(environment, "PMIX_RANK") == "1");
    CHECK(pmix_port(environment) > 0);
    CHECK_FALSE(activation.started());
    CHECK(activation.control_fd() == -1);
    CHECK(activation.listener_fd() >= 0);
    CHECK_FALSE(readable(activation.listener_fd(), 0));
    CHECK_FALSE(readable(activation.gate_fd(), 0));
}

TEST_CASE("who opens the gate waits until the service ends, and is told of") {
    Directory directory;
    PmixActivation activation = PmixActivation::open(job_in(directory.path), {});
    const std::string gate = value_of(activation.environment(0), kGate);
    REQUIRE_FALSE(gate.empty());
    const pid_t child = ::fork();
    if (child == 0) ::_exit(::open(gate.c_str(), O_RDONLY) >= 0 ? 0 : 1);
    CHECK(readable(activation.gate_fd(), 60000));
    int status = -1;
    CHECK(::waitpid(child, &status, WNOHANG) == 0);
    activation.shutdown();
    // Though the child has inherited the lease. Otherwise the kernel would break it after 45 s.
    REQUIRE(test::wait_until([&] { return ::waitpid(child, &status, WNOHANG) == child; }));
    CHECK(status == 0);
}

TEST_CASE("a signal of an earlier job opens no later gate") {
    Directory first;
    {
        PmixActivation activation = PmixActivation::open(job_in(first.path), {});
        const std::string gate = value_of(activation.environment(0), kGate);
        // Without waiting: refused, but the holder is told.
        CHECK(::open(gate.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC) == -1);
        CHECK(readable(activation.gate_fd(), 60000));
    }
    Directory second;
    PmixActivation activation = PmixActivation::open(job_in(second.path), {});
    CHECK_FALSE(readable(activation.gate_fd(), 0));
}

TEST_CASE("a user's own parameter file is left alone") {
    Directory directory;
    PmixActivation activation =
        PmixActivation::open(job_in(directory.path), {std::string(kGate) + "=/mine"});
    CHECK(value_of(activation.environment(0), kGate).empty());
    CHECK(activation.gate_fd() == -1);
    CHECK(activation.listener_fd() >= 0);
}

TEST_CASE("the listener shows who has something to say") {
    Directory directory;
    PmixActivation activation = PmixActivation::open(job_in(directory.path), {});
    const std::uint16_t port = pmix_port(activation.environment(0));
    const UniqueFd silent = connect_to(port);
    CHECK(silent);
    CHECK_FALSE(readable(activation.listener_fd(), 20));
    const UniqueFd talks = connect_to(port);
    REQUIRE(::send(talks.get(), "x", 1, MSG_NOSIGNAL) == 1);
    CHECK(readable(activation.listener_fd(), 60000));
    activation.shutdown();
    activation.shutdown();
    CHECK(activation.listener_fd() == -1);
    CHECK_FALSE(connect_to(port));
}

TEST_CASE("a helper that cannot be started, or ends at once, is told") {
    Directory directory;
    PmixActivation activation = PmixActivation::open(job_in(directory.path), {});
    SECTION("not there") {
        CHECK_THROWS_AS(activation.start_helper("/nonexistent/pmd-pmix", {}), Error);
        CHECK_FALSE(activation.started());
        activation.shutdown();
    }
    SECTION("another program") {
        activation.start_helper("/bin/true", {});
        REQUIRE(activation.control_fd() >= 0);
        std::vector<PmixMessage> messages;
        while (messages.empty() && readable(activation.control_fd(), 60000))
            messages = activation.on_readable();
        REQUIRE(messages.size() == 1);
        CHECK(std::holds_alternative<PmixFailed>(messages[0]));
        CHECK(activation.control_fd() == -1);
        CHECK(::waitpid(activation.helper_pid(), nullptr, 0) == activation.helper_pid());
    }
}

TEST_CASE("the owner of a connection's other end is known while it is open") {
    const UniqueFd listener(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    REQUIRE(::bind(listener.get(), reinterpret_cast<sockaddr*>(&address), size) == 0);
    REQUIRE(::listen(listener.get(), 4) == 0);
    REQUIRE(::getsockname(listener.get(), reinterpret_cast<sockaddr*>(&address), &size) == 0);
    UniqueFd peer = connect_to(ntohs(address.sin_port));
    REQUIRE(peer);
    const UniqueFd accepted(::accept(listener.get(), nullptr, nullptr));
    REQUIRE(accepted);
    CHECK(tcp_peer_owner(accepted.get()) == ::getuid());
    peer.reset();
    CHECK_FALSE(tcp_peer_owner(accepted.get()));
    CHECK_FALSE(tcp_peer_owner(listener.get()));
    CHECK_FALSE(tcp_peer_owner(-1));
}
