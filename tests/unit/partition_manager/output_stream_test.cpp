// Output from real pipes over a real channel: whole lines, windows, ends.
#include "partition_manager/stdio/output_stream.hpp"

#include <atomic>
#include <map>
#include <random>
#include <thread>

#include <catch2/catch.hpp>

#include "partition_manager/stdio/line_formatter.hpp"
#include "tests/unit/partition_manager/support.hpp"

using namespace poe::pm;
using namespace poe::pm::test;
using poe::TaskId;

namespace {

// A node with one output stream, and the home side that collects its frames.
struct Bench {
    struct Arrived {
        TaskId task;
        bool open;
        std::string payload;
    };
    asio::io_context loop;
    FdPair sockets = make_socket_pair();
    std::vector<Arrived> frames;
    std::map<TaskId, std::string> text;
    std::size_t received = 0;
    bool give_credit = true;
    bool keep_frames = true;
    LineFormatter formatter{false, 1000};
    std::string merged;
    Channel home{loop,
                 std::move(sockets.read),
                 {},
                 {[this](const Frame& frame) { on_frame(frame); },
                  [](poe::NodeIndex, const Message&) {}, [](const std::string&) {}}};
    Channel node{loop,
                 std::move(sockets.write),
                 {},
                 {[this](const Frame&) {}, [](poe::NodeIndex, const Message&) {},
                  [](const std::string&) {}}};
    StreamWindow window;
    OutputStream stream;
    int pipes_closed = 0;

    explicit Bench(bool open_lines = false)
        : stream(loop, node, window, FrameKind::kStdout, open_lines, false) {
        home.start();
        node.start();
        stream.on_pipe_closed = [this] { ++pipes_closed; };
        node.on_room = [this] { stream.resume(); };
    }

    void on_frame(const Frame& frame) {
        const bool open = (frame.flags & kFlagOpenLine) != 0;
        received += frame.payload.size();
        if (keep_frames) {
            frames.push_back({frame.task, open, std::string(frame.payload)});
            text[frame.task] += frame.payload;
            formatter.append(merged, frame.task, frame.payload, open);
        }
        if (give_credit) credit(frame.payload.size());
    }

    void credit(std::uint64_t bytes) {
        window.on_credit(bytes);
        stream.resume();
    }

    // The write end of a new task's output.
    poe::UniqueFd task(TaskId id, bool discard = false) {
        FdPair pipe = make_pipe();
        stream.add(id, std::move(pipe.read), discard);
        return std::move(pipe.write);
    }

    bool until(const std::function<bool()>& done) { return run_until(loop, done); }

    // Writes while the loop runs; the pipe may be smaller than the text.
    bool write(const poe::UniqueFd& to, std::string_view data) {
        set_flag(to.get(), O_NONBLOCK);
        return until([&] {
            const ssize_t count = ::write(to.get(), data.data(), data.size());
            if (count > 0) data.remove_prefix(static_cast<std::size_t>(count));
            return data.empty();
        });
    }
};

}  // namespace

TEST_CASE("how much is complete", "[output_stream]") {
    struct Case {
        std::string data;
        std::size_t complete;
    };
    using namespace std::string_literals;
    const Case cases[] = {
        {"", 0},        {"a", 0},      {"\n", 1},      {"a\n", 2},     {"a\nb", 2},   {"a\nb\n", 4},
        {"\r", 0},      {"a\r", 0},    {"a\r\n", 3},   {"a\rb", 2},    {"a\rb\r", 2}, {"a\r\r", 2},
        {"\r\r", 1},    {"a\nb\r", 2}, {"a\nb\rc", 4}, {"a\n\r", 2},   {"a\r\nb", 3}, {"\0"s, 0},
        {"\0\n\0"s, 2}, {"a\n\nb", 3}, {"a\r\r\n", 4}, {"a\rb\nc", 4}, {"\n\r\r", 2},
    };
    for (const Case& one : cases) {
        INFO(Catch::Detail::stringify(one.data));
        CHECK(complete_bytes(one.data) == one.complete);
    }
    CHECK(complete_bytes(std::string_view()) == 0);
}

