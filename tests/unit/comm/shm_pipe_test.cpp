// The shared-memory pipe on plain memory: order, streaming, flow control, and a peer that writes
// nonsense.
#include "comm/shm/shm_pipe.hpp"

#include <cstring>
#include <memory>
#include <numeric>
#include <random>
#include <thread>
#include <vector>

#include <catch2/catch.hpp>

#include "tests/unit/await.hpp"

using namespace poe::comm;
using poe::Bytes;

namespace {

constexpr Bytes kControl = 4096;
constexpr Bytes kRing = 32 << 10;
constexpr Bytes kTokens = 64 << 10;

// Zeroed, page-aligned memory of one direction.
struct Memory {
    Memory() : start(static_cast<std::byte*>(std::aligned_alloc(4096, kControl + kRing))) {
        std::memset(start, 0, kControl + kRing);
    }
    ~Memory() { std::free(start); }
    ShmPipeMemory view() {
        return ShmPipeMemory::at(start, kControl, kRing, kTokens,
                                 [this](Bytes size) { reserved = size; });
    }
    ShmControl& control() { return *view().control; }
    std::byte* start;
    Bytes reserved = 0;
};

std::vector<std::byte> pattern(std::size_t size, unsigned seed) {
    std::vector<std::byte> bytes(size);
    std::mt19937 random(seed);
    for (auto& byte : bytes) byte = static_cast<std::byte>(random());
    return bytes;
}

BufferView view_of(std::vector<std::byte>& bytes) {
    return {bytes.data(), bytes.size()};
}

FrameHeader header_of(std::size_t length, int tag) {
    return {static_cast<std::uint32_t>(length), tag, poe::kMplContext, FrameKind::kEager,
            FlowClass::kUser};
}

}  // namespace

TEST_CASE("frames of every size arrive whole and in order") {
    Memory memory;
    ShmSender sender(memory.view());
    ShmReceiver receiver(memory.view());
    int tag = 0;
    for (int lap = 0; lap < 3; ++lap) {
        for (const std::size_t size :
             {0u, 1u, 47u, 48u, 49u, 63u, 64u, 65u, 4095u, 4096u, 4097u, 8192u, 30000u, 100000u}) {
            CAPTURE(size);
            auto out = pattern(size, static_cast<unsigned>(++tag));
            std::vector<std::byte> in(size);
            CHECK_FALSE(receiver.has_input());
            CHECK(receiver.front() == nullptr);
            Bytes sent = sender.start_frame(header_of(size, tag), view_of(out), 0, 0);
            REQUIRE(sent != Pipe::kNoRoom);
            REQUIRE(receiver.has_input());
            const FrameHeader* header = receiver.front();
            REQUIRE(header != nullptr);
            CHECK(header->tag == tag);
            CHECK(header->length == size);
            Bytes got = 0;
            while (got < size) {
                const Bytes before = got + sent;
                got += receiver.read(view_of(in), got, size - got);
                if (sent < size) sent += sender.continue_frame(view_of(out), sent, size - sent);
                REQUIRE(got + sent > before);
            }
            receiver.finish_frame();
            CHECK(in == out);
        }
    }
    CHECK(sender.fault() == nullptr);
    CHECK(receiver.fault() == nullptr);
}

TEST_CASE("a strided message is moved without packing") {
    Memory memory;
    ShmSender sender(memory.view());
    ShmReceiver receiver(memory.view());
    auto out = pattern(1000, 5);
    std::vector<std::byte> in(1500);
    const BufferView from(out.data(), 10, 25, 40);  // 400 bytes
    const BufferView to(in.data(), 50, 200, 8);
    REQUIRE(from.size() == 400);
    REQUIRE(sender.start_frame(header_of(400, 1), from, 0, 0) == 400);
    REQUIRE(receiver.front() != nullptr);
    CHECK(receiver.read(to, 0, 400) == 400);
    receiver.finish_frame();
    for (std::size_t i = 0; i < 400; ++i) {
        REQUIRE(in[i / 50 * 200 + i % 50] == out[i / 10 * 25 + i % 10]);
    }
}

