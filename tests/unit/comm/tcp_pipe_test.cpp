// The TCP pipe over socket pairs and loopback connections: order, tokens, partial transfers, and
// what a bad or dead peer does to it.
#include "comm/tcp/tcp_pipe.hpp"

#include <cstring>
#include <linux/sockios.h>
#include <memory>
#include <poll.h>
#include <random>
#include <string>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <catch2/catch.hpp>

#include "base/segment/endpoint.hpp"
#include "tests/unit/await.hpp"

using namespace poe::comm;
using poe::Bytes;
using poe::UniqueFd;

namespace {

constexpr Bytes kCapacity = 64 << 10;

struct Host final : TcpPipeHost {
    void want_connection(TcpPipe&) override { ++calls; }
    void want_room(TcpPipe&) override { ++waits; }
    int calls = 0;
    int waits = 0;
};

struct Ends {
    explicit Ends(int buffer = 0) {
        int fds[2];
        REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fds) == 0);
        for (const int fd : fds)
            if (buffer > 0) ::setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &buffer, sizeof buffer);
        one.reset(fds[0]);
        other.reset(fds[1]);
    }
    UniqueFd one, other;
};

struct Pair {
    explicit Pair(int buffer = 0) {
        Ends ends(buffer);
        a.open(std::move(ends.one));
        b.open(std::move(ends.other));
    }
    Host host;
    TcpPipe a{1, kCapacity, "task 3 on there", host};
    TcpPipe b{0, kCapacity, "here", host};
};

FrameHeader eager(Bytes length, int tag = 0) {
    return {static_cast<std::uint32_t>(length),
            tag,
            poe::kMplContext,
            FrameKind::kEager,
            FlowClass::kUser,
            0};
}

std::string text_of(Bytes size, unsigned seed) {
    std::mt19937 random(seed);
    std::string text(size, ' ');
    for (char& c : text) c = static_cast<char>(random());
    return text;
}

// A frame that is sent in as many steps as it takes.
class Sending {
  public:
    Sending(TcpPipe& pipe, std::string text, int tag, Bytes cost)
        : pipe_(pipe), text_(std::move(text)), tag_(tag), cost_(cost) {}
    // Answers whether all of it is handed over.
    bool step() {
        const BufferView view(text_.data(), text_.size());
        if (!started_) {
            const Bytes taken = pipe_.start_frame(eager(text_.size(), tag_), view, 0, cost_);
            if (taken == Pipe::kNoRoom) return false;
            started_ = true;
            sent_ = taken;
        } else if (sent_ < text_.size()) {
            sent_ += pipe_.continue_frame(view, sent_, text_.size() - sent_);
        }
        return sent_ == text_.size();
    }

  private:
    TcpPipe& pipe_;
    std::string text_;
    int tag_;
    Bytes cost_;
    bool started_ = false;
    Bytes sent_ = 0;
};

// Reads frames as the message layer does. take() answers whether it got any further.
class Receiving {
  public:
    explicit Receiving(TcpPipe& pipe, Bytes cost = 0) : pipe_(pipe), cost_(cost) {}
    bool take() {
        bool moved = pipe_.reads_directly() || pipe_.fill();
        for (;;) {
            const FrameHeader* header = pipe_.front();
            if (header == nullptr) return moved;
            if (text.size() != header->length || got_ == 0) text.resize(header->length);
            const BufferView view(text.data(), text.size());
            const Bytes n = pipe_.read(view, got_, header->length - got_);
            got_ += n;
            if (got_ < header->length) return moved || n > 0;
            tag = header->tag;
            pipe_.finish_frame();
            pipe_.give_tokens(FlowClass::kUser, cost_);
            got_ = 0;
            ++frames;
            texts.push_back(text);
        }
    }
    TcpPipe& pipe_;
    Bytes cost_;
    std::string text;
    std::vector<std::string> texts;
    int tag = -1;
    int frames = 0;
    Bytes got_ = 0;
};

