// The tuning file: what is written is read again, mistakes are named with their line, and
// algorithms are chosen by what it says.
#include "collectives/selection/tuning.hpp"

#include <cmath>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <map>
#include <sys/resource.h>

#include <catch2/catch.hpp>

#include "base/segment/tuning_path.hpp"
#include "base/segment/tuning_text.hpp"
#include "collectives/mptune/tuning_store.hpp"
#include "collectives/selection/catalogue.hpp"
#include "collectives/selection/chooser.hpp"
#include "collectives/selection/method.hpp"

using namespace poe;
using namespace poe::collectives;

namespace {

std::string error_of(const std::string& text) {
    const Result<Tuning> read = read_tuning(text, "file", 2);
    return read ? "" : read.error().str();
}

Shape bcast(std::uint32_t n, Bytes bytes) {
    Shape shape;
    shape.operation = Operation::kBcast;
    shape.n = n;
    shape.bytes = bytes;
    return shape;
}

}  // namespace

TEST_CASE("a tuning is written and read again") {
    Tuning tuning = built_in_tuning(2);
    tuning.node = {0.75, 0.0001, 0.25, 5e-05, {{8, 1.5}, {1024, 2.25}}};
    tuning.network = {55.5, 0.0101, 0, 0, {{8, 3}}};
    tuning.network.ports = 2;
    tuning.network.multicast = 90;
    tuning.network.multicast_byte = 0.0875;
    const std::string text = tuning_text(tuning, "made\nby a test");
    CHECK(text.starts_with("# made\n# by a test\nlevel node\nstart_up 0.75\n"));
    const Result<Tuning> read = read_tuning(text, "file", 2);
    REQUIRE(read);
    CHECK(read.value() == tuning);
}

TEST_CASE("what a file does not say is built in") {
    const Result<Tuning> read =
        read_tuning("# nothing\n\n  level network  # the other\n\tstart_up 7\r\n", "file", 2);
    REQUIRE(read);
    Tuning expected = built_in_tuning(2);
    expected.network.start_up = 7;
    CHECK(read.value() == expected);
    REQUIRE(read_tuning("", "file", 2));
    CHECK(read_tuning("", "file", 2).value() == built_in_tuning(2));
}

TEST_CASE("mistakes are named with their line") {
    CHECK(error_of("level node\nstart_up x\n") ==
          "file:2: \"start_up x\" is not allowed; expected one number, 0 or more, after start_up");
    CHECK(error_of("start_up 1") ==
          "file:1: \"start_up\" stands before any level; begin with \"level node\" or \"level "
          "network\"");
    CHECK(error_of("level moon").starts_with("file:1: \"level moon\" is not allowed"));
    CHECK(error_of("level node\n\n# x\nspeed 3").starts_with("file:4: \"speed\" is not known"));
    for (const char* line :
         {"start_up", "start_up -1", "start_up 1 2", "load nan", "load inf", "lambda 8",
          "lambda 8 0.5", "lambda -8 2", "lambda 8 2 3", "lambda x 2"})
        CHECK(error_of(std::string("level node\n") + line).starts_with("file:2: "));
    CHECK(error_of("level node\nlambda 8 " + std::string(1000, '9')).size() < 300);
}

