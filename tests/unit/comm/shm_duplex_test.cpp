// Both directions of a pair together: the marks and echoes by which a sender learns that its ring
// is empty, under random schedules. Whatever is said when, no byte is overwritten before it is
// read.
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <catch2/catch.hpp>

#include "comm/shm/shm_pipe.hpp"

using namespace poe::comm;
using poe::Bytes;

namespace {

constexpr Bytes kControl = 4096;
constexpr Bytes kRing = 32 << 10;
constexpr Bytes kTokens = 1 << 20;

struct Memory {
    Memory() : start(static_cast<std::byte*>(std::aligned_alloc(4096, kControl + kRing))) {
        std::memset(start, 0, kControl + kRing);
    }
    ~Memory() { std::free(start); }
    Memory(const Memory&) = delete;
    Memory& operator=(const Memory&) = delete;
    ShmPipeMemory view() { return ShmPipeMemory::at(start, kControl, kRing, kTokens, nullptr); }
    std::byte* start;
};

std::byte content(int frame, Bytes at) {
    return static_cast<std::byte>(static_cast<unsigned>(frame) * 31 + at * 7);
}

// One end: sends frames 0, 1, ... of sizes that its seed says, and checks the other's.
class End {
  public:
    End(Memory& out, Memory& in, unsigned own_seed, unsigned other_seed)
        : sender_(out.view()), receiver_(in.view()), sizes_(own_seed), expected_(other_seed) {}

    // Sends as much as there is room for, at most a frame. Answers whether anything went.
    bool send(bool new_frames = true) {
        if (sent_ == message_.size()) {
            if (!new_frames) return false;
            message_.resize(draw(sizes_));
            for (Bytes i = 0; i < message_.size(); ++i) message_[i] = content(frames_sent, i);
            sender_.set_echo(receiver_.echo());
            const Bytes taken =
                sender_.start_frame({static_cast<std::uint32_t>(message_.size()), frames_sent,
                                     poe::kMplContext, FrameKind::kEager, FlowClass::kUser},
                                    {message_.data(), message_.size()}, 0, 0);
            if (taken == Pipe::kNoRoom) {
                put_back_ = static_cast<Bytes>(message_.size());
                sent_ = message_.size();
                return false;
            }
            put_back_ = kNothing;
            sent_ = taken;
            ++frames_sent;
            return true;
        }
        const Bytes more = sender_.continue_frame({message_.data(), message_.size()}, sent_,
                                                  message_.size() - sent_);
        sent_ += more;
        return more > 0;
    }
    bool receive() {
        const FrameHeader* header = receiver_.front();
        if (header == nullptr) return false;
        sender_.take_echo(header->device);
        if (got_ == 0 && !begun_) {
            begun_ = true;
            if (header->tag != frames_got || header->length != draw(expected_))
                wrong = "frame " + std::to_string(frames_got) + " has another header";
            in_.assign(header->length, std::byte{0});
        }
        const BufferView to(in_.data(), in_.size());
        const bool whole = got_ == 0 && receiver_.read_whole(to, 0);
        if (!whole) {
            const Bytes n = receiver_.read(to, got_, in_.size() - got_);
            got_ += n;
            if (got_ < in_.size()) return n > 0;
            receiver_.finish_frame();
        }
        for (Bytes i = 0; i < in_.size(); ++i)
            if (in_[i] != content(frames_got, i))
                wrong = "frame " + std::to_string(frames_got) + ", byte " + std::to_string(i);
        got_ = 0;
        begun_ = false;
        ++frames_got;
        return true;
    }
    bool all_sent() const { return sent_ == message_.size(); }
    bool sound() const { return sender_.fault() == nullptr && receiver_.fault() == nullptr; }

    std::string wrong;
    int frames_sent = 0;
    int frames_got = 0;

  private:
    static constexpr Bytes kNothing = ~Bytes{0};

    // A frame that found no room is tried again, with the size it had.
    Bytes draw(std::mt19937& random) {
        if (&random == &sizes_ && put_back_ != kNothing) return put_back_;
        switch (random() % 6) {
            case 0:
                return random() % (ShmCell::kInline + 1);
            case 1:
                return ShmCell::kInline + 1 + random() % 400;
            case 2:
                return 4000 + random() % 200;
            case 3:
                return random() % 20000;
            default:
                return ShmCell::kInline + 1 + random() % 3000;
        }
    }

