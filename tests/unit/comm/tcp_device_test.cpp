// Whole jobs of TCP devices in one process, moved on by hand in any order: simultaneous calls,
// strangers, and the end.
#include "comm/tcp/tcp_device.hpp"

#include <cstring>
#include <filesystem>
#include <map>
#include <random>
#include <string>
#include <sys/socket.h>
#include <unistd.h>

#include <catch2/catch.hpp>

#include "base/error.hpp"

using namespace poe::comm;
using poe::TaskId;
using poe::UniqueFd;

namespace {

std::size_t open_sockets() {
    std::size_t count = 0;
    for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
        std::error_code gone;
        const auto target = std::filesystem::read_symlink(entry.path(), gone);
        if (!gone && target.string().rfind("socket:", 0) == 0) ++count;
    }
    return count;
}

// What one task has received: the numbers in the frames, by sender.
struct Inbox final : PipeSink {
    bool on_input(Pipe& pipe) override {
        bool moved = false;
        while (const FrameHeader* header = pipe.front()) {
            std::string text(header->length, ' ');
            const BufferView view(text.data(), text.size());
            if (!pipe.read_whole(view, 128)) break;
            from[pipe.peer()].push_back(text);
            moved = true;
        }
        return moved;
    }
    std::map<TaskId, std::vector<std::string>> from;
};

struct Job {
    explicit Job(unsigned tasks) : inboxes(tasks) {
        char name[] = "/dev/shm/poe-unit-XXXXXX";
        directory = ::mkdtemp(name);
        poe::NodeSegmentSpec spec;
        spec.job_id = "unit-1";
        spec.path = directory + "/segment";
        spec.node_of_task.assign(tasks, 0);
        spec.euilib = poe::Euilib::kIp;
        spec.job_key.fill(3);
        spec.node_addresses = {poe::loopback_address()};
        spec.node_names = {"here"};
        segment = std::make_unique<poe::NodeSegment>(poe::NodeSegment::create(spec));
        for (unsigned task = 0; task < tasks; ++task) {
            std::uint16_t port = 0;
            segment->slot(task).listener = poe::listen_on(spec.node_addresses[0], port).release();
            segment->port_of(static_cast<TaskId>(task)).store(port);
        }
        for (unsigned task = 0; task < tasks; ++task)
            devices.push_back(std::make_unique<TcpDevice>(
                *segment, static_cast<TaskId>(task),
                inherited_listener(*segment, static_cast<TaskId>(task)), 1 << 20, false));
    }
    ~Job() {
        devices.clear();
        std::filesystem::remove_all(directory);
    }
    Job(const Job&) = delete;
    Job& operator=(const Job&) = delete;

    bool send(TaskId from, TaskId to, const std::string& text) {
        const FrameHeader header{static_cast<std::uint32_t>(text.size()),
                                 0,
                                 poe::kMplContext,
                                 FrameKind::kEager,
                                 FlowClass::kUser,
                                 0};
        const BufferView view(const_cast<char*>(text.data()), text.size());
        return devices[static_cast<std::size_t>(from)]->pipe_to(to).start_frame(header, view, 0,
                                                                                128) == text.size();
    }
    bool poll(TaskId task) {
        const auto at = static_cast<std::size_t>(task);
        return devices[at]->poll(inboxes[at]);
    }
    // As at the end of a job.
    void finish() {
        const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
        for (bool finished = false; !finished;) {
            REQUIRE(std::chrono::steady_clock::now() < deadline);
            finished = true;
            for (std::size_t task = 0; task < devices.size(); ++task) {
                devices[task]->poll(inboxes[task]);
                finished = devices[task]->finish_sending() && finished;
            }
        }
    }
    // A stranger's connection to a task.
    UniqueFd stranger(TaskId to) const {
        const auto address = poe::loopback_address();
        UniqueFd fd(::socket(static_cast<int>(address.family), SOCK_STREAM, 0));
        const poe::SocketAddress at(address,
                                    static_cast<std::uint16_t>(segment->port_of(to).load()));
        REQUIRE(::connect(fd.get(), at.get(), at.length) == 0);
        return fd;
    }