TEST_CASE("a number that its algorithm cannot have is a mistake, and the error says which it can") {
    const auto error = [](const std::string& variable, const char* value) {
        const auto read =
            read_overrides([&](const char* name) { return name == variable ? value : nullptr; });
        return read ? "" : read.error().str();
    };
    CHECK(error("MP_COLL_INDEX", "radix:4294967296") ==
          "MP_COLL_INDEX: \"radix:4294967296\" is not allowed; expected a whole number from 2 to "
          "1048576 after the colon: radix");
    CHECK(error("MP_COLL_BCAST", "lambda:0.5") ==
          "MP_COLL_BCAST: \"lambda:0.5\" is not allowed; expected a number from 1 to 1000 after "
          "the colon: lambda");
    for (const char* wrong : {"4294967297", "1e20", "inf", "nan", "-nan", "2.5", "1", "0", "-1",
                              "1048577", "", "2x", "1e400"})
        CHECK(error("MP_COLL_INDEX", (std::string("radix:") + wrong).c_str()) != "");
    for (const char* wrong : {"chain:1e30", "chain:1e9", "chain:1.5", "chain:0", "edst:nan",
                              "alpha:0.4", "alpha:1", "alpha:nan", "greedy:1001", "binomial:1"})
        CHECK(error("MP_COLL_BCAST", wrong) != "");
    for (const char* wrong :
         {"pairwise:0.4", "pairwise:inf", "a4:3", "a4:0.5", "a2:3", "multiport:0"})
        CHECK(error("MP_COLL_INDEX", wrong) != "");
    for (const char* wrong : {"hybrid:1.5", "hybrid:32", "census:nan"})
        CHECK(error("MP_COLL_COMBINE", wrong) != "");
    for (const char* right : {"radix:2", "radix:1048576", "radix:1e3", "pairwise:0", "a4:2"})
        CHECK(error("MP_COLL_INDEX", right) == "");
    CHECK(error("MP_COLL_BCAST", "lambda:1.8") == "");
    CHECK(error("MP_COLL_BCAST", "Lambda:1.8") == "");
    CHECK(error("MP_COLL_BCAST", "SHARED-MEMORY") == "");
    // The same in a tuning file.
    CHECK(error_of("level node\nbest index 16 4 radix:4294967296\n")
              .starts_with("file:2: \"radix:4294967296\" is not allowed; expected a whole number"));
    CHECK(error_of("level node\nbest index 8 2 radix:1\n") != "");
}

TEST_CASE("lambda between lengths that were measured") {
    CostModel model;
    CHECK(model.lambda(100) == 1);
    model.lambdas = {{8, 3}, {1024, 2}, {65536, 1}};
    CHECK(model.lambda(0) == 3);
    CHECK(model.lambda(8) == 3);
    CHECK(model.lambda(1024) == 2);
    CHECK(model.lambda(1 << 20) == 1);
    CHECK(model.lambda(100) > 2);
    CHECK(model.lambda(100) < 3);
    CHECK(model.lambda(200) < model.lambda(100));
}

TEST_CASE("what was measured to be best counts near where it was measured") {
    const char* text =
        "level network\nbest bcast 1024 8 chain:4\nbest bcast 65536 8 scatter-concat\n"
        "best reduce 1024 8 halving\nlevel node\nbest bcast 8 2 shared-memory\n"
        "best concat 65536 4 direct-memory\n";
    const Result<Tuning> read = read_tuning(text, "file", 2);
    REQUIRE(read);
    CHECK(read_tuning(tuning_text(read.value(), ""), "file", 2).value() == read.value());
    const auto pick = [&](Shape shape) {
        for (std::uint32_t rank = 0; rank < shape.n; ++rank) shape.nodes.push_back(rank);
        return choose(catalogue(), shape, read.value(), {}).text();
    };
    const std::string alone = choose(catalogue(), bcast(8, 1024), {}, {}).text();
    REQUIRE(alone != "chain:4");
    CHECK(pick(bcast(8, 1024)) == "chain:4");
    CHECK(pick(bcast(6, 300)) == "chain:4");
    CHECK(pick(bcast(12, 4000)) == "chain:4");
    CHECK(pick(bcast(8, 50000)) == "scatter-concat");
    for (const Shape& far : {bcast(8, 200), bcast(8, 6000), bcast(4, 1024), bcast(16, 1024)})
        CHECK(pick(far) != "chain:4");
    // Not for what it does not fit: a vector that must not be cut.
    Shape reduce = bcast(8, 1024);
    reduce.operation = Operation::kReduce;
    CHECK(pick(reduce) != "halving");
    reduce.element = 8;
    CHECK(pick(reduce) == "halving");
    // Ways without messages are for who makes calls; schedules are chosen by the model then.
    const MeasuredBest* best = read.value().node.best(bcast(2, 8));
    REQUIRE(best != nullptr);
    CHECK(best->method.transport == Transport::kShared);
    CHECK(choose(catalogue(), bcast(2, 8), read.value(), {}).algorithm != nullptr);
    CHECK(read.value().node.best(bcast(4, 8)) == nullptr);

    for (const char* line : {"best", "best bcst 8 2 chain:1", "best bcast x 2 chain:1",
                             "best bcast 8 1 chain:1", "best bcast 8 2", "best bcast 8 2 chian",
                             "best bcast 8 2 chain", "best bcast 8 2 chain:x"})
        CHECK(error_of(std::string("level node\n") + line).starts_with("file:2: "));
}