TEST_CASE("frames end where lines end", "[output_stream]") {
    Bench bench;
    const auto a = bench.task(0);
    const auto b = bench.task(1);
    REQUIRE(bench.write(a, "one\ntwo\nthr"));
    REQUIRE(bench.until([&] { return bench.frames.size() == 1; }));
    CHECK(bench.frames[0].payload == "one\ntwo\n");
    CHECK_FALSE(bench.frames[0].open);
    REQUIRE(bench.write(a, "e"));
    REQUIRE(bench.write(b, "other\n"));
    REQUIRE(bench.until([&] { return bench.frames.size() == 2; }));
    CHECK(bench.frames[1].payload == "other\n");
    REQUIRE(bench.write(a, "e\n"));
    REQUIRE(bench.until([&] { return bench.frames.size() == 3; }));
    CHECK(bench.frames[2].payload == "three\n");
    CHECK_FALSE(bench.frames[2].open);
}

TEST_CASE("an open line appears after a moment", "[output_stream]") {
    Bench bench(true);
    const auto a = bench.task(0);
    REQUIRE(bench.write(a, "x\nName: "));
    REQUIRE(bench.until([&] { return bench.text[0] == "x\nName: "; }));
    CHECK(bench.frames.back().open);
    REQUIRE(bench.write(a, "you\n"));
    REQUIRE(bench.until([&] { return bench.text[0] == "x\nName: you\n"; }));
    CHECK_FALSE(bench.frames.back().open);
    CHECK(bench.merged == "x\nName: you\n");
}

TEST_CASE("a progress bar appears without a line end", "[output_stream]") {
    Bench bench;
    const auto a = bench.task(0);
    REQUIRE(bench.write(a, "1%\r"));
    REQUIRE(bench.until([&] { return bench.text[0] == "1%\r"; }));
    REQUIRE(bench.write(a, "2%\r3%"));
    REQUIRE(bench.until([&] { return bench.text[0] == "1%\r2%\r"; }));
    REQUIRE(bench.write(a, "\r\n"));
    REQUIRE(bench.until([&] { return bench.text[0] == "1%\r2%\r3%\r\n"; }));
}

TEST_CASE("the end of a pipe", "[output_stream]") {
    Bench bench;
    auto a = bench.task(0);
    auto b = bench.task(1);
    auto c = bench.task(2);
    CHECK(bench.stream.open_pipes() == 3);
    REQUIRE(bench.write(a, "line\npartial"));
    a.reset();
    b.reset();
    REQUIRE(bench.until([&] { return bench.stream.open_pipes() == 1; }));
    CHECK(bench.pipes_closed == 2);
    REQUIRE(bench.until([&] { return bench.text[0] == "line\npartial"; }));
    CHECK(bench.frames.back().open);
    CHECK(bench.text.count(1) == 0);
    REQUIRE(bench.write(c, "still\n"));
    REQUIRE(bench.until([&] { return bench.text[2] == "still\n"; }));
}

TEST_CASE("a long line has the stream for itself", "[output_stream]") {
    Bench bench;
    const auto others = bench.task(0);
    const auto a = bench.task(1);
    REQUIRE(bench.write(a, std::string(300000, 'a')));
    REQUIRE(bench.until([&] { return bench.text[1].size() == 300000; }));
    REQUIRE(bench.write(others, "b\nb\n"));
    REQUIRE(bench.write(a, std::string(100000, 'a') + "\nrest"));
    REQUIRE(bench.until([&] { return bench.text[0] == "b\nb\n"; }));
    CHECK(bench.merged == std::string(400000, 'a') + "\nb\nb\n");
    REQUIRE(bench.write(a, "\n"));
    REQUIRE(bench.until([&] { return bench.text[1].size() == 400006; }));
}