// Every eighth copy into the ring is timed, and memory with gaps then takes another way.
TEST_CASE("memory with gaps goes through the ring in both ways and arrives at once") {
    Memory memory;
    ShmSender sender(memory.view());
    ShmReceiver receiver(memory.view());
    for (const std::size_t blocks : {3u, 30u, 83u, 90u, 110u}) {
        CAPTURE(blocks);
        const std::size_t length = blocks * 37;
        for (unsigned repeat = 0; repeat < 40; ++repeat) {
            auto out = pattern(blocks * 50, repeat);
            std::vector<std::byte> in(blocks * 41);
            const BufferView from(out.data(), 37, 50, blocks);
            const BufferView to(in.data(), 37, 41, blocks);
            REQUIRE(sender.start_frame(header_of(length, 1), from, 0, 100) == length);
            REQUIRE(receiver.front() != nullptr);
            REQUIRE_FALSE(receiver.read_whole(BufferView(in.data(), length - 1), 100));
            REQUIRE(receiver.read_whole(to, 100));
            for (std::size_t i = 0; i < length; ++i)
                REQUIRE(in[i / 37 * 41 + i % 37] == out[i / 37 * 50 + i % 37]);
        }
    }
}

TEST_CASE("memory with gaps is streamed") {
    Memory memory;
    ShmSender sender(memory.view());
    ShmReceiver receiver(memory.view());
    constexpr std::size_t kBlocks = 700;
    constexpr std::size_t kLength = kBlocks * 45;
    for (unsigned repeat = 0; repeat < 20; ++repeat) {
        auto out = pattern(kBlocks * 64, repeat);
        std::vector<std::byte> in(kLength);
        const BufferView from(out.data(), 45, 64, kBlocks);
        Bytes sent = sender.start_frame(header_of(kLength, 1), from, 0, 0);
        REQUIRE(sent != Pipe::kNoRoom);
        REQUIRE(receiver.front() != nullptr);
        for (Bytes got = 0; got < kLength;) {
            got += receiver.read(view_of(in), got, kLength - got);
            if (sent < kLength) sent += sender.continue_frame(from, sent, kLength - sent);
        }
        receiver.finish_frame();
        for (std::size_t i = 0; i < kLength; ++i) REQUIRE(in[i] == out[i / 45 * 64 + i % 45]);
    }
}

TEST_CASE("a full pipe takes nothing until the receiver has read") {
    Memory memory;
    ShmSender sender(memory.view());
    ShmReceiver receiver(memory.view());
    std::vector<std::byte> none;
    int sent = 0;
    while (sender.start_frame(header_of(0, sent), view_of(none), 0, 0) != Pipe::kNoRoom) ++sent;
    CHECK(sent == static_cast<int>(memory.view().cell_count));
    for (int i = 0; i < sent; ++i) {
        REQUIRE(receiver.front() != nullptr);
        CHECK(receiver.front()->tag == i);
        receiver.finish_frame();
    }
    CHECK(receiver.take_published());
    CHECK(receiver.front() == nullptr);
    CHECK(sender.start_frame(header_of(0, 0), view_of(none), 0, 0) == 0);

    auto large = pattern(kRing * 2, 1);
    Bytes taken = sender.start_frame(header_of(large.size(), 1), view_of(large), 0, 0);
    Bytes more = taken;
    while (more > 0) {
        more = sender.continue_frame(view_of(large), taken, large.size() - taken);
        taken += more;
    }
    CHECK(taken <= kRing);
    CHECK(taken > kRing - 2 * poe::kLine);
}

TEST_CASE("ring memory is asked for before it is touched, as far as it is needed") {
    Memory memory;
    ShmSender sender(memory.view());
    std::vector<std::byte> small(40);
    REQUIRE(sender.start_frame(header_of(40, 1), view_of(small), 0, 0) == 40);
    CHECK(memory.reserved == 0);
    std::vector<std::byte> medium(ShmCell::kInline + 1);
    REQUIRE(sender.start_frame(header_of(medium.size(), 1), view_of(medium), 0, 0) ==
            medium.size());
    CHECK(memory.reserved == kRing);
}

TEST_CASE("tokens run out and come back") {
    Memory memory;
    ShmSender sender(memory.view());
    ShmReceiver receiver(memory.view());
    std::vector<std::byte> none;
    const auto starts = [&](Bytes cost) {
        const bool started = sender.start_frame(header_of(0, 1), view_of(none), 0, cost) == 0;
        if (started) {
            REQUIRE(receiver.front() != nullptr);
            receiver.finish_frame();
        }
        return started;
    };
    CHECK(starts(kTokens / 2));
    CHECK_FALSE(starts(kTokens / 2 + 1));
    CHECK(starts(kTokens / 2));
    CHECK_FALSE(starts(1));
    CHECK(starts(0));
    receiver.give_tokens(FlowClass::kUser, kTokens / 16);  // less than is published at once
    CHECK_FALSE(starts(1));
    receiver.give_tokens(FlowClass::kUser, kTokens / 16);
    CHECK(starts(kTokens / 8));
    CHECK_FALSE(starts(1));
}

