// Other people's programs under a small pmd (pmi_launcher): plain PMIx clients, Open MPI and MPICH
// start, exchange, abort; strangers knock at the PMIx port; the helper and everything else is
// killed. Programs that are not there (no compiler for them) are skipped, and that is said.
#include <algorithm>
#include <arpa/inet.h>
#include <chrono>
#include <filesystem>
#include <iostream>
#include <netinet/in.h>
#include <poll.h>
#include <set>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>

#include "tests/multiproc/pmi_launcher.hpp"

namespace {

using namespace poe;
using test::PmiJob;
using test::PmiLauncher;
using test::PmiOutcome;

// Given by CMake; empty when there is no such compiler.
const std::string kHelper = PMI_TEST_HELPER;
const std::string kClient = PMI_TEST_CLIENT;
const std::string kOpenMpi = PMI_TEST_OPENMPI;
const std::string kMpich = PMI_TEST_MPICH;

PmiOutcome run(PmiJob job) {
    PmiLauncher launcher(std::move(job), kHelper);
    return launcher.run();
}

PmiOutcome run(std::vector<std::string> command, std::uint32_t tasks) {
    return run(PmiJob{std::move(command), tasks});
}

bool present(const std::string& program) {
    if (!program.empty()) return true;
    WARN("skipped: no compiler for this MPI");
    return false;
}

bool contains(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

std::size_t count(const std::string& text, const std::string& part) {
    std::size_t found = 0;
    for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
        ++found;
    return found;
}

bool exists(pid_t pid) {
    return ::kill(pid, 0) == 0;
}

// Waits for what will be true soon, or says false.
template <typename Condition>
bool soon(Condition condition) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::minutes(1);
    while (!condition()) {
        if (std::chrono::steady_clock::now() > deadline) return false;
        ::poll(nullptr, 0, 1);
    }
    return true;
}

// A connection to the PMIx port that says `bytes`.
UniqueFd knock(std::uint16_t port, const std::string& bytes) {
    UniqueFd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(port);
    REQUIRE(::connect(fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
    REQUIRE(::send(fd.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL) ==
            static_cast<ssize_t>(bytes.size()));
    return fd;
}

// What MPI libraries and PMIx put into places that outlive a job.
std::set<std::string> public_files() {
    std::set<std::string> names;
    for (const char* folder : {"/dev/shm", "/tmp"})
        for (const auto& entry : std::filesystem::directory_iterator(folder)) {
            const std::string name = entry.path().filename();
            for (const char* prefix : {"ompi.", "openmpi-", "vader_", "osc_", "sm_segment", "pmix",
                                       "mpich", "ucx", "poe-test-", "psm", "shm"})
                if (name.starts_with(prefix)) names.insert(entry.path());
        }
    return names;
}

}  // namespace

TEST_CASE("a program that asks for nothing starts no PMIx server") {
    const PmiOutcome outcome = run({"/bin/true"}, 4);
    CHECK(outcome.all_succeeded());
    CHECK_FALSE(outcome.helper_started);
}

TEST_CASE("a PMIx client exchanges, publishes and finalizes") {
    const std::uint32_t tasks = GENERATE(1, 2, 4, 16);
    const PmiOutcome outcome = run({kClient}, tasks);
    INFO(outcome.output);
    CHECK(outcome.all_succeeded());
    CHECK(count(outcome.output, " exchanged\n") == tasks);
    CHECK(outcome.all<pm::PmixConnected>().size() == tasks);
    CHECK(outcome.all<pm::PmixFinalized>().size() == tasks);
    // The promised environment is the real one, and nothing was amiss.
    CHECK(outcome.all<pm::PmixAttention>().empty());
    CHECK(outcome.all<pm::PmixFailed>().empty());
}

TEST_CASE("PMIx clients are served whenever and however they come") {
    PmiJob job{{kClient, "late"}, 6};
    SECTION("one after the other") {}
    SECTION("past the gate, by the listener alone") {
        job.environment = {"PMIX_MCA_mca_base_override_param_file=/nonexistent"};
    }
    SECTION("with the server started first") {
        job.eager = true;
    }
    const PmiOutcome outcome = run(std::move(job));
    INFO(outcome.output);
    CHECK(outcome.all_succeeded());
    CHECK(count(outcome.output, " exchanged\n") == 6);
    CHECK(outcome.helper_started);
}

TEST_CASE("PMIx_Abort reaches the daemon with its status and text") {
    const PmiOutcome outcome = run({kClient, "abort"}, 3);
    CHECK_FALSE(outcome.timed_out);
    const auto aborts = outcome.all<pm::PmixAbort>();
    REQUIRE(aborts.size() == 1);
    CHECK(aborts[0].task == 0);
    CHECK(aborts[0].status == 5);
    CHECK(aborts[0].text == "as asked");
}

TEST_CASE("Open MPI programs run as one job") {
    if (!present(kOpenMpi)) return;
    const std::uint32_t tasks = GENERATE(2, 4);
    const PmiOutcome outcome = run({kOpenMpi}, tasks);
    INFO(outcome.output);
    CHECK(outcome.all_succeeded());
    CHECK(contains(outcome.output, "sum of " + std::to_string(tasks) + " ranks"));
}

TEST_CASE("MPICH programs run as one job") {
    if (!present(kMpich)) return;
    const std::uint32_t tasks = GENERATE(2, 4);
    const PmiOutcome outcome = run({kMpich}, tasks);
    INFO(outcome.output);
    CHECK(outcome.all_succeeded());
    CHECK(contains(outcome.output, "sum of " + std::to_string(tasks) + " ranks"));
    CHECK(outcome.protocol_errors.empty());
    CHECK_FALSE(outcome.helper_started);
}

TEST_CASE("application numbers of several programs arrive") {
    const std::string program = GENERATE(kOpenMpi, kMpich);
    if (!present(program)) return;
    PmiJob job{{program, "appnum"}, 3};
    job.appnums = {0, 1, 1};
    const PmiOutcome outcome = run(std::move(job));
    INFO(outcome.output);
    CHECK(outcome.all_succeeded());
    CHECK(contains(outcome.output, "rank 0 appnum 0\n"));
    CHECK(contains(outcome.output, "rank 2 appnum 1\n"));
}

TEST_CASE("names that one rank publishes are found by another") {
    const std::string program = GENERATE(kOpenMpi, kMpich);
    if (!present(program)) return;
    const PmiOutcome outcome = run({program, "names"}, 2);
    INFO(outcome.output);
    CHECK(outcome.all_succeeded());
    CHECK(contains(outcome.output, "found port-4711\n"));
}

TEST_CASE("MPI_Comm_spawn asks for tasks, and may be refused") {
    const std::string program = GENERATE(kOpenMpi, kMpich);
    if (!present(program)) return;
    const PmiOutcome outcome = run({program, "spawn"}, 2);
    INFO(outcome.output);
    CHECK(outcome.all_succeeded());
    CHECK(contains(outcome.output, "spawn was refused\n"));
    if (program != kOpenMpi) return;  // Debian's MPICH refuses by itself
    std::vector<pm::SpawnTasks> asked;
    for (const pm::PmixPassed& passed : outcome.all<pm::PmixPassed>())
        if (const auto* ask = std::get_if<pm::SpawnTasks>(&passed.message)) asked.push_back(*ask);
    REQUIRE(asked.size() == 1);
    CHECK(asked[0].task == 0);
    REQUIRE(asked[0].commands.size() == 1);
    CHECK(asked[0].commands[0].words == pm::Command{program});
    CHECK(asked[0].commands[0].tasks == 2);
}

TEST_CASE("MPI_Abort reaches the daemon with its code") {
    if (present(kOpenMpi)) {
        const PmiOutcome outcome = run({kOpenMpi, "abort"}, 3);
        CHECK_FALSE(outcome.timed_out);
        const auto aborts = outcome.all<pm::PmixAbort>();
        REQUIRE(aborts.size() == 1);
        CHECK(aborts[0].task == 2);
        CHECK(aborts[0].status == 7);
    }
    if (present(kMpich)) {
        const PmiOutcome outcome = run({kMpich, "abort"}, 3);
        CHECK_FALSE(outcome.timed_out);
        REQUIRE(outcome.pmi1_aborts.size() == 1);
        CHECK(outcome.pmi1_aborts[0].task == 2);
        CHECK(outcome.pmi1_aborts[0].code == 7);
    }
}

TEST_CASE("a task that ends with 0 but without MPI_Finalize is noticed") {
    const std::string program = GENERATE(kOpenMpi, kMpich);
    if (!present(program)) return;
    const PmiOutcome outcome = run({program, "vanish"}, 3);
    CHECK_FALSE(outcome.timed_out);
    REQUIRE_FALSE(outcome.vanished.empty());
    CHECK(outcome.vanished.front() == 0);
    CHECK(outcome.statuses[0] == 0);
}

TEST_CASE("strangers at the PMIx port do no harm") {
    PmiJob job{{kClient, "late"}, 4};
    std::vector<UniqueFd> strangers;
    const auto visit = [&](PmiLauncher& launcher) {
        const std::uint16_t port = launcher.pmix_port();
        strangers.push_back(knock(port, ""));
        strangers.push_back(knock(port, "x"));
        strangers.push_back(knock(port, "GET / HTTP/1.0\r\n\r\n"));
        strangers.push_back(knock(port, std::string(100000, '\xff')));
        strangers.push_back(knock(port, std::string(64, '\0')));
        knock(port, "gone");
    };
    SECTION("before the server is there") {
        job.when_started = visit;
    }
    SECTION("when it is there") {
        job.on_event = [&](PmiLauncher& launcher, const pm::PmixMessage& message) {
            if (std::holds_alternative<pm::PmixReady>(message)) visit(launcher);
        };
    }
    const PmiOutcome outcome = run(std::move(job));
    INFO(outcome.output);
    CHECK(outcome.all_succeeded());
    CHECK(count(outcome.output, " exchanged\n") == 4);
    CHECK(outcome.all<pm::PmixFailed>().empty());
}

TEST_CASE("another user's connection is closed unread") {
    if (::getuid() != 0) {
        WARN("skipped: needs root, to be somebody else");
        return;
    }
    PmiJob job{{kClient}, 2};
    pid_t other = -1;
    job.on_event = [&](PmiLauncher& launcher, const pm::PmixMessage& message) {
        if (!std::holds_alternative<pm::PmixReady>(message)) return;
        const std::uint16_t port = launcher.pmix_port();
        other = ::fork();
        if (other != 0) return;
        if (::setgid(65534) != 0 || ::setuid(65534) != 0) ::_exit(3);
        const int fd = ::socket(AF_INET, SOCK_STREAM, 0);
        sockaddr_in address = {};
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        address.sin_port = htons(port);
        // The first bytes of a greeting. libpmix would read them, and wait for the rest for two
        // seconds. If they are unread when the connection is closed, the kernel resets it.
        if (::connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) ::_exit(4);
        if (::send(fd, "\0\0\0\0", 4, MSG_NOSIGNAL) != 4) ::_exit(errno == EPIPE ? 0 : 4);
        char byte = 0;
        ::_exit(::recv(fd, &byte, 1, 0) == -1 && errno == ECONNRESET ? 0 : 5);
    };
    const PmiOutcome outcome = run(std::move(job));
    INFO(outcome.output);
    CHECK(outcome.all_succeeded());
    REQUIRE(other > 0);
    int status = -1;
    REQUIRE(::waitpid(other, &status, 0) == other);
    CHECK(status == 0);
}

TEST_CASE("a killed helper is told, and nothing hangs") {
    const std::string program = GENERATE(kOpenMpi, kClient);
    if (!present(program)) return;
    PmiJob job{{program, "spin"}, 3};
    if (program == kClient) job.command = {kClient, "late"};
    const bool before = GENERATE(true, false);
    job.on_event = [&](PmiLauncher& launcher, const pm::PmixMessage& message) {
        if (before ? !std::holds_alternative<pm::PmixReady>(message)
                   : !std::holds_alternative<pm::PmixConnected>(message))
            return;
        ::kill(launcher.helper_pid(), SIGKILL);
        // Dead, but not reaped: its descriptors are closed for all at once.
        siginfo_t info;
        ::waitid(P_PID, static_cast<id_t>(launcher.helper_pid()), &info, WEXITED | WNOWAIT);
    };
    const PmiOutcome outcome = run(std::move(job));
    CHECK_FALSE(outcome.timed_out);
    CHECK(outcome.all<pm::PmixFailed>().size() == 1);
    CHECK_FALSE(outcome.all_succeeded());
}

TEST_CASE("a helper that cannot work says so and lets the tasks through") {
    PmiJob job{{kClient}, 2};
    // Where the helper wants a directory there is a file.
    PmiLauncher* running = nullptr;
    job.when_started = [&](PmiLauncher& launcher) { running = &launcher; };
    PmiLauncher launcher(std::move(job), kHelper);
    {
        std::unique_ptr<FILE, int (*)(FILE*)> file(
            std::fopen((launcher.directory() + "/pmix").c_str(), "w"), &std::fclose);
    }
    const PmiOutcome outcome = launcher.run();
    CHECK(running == &launcher);
    CHECK_FALSE(outcome.timed_out);
    const auto failures = outcome.all<pm::PmixFailed>();
    REQUIRE(failures.size() == 1);
    CHECK(contains(failures[0].text, launcher.directory()));
}

TEST_CASE("nothing is left behind after a normal end") {
    const std::set<std::string> before = public_files();
    for (const std::string& program : {kClient, kOpenMpi, kMpich})
        if (present(program)) CHECK(run({program}, 3).all_succeeded());
    CHECK(public_files() == before);
}

TEST_CASE("nothing is left behind but the job's directory after everything was killed") {
    const std::string program = GENERATE(kOpenMpi, kMpich);
    if (!present(program)) return;
    std::set<std::string> before = public_files();
    int ends[2];
    REQUIRE(::pipe(ends) == 0);
    // A launcher of its own, which tells the numbers of its processes, and where its directory is.
    const pid_t launcher = ::fork();
    if (launcher == 0) {
        PmiJob job{{program, "spin"}, 2};
        const auto tell = [&](PmiLauncher& running) {
            const std::string line =
                std::to_string(running.helper_pid()) + " " + std::to_string(running.tasks()[0]) +
                " " + std::to_string(running.tasks()[1]) + " " + running.directory() + "\n";
            if (::write(ends[1], line.data(), line.size()) < 0) ::_exit(1);
        };
        std::size_t connected = 0;
        job.on_event = [&](PmiLauncher& running, const pm::PmixMessage& message) {
            if (std::holds_alternative<pm::PmixConnected>(message) && ++connected == 2)
                tell(running);
        };
        if (program == kMpich) job.when_started = tell;
        run(std::move(job));
        ::_exit(0);
    }
    ::close(ends[1]);
    pollfd one{ends[0], POLLIN, 0};
    char line[256] = "";
    REQUIRE(::poll(&one, 1, 60000) == 1);
    REQUIRE(::read(ends[0], line, sizeof line - 1) > 0);
    ::close(ends[0]);
    int pids[3] = {};
    char directory[128] = "";
    REQUIRE(std::sscanf(line, "%d %d %d %127s", &pids[0], &pids[1], &pids[2], directory) == 4);
    // A moment into the run: what start-up leaves and what running leaves both count.
    const auto moment = std::chrono::steady_clock::now() + std::chrono::milliseconds(300);
    soon([&] { return std::chrono::steady_clock::now() > moment; });
    ::kill(launcher, SIGKILL);
    ::waitpid(launcher, nullptr, 0);
    for (const int pid : pids)
        if (pid > 0) CHECK(soon([&] { return !exists(pid); }));
    std::filesystem::remove_all(directory);  // what the next poe of this user does
    CHECK(public_files() == before);
}