TEST_CASE("the model chooses: rounds when messages cost, segments when bytes do, lambda trees") {
    const auto pick = [](const CostModel& model, std::uint32_t n, Bytes bytes) {
        return choose(catalogue(), bcast(n, bytes), {model, model}, {}).text();
    };
    CHECK(pick({10, 0, 0, 0, {}}, 16, 1 << 20) == "binomial");
    CHECK(pick({0.001, 1, 0, 0, {}}, 13, 1 << 20).starts_with("circulant:"));
    // With latency to hide the tree is another one, made for that lambda.
    CHECK(pick({10, 0, 0, 0, {{8, 3}}}, 16, 8) == "lambda:3");
    CHECK(pick({10, 0, 0, 0, {{8, 1}}}, 16, 8) == "binomial");
    // Each message costs: not many short ones.
    CHECK(pick({0.001, 1, 1e7, 0, {}}, 13, 1 << 20) == "binomial");
    // Where each signal is work for cores that all share, a tree needs fewer.
    Shape sync;
    sync.n = 16;
    CHECK(choose(catalogue(), sync, {{40, 0, 14, 0, {}}, {}}, {}).text() == "tree");
    CHECK(choose(catalogue(), sync, {{40, 0, 0, 0, {}}, {}}, {}).text() == "dissemination");
    // A root whose messages keep it busy for a part of their time needs no help, but for one more
    // start of a message each.
    Shape scattered = bcast(8, 1000);
    scattered.operation = Operation::kScatter;
    CHECK(choose(catalogue(), scattered, {{0, 1, 0, 0, {{8, 3}}}, {}}, {}).text() == "direct");
    CHECK(choose(catalogue(), scattered, {{1e6, 1, 0, 0, {{8, 1}}}, {}}, {}).text() == "binomial");
}

TEST_CASE("a census is predicted by delayed sends or receives") {
    Tuning tuning = built_in_tuning(2);
    Shape shape = bcast(61, 8);
    shape.operation = Operation::kCombine;
    shape.element = 8;
    shape.commutative = true;
    shape.exact = true;
    const Choice census{find_algorithm(Operation::kCombine, "census"), 1.3};
    // Without work of shared cores: in units of one message, T'' with lambda 1 is 6 rounds that
    // each take 1.3 sends, which is the time of one message.
    tuning.node.message = tuning.node.load = 0;
    tuning.node.start_up = 10;
    tuning.node.transfer = 0;
    CHECK(std::abs(predicted(tuning, shape, census) - 60) < 1e-6);
    // T' with lambda 2: the first time at which 61 ranks are reached is 10; a message takes 1.6.
    const Choice later{census.algorithm, 1.6};
    CHECK(std::abs(predicted(tuning, shape, later) - 10 / 1.6 * 10) < 1e-6);
}

TEST_CASE("with several ports the model prefers algorithms that use them") {
    Tuning tuning = built_in_tuning(2);
    tuning.network = {100, 0.001, 0, 0, {}};
    Shape shape = bcast(64, 8);
    shape.operation = Operation::kConcat;
    for (std::uint32_t rank = 0; rank < 64; ++rank) shape.nodes.push_back(rank);
    CHECK(choose(catalogue(), shape, tuning, {}).text() == "circulant");
    tuning.network.ports = 3;
    CHECK(choose(catalogue(), shape, tuning, {}).text() == "multiport:3");
    CHECK(std::abs(predicted(tuning, shape, choose(catalogue(), shape, tuning, {})) -
                   (300 + 0.001 * 21 * 8)) < 1e-6);
    CHECK(error_of("level network\nports 0\n").find("whole number from 1 to 1024") !=
          std::string::npos);
    CHECK(error_of("level network\nports 1.5\n") != "");
}

