// Channels over socket pairs and pipes: order, size, and every way for the peer to go.
#include "partition_manager/channel/channel.hpp"

#include <atomic>
#include <cstring>
#include <optional>
#include <random>
#include <thread>

#include <catch2/catch.hpp>

#include "partition_manager/channel/message_codec.hpp"
#include "tests/unit/partition_manager/support.hpp"

using namespace poe::pm;
using namespace poe::pm::test;

namespace {

// One end, and what arrived at it.
struct End {
    struct Arrived {
        FrameKind kind;
        int flags;
        poe::TaskId task;
        std::string payload;
    };
    std::vector<Arrived> frames;  // control: its encoding
    int closed = 0;
    std::string why;
    std::function<void()> on_each = [] {};
    std::unique_ptr<Channel> channel;

    End(asio::io_context& loop, poe::UniqueFd in, poe::UniqueFd out = {}) {
        channel = std::make_unique<Channel>(
            loop, std::move(in), std::move(out),
            Channel::Handlers{
                [this](const Frame& f) {
                    frames.push_back({f.kind, f.flags, f.task, std::string(f.payload)});
                    on_each();
                },
                [this](poe::NodeIndex node, const Message& m) {
                    frames.push_back({FrameKind::kControl, 0, node, encode(m)});
                    on_each();
                },
                [this](std::string text) {
                    ++closed;
                    why = std::move(text);
                }});
        channel->start();
    }
};

struct Both {
    asio::io_context loop;
    FdPair sockets = make_socket_pair();
    End home{loop, std::move(sockets.read)};
    End node{loop, std::move(sockets.write)};
};

// A channel whose peer is a bare descriptor.
struct One {
    asio::io_context loop;
    FdPair sockets = make_socket_pair();
    poe::UniqueFd peer{std::move(sockets.read)};
    End end{loop, std::move(sockets.write)};
};

std::string frame_bytes(FrameKind kind, std::string_view payload) {
    char header[kFrameHeaderBytes];
    write_frame_header(header, kind, 0, 1, payload.size());
    return std::string(header, sizeof header) + std::string(payload);
}

}  // namespace

TEST_CASE("everything arrives in its order", "[channel]") {
    Both both;
    for (int i = 0; i < 3000; ++i) {
        both.node.channel->send(TaskAbort{i, i, "why"});
        both.node.channel->send_data(i % 2 == 0 ? FrameKind::kStdout : FrameKind::kStderr,
                                     static_cast<std::uint8_t>(i % 2), i, std::to_string(i));
        both.home.channel->send_credit(FrameKind::kStderr, static_cast<std::uint64_t>(i) << 30);
    }
    REQUIRE(run_until(both.loop, [&] {
        return both.home.frames.size() == 6000 && both.node.frames.size() == 3000;
    }));
    for (int i = 0; i < 3000; ++i) {
        const auto& control = both.home.frames[2 * static_cast<std::size_t>(i)];
        const auto& data = both.home.frames[2 * static_cast<std::size_t>(i) + 1];
        REQUIRE(control.payload == encode(TaskAbort{i, i, "why"}));
        REQUIRE(data.kind == (i % 2 == 0 ? FrameKind::kStdout : FrameKind::kStderr));
        REQUIRE(data.flags == i % 2);
        REQUIRE(data.task == i);
        REQUIRE(data.payload == std::to_string(i));
        const auto& credit = both.node.frames[static_cast<std::size_t>(i)];
        REQUIRE(credit.kind == FrameKind::kCredit);
        REQUIRE(credit.flags == static_cast<int>(FrameKind::kStderr));
        std::uint64_t value = 0;
        REQUIRE(credit.payload.size() == 8);
        for (std::size_t b = 8; b-- > 0;)
            value = value << 8 | static_cast<unsigned char>(credit.payload[b]);
        REQUIRE(value == static_cast<std::uint64_t>(i) << 30);
    }
    CHECK(both.home.closed + both.node.closed == 0);
}