    std::string directory;
    std::unique_ptr<poe::NodeSegment> segment;
    std::vector<std::unique_ptr<TcpDevice>> devices;
    std::vector<Inbox> inboxes;
};

// Everybody sends `messages` to everybody, in an order drawn from `seed`.
void exchange(unsigned tasks, int messages, unsigned seed, bool polls_are_rare) {
    const std::size_t sockets_before = open_sockets();
    Job job(tasks);
    std::mt19937 random(seed);
    const auto n = static_cast<TaskId>(tasks);
    std::map<std::pair<TaskId, TaskId>, int> sent;
    int left = static_cast<int>(tasks * (tasks - 1)) * messages;
    std::size_t received = 0;
    const std::size_t wanted = static_cast<std::size_t>(left);
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (received < wanted) {
        REQUIRE(std::chrono::steady_clock::now() < deadline);
        const auto task = static_cast<TaskId>(random() % tasks);
        if (left > 0 && random() % (polls_are_rare ? 2 : 8) != 0) {
            const auto to = static_cast<TaskId>((task + 1 + random() % (tasks - 1)) % tasks);
            int& number = sent[{task, to}];
            if (number < messages && job.send(task, to, std::to_string(number))) {
                ++number;
                --left;
            }
        } else {
            job.poll(task);
        }
        if (left > 0 && random() % 16 != 0) continue;
        received = 0;
        for (const Inbox& inbox : job.inboxes)
            for (const auto& [from, texts] : inbox.from) received += texts.size();
    }
    for (TaskId to = 0; to < n; ++to)
        for (auto& [from, texts] : job.inboxes[static_cast<std::size_t>(to)].from) {
            INFO("seed " << seed << ", " << from << " to " << to);
            REQUIRE(texts.size() == static_cast<std::size_t>(messages));
            for (int i = 0; i < messages; ++i)
                REQUIRE(texts[static_cast<std::size_t>(i)] == std::to_string(i));
        }
    // One connection per pair is left, and the listening sockets.
    const std::size_t expected = sockets_before + tasks + std::size_t{tasks} * (tasks - 1);
    while (open_sockets() != expected) {
        REQUIRE(std::chrono::steady_clock::now() < deadline);
        for (TaskId task = 0; task < n; ++task) job.poll(task);
    }
    job.finish();
}

}  // namespace

TEST_CASE("whoever calls first, each pair agrees on one connection", "[tcp_device]") {
    for (unsigned seed = 1; seed <= 400; ++seed) exchange(2, 5, seed, seed % 2 == 0);
    for (unsigned seed = 1; seed <= 60; ++seed) exchange(3 + seed % 3, 5, seed, seed % 2 == 0);
    for (unsigned seed = 1; seed <= 4; ++seed) exchange(16, 5, seed, seed % 2 == 0);
}

TEST_CASE("strangers are dropped and the tasks find each other", "[tcp_device]") {
    Job job(2);
    std::mt19937 random(11);
    std::vector<UniqueFd> strangers;
    for (int i = 0; i < 300; ++i) {
        strangers.push_back(job.stranger(i % 2));
        if (i % 3 == 0) continue;  // silent
        std::string garbage(random() % 400, ' ');
        for (char& c : garbage) c = static_cast<char>(random());
        if (i % 3 == 1 && garbage.size() > 8) std::memcpy(garbage.data(), "PMPL\3\0\0\0", 8);
        [[maybe_unused]] const ssize_t n =
            ::send(strangers.back().get(), garbage.data(), garbage.size(), MSG_NOSIGNAL);
    }
    REQUIRE(job.send(0, 1, "first"));
    REQUIRE(job.send(1, 0, "first"));
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (job.inboxes[0].from.empty() || job.inboxes[1].from.empty()) {
        REQUIRE(std::chrono::steady_clock::now() < deadline);
        job.poll(0);
        job.poll(1);
    }
    CHECK(job.inboxes[0].from[1] == std::vector<std::string>{"first"});
    CHECK(job.inboxes[1].from[0] == std::vector<std::string>{"first"});
    CHECK(job.devices[0]->pipe_to(1).fault() == nullptr);
    // The silent ones are dropped, too.
    char byte = 0;
    while (::recv(strangers[0].get(), &byte, 1, MSG_DONTWAIT) != 0) {
        REQUIRE(std::chrono::steady_clock::now() < deadline);
        job.poll(0);
        job.poll(1);
    }
}