Bytes send_text(TcpPipe& pipe, const std::string& text, int tag = 0, Bytes cost = 0) {
    return pipe.start_frame(eager(text.size(), tag),
                            BufferView(const_cast<char*>(text.data()), text.size()), 0, cost);
}

void write_raw(int fd, const void* bytes, std::size_t n) {
    REQUIRE(::write(fd, bytes, n) == static_cast<ssize_t>(n));
}

}  // namespace

TEST_CASE("frames arrive in order, whatever the buffers and sizes", "[tcp_pipe]") {
    for (const int buffer : {1, 3000, 0}) {
        Pair pair(buffer);
        Receiving in(pair.b);
        std::vector<std::string> sent;
        std::mt19937 random(42);
        for (int i = 0; i < 300; ++i) {
            const Bytes limit = i % 20 == 0 ? 600'000 : i % 5 == 0 ? 50'000 : 100;
            sent.push_back(text_of(random() % limit, static_cast<unsigned>(i)));
            Sending out(pair.a, sent.back(), i, 0);
            while (!out.step()) {
                pair.a.flush();
                in.take();
            }
        }
        while (in.frames < 300) {
            pair.a.flush();
            in.take();
        }
        CHECK((in.texts == sent));
        CHECK(in.tag == 299);
        CHECK(pair.b.fault() == nullptr);
    }
}