TEST_CASE("handlers are not called from within send", "[channel]") {
    Both both;
    both.node.channel->send(Pulse{});
    REQUIRE(run_until(both.loop, [&] { return !both.home.frames.empty(); }));
    bool sending = false;
    bool nested = false;
    both.home.on_each = [&] {
        nested = nested || sending;
        sending = true;
        both.home.channel->send(Pulse{});
        sending = false;
    };
    both.node.on_each = [&] {
        nested = nested || sending;
        if (both.node.frames.size() < 50) both.node.channel->send(Pulse{});
    };
    both.node.channel->send(Pulse{});
    REQUIRE(run_until(both.loop, [&] { return both.node.frames.size() >= 50; }));
    CHECK_FALSE(nested);
}

TEST_CASE("large data both ways at once", "[channel]") {
    Both both;
    std::mt19937 random(5);
    std::vector<std::string> sent;
    for (int i = 0; i < 12; ++i) {
        std::string payload(kMaxDataPayload - random() % 70000, '\0');
        for (std::size_t at = 0; at + 4 <= payload.size(); at += 4) {
            const auto word = static_cast<std::uint32_t>(random());
            std::memcpy(payload.data() + at, &word, sizeof word);
        }
        both.node.channel->send_data(FrameKind::kStdout, 0, i, payload);
        both.home.channel->send_data(FrameKind::kStdin, 0, -1, payload);
        sent.push_back(std::move(payload));
    }
    CHECK(both.node.channel->queued_bytes() > 8 * kMaxDataPayload);
    REQUIRE(run_until(both.loop, [&] {
        return both.home.frames.size() == sent.size() && both.node.frames.size() == sent.size();
    }));
    for (std::size_t i = 0; i < sent.size(); ++i) {
        REQUIRE((both.home.frames[i].payload == sent[i]));
        REQUIRE((both.node.frames[i].payload == sent[i]));
    }
    CHECK(both.node.channel->queued_bytes() == 0);
}

TEST_CASE("space is reserved, and used in part, wholly, or not at all", "[channel]") {
    Both both;
    std::vector<std::string> expected;
    std::mt19937 random(9);
    for (int i = 0; i < 400; ++i) {
        const std::size_t size = random() % 200000;
        const std::span<char> space = both.node.channel->reserve_data(size);
        REQUIRE(space.size() == size);
        const std::size_t used = i % 3 == 0 ? 0 : i % 3 == 1 ? size : random() % (size + 1);
        std::memset(space.data(), 'a' + i % 26, size);
        both.node.channel->commit_data(FrameKind::kStdout, 0, i, used);
        if (used > 0) expected.emplace_back(used, static_cast<char>('a' + i % 26));
        if (i % 7 == 0) run_ready(both.loop);
    }
    REQUIRE(run_until(both.loop, [&] { return both.home.frames.size() == expected.size(); }));
    for (std::size_t i = 0; i < expected.size(); ++i)
        REQUIRE((both.home.frames[i].payload == expected[i]));
}

TEST_CASE("an empty payload is a frame, too", "[channel]") {
    Both both;
    both.node.channel->send_data(FrameKind::kStdout, 1, 3, "");
    both.node.channel->send_data(FrameKind::kStdout, 1, 4, std::string_view());
    REQUIRE(run_until(both.loop, [&] { return both.home.frames.size() == 2; }));
    CHECK(both.home.frames[1].task == 4);
    CHECK(both.home.frames[1].payload.empty());
}

TEST_CASE("a pair of pipes", "[channel]") {
    asio::io_context loop;
    FdPair up = make_pipe();
    FdPair down = make_pipe();
    End home(loop, std::move(up.read), std::move(down.write));
    End node(loop, std::move(down.read), std::move(up.write));
    node.channel->send_data(FrameKind::kStdout, 0, 1, std::string(300000, 'x'));
    home.channel->send(Pulse{});
    REQUIRE(run_until(loop, [&] { return home.frames.size() == 1 && node.frames.size() == 1; }));
    home.channel->close();
    REQUIRE(run_until(loop, [&] { return node.closed == 1; }));
    CHECK(node.why.empty());
}

