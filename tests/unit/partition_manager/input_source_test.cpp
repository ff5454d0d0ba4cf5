// poe's standard input as a file, a pipe, a socket, a terminal: who gets what, and what is left.
#include "partition_manager/stdio/input_source.hpp"

#include <termios.h>

#include <catch2/catch.hpp>

#include "tests/unit/partition_manager/support.hpp"

using namespace poe::pm;
using namespace poe::pm::test;

namespace {

struct Bench {
    asio::io_context loop;
    std::string data;
    int ends = 0;
    InputSource source;

    explicit Bench(int fd)
        : source(loop, fd, {[this](std::string_view more) { data += more; }, [this] { ++ends; }}) {}

    bool until(const std::function<bool()>& done) { return run_until(loop, done); }
    void progress(std::uint64_t delivered, std::uint64_t consumed, bool wanted = true) {
        source.on_progress({delivered, consumed, wanted});
        run_ready(loop);
    }
};

std::string numbers(std::size_t size) {
    std::string text;
    for (int i = 0; text.size() < size; ++i) text += std::to_string(i) + "\n";
    text.resize(size);
    return text;
}

off_t offset(const poe::UniqueFd& fd) {
    return ::lseek(fd.get(), 0, SEEK_CUR);
}

// A pipe, and a pair of sockets.
std::vector<std::function<FdPair()>> both_kinds() {
    return {make_pipe, make_socket_pair};
}

}  // namespace

TEST_CASE("input that is empty", "[input_source]") {
    const TempDirectory folder;
    const poe::UniqueFd null(::open("/dev/null", O_RDONLY | O_CLOEXEC));
    const poe::UniqueFd null_both(::open("/dev/null", O_RDWR | O_CLOEXEC));
    const poe::UniqueFd zero(::open("/dev/zero", O_RDONLY | O_CLOEXEC));
    const poe::UniqueFd file(::open(folder.write("f", "").c_str(), O_RDONLY | O_CLOEXEC));
    const poe::UniqueFd write_only(::open((folder / "f").c_str(), O_WRONLY | O_CLOEXEC));
    const FdPair pipe = make_pipe();
    CHECK(InputSource::is_empty(null.get()));
    CHECK(InputSource::is_empty(null_both.get()));
    CHECK(InputSource::is_empty(-1));
    CHECK(InputSource::is_empty(999));
    CHECK(InputSource::is_empty(write_only.get()));
    CHECK(InputSource::is_empty(pipe.write.get()));
    CHECK_FALSE(InputSource::is_empty(zero.get()));
    CHECK_FALSE(InputSource::is_empty(file.get()));
    CHECK_FALSE(InputSource::is_empty(pipe.read.get()));
}

TEST_CASE("a file: what was not consumed is given back", "[input_source]") {
    const TempDirectory folder;
    const std::string all = numbers(100000);
    for (const std::size_t start : {std::size_t{0}, std::size_t{777}, all.size()}) {
        for (const std::size_t consumed : {std::size_t{0}, std::size_t{5}, std::size_t{90000}}) {
            const std::size_t left = all.size() - start;
            if (consumed > left) continue;
            INFO("start " << start << ", consumed " << consumed);
            const poe::UniqueFd file(::open(folder.write("f", all).c_str(), O_RDONLY | O_CLOEXEC));
            ::lseek(file.get(), static_cast<off_t>(start), SEEK_SET);
            Bench bench(file.get());
            bench.source.start();
            REQUIRE(bench.until([&] { return bench.ends == 1; }));
            CHECK((bench.data == all.substr(start)));
            CHECK(offset(file) == static_cast<off_t>(start));  // nobody has read
            bench.progress(left, consumed);
            bench.progress(left, consumed, false);
            bench.source.finish();
            CHECK(offset(file) == static_cast<off_t>(start + consumed));
            CHECK(bench.ends == 1);
        }
    }
}