TEST_CASE("a long line that ends with its pipe lets the others go on", "[output_stream]") {
    Bench bench;
    const auto others = bench.task(0);
    auto a = bench.task(1);
    REQUIRE(bench.write(a, std::string(300000, 'a')));
    REQUIRE(bench.until([&] { return bench.text[1].size() == 300000; }));
    REQUIRE(bench.write(others, "b\n"));
    a.reset();
    REQUIRE(bench.until([&] { return bench.text[0] == "b\n"; }));
    CHECK(bench.merged == std::string(300000, 'a') + "\nb\n");
}

// A sanitizer sees what is used after its end.
TEST_CASE("a stream that ends with its long line leaves nothing for the loop", "[output_stream]") {
    asio::io_context loop;
    FdPair sockets = make_socket_pair();
    Channel node(
        loop, std::move(sockets.write), {},
        {[](const Frame&) {}, [](poe::NodeIndex, const Message&) {}, [](const std::string&) {}});
    StreamWindow window;
    auto stream =
        std::make_unique<OutputStream>(loop, node, window, FrameKind::kStdout, false, false);
    FdPair others = make_pipe();
    FdPair a = make_pipe();
    stream->add(0, std::move(others.read), false);
    stream->add(1, std::move(a.read), false);
    REQUIRE(write_all(a.write.get(), std::string(65536, 'a')));
    run_ready(loop);
    REQUIRE(write_all(a.write.get(), "a"));  // now it is long
    a.write.reset();
    REQUIRE(run_until(loop, [&] { return stream->open_pipes() == 1; }));
    stream.reset();
    run_ready(loop);
}

TEST_CASE("a long line that pauses lets the others go on", "[output_stream]") {
    Bench bench;
    const auto others = bench.task(0);
    const auto a = bench.task(1);
    REQUIRE(bench.write(a, std::string(100000, 'a')));
    REQUIRE(bench.until([&] { return bench.text[1].size() == 100000; }));
    REQUIRE(bench.write(others, "b\n"));
    REQUIRE(bench.until([&] { return bench.text[0] == "b\n"; }));
}

// Every line says whose it is and how long it is; none may be torn or lost.
TEST_CASE("many tasks with lines of all lengths", "[output_stream]") {
    Bench bench;
    bench.keep_frames = true;
    constexpr int kTasks = 6;
    std::vector<std::string> written(kTasks);
    std::vector<std::thread> tasks;
    for (int id = 0; id < kTasks; ++id) {
        std::mt19937 random(static_cast<unsigned>(id) + 100);
        std::string& all = written[static_cast<std::size_t>(id)];
        while (all.size() < 1500000) {
            static constexpr std::size_t kLengths[] = {20, 200, 70000, 300000};
            const std::size_t length = random() % kLengths[random() % 4];
            all += std::to_string(id) + " " + std::to_string(length) + " " +
                   std::string(length, static_cast<char>('a' + id)) + "\n";
        }
        auto pipe = std::make_shared<poe::UniqueFd>(bench.task(id));
        tasks.emplace_back([pipe, &all, random]() mutable {
            for (std::size_t at = 0; at < all.size();) {
                const std::size_t count = std::min<std::size_t>(all.size() - at, random() % 90000);
                if (!write_all(pipe->get(), std::string_view(all).substr(at, count))) return;
                at += count;
            }
        });
    }
    const bool finished = bench.until([&] { return bench.stream.open_pipes() == 0; });
    for (std::thread& task : tasks) task.join();
    REQUIRE(finished);
    std::size_t total = 0;
    for (const std::string& all : written) total += all.size();
    REQUIRE(bench.until([&] { return bench.received == total; }));
    for (int id = 0; id < kTasks; ++id)
        CHECK((bench.text[id] == written[static_cast<std::size_t>(id)]));
    std::istringstream lines(bench.merged);
    for (std::string line; std::getline(lines, line);) {
        std::istringstream words(line);
        int id = -1;
        std::size_t length = 0;
        words >> id >> length;
        const std::string expected = std::to_string(id) + " " + std::to_string(length) + " " +
                                     std::string(length, static_cast<char>('a' + id));
        REQUIRE((line == expected));
    }
}