TEST_CASE("the peer goes: all that it said comes first", "[channel]") {
    One one;
    std::string said;
    for (int i = 0; i < 100; ++i) said += frame_bytes(FrameKind::kStdout, "line\n");
    REQUIRE(write_all(one.peer.get(), said + "part"));
    one.peer.reset();
    // What we still want to say cannot be said; it must not hide what the peer said.
    one.end.channel->send_data(FrameKind::kStdin, 0, -1, std::string(500000, 'x'));
    REQUIRE(run_until(one.loop, [&] { return one.end.closed > 0; }));
    run_ready(one.loop);
    CHECK(one.end.frames.size() == 100);
    CHECK(one.end.closed == 1);
    CHECK(one.end.why.empty());
    CHECK(one.end.channel->closed());
    one.end.channel->send(Pulse{});
    one.end.channel->drain(std::chrono::milliseconds(100));
    run_ready(one.loop);
    CHECK(one.end.closed == 1);
}

TEST_CASE("garbage from the peer", "[channel]") {
    const std::string good = frame_bytes(FrameKind::kStdout, "good");
    struct Case {
        std::string bytes;
        std::string why;
    };
    const Case cases[] = {
        {"Last login: Mon Nov 20 on tty1\n", "protocol"},
        {std::string(100, '\0'), "protocol"},
        {std::string(100, '\xff'), "protocol"},
        {frame_bytes(FrameKind::kControl, ""), "control message"},
        {frame_bytes(FrameKind::kControl, "hello"), "control message"},
        {frame_bytes(FrameKind::kControl, std::string(1000, '\x81')), "control message"},
    };
    for (const Case& each : cases) {
        One one;
        REQUIRE(write_all(one.peer.get(), good + each.bytes + good));
        REQUIRE(run_until(one.loop, [&] { return one.end.closed > 0; }));
        run_ready(one.loop);
        INFO(one.end.why);
        CHECK(one.end.frames.size() == 1);
        CHECK(one.end.closed == 1);
        CHECK(one.end.why.find(each.why) != std::string::npos);
        CHECK(read_all(one.peer.get()).empty());  // our end is closed
    }
}

TEST_CASE("drain waits for a reader", "[channel]") {
    One one;
    const std::string payload(kMaxDataPayload, 'z');
    for (int i = 0; i < 4; ++i) one.end.channel->send_data(FrameKind::kStdout, 0, i, payload);
    std::string received;
    std::thread reader([&] { received = read_all(one.peer.get()); });
    one.end.channel->drain(std::chrono::milliseconds(60000));
    CHECK(one.end.channel->queued_bytes() == 0);
    one.end.channel->close();
    reader.join();
    CHECK(received.size() == 4 * (kMaxDataPayload + kFrameHeaderBytes));
}

TEST_CASE("drain does not wait forever", "[channel]") {
    One one;
    one.end.channel->send_data(FrameKind::kStdout, 0, 1, std::string(kMaxDataPayload, 'z'));
    one.end.channel->drain(std::chrono::milliseconds(5));
    CHECK(one.end.channel->queued_bytes() > 0);
    // The rest still goes by the loop, once.
    std::string received;
    REQUIRE(run_until(one.loop, [&] {
        received += read_now(one.peer.get());
        return one.end.channel->queued_bytes() == 0;
    }));
    received += read_now(one.peer.get());
    CHECK(received.size() == kMaxDataPayload + kFrameHeaderBytes);
    one.peer.reset();
    one.end.channel->send(Pulse{});
    one.end.channel->drain(std::chrono::milliseconds(60000));
    CHECK(one.end.channel->queued_bytes() == 0);
}

// The reader always takes a little, and would need minutes for all.
TEST_CASE("drain is not held up by a slow reader", "[channel]") {
    One one;
    const std::string payload(kMaxDataPayload, 'z');
    for (int i = 0; i < 64; ++i) one.end.channel->send_data(FrameKind::kStdout, 0, i, payload);
    std::atomic<bool> stop = false;
    std::thread reader([&] {
        while (!stop) {
            read_now(one.peer.get(), 1024);
            ::usleep(1000);
        }
    });
    one.end.channel->drain(std::chrono::milliseconds(50));
    stop = true;
    reader.join();
    CHECK(one.end.channel->queued_bytes() > 0);
}