    ShmSender sender_;
    ShmReceiver receiver_;
    std::mt19937 sizes_;
    std::mt19937 expected_;
    std::vector<std::byte> message_;
    std::vector<std::byte> in_;
    Bytes sent_ = 0;
    Bytes got_ = 0;
    Bytes put_back_ = kNothing;
    bool begun_ = false;
};

}  // namespace

TEST_CASE("no schedule of two senders and receivers loses or changes a byte") {
    for (unsigned seed = 0; seed < 3000; ++seed) {
        CAPTURE(seed);
        Memory there, back;
        End a(there, back, seed, seed + 7'000'000);
        End b(back, there, seed + 7'000'000, seed);
        std::mt19937 schedule(seed);
        // Long stretches of one direction, and quick turns.
        unsigned bias = 2;
        for (int step = 0; step < 400; ++step) {
            if (schedule() % 40 == 0) bias = 1 + schedule() % 8;
            End& end = schedule() % 2 == 0 ? a : b;
            if (schedule() % 8 < bias)
                end.send();
            else
                end.receive();
        }
        for (int vain = 0; a.frames_got < b.frames_sent || b.frames_got < a.frames_sent; ++vain) {
            const bool sent = a.send(false) || b.send(false);
            if (a.receive() || b.receive() || sent) vain = 0;
            REQUIRE(vain < 10);
        }
        REQUIRE(a.frames_sent + b.frames_sent > 20);
        REQUIRE(a.wrong == "");
        REQUIRE(b.wrong == "");
        REQUIRE(a.sound());
        REQUIRE(b.sound());
    }
}

TEST_CASE("two threads send to each other at once") {
    for (unsigned seed = 0; seed < 12; ++seed) {
        CAPTURE(seed);
        Memory there, back;
        End a(there, back, seed, seed + 1000);
        End b(back, there, seed + 1000, seed);
        constexpr int kFrames = 500;
        const auto run = [](End& end, unsigned own) {
            std::mt19937 random(own);
            while (end.frames_got < kFrames || end.frames_sent < kFrames || !end.all_sent()) {
                if (random() % 2 == 0) end.send(end.frames_sent < kFrames);
                if (!end.receive()) std::this_thread::yield();
            }
        };
        std::thread other([&] { run(b, seed); });
        run(a, seed + 1);
        other.join();
        REQUIRE(a.wrong == "");
        REQUIRE(b.wrong == "");
        REQUIRE(a.sound());
        REQUIRE(b.sound());
    }
}

TEST_CASE("messages that are answered always use the same lines") {
    Memory there, back;
    ShmSender a(there.view()), b(back.view());
    ShmReceiver at_b(there.view()), at_a(back.view());
    std::vector<std::byte> bytes(3000, std::byte{0xff});
    const BufferView view(bytes.data(), bytes.size());
    for (int round = 0; round < 1000; ++round) {
        REQUIRE(a.start_frame({3000, round, poe::kMplContext, FrameKind::kEager, FlowClass::kUser},
                              view, 0, 0) == 3000);
        const FrameHeader* header = at_b.front();
        REQUIRE(header != nullptr);
        b.take_echo(header->device);
        REQUIRE(at_b.read_whole(view, 0));
        b.set_echo(at_b.echo());
        REQUIRE(b.start_frame({3000, round, poe::kMplContext, FrameKind::kEager, FlowClass::kUser},
                              view, 0, 0) == 3000);
        header = at_a.front();
        REQUIRE(header != nullptr);
        a.take_echo(header->device);
        REQUIRE(at_a.read_whole(view, 0));
        a.set_echo(at_a.echo());
    }
    // The lines behind the two places have never been touched.
    for (const Bytes from : {Bytes{0}, kSecondPlace})
        for (Bytes at = kControl + from + 4096; at < kControl + from + 8192; ++at)
            if (there.start[at] != std::byte{0} || back.start[at] != std::byte{0}) FAIL(at);
    SUCCEED();
}
