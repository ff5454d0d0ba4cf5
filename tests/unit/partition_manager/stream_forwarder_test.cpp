// Output of other nodes on its way up: order, windows, and nobody starved.
#include "partition_manager/stdio/stream_forwarder.hpp"

#include <map>

#include <catch2/catch.hpp>

#include "tests/unit/partition_manager/support.hpp"

using namespace poe::pm;
using namespace poe::pm::test;
using poe::NodeIndex;

namespace {

struct Bench {
    asio::io_context loop;
    FdPair sockets = make_socket_pair();
    std::vector<std::string> arrived;
    Channel home{loop,
                 std::move(sockets.read),
                 {},
                 {[this](const Frame& f) { arrived.emplace_back(f.payload); },
                  [this](NodeIndex node, const Message& m) {
                      REQUIRE(std::get_if<StdoutMark>(&m) != nullptr);
                      arrived.push_back("mark of " + std::to_string(node));
                  },
                  [](const std::string&) {}}};
    Channel up{loop,
               std::move(sockets.write),
               {},
               {[](const Frame&) {}, [](NodeIndex, const Message&) {}, [](const std::string&) {}}};
    StreamWindow window{1600};
    std::map<NodeIndex, std::size_t> taken;
    StreamForwarder relay{up, window, [this](NodeIndex branch, FrameKind, std::size_t bytes) {
                              taken[branch] += bytes;
                          }};

    Bench() { home.start(); }
    void frame(NodeIndex branch, std::string_view payload) {
        relay.on_frame(branch, {FrameKind::kStdout, 0, 0, payload});
    }
    void credit(std::uint64_t bytes) {
        window.on_credit(bytes);
        relay.resume();
    }
    void expect(const std::vector<std::string>& all) {
        CHECK(run_until(loop, [&] { return arrived.size() >= all.size(); }));
        CHECK(arrived == all);
    }
};

}  // namespace

TEST_CASE("what fits the window goes up at once", "[stream_relay]") {
    Bench bench;
    bench.frame(1, "a");
    bench.frame(2, "b");
    bench.expect({"a", "b"});
    CHECK(bench.taken == std::map<NodeIndex, std::size_t>{{1, 1}, {2, 1}});
    CHECK(bench.relay.empty());
}

TEST_CASE("the rest waits in its order, with the marks behind it", "[stream_relay]") {
    Bench bench;
    const std::string large(1600, 'x');
    bench.frame(1, large);
    bench.frame(2, "b");
    bench.relay.on_message(2, 5, StdoutMark{7, std::nullopt});
    bench.frame(1, "c");
    bench.expect({large});
    CHECK_FALSE(bench.relay.empty());
    CHECK(bench.taken.size() == 1);
    bench.credit(100);  // what is kept for the node's own tasks
    CHECK_FALSE(bench.relay.empty());
    bench.credit(10);
    bench.expect({large, "b", "mark of 5", "c"});
    CHECK(bench.taken == std::map<NodeIndex, std::size_t>{{1, 1601}, {2, 1}});
}

TEST_CASE("more credit than the window counts for nothing", "[stream_relay]") {
    Bench bench;
    bench.credit(UINT64_MAX);
    bench.frame(1, std::string(1600, 'x'));
    CHECK_FALSE(bench.window.open());
}

TEST_CASE("nothing waits for somebody who is gone", "[stream_relay]") {
    Bench bench;
    bench.frame(1, std::string(1600, 'x'));
    bench.frame(1, "y");
    CHECK_FALSE(bench.relay.empty());
    bench.up.close();
    bench.relay.resume();
    CHECK(bench.relay.empty());
    CHECK(bench.taken[1] == 1601);
}
