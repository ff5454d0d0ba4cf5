// The writing thread: readers that are slow, stopped, gone.
#include "partition_manager/stdio/output_writer.hpp"

#include <atomic>

#include <catch2/catch.hpp>

#include "tests/unit/partition_manager/support.hpp"

using namespace poe::pm;
using namespace poe::pm::test;

namespace {

void append(OutputWriter& writer, std::string_view text) {
    writer.append([&](std::string& pending) { pending += text; });
}

constexpr auto kNever = [] { return false; };

}  // namespace

TEST_CASE("what is appended is written in order", "[output_writer]") {
    FdPair pipe = make_pipe();
    std::string received;
    std::thread reader([&] { received = read_all(pipe.read.get()); });
    std::string expected;
    std::atomic<int> progress = 0;
    {
        OutputWriter writer(pipe.write.get(), [&] { ++progress; });
        for (int i = 0; i < 20000; ++i) {
            const std::string line = "line " + std::to_string(i) + "\n";
            append(writer, line);
            append(writer, "");
            expected += line;
        }
        CHECK(writer.wait_until_below(0, kNever));
        CHECK(writer.backlog() == 0);
        CHECK(writer.error() == 0);
        append(writer, std::string(3 << 20, 'x'));
        expected += std::string(3 << 20, 'x');
    }  // waits for the rest
    pipe.write.reset();
    reader.join();
    CHECK((received == expected));
    CHECK(progress > 0);
}

TEST_CASE("a writer that was never used", "[output_writer]") {
    OutputWriter writer(-1, [] {});
    append(writer, "");
    CHECK(writer.backlog() == 0);
    CHECK(writer.error() == 0);
    CHECK(writer.wait_until_below(0, kNever));
}

TEST_CASE("nobody reads", "[output_writer]") {
    FdPair pipe = make_pipe();
    const std::string text(1 << 20, 'x');
    OutputWriter writer(pipe.write.get(), [] {});
    for (int i = 0; i < 8; ++i) append(writer, text);
    CHECK(writer.backlog() >= 7 * text.size());
    int asked = 0;
    CHECK_FALSE(writer.wait_until_below(0, [&] { return ++asked == 2; }));
    CHECK(asked == 2);
    CHECK(writer.wait_until_below(8 * text.size(), kNever));
    std::thread reader([&] { read_all(pipe.read.get()); });
    CHECK(writer.wait_until_below(0, kNever));
    CHECK(writer.backlog() == 0);
    pipe.write.reset();
    reader.join();
}

TEST_CASE("errors of the output", "[output_writer]") {
    const poe::UniqueFd full(::open("/dev/full", O_WRONLY | O_CLOEXEC));
    FdPair closed = make_pipe();
    closed.read.reset();
    const poe::UniqueFd read_only(::open("/dev/null", O_RDONLY | O_CLOEXEC));
    struct Case {
        int fd;
        int error;
    };
    for (const Case& one : {Case{full.get(), ENOSPC}, Case{closed.write.get(), EPIPE},
                            Case{read_only.get(), EBADF}}) {
        INFO("error " << one.error);
        std::atomic<int> progress = 0;
        OutputWriter writer(one.fd, [&] { ++progress; });
        append(writer, std::string(1 << 20, 'x'));
        CHECK(writer.wait_until_below(0, kNever));
        REQUIRE(wait_until([&] { return progress > 0; }));
        CHECK(writer.error() == one.error);
        CHECK(writer.backlog() == 0);
        append(writer, "thrown away");
        CHECK(writer.backlog() == 0);
        CHECK(writer.wait_until_below(0, kNever));
        CHECK(progress == 1);
    }
}

TEST_CASE("the reader goes while much is waiting", "[output_writer]") {
    FdPair pipe = make_pipe();
    std::atomic<bool> told = false;
    OutputWriter writer(pipe.write.get(), [&] { told = true; });
    for (int i = 0; i < 4; ++i) append(writer, std::string(1 << 20, 'x'));
    CHECK(writer.backlog() > 0);
    pipe.read.reset();
    CHECK(writer.wait_until_below(0, kNever));
    CHECK(writer.error() == EPIPE);
    CHECK(writer.backlog() == 0);
    CHECK(wait_until([&] { return told.load(); }));
}

TEST_CASE("a descriptor that somebody made non-blocking", "[output_writer]") {
    FdPair pipe = make_pipe();
    set_flag(pipe.write.get(), O_NONBLOCK);
    OutputWriter writer(pipe.write.get(), [] {});
    const std::string text(1 << 20, 'x');
    append(writer, text);
    std::string received;
    std::thread reader([&] { received = read_all(pipe.read.get()); });
    CHECK(writer.wait_until_below(0, kNever));
    CHECK(writer.error() == 0);
    pipe.write.reset();
    reader.join();
    CHECK((received == text));
}

TEST_CASE("a stuck writer can be given up", "[output_writer]") {
    const int ended = in_child([] {
        const FdPair& pipe = *new FdPair(make_pipe());  // its writer stays in its write
        auto* writer = new OutputWriter(pipe.write.get(), [] {});
        append(*writer, std::string(1 << 20, 'x'));
        if (writer->wait_until_below(0, [] { return true; })) return 1;
        writer->abandon();
        return 0;
    });
    CHECK(ended == 0);
}