TEST_CASE("reading stops while the window is used up", "[output_stream]") {
    Bench bench;
    bench.give_credit = false;
    bench.keep_frames = false;
    std::atomic<bool> stop = false;
    std::vector<std::thread> tasks;
    for (int id = 0; id < 4; ++id) {
        auto pipe = std::make_shared<poe::UniqueFd>(bench.task(id));
        set_flag(pipe->get(), O_NONBLOCK);
        tasks.emplace_back([pipe, &stop] {
            const std::string lines = std::string(999, 'x') + "\n";
            while (!stop)
                if (::write(pipe->get(), lines.data(), lines.size()) < 0) ::usleep(100);
        });
    }
    const auto window = static_cast<std::size_t>(kStreamWindow);
    const std::size_t slack = 512 << 10;
    CHECK(bench.until([&] { return bench.received >= window; }));
    bench.loop.run_for(std::chrono::milliseconds(50));
    CHECK(bench.received + bench.node.queued_bytes() <= window + slack);
    // What is taken may be sent again, and no more.
    bench.credit(bench.received);
    CHECK(bench.until([&] { return bench.received >= 2 * window; }));
    bench.loop.run_for(std::chrono::milliseconds(50));
    CHECK(bench.received + bench.node.queued_bytes() <= 2 * window + 2 * slack);
    stop = true;
    for (std::thread& task : tasks) task.join();
}

TEST_CASE("a peer that does not read stops the tasks before the window does", "[output_stream]") {
    asio::io_context loop;
    const FdPair sockets = make_socket_pair();
    Channel node(
        loop, poe::UniqueFd(::dup(sockets.write.get())), {},
        {[](const Frame&) {}, [](poe::NodeIndex, const Message&) {}, [](const std::string&) {}});
    StreamWindow window;
    OutputStream stream(loop, node, window, FrameKind::kStdout, false, false);
    node.on_room = [&stream] { stream.resume(); };
    node.start();
    FdPair pipe = make_pipe();
    stream.add(0, std::move(pipe.read), false);
    set_flag(pipe.write.get(), O_NONBLOCK);
    set_flag(sockets.read.get(), O_NONBLOCK);
    const std::string lines = std::string(999, 'x') + "\n";
    std::size_t written = 0;
    const auto write_more = [&] {
        ssize_t count = 0;
        while ((count = ::write(pipe.write.get(), lines.data(), lines.size())) > 0)
            written += static_cast<std::size_t>(count);
    };
    REQUIRE(run_until(loop, [&] {
        write_more();
        return node.full();
    }));
    CHECK(node.queued_bytes() < Channel::kFullQueue + (std::size_t{512} << 10));
    CHECK(window.open());
    // Who reads again gets everything.
    const std::size_t before = written;
    std::vector<char> buffer(1 << 20);
    std::size_t received = 0;
    CHECK(run_until(loop, [&] {
        const ssize_t count = ::read(sockets.read.get(), buffer.data(), buffer.size());
        if (count > 0) received += static_cast<std::size_t>(count);
        write_more();
        return received > before && written > before + Channel::kFullQueue;
    }));
}

TEST_CASE("no credit is lost", "[output_stream]") {
    Bench bench(true);
    bench.give_credit = false;
    // Open lines of many tasks go out whatever the window; together they are more than two.
    constexpr int kTasks = 150;
    constexpr std::size_t kEach = 60000;
    std::vector<poe::UniqueFd> tasks;
    for (int id = 0; id < kTasks; ++id) {
        tasks.push_back(bench.task(id));
        REQUIRE(write_all(tasks.back().get(), std::string(kEach, 'x')));
    }
    REQUIRE(bench.until([&] { return bench.received == kTasks * kEach; }));
    bench.credit(bench.received);
    bench.give_credit = true;
    REQUIRE(write_all(tasks[0].get(), "\n"));
    CHECK(bench.until([&] { return bench.received == kTasks * kEach + 1; }));
}