TEST_CASE("a small frame can be read in one step") {
    Memory memory;
    ShmSender sender(memory.view());
    ShmReceiver receiver(memory.view());
    for (const std::size_t size :
         {0u, 1u, 3u, 4u, 8u, 15u, 16u, 31u, 32u, 33u, 48u, 49u, 4096u, 4097u}) {
        CAPTURE(size);
        auto out = pattern(size, static_cast<unsigned>(size));
        std::vector<std::byte> in(size);
        std::vector<std::byte> short_one(size > 0 ? size - 1 : 0);
        REQUIRE(sender.start_frame(header_of(size, 1), view_of(out), 0, size) <= size);
        REQUIRE(receiver.front() != nullptr);
        if (size > 0) CHECK_FALSE(receiver.read_whole(view_of(short_one), size));
        CHECK(receiver.read_whole(view_of(in), size) == (size <= kWholeFrame));
        if (size <= kWholeFrame) {
            CHECK(in == out);
            CHECK(receiver.front() == nullptr);
        }
    }
}

TEST_CASE("a receiver that claims the impossible breaks the pipe, not the sender") {
    Memory memory;
    ShmSender sender(memory.view());
    std::vector<std::byte> none;
    SECTION("frames") {
        memory.control().frames_read = 1000;
    }
    SECTION("bytes") {
        memory.control().bytes_read = ~std::uint64_t{0};
    }
    SECTION("tokens") {
        memory.control().tokens_given[0] = 1;
    }
    while (sender.start_frame(header_of(0, 1), view_of(none), 0, 0) != Pipe::kNoRoom) {
    }
    CHECK(sender.fault() != nullptr);
    CHECK(sender.start_frame(header_of(0, 1), view_of(none), 0, 0) == Pipe::kNoRoom);
}

TEST_CASE("a sender that writes nonsense never makes the receiver leave its memory") {
    std::mt19937_64 random(42);
    for (int round = 0; round < 3000; ++round) {
        Memory memory;
        ShmReceiver receiver(memory.view());
        const auto view = memory.view();
        for (int step = 0; step < 8; ++step) {
            // Scribble over control line and cells, often with a sequence that looks right.
            for (int i = 0; i < 20; ++i) {
                memory.start[random() % kControl] = static_cast<std::byte>(random());
            }
            if (random() % 2 == 0) view.control->bytes_written = random() % (3 * kRing);
            view.cells[static_cast<std::size_t>(step) % view.cell_count].sequence =
                static_cast<std::uint32_t>(step + 1);
            const FrameHeader* header = receiver.front();
            if (header == nullptr) break;
            const Bytes length = std::min<Bytes>(header->length, 200000);
            std::vector<std::byte> in(length);
            Bytes got = 0;
            while (got < length) {
                const Bytes n = receiver.read(view_of(in), got, length - got);
                if (n == 0) break;
                got += n;
            }
            REQUIRE(got <= length);
            if (got < header->length) break;
            receiver.finish_frame();
        }
    }
}

TEST_CASE("two threads stream through one pipe") {
    Memory memory;
    constexpr int kFrames = 3000;
    const auto size_of = [](int i) {
        return static_cast<std::size_t>(i * 7919 % 20000) >> (i % 9);
    };
    std::thread writer([&] {
        ShmSender sender(memory.view());
        for (int i = 0; i < kFrames; ++i) {
            auto out = pattern(size_of(i), static_cast<unsigned>(i));
            Bytes sent = Pipe::kNoRoom;
            while ((sent = sender.start_frame(header_of(out.size(), i), view_of(out), 0, 0)) ==
                   Pipe::kNoRoom) {
                std::this_thread::yield();
            }
            while (sent < out.size()) {
                const Bytes n = sender.continue_frame(view_of(out), sent, out.size() - sent);
                if (n == 0) std::this_thread::yield();
                sent += n;
            }
        }
    });
    ShmReceiver receiver(memory.view());
    int wrong = 0;
    for (int i = 0; i < kFrames; ++i) {
        const FrameHeader* header = nullptr;
        poe::test::await([&] { return (header = receiver.front()) != nullptr; },
                         "the frame has arrived");
        std::vector<std::byte> in(header->length);
        Bytes got = 0;
        while (got < in.size()) {
            const Bytes n = receiver.read(view_of(in), got, in.size() - got);
            if (n == 0) std::this_thread::yield();
            got += n;
        }
        if (header->tag != i || in != pattern(size_of(i), static_cast<unsigned>(i))) ++wrong;
        receiver.finish_frame();
    }
    writer.join();
    CHECK(wrong == 0);
    CHECK(receiver.fault() == nullptr);
}