TEST_CASE("a file is read whole, or there is a reason") {
    char name[] = "/tmp/tuning_test.XXXXXX";
    const std::filesystem::path directory = ::mkdtemp(name);
    const std::string file = directory / "file";
    const auto read = [&](const std::string& text) {
        std::ofstream(file) << text;
        return read_tuning_text(file);
    };
    CHECK(read("level node\n").text == "level node\n");
    CHECK(read("level node\n").failure.empty());
    CHECK(read("").failure.empty());
    const std::string longest(kLongestTuning, '#');
    CHECK(read(longest).text == longest);
    CHECK(read(longest + "#").failure == "it is longer than 65536 bytes");
    CHECK(read(std::string("\0level node", 11)).failure == "it has a zero byte, and is no text");
    CHECK(read_tuning_text(directory).failure == "Is a directory");
    CHECK_FALSE(read_tuning_text(directory).missing);
    CHECK(read_tuning_text(directory / "none").missing);
    CHECK(read_tuning_text(directory / "none").failure == "No such file or directory");
    std::filesystem::remove_all(directory);
}

TEST_CASE("the comments at the beginning of a file are its head") {
    CHECK(head_of("# a\n#b\n#\nlevel node\n# c\n") == "a\nb\n\n");
    CHECK(head_of("level node\n# c\n").empty());
    CHECK(head_of("").empty());
    CHECK(head_of("# a") == "a\n");
    CHECK(head_of(tuning_text(built_in_tuning(2), "x\ny")) == "x\ny\n");
}

TEST_CASE("a file is replaced whole, or stays as it was with nothing beside it") {
    namespace fs = std::filesystem;
    char name[] = "/tmp/tuning_test.XXXXXX";
    const fs::path directory = ::mkdtemp(name);
    const fs::path file = directory / "deeper" / "file";
    CHECK(replace_file(file, "old").empty());
    CHECK(read_tuning_text(file).text == "old");
    // No file may become longer than this.
    rlimit before = {};
    REQUIRE(::getrlimit(RLIMIT_FSIZE, &before) == 0);
    const rlimit little = {2, before.rlim_max};
    const auto told = ::signal(SIGXFSZ, SIG_IGN);
    REQUIRE(::setrlimit(RLIMIT_FSIZE, &little) == 0);
    const std::string fault = replace_file(file, "newer");
    REQUIRE(::setrlimit(RLIMIT_FSIZE, &before) == 0);
    ::signal(SIGXFSZ, told);
    CHECK(fault == "File too large");
    CHECK(read_tuning_text(file).text == "old");
    CHECK(std::distance(fs::directory_iterator(file.parent_path()), {}) == 1);
    CHECK(replace_file(directory, "new") == "it is no regular file");
    CHECK(replace_file(file, "newer").empty());
    CHECK(read_tuning_text(file).text == "newer");
    fs::remove_all(directory);
}

TEST_CASE("what poe has read of a file comes to the tasks, and so does that it could not") {
    const NamedTuning good = handed_tuning(tuning_to_hand({"a/b", {"level node\n\nx", {}, {}}}));
    CHECK(good.path == "a/b");
    CHECK(good.read.text == "level node\n\nx");
    CHECK(good.read.failure.empty());
    const NamedTuning bad = handed_tuning(tuning_to_hand({"a/b", {{}, "Is a directory", {}}}));
    CHECK(bad.path == "a/b");
    CHECK(bad.read.text.empty());
    CHECK(bad.read.failure == "Is a directory");
    for (const char* value : {"a", "a\n"}) {
        CHECK(handed_tuning(value).path == "a");
        CHECK(handed_tuning(value).read.text.empty());
        CHECK(handed_tuning(value).read.failure.empty());
    }
}

TEST_CASE("where the file is") {
    std::map<std::string, std::string> set;
    const auto variables = [&](const char* name) -> const char* {
        const auto found = set.find(name);
        return found != set.end() ? found->second.c_str() : nullptr;
    };
    CHECK(tuning_path(variables, "n1").empty());
    set["HOME"] = "/home/u";
    CHECK(tuning_path(variables, "n1") == "/home/u/.config/poe/tuning.n1");
    set["XDG_CONFIG_HOME"] = "/c";
    CHECK(tuning_path(variables, "n1") == "/c/poe/tuning.n1");
    set["MP_TUNEFILE"] = "mine";
    CHECK(tuning_path(variables, "n1") == "mine");
}