TEST_CASE("credit out of reason is no harm", "[output_stream]") {
    Bench bench;
    bench.give_credit = false;
    for (int i = 0; i < 10; ++i) bench.credit(UINT64_MAX);
    bench.credit(0);
    const auto a = bench.task(0);
    REQUIRE(bench.write(a, "a\n"));
    CHECK(bench.until([&] { return bench.text[0] == "a\n"; }));
}

TEST_CASE("a long line that waits for the window does not pause", "[output_stream]") {
    Bench bench;
    bench.give_credit = false;
    const auto others = bench.task(0);
    const auto a = bench.task(1);
    set_flag(a.get(), O_NONBLOCK);
    const std::string piece(50000, 'a');
    std::size_t written = 0;
    const auto window = static_cast<std::size_t>(kStreamWindow);
    // Until the window is used up and the pipe is full.
    bool full = false;
    REQUIRE(bench.until([&] {
        const ssize_t count = ::write(a.get(), piece.data(), piece.size());
        if (count > 0) written += static_cast<std::size_t>(count);
        full = count < 0;
        return full && bench.received >= window;
    }));
    REQUIRE(write_all(others.get(), "b\n"));
    bench.loop.run_for(OutputStream::kLongLinePause + std::chrono::milliseconds(200));
    bench.give_credit = true;
    bench.credit(bench.received);
    REQUIRE(bench.write(a, "a\n"));
    REQUIRE(bench.until([&] { return bench.text[0] == "b\n" && bench.text[1].back() == '\n'; }));
    CHECK((bench.merged == std::string(written + 1, 'a') + "\nb\n"));
}

TEST_CASE("output that nobody wants is read and forgotten", "[output_stream]") {
    Bench bench;
    bench.give_credit = false;
    auto muted = bench.task(0, true);
    const auto other = bench.task(1);
    for (int i = 0; i < 20; ++i) REQUIRE(bench.write(muted, std::string(500000, 'm')));
    REQUIRE(bench.write(other, "o\n"));
    REQUIRE(bench.until([&] { return bench.text[1] == "o\n"; }));
    CHECK(bench.frames.size() == 1);
    muted.reset();
    REQUIRE(bench.until([&] { return bench.stream.open_pipes() == 1; }));
    CHECK(bench.text.count(0) == 0);
}

TEST_CASE("close_all sends what is there and lets go", "[output_stream]") {
    Bench bench;
    bench.give_credit = false;
    std::vector<poe::UniqueFd> tasks;
    tasks.push_back(bench.task(0));
    tasks.push_back(bench.task(1));
    tasks.push_back(bench.task(2, true));
    tasks.push_back(bench.task(3));
    tasks[3].reset();
    REQUIRE(bench.until([&] { return bench.stream.open_pipes() == 3; }));
    // Held by the stream, and still in the pipe.
    REQUIRE(bench.write(tasks[0], "held"));
    run_ready(bench.loop);
    REQUIRE(write_all(tasks[0].get(), " line\npartial"));
    REQUIRE(write_all(tasks[1].get(), std::string(60000, 'x')));
    REQUIRE(write_all(tasks[2].get(), "muted\n"));
    bench.stream.close_all();
    CHECK(bench.stream.open_pipes() == 0);
    CHECK(bench.pipes_closed == 4);
    REQUIRE(bench.until([&] { return bench.received == 18 + 60000 - 1; }));
    CHECK(bench.text[0] == "held line\npartial");
    CHECK(bench.text[1].size() == 60000);
    CHECK(bench.text.count(2) == 0);
    CHECK_FALSE(write_all(tasks[0].get(), "nobody reads"));
    bench.stream.close_all();
    bench.credit(1);
    run_ready(bench.loop);
    CHECK(bench.pipes_closed == 4);
}

TEST_CASE("close_all does not ask for the window", "[output_stream]") {
    Bench bench;
    bench.give_credit = false;
    const auto a = bench.task(0);
    ::fcntl(a.get(), F_SETPIPE_SZ, 1 << 20);
    set_flag(a.get(), O_NONBLOCK);
    std::size_t written = 0;
    const std::string lines = std::string(99, 'x') + "\n";
    bool full = false;
    REQUIRE(bench.until([&] {
        ssize_t count = 0;
        while ((count = ::write(a.get(), lines.data(), lines.size())) > 0)
            written += static_cast<std::size_t>(count);
        full = bench.received + bench.node.queued_bytes() >= std::size_t{kStreamWindow};
        return full && bench.received >= std::size_t{kStreamWindow};
    }));
    bench.stream.close_all();
    CHECK(bench.until([&] { return bench.received == written; }));
}