TEST_CASE("both directions at once", "[tcp_pipe]") {
    Pair pair(5000);
    Receiving at_b(pair.b);
    Receiving at_a(pair.a);
    for (int i = 0; i < 50; ++i) {
        Sending forth(pair.a, text_of(100'000, 1), i, 0);
        Sending back(pair.b, text_of(70'000, 2), i, 0);
        bool done_forth = false;
        bool done_back = false;
        while (!done_forth || !done_back) {
            if (!done_forth) done_forth = forth.step();
            if (!done_back) done_back = back.step();
            at_a.take();
            at_b.take();
        }
    }
    while (at_b.frames < 50 || at_a.frames < 50) {
        pair.a.flush();
        pair.b.flush();
        at_a.take();
        at_b.take();
    }
    CHECK(at_b.texts.back() == text_of(100'000, 1));
    CHECK(at_a.texts.back() == text_of(70'000, 2));
}

TEST_CASE("strided messages need no packing", "[tcp_pipe]") {
    for (const Bytes block : {1, 8, 5000}) {
        Pair pair(4000);
        constexpr Bytes kBlocks = 200;
        const Bytes stride = block + 3;
        std::string from = text_of(stride * kBlocks, 7);
        std::string to(stride * kBlocks, '.');
        const BufferView out(from.data(), block, stride, kBlocks);
        const BufferView in(to.data(), block, stride, kBlocks);
        Bytes sent = pair.a.start_frame(eager(out.size()), out, 0, 0);
        REQUIRE(sent != Pipe::kNoRoom);
        Bytes got = 0;
        while (got < out.size()) {
            if (sent < out.size()) sent += pair.a.continue_frame(out, sent, out.size() - sent);
            pair.a.flush();
            if (!pair.b.reads_directly()) pair.b.fill();
            if (pair.b.front() != nullptr) got += pair.b.read(in, got, out.size() - got);
        }
        pair.b.finish_frame();
        for (Bytes i = 0; i < kBlocks; ++i)
            REQUIRE(to.compare(i * stride, block + 3, from.substr(i * stride, block) + "...") == 0);
    }
}

// A message that is cut: of a long frame few bytes are read and the others skipped, while it is
// still arriving.
TEST_CASE("what a reader does not want of a long frame does not hold it up", "[tcp_pipe]") {
    const Bytes length = Bytes{200} << 10;
    for (const Bytes wanted : {Bytes{0}, Bytes{100}, Bytes{70} << 10, length - 1}) {
        Pair pair(4096);
        const std::string text = text_of(length, 9);
        Sending sending(pair.a, text, 1, 0);
        bool sent = sending.step();
        REQUIRE_FALSE(sent);
        std::string got(wanted, ' ');
        Bytes done = 0;
        // As a device looks: a read that could go directly, or else the buffer is filled first.
        int looks = 0;
        while (done < length) {
            if (!pair.b.reads_directly()) pair.b.fill();
            while (pair.b.front() != nullptr && done < length) {
                const BufferView view(got.data(), got.size());
                const Bytes n = done < wanted ? pair.b.read(view, done, wanted - done)
                                              : pair.b.skip(length - done);
                if (n == 0) break;
                done += n;
            }
            if (!sent) sent = sending.step();
            REQUIRE(++looks < 100'000);
        }
        pair.b.finish_frame();
        REQUIRE(got == text.substr(0, wanted));
        REQUIRE(pair.b.fault() == nullptr);
    }
}

TEST_CASE("tokens hold a sender back until they are returned", "[tcp_pipe]") {
    Pair pair;
    const std::string text(1000, 'x');
    Bytes sent = 0;
    while (send_text(pair.a, text, 0, 4096) != Pipe::kNoRoom) ++sent;
    CHECK(sent == kCapacity / 4096);
    CHECK(pair.a.start_frame(eager(0), {}, 0, 0) == 0);  // what costs nothing may go
    Receiving in(pair.b, 4096);
    in.take();
    CHECK(in.frames == static_cast<int>(sent) + 1);
    pair.a.fill();
    CHECK(pair.a.front() == nullptr);
    CHECK(send_text(pair.a, text, 0, 4096) == text.size());
    CHECK(pair.a.fault() == nullptr);
}

TEST_CASE("a sender that waits for tokens always gets them in the end", "[tcp_pipe]") {
    std::mt19937 random(3);
    Pair pair(2000);
    // Each waits for the other's tokens again and again, and none is sent on its own.
    Receiving at_a(pair.a, 1);
    Receiving at_b(pair.b, 1);
    at_a.cost_ = at_b.cost_ = kCapacity / 4;
    for (int round = 0; round < 2000; ++round) {
        TcpPipe& from = random() % 2 == 0 ? pair.a : pair.b;
        for (int tries = 0; send_text(from, "payload", round, kCapacity / 4) == Pipe::kNoRoom;
             ++tries) {
            REQUIRE(tries < 1000);
            pair.a.flush();
            pair.b.flush();
            at_a.take();
            at_b.take();
        }
    }
}

TEST_CASE("frames wait for the connection, as far as there is room", "[tcp_pipe]") {
    Host host;
    TcpPipe a(1, Bytes{1} << 30, "task 3 on there", host);
    const std::string text(1000, 'y');
    int kept = 0;
    while (send_text(a, text, kept) != Pipe::kNoRoom) ++kept;
    CHECK(kept == static_cast<int>(TcpPipe::kPrivateOut / (1000 + sizeof(FrameHeader))));
    CHECK(a.kept() <= TcpPipe::kPrivateOut);
    CHECK(host.calls == 1);
    Ends ends;
    a.open(std::move(ends.one));
    TcpPipe b(0, kCapacity, "here", host);
    b.open(std::move(ends.other));
    Receiving in(b);
    while (in.frames < kept) {
        a.flush();
        in.take();
    }
    CHECK(in.tag == kept - 1);
}

TEST_CASE("read_whole takes what is there as a whole and fits", "[tcp_pipe]") {
    Pair pair;
    send_text(pair.a, "hello");
    send_text(pair.a, "more than fits");
    pair.b.fill();
    char room[8] = {};
    const BufferView view(room, sizeof room);
    REQUIRE(pair.b.front() != nullptr);
    CHECK(pair.b.read_whole(view, 0));
    CHECK(std::string(room) == "hello");
    REQUIRE(pair.b.front() != nullptr);
    CHECK_FALSE(pair.b.read_whole(view, 0));
    CHECK(pair.b.skip(100) == 14);
    pair.b.finish_frame();
    CHECK(pair.b.front() == nullptr);
}

TEST_CASE("a peer that breaks the rules breaks its pipe", "[tcp_pipe]") {
    for (int kind = 0; kind < 256; ++kind) {
        Host host;
        Ends ends;
        TcpPipe pipe(3, kCapacity, "task 3 on there", host);
        pipe.open(std::move(ends.one));
        FrameHeader header = eager(1);
        header.kind = static_cast<FrameKind>(kind);
        write_raw(ends.other.get(), &header, sizeof header);
        pipe.fill();
        const bool known = kind >= 1 && kind <= 6;
        INFO("kind " << kind);
        CHECK((pipe.front() != nullptr) == known);
        // A token that was never taken cannot be returned.
        CHECK((pipe.fault() == nullptr) == known);
        CHECK((send_text(pipe, "x") == Pipe::kNoRoom) == !known);
    }
}

TEST_CASE("what was sent before the end is received before the fault", "[tcp_pipe]") {
    Host host;
    Ends ends;
    TcpPipe pipe(3, kCapacity, "task 3 on node7", host);
    pipe.open(std::move(ends.one));
    {
        TcpPipe other(0, kCapacity, "here", host);
        other.open(std::move(ends.other));
        send_text(other, "last words");
    }
    Receiving in(pipe);
    pipe.fill();
    pipe.fill();
    CHECK(pipe.broken());
    CHECK(pipe.fault() == nullptr);
    in.take();
    CHECK(in.text == "last words");
    poe::test::await([&] { return pipe.fault() != nullptr; }, "the pipe is broken");
    CHECK(std::string(pipe.fault()) == "the connection to task 3 on node7 was lost");
    CHECK(send_text(pipe, "x") == Pipe::kNoRoom);
    CHECK(pipe.front() == nullptr);
}

TEST_CASE("an end in the middle of a frame is an end", "[tcp_pipe]") {
    for (const Bytes length : {Bytes{10}, Bytes{1} << 20}) {
        Host host;
        Ends ends;
        TcpPipe pipe(3, kCapacity, "task 3 on node7", host);
        pipe.open(std::move(ends.one));
        const FrameHeader header = eager(length);
        write_raw(ends.other.get(), &header, sizeof header);
        write_raw(ends.other.get(), "abc", 3);
        ends.other.reset();
        Receiving in(pipe);
        while (!pipe.broken()) in.take();
        CHECK(in.frames == 0);
        poe::test::await([&] { return pipe.fault() != nullptr; }, "the pipe is broken");
    }
}

// The end of a TCP socket that has unread data is a reset; it must not take back what the other
// end has received, which is what TcpDevice::finish_sending() relies on.
TEST_CASE("a reset takes nothing back that has arrived", "[tcp_pipe]") {
    std::uint16_t port = 0;
    const auto address = poe::loopback_address();
    const UniqueFd listener = poe::listen_on(address, port);
    UniqueFd one(::socket(static_cast<int>(address.family), SOCK_STREAM, 0));
    const poe::SocketAddress to(address, port);
    REQUIRE(::connect(one.get(), to.get(), to.length) == 0);
    pollfd ready{listener.get(), POLLIN, 0};
    REQUIRE(::poll(&ready, 1, 10'000) == 1);
    UniqueFd two(::accept(listener.get(), nullptr, nullptr));
    REQUIRE(two);
    Host host;
    auto a = std::make_unique<TcpPipe>(1, kCapacity, "task 3 on there", host);
    a->open(std::move(one));
    const std::string all(50'000, 'z');
    REQUIRE(send_text(*a, all) == all.size());
    write_raw(two.get(), "unread", 6);
    int waiting = 0;
    do {
        REQUIRE(::ioctl(a->fd(), SIOCOUTQ, &waiting) == 0);
    } while (waiting > 0 || a->kept() > 0);
    a.reset();
    TcpPipe b(0, kCapacity, "here", host);
    b.open(std::move(two));
    Receiving in(b);
    while (!b.broken()) in.take();
    in.take();
    REQUIRE(in.frames == 1);
    CHECK(in.text == all);
}