TEST_CASE("a large file is read as far as the window goes", "[input_source]") {
    const TempDirectory folder;
    const std::string all = numbers(4 << 20);
    const poe::UniqueFd file(::open(folder.write("f", all).c_str(), O_RDONLY | O_CLOEXEC));
    Bench bench(file.get());
    bench.source.start();
    run_ready(bench.loop);
    CHECK(bench.data.size() >= InputSource::kWindow);
    CHECK(bench.data.size() <= InputSource::kWindow + 65536);
    CHECK(bench.ends == 0);
    while (bench.ends == 0 && bench.data.size() <= all.size()) {
        const std::size_t before = bench.data.size();
        bench.progress(bench.data.size(), bench.data.size() / 2);
        REQUIRE((bench.data.size() > before || bench.ends > 0));
    }
    CHECK((bench.data == all));
    bench.progress(all.size(), all.size() - 1);
    bench.source.finish();
    CHECK(offset(file) == static_cast<off_t>(all.size() - 1));
}

TEST_CASE("nothing more is read when no task wants it", "[input_source]") {
    const TempDirectory folder;
    const poe::UniqueFd file(
        ::open(folder.write("f", numbers(4 << 20)).c_str(), O_RDONLY | O_CLOEXEC));
    Bench bench(file.get());
    bench.source.start();
    const std::size_t before = bench.data.size();
    bench.progress(before, 3, false);
    CHECK(bench.data.size() == before);
    bench.source.finish();
    CHECK(offset(file) == 3);
    bench.progress(before, before);
    CHECK(bench.data.size() == before);
}

TEST_CASE("more is said to be consumed than was sent", "[input_source]") {
    const TempDirectory folder;
    const poe::UniqueFd file(::open(folder.write("f", "12345").c_str(), O_RDONLY | O_CLOEXEC));
    Bench bench(file.get());
    bench.source.start();
    bench.progress(UINT64_MAX, UINT64_MAX);
    bench.source.finish();
    CHECK(offset(file) == 5);
}

TEST_CASE("pipes and sockets: nothing is taken before a task reads", "[input_source]") {
    for (const auto& make : both_kinds()) {
        FdPair pair = make();
        Bench bench(pair.read.get());
        bench.source.start();
        REQUIRE(write_all(pair.write.get(), "one\ntwo\n"));
        REQUIRE(bench.until([&] { return bench.data == "one\ntwo\n"; }));
        bench.progress(8, 0);
        REQUIRE(write_all(pair.write.get(), "three\n"));
        bench.progress(8, 0);
        CHECK(bench.data == "one\ntwo\n");
        bench.progress(8, 0, false);
        bench.source.finish();
        CHECK(read_now(pair.read.get()) == "one\ntwo\nthree\n");
    }
}

TEST_CASE("pipes and sockets: all is carried once a task reads", "[input_source]") {
    for (const auto& make : both_kinds()) {
        FdPair pair = make();
        Bench bench(pair.read.get());
        bench.source.start();
        REQUIRE(write_all(pair.write.get(), "one\n"));
        REQUIRE(bench.until([&] { return bench.data == "one\n"; }));
        REQUIRE(write_all(pair.write.get(), "two\n"));
        bench.progress(4, 1);
        REQUIRE(bench.until([&] { return bench.data == "one\ntwo\n"; }));
        CHECK(bench.ends == 0);
        REQUIRE(write_all(pair.write.get(), "three"));
        pair.write.reset();
        REQUIRE(bench.until([&] { return bench.ends == 1; }));
        CHECK(bench.data == "one\ntwo\nthree");
        bench.source.finish();
        run_ready(bench.loop);
        CHECK(bench.ends == 1);
    }
}

TEST_CASE("pipes and sockets: an end without data", "[input_source]") {
    for (const auto& make : both_kinds()) {
        FdPair pair = make();
        Bench bench(pair.read.get());
        bench.source.start();
        run_ready(bench.loop);
        CHECK(bench.ends == 0);
        pair.write.reset();
        REQUIRE(bench.until([&] { return bench.ends == 1; }));
        CHECK(bench.data.empty());
        bench.source.finish();
    }
}

