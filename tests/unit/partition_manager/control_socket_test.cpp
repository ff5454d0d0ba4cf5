// Requests of tasks: both ends of the control socket, and strangers.
#include "partition_manager/daemon/control_socket.hpp"

#include <vector>

#include <catch2/catch.hpp>

#include "base/error.hpp"
#include "comm/bootstrap/control_line.hpp"
#include "tests/unit/partition_manager/support.hpp"

using namespace poe;
using namespace poe::pm;
using namespace poe::pm::test;
using namespace std::chrono_literals;

namespace {

struct Bench {
    TempDirectory directory;
    asio::io_context loop;
    std::vector<FlushRequest> requests;
    std::vector<DebuggerRequest> processes;
    ControlSocket socket{loop,
                         directory / "control",
                         {[this](const FlushRequest& request) {
                              requests.push_back(request);
                              return request.task < 100;
                          },
                          [this](const DebuggerRequest& request) {
                              processes.push_back(request);
                              return request.task < 100;
                          }}};
    comm::ControlLine line() const { return comm::ControlLine(directory / "control"); }
    bool until(std::size_t count) {
        return run_until(loop, [&] { return requests.size() == count; });
    }
};

}  // namespace

TEST_CASE("a task asks and is answered", "[control_socket]") {
    Bench bench;
    comm::ControlLine first = bench.line();
    comm::ControlLine second = bench.line();
    first.send(FlushRequest{.task = 7, .has_mode = 1, .mode = 3});
    second.send(FlushRequest{.task = 8});
    REQUIRE(bench.until(2));
    CHECK(bench.requests[0].task == 7);
    CHECK(bench.requests[0].mode == 3);
    CHECK(bench.requests[1].has_mode == 0);
    CHECK_FALSE(first.wait(0ms));
    bench.socket.answer_all({.agreed = 1});
    for (comm::ControlLine* line : {&first, &second}) {
        const auto answer = line->wait(20s);
        REQUIRE(answer);
        CHECK(answer->agreed == 1);
    }
    // Each request is answered once.
    bench.socket.answer_all({.agreed = 1});
    CHECK_FALSE(first.wait(0ms));
}

TEST_CASE("a process waits for the debugger", "[control_socket]") {
    Bench bench;
    comm::ControlLine first = bench.line();
    comm::ControlLine second = bench.line();
    comm::ControlLine unwanted = bench.line();
    first.send(DebuggerRequest{.task = 1, .pid = 11});
    first.send(DebuggerRequest{.task = 1, .pid = 11});  // again, because no answer has come
    second.send(DebuggerRequest{.task = 2, .pid = 12});
    unwanted.send(DebuggerRequest{.task = 200, .pid = 13});
    REQUIRE(run_until(bench.loop, [&] { return bench.processes.size() == 4; }));
    CHECK(unwanted.wait_for_debugger(20s));
    CHECK_FALSE(first.wait_for_debugger(0ms));
    bench.socket.answer_process(11);
    CHECK(first.wait_for_debugger(20s));
    CHECK_FALSE(first.wait_for_debugger(0ms));
    CHECK_FALSE(second.wait_for_debugger(0ms));
    bench.socket.answer_process(0);
    CHECK(second.wait_for_debugger(20s));
}

TEST_CASE("many tasks ask at once", "[control_socket]") {
    Bench bench;
    std::vector<comm::ControlLine> lines;
    for (TaskId task = 0; task < 50; ++task) {
        lines.push_back(bench.line());
        lines.back().send(FlushRequest{.task = task});
        REQUIRE(bench.until(lines.size()));
    }
    lines.erase(lines.begin());  // it is gone before the answer
    bench.socket.answer_all({.agreed = 0});
    for (comm::ControlLine& line : lines) CHECK(line.wait(20s)->agreed == 0);
}

TEST_CASE("what is no request is thrown away", "[control_socket]") {
    Bench bench;
    struct stat status = {};
    REQUIRE(::stat((bench.directory / "control").c_str(), &status) == 0);
    CHECK((status.st_mode & 0777) == 0600);
    const UniqueFd stranger(::socket(AF_UNIX, SOCK_DGRAM, 0));
    sockaddr_un to = {};
    to.sun_family = AF_UNIX;
    const std::string path = bench.directory / "control";
    path.copy(to.sun_path, path.size());
    const auto send = [&](const void* bytes, std::size_t size) {
        REQUIRE(::sendto(stranger.get(), bytes, size, 0, reinterpret_cast<sockaddr*>(&to),
                         sizeof to) == static_cast<ssize_t>(size));
        bench.loop.poll();
    };
    const FlushRequest good{.task = 1};
    FlushRequest bad = good;
    bad.magic ^= 1;
    const std::string large(1000, 'x');
    std::string longer(reinterpret_cast<const char*>(&good), sizeof good);
    longer += "x";
    send(large.data(), large.size());
    send(&good, sizeof good - 1);
    send(longer.data(), longer.size());
    send(&bad, sizeof bad);
    send("", 0);
    CHECK(bench.requests.empty());
    // Nobody to answer: the sender has no name. And one whom the handler does not know.
    send(&good, sizeof good);
    comm::ControlLine line = bench.line();
    line.send(FlushRequest{.task = 100});
    REQUIRE(bench.until(2));
    bench.socket.answer_all({.agreed = 1});
    CHECK_FALSE(line.wait(0ms));
}

TEST_CASE("there is no daemon", "[control_socket]") {
    const TempDirectory directory;
    CHECK_THROWS_AS(comm::ControlLine(directory / "missing"), Error);
    CHECK_THROWS_AS(comm::ControlLine(directory / std::string(200, 'x')), Error);
    asio::io_context loop;
    CHECK_THROWS_AS(ControlSocket(loop, directory / "no/such", {}), Error);
    CHECK_THROWS_AS(ControlSocket(loop, directory / std::string(200, 'x'), {}), Error);
}