TEST_CASE("a mark comes behind what the pipe held", "[output_stream]") {
    Bench bench;
    const auto a = bench.task(0);
    const auto b = bench.task(1);
    std::string at_mark = "?";
    REQUIRE(::write(a.get(), "one\ntwo", 7) == 7);
    REQUIRE(::write(b.get(), "other\n", 6) == 6);
    bench.stream.when_sent(0, [&] {
        bench.node.send(Started{});
        at_mark = "sent";
    });
    CHECK(at_mark == "?");
    REQUIRE(bench.until([&] { return at_mark == "sent" && bench.text[0].size() == 7; }));
    // The incomplete line, too; and what comes later does not wait for anything.
    REQUIRE(bench.write(a, " more\n"));
    REQUIRE(bench.until([&] { return bench.text[0] == "one\ntwo more\n"; }));
    // Nothing in the pipe, no pipe, a pipe at its end.
    int marks = 0;
    bench.stream.when_sent(0, [&] { ++marks; });
    bench.stream.when_sent(77, [&] { ++marks; });
    CHECK(marks == 2);
}

TEST_CASE("a mark waits for the window", "[output_stream]") {
    Bench bench;
    bench.give_credit = false;
    bench.keep_frames = false;
    const auto a = bench.task(0);
    const auto b = bench.task(1);
    const std::string lines(std::size_t{1} << 20, '\n');
    for (int i = 0; i < 4; ++i) REQUIRE(bench.write(a, lines));
    REQUIRE(bench.until([&] { return bench.received >= std::size_t{kStreamWindow}; }));
    REQUIRE(::write(b.get(), "late\n", 5) == 5);
    bool marked = false;
    bench.stream.when_sent(1, [&] { marked = true; });
    while (bench.loop.poll() > 0) {
    }
    CHECK_FALSE(marked);
    bench.stream.send_now(1);
    CHECK_FALSE(marked);
    bench.credit(bench.received);
    CHECK(bench.until([&] { return marked; }));
}

TEST_CASE("a pipe that ends reaches its mark", "[output_stream]") {
    Bench bench;
    auto a = bench.task(0);
    REQUIRE(::write(a.get(), "last", 4) == 4);
    bool marked = false;
    bench.stream.when_sent(0, [&] { marked = true; });
    a.reset();
    CHECK(bench.until([&] { return marked && bench.pipes_closed == 1; }));
    CHECK(bench.until([&] { return bench.text[0] == "last"; }));
}

TEST_CASE("a task is muted and heard again", "[output_stream]") {
    Bench bench;
    const auto a = bench.task(0, true);
    const auto say = [&](const std::string& text) {
        bool taken = false;
        REQUIRE(bench.write(a, text));
        bench.stream.when_sent(0, [&] { taken = true; });
        REQUIRE(bench.until([&] { return taken; }));
    };
    say("nobody hears\n");
    bench.stream.set_discard(0, false);
    say("heard\nhalf");
    bench.stream.set_discard(0, true);
    say("nobody again\n");
    bench.stream.set_discard(0, false);
    say("end\n");
    REQUIRE(bench.until([&] { return bench.text[0] == "heard\nhalfend\n"; }));
}

TEST_CASE("what is there now is sent now", "[output_stream]") {
    Bench bench;
    const auto a = bench.task(0);
    REQUIRE(::write(a.get(), "whole\nhalf", 10) == 10);
    bench.stream.send_now(0);
    bench.stream.send_now(0);
    bench.stream.send_now(5);
    bench.node.send(Started{});
    CHECK(bench.until([&] { return bench.text[0] == "whole\n"; }));
}