TEST_CASE("pipes and sockets: the end behind what was looked at", "[input_source]") {
    for (const auto& make : both_kinds()) {
        FdPair pair = make();
        REQUIRE(write_all(pair.write.get(), "all"));
        pair.write.reset();
        Bench bench(pair.read.get());
        bench.source.start();
        REQUIRE(bench.until([&] { return bench.data == "all"; }));
        run_ready(bench.loop);
        CHECK(bench.ends == 0);  // a task may not have read yet
        bench.progress(3, 3);
        REQUIRE(bench.until([&] { return bench.ends == 1; }));
        CHECK(bench.data == "all");
    }
}

TEST_CASE("pipes and sockets: reading is ahead of the tasks by the window", "[input_source]") {
    for (const auto& make : both_kinds()) {
        FdPair pair = make();
        set_flag(pair.write.get(), O_NONBLOCK);
        const std::string all = numbers(5 << 20);
        std::string_view rest = all;
        Bench bench(pair.read.get());
        bench.source.start();
        const auto pump = [&] {
            const ssize_t count = ::write(pair.write.get(), rest.data(), rest.size());
            if (count > 0) rest.remove_prefix(static_cast<std::size_t>(count));
        };
        REQUIRE(bench.until([&] {
            pump();
            return !bench.data.empty();
        }));
        const std::uint64_t delivered = bench.data.size();
        bench.progress(delivered, 1);
        // Full on both sides: nothing moves any more.
        REQUIRE(bench.until([&] {
            const std::size_t before = bench.data.size() + rest.size();
            pump();
            run_ready(bench.loop);
            return before == bench.data.size() + rest.size() &&
                   bench.data.size() >= delivered + InputSource::kWindow;
        }));
        CHECK(bench.data.size() <= delivered + InputSource::kWindow + 65536);
        REQUIRE(bench.until([&] {
            pump();
            if (rest.empty()) pair.write.reset();
            bench.progress(bench.data.size(), bench.data.size());
            return bench.ends == 1;
        }));
        CHECK((bench.data == all));
    }
}

TEST_CASE("the descriptor's flags stay as they are", "[input_source]") {
    for (const auto& make : both_kinds()) {
        const FdPair pair = make();
        const int before = ::fcntl(pair.read.get(), F_GETFL);
        {
            Bench bench(pair.read.get());
            bench.source.start();
            REQUIRE(write_all(pair.write.get(), "x"));
            REQUIRE(bench.until([&] { return bench.data == "x"; }));
            bench.source.finish();
        }
        CHECK(::fcntl(pair.read.get(), F_GETFL) == before);
    }
}

TEST_CASE("what was typed at a terminal", "[input_source]") {
    const poe::UniqueFd keyboard(::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC));
    REQUIRE(keyboard);
    REQUIRE(::grantpt(keyboard.get()) == 0);
    REQUIRE(::unlockpt(keyboard.get()) == 0);
    const poe::UniqueFd terminal(::open(::ptsname(keyboard.get()), O_RDWR | O_NOCTTY | O_CLOEXEC));
    REQUIRE(terminal);
    Bench bench(terminal.get());
    bench.source.start();
    run_ready(bench.loop);
    CHECK(bench.data.empty());
    REQUIRE(write_all(keyboard.get(), "one\n"));
    REQUIRE(bench.until([&] { return bench.data == "one\n"; }));
    // The next line stays for others until a task has read the first.
    REQUIRE(write_all(keyboard.get(), "two\n"));
    bench.progress(4, 0);
    bench.progress(4, 0);
    CHECK(bench.data == "one\n");
    bench.progress(4, 4);
    REQUIRE(bench.until([&] { return bench.data == "one\ntwo\n"; }));
    bench.progress(8, 8);
    REQUIRE(write_all(keyboard.get(), "\x04"));
    REQUIRE(bench.until([&] { return bench.ends == 1; }));
    bench.source.finish();
    CHECK(bench.data == "one\ntwo\n");
}

TEST_CASE("input that cannot be carried ends at once", "[input_source]") {
    const poe::UniqueFd folder(::open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    Bench directory(folder.get());
    directory.source.start();
    REQUIRE(directory.until([&] { return directory.ends == 1; }));
    Bench closed(-1);
    closed.source.start();
    REQUIRE(closed.until([&] { return closed.ends == 1; }));
    closed.source.on_continue();
    closed.source.finish();
}