TEST_CASE("drain ends when the stream cannot be written", "[channel]") {
    const int ended = in_child([] {
        asio::io_context loop;
        FdPair in = make_pipe();
        FdPair wrong = make_pipe();
        End end(loop, std::move(in.read), std::move(wrong.read));  // cannot be written
        end.channel->send(Pulse{});
        end.channel->drain(std::chrono::milliseconds(100));
        return end.channel->closed() ? 0 : 1;
    });
    INFO("1014 is an alarm: it hung");
    CHECK(ended == 0);
}

TEST_CASE("a stream that cannot be written is reported", "[channel]") {
    asio::io_context loop;
    FdPair in = make_pipe();
    FdPair wrong = make_pipe();
    End end(loop, std::move(in.read), std::move(wrong.read));
    end.channel->send(Pulse{});
    REQUIRE(run_until(loop, [&] { return end.closed > 0; }));
    CHECK(end.why.find("writing") != std::string::npos);
}

TEST_CASE("a channel destroyed in its handler", "[channel]") {
    for (const bool just_close : {false, true}) {
        One one;
        std::string said;
        for (int i = 0; i < 10; ++i) {
            said += frame_bytes(FrameKind::kStdout, "data");
            said += frame_bytes(FrameKind::kControl, encode(Pulse{}));
        }
        one.end.channel->send_data(FrameKind::kStdin, 0, -1, std::string(3 << 20, 'x'));
        one.end.on_each = [&one, just_close] {
            if (one.end.frames.size() < 4) return;
            if (just_close)
                one.end.channel->close();
            else
                one.end.channel.reset();
        };
        REQUIRE(write_all(one.peer.get(), said));
        REQUIRE(run_until(one.loop, [&] { return one.end.frames.size() >= 4; }));
        run_ready(one.loop);
        CHECK(one.end.frames.size() == 4);
        CHECK(one.end.closed == 0);
    }
}

TEST_CASE("no handler after close, though the peer was gone before", "[channel]") {
    for (const bool garbage : {false, true}) {
        One one;
        if (garbage) REQUIRE(write_all(one.peer.get(), std::string(100, '\xff')));
        one.peer.reset();
        // The end has been seen, and not been told.
        REQUIRE(run_until(one.loop, [&] { return one.end.channel->closed(); }));
        if (one.end.closed != 0) continue;
        one.end.channel.reset();
        run_ready(one.loop);
        CHECK(one.end.closed == 0);
    }
}

TEST_CASE("a queue of bytes gives back the space of an unusual load, once empty", "[channel]") {
    ByteQueue queue;
    const auto pass = [&queue](std::size_t count) {
        std::memset(queue.reserve(count), 'x', count);
        queue.append(count);
        queue.take(count - 1);
        CHECK(queue.capacity() >= count);
        CHECK(*queue.data() == 'x');
        queue.take(1);
        return queue.capacity();
    };
    const std::size_t usual = 2 * kStreamWindow;
    CHECK(pass(usual) >= usual);
    CHECK(pass(kMaxControlPayload) == 0);
    CHECK(pass(10) >= 10);
}

TEST_CASE("a queue of bytes against a string", "[channel]") {
    ByteQueue queue;
    std::string model;
    std::mt19937 random(3);
    for (int i = 0; i < 20000; ++i) {
        if (random() % 2 == 0) {
            const std::size_t count = random() % 5000;
            const std::size_t used = random() % 3 == 0 ? 0 : random() % (count + 1);
            char* space = queue.reserve(count);
            for (std::size_t k = 0; k < used; ++k) space[k] = static_cast<char>(random());
            model.append(space, used);
            queue.append(used);
        } else {
            const std::size_t count = random() % (std::min<std::size_t>(model.size(), 6000) + 1);
            queue.take(count);
            model.erase(0, count);
        }
        REQUIRE(queue.size() == model.size());
        if (!model.empty()) REQUIRE(std::memcmp(queue.data(), model.data(), model.size()) == 0);
    }
}