TEST_CASE("a port that is not known yet is waited for", "[tcp_device]") {
    Job job(2);
    const std::uint32_t port = job.segment->port_of(1).exchange(0);
    REQUIRE(job.send(0, 1, "early"));
    for (int i = 0; i < 1000; ++i) {
        job.poll(0);
        job.poll(1);
    }
    CHECK(job.inboxes[1].from.empty());
    job.segment->port_of(1).store(port);
    while (job.inboxes[1].from.empty()) {
        job.devices[0]->sleep(std::chrono::milliseconds(1));
        job.poll(0);
        job.poll(1);
    }
    job.finish();
}

TEST_CASE("what a sleep has found is not lost if the task sleeps again before it polls",
          "[tcp_device]") {
    Job job(2);
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    bool sent = false;
    while (job.inboxes[1].from[0].empty()) {
        REQUIRE(std::chrono::steady_clock::now() < deadline);
        if (!sent) sent = job.send(0, 1, "hello");
        for (const TaskId task : {0, 1}) {
            for (int i = 0; i < 3; ++i)
                job.devices[static_cast<std::size_t>(task)]->sleep(std::chrono::milliseconds(1));
            job.poll(task);
        }
    }
    job.finish();
}

TEST_CASE("the end waits until the last word has arrived", "[tcp_device]") {
    Job job(2);
    REQUIRE(job.send(0, 1, "last"));
    for (int i = 0; i < 100; ++i) {
        job.poll(0);
        REQUIRE_FALSE(job.devices[0]->finish_sending());  // 1 has not even answered the call
    }
    while (!job.devices[0]->finish_sending()) {
        job.poll(0);
        job.poll(1);
    }
    job.devices[0].reset();
    while (job.inboxes[1].from.empty()) job.poll(1);
    CHECK(job.inboxes[1].from[0] == std::vector<std::string>{"last"});
}

TEST_CASE("a task that has ended is a fault of its own pipe only", "[tcp_device]") {
    Job job(3);
    job.devices[2].reset();
    REQUIRE(job.send(0, 2, "too late"));
    REQUIRE(job.send(0, 1, "in time"));
    while (job.inboxes[1].from.empty() || job.devices[0]->pipe_to(2).fault() == nullptr) {
        job.devices[0]->sleep(std::chrono::milliseconds(1));
        job.poll(0);
        job.poll(1);
    }
    const std::string fault = job.devices[0]->pipe_to(2).fault();
    CHECK(fault.find("the connection to task 2 on here was lost") == 0);
    CHECK(job.devices[0]->pipe_to(1).fault() == nullptr);
}

TEST_CASE("a task whose listening socket was closed says so", "[tcp_device]") {
    Job job(2);
    job.segment->slot(0).listener = 0;
    CHECK_THROWS_AS(inherited_listener(*job.segment, 0), poe::Error);
}

TEST_CASE("addresses are numeric", "[tcp_device]") {
    using poe::NodeAddress;
    for (const char* text : {"127.0.0.1", "::1", "fe80::1%2", "2001:db8::5"}) {
        const auto address = NodeAddress::parse(text);
        REQUIRE(address.has_value());
        CHECK(address->text() == text);
    }
    for (const char* text : {"", "localhost", "1.2.3", "::1%eth0", "::1%", "1.2.3.4.5", "[::1]"})
        CHECK_FALSE(NodeAddress::parse(text).has_value());
}
