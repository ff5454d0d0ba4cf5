// Frames: every way to cut the bytes, every way to be wrong.
#include "partition_manager/channel/frame.hpp"

#include <cstring>
#include <random>

#include <catch2/catch.hpp>

using namespace poe::pm;

namespace {

struct Copy {
    FrameKind kind;
    int flags;
    poe::TaskId task;
    std::string payload;
    bool operator==(const Copy& other) const {
        return kind == other.kind && flags == other.flags && task == other.task &&
               payload == other.payload;
    }
};

std::string bytes_of(const Copy& frame) {
    char header[kFrameHeaderBytes];
    write_frame_header(header, frame.kind, static_cast<std::uint8_t>(frame.flags), frame.task,
                       frame.payload.size());
    return std::string(header, sizeof header) + frame.payload;
}

void put(FrameReader& reader, std::string_view bytes) {
    const std::span<char> space = reader.prepare(bytes.size());
    REQUIRE(space.size() >= bytes.size());
    if (!bytes.empty()) std::memcpy(space.data(), bytes.data(), bytes.size());
    reader.commit(bytes.size());
}

FrameReader::Status take(FrameReader& reader, std::vector<Copy>& frames) {
    Frame frame;
    FrameReader::Status status;
    while ((status = reader.next(frame)) == FrameReader::Status::kFrame)
        frames.push_back({frame.kind, frame.flags, frame.task, std::string(frame.payload)});
    return status;
}

const std::vector<Copy> kFrames = {
    {FrameKind::kControl, 0, -1, "\x81\x05"},
    {FrameKind::kStdout, kFlagOpenLine, 0, "abc"},
    {FrameKind::kStderr, 0, 100000, ""},
    {FrameKind::kStdin, 255, -2147483647 - 1, std::string("\0\r\n\xff", 4)},
    {FrameKind::kCredit, 2, 2147483647, "12345678"},
};

}  // namespace

TEST_CASE("a frame's header", "[frame]") {
    char header[kFrameHeaderBytes];
    write_frame_header(header, FrameKind::kStderr, 1, -2, 0x01020304);
    CHECK(std::string(header, sizeof header) ==
          std::string("\x04\x03\x02\x01\x03\x01\x00\x00\xfe\xff\xff\xff", 12));
}

TEST_CASE("frames cut at every place", "[frame]") {
    std::string stream;
    for (const Copy& frame : kFrames) stream += bytes_of(frame);
    for (std::size_t first = 0; first <= stream.size(); ++first) {
        for (std::size_t second = first; second <= stream.size(); ++second) {
            FrameReader reader;
            std::vector<Copy> frames;
            const std::string_view all = stream;
            for (const auto piece :
                 {all.substr(0, first), all.substr(first, second - first), all.substr(second)}) {
                put(reader, piece);
                REQUIRE(take(reader, frames) == FrameReader::Status::kNeedMore);
            }
            REQUIRE(frames == kFrames);
        }
    }
    FrameReader reader;
    std::vector<Copy> frames;
    for (const char byte : stream) {
        put(reader, {&byte, 1});
        REQUIRE(take(reader, frames) == FrameReader::Status::kNeedMore);
    }
    CHECK(frames == kFrames);
}

TEST_CASE("kinds that do not exist", "[frame]") {
    for (int kind = 0; kind < 256; ++kind) {
        FrameReader reader;
        put(reader, bytes_of({static_cast<FrameKind>(kind), 0, 0, "x"}));
        Frame frame;
        const bool known = kind >= 1 && kind <= 6;
        CHECK((reader.next(frame) == FrameReader::Status::kFrame) == known);
        CHECK(reader.error().empty() == known);
    }
}

TEST_CASE("a bad frame is the end", "[frame]") {
    const std::string good = bytes_of(kFrames[1]);
    for (const std::size_t at : {6, 7}) {
        for (const char value : {'\x01', '\x80', '\xff'}) {
            std::string bad = good;
            bad[at] = value;
            FrameReader reader;
            put(reader, good + bad.substr(0, kFrameHeaderBytes));
            Frame frame;
            CHECK(reader.next(frame) == FrameReader::Status::kFrame);
            CHECK(reader.next(frame) == FrameReader::Status::kBad);
            CHECK_FALSE(reader.error().empty());
            put(reader, good);
            CHECK(reader.next(frame) == FrameReader::Status::kBad);
        }
    }
}

TEST_CASE("lengths at the limit and beyond", "[frame]") {
    struct Case {
        FrameKind kind;
        std::size_t length;
        FrameReader::Status status;
    };
    const Case cases[] = {
        {FrameKind::kStdout, kMaxDataPayload, FrameReader::Status::kNeedMore},
        {FrameKind::kStdout, kMaxDataPayload + 1, FrameReader::Status::kBad},
        {FrameKind::kCredit, kMaxDataPayload + 1, FrameReader::Status::kBad},
        {FrameKind::kControl, kMaxDataPayload + 1, FrameReader::Status::kNeedMore},
        {FrameKind::kControl, kMaxControlPayload, FrameReader::Status::kNeedMore},
        {FrameKind::kControl, kMaxControlPayload + 1, FrameReader::Status::kBad},
        {FrameKind::kControl, 0xffffffffu, FrameReader::Status::kBad},
        {FrameKind::kStdin, 0x80000000u, FrameReader::Status::kBad},
    };
    for (const Case& one : cases) {
        INFO(static_cast<int>(one.kind) << " " << one.length);
        char header[kFrameHeaderBytes];
        write_frame_header(header, one.kind, 0, 0, one.length);
        FrameReader reader;
        Frame frame;
        put(reader, {header, kFrameHeaderBytes - 1});
        CHECK(reader.next(frame) == FrameReader::Status::kNeedMore);
        put(reader, {header + kFrameHeaderBytes - 1, 1});
        CHECK(reader.next(frame) == one.status);
    }
}

TEST_CASE("frames as large as they may be", "[frame]") {
    Copy data{FrameKind::kStdout, 0, 7, std::string(kMaxDataPayload, 'd')};
    Copy control{FrameKind::kControl, 0, -1, std::string(3 * kMaxDataPayload + 5, 'c')};
    data.payload.back() = control.payload.back() = 'e';
    const std::string stream = bytes_of(data) + bytes_of(control) + bytes_of(data);
    FrameReader reader;
    std::vector<Copy> frames;
    for (std::size_t at = 0; at < stream.size(); at += 10007) {
        put(reader, std::string_view(stream).substr(at, 10007));
        REQUIRE(take(reader, frames) == FrameReader::Status::kNeedMore);
    }
    CHECK((frames == std::vector<Copy>{data, control, data}));
}

TEST_CASE("payloads stay until more space is asked for", "[frame]") {
    FrameReader reader;
    put(reader, bytes_of(kFrames[1]) + bytes_of(kFrames[4]));
    Frame first;
    Frame second;
    REQUIRE(reader.next(first) == FrameReader::Status::kFrame);
    REQUIRE(reader.next(second) == FrameReader::Status::kFrame);
    Frame none;
    CHECK(reader.next(none) == FrameReader::Status::kNeedMore);
    CHECK(first.payload == "abc");
    CHECK(second.payload == "12345678");
}

TEST_CASE("the buffer is used again", "[frame]") {
    const std::string frame = bytes_of({FrameKind::kStdout, 0, 1, std::string(1000, 'x')});
    FrameReader reader;
    std::vector<Copy> frames;
    std::string rest;
    for (int i = 0; i < 20000; ++i) {
        // Never at a frame's end, so that something is always left over.
        rest += frame;
        const std::size_t count = std::min<std::size_t>(rest.size(), 1009);
        put(reader, std::string_view(rest).substr(0, count));
        rest.erase(0, count);
        frames.clear();
        REQUIRE(take(reader, frames) == FrameReader::Status::kNeedMore);
    }
    CHECK(reader.prepare(1).size() < 16384);
}

TEST_CASE("space for a huge frame is given back", "[frame]") {
    const std::string huge =
        bytes_of({FrameKind::kControl, 0, -1, std::string(16 * kMaxDataPayload, 'x')});
    FrameReader reader;
    std::vector<Copy> frames;
    put(reader, huge);
    REQUIRE(take(reader, frames) == FrameReader::Status::kNeedMore);
    CHECK(reader.prepare(1000).size() < 4 * kMaxDataPayload);
    // Frames as large as streams have them do not allocate anew each time.
    const std::string usual =
        bytes_of({FrameKind::kStdout, 0, -1, std::string(kMaxDataPayload, 'x')});
    put(reader, usual);
    REQUIRE(take(reader, frames) == FrameReader::Status::kNeedMore);
    CHECK(reader.prepare(1).size() >= usual.size());
    CHECK(frames.size() == 2);
}

TEST_CASE("random frames in random pieces", "[frame]") {
    std::mt19937 random(1);
    const auto below = [&](std::size_t limit) { return random() % limit; };
    for (int round = 0; round < 200; ++round) {
        std::vector<Copy> expected;
        std::string stream;
        for (std::size_t i = below(20); i > 0; --i) {
            Copy frame{static_cast<FrameKind>(1 + below(5)), static_cast<int>(below(256)),
                       static_cast<poe::TaskId>(random()), std::string(below(3000), '\0')};
            for (char& c : frame.payload) c = static_cast<char>(random());
            stream += bytes_of(frame);
            expected.push_back(std::move(frame));
        }
        FrameReader reader;
        std::vector<Copy> frames;
        for (std::size_t at = 0; at < stream.size();) {
            const std::size_t count = std::min(stream.size() - at, below(4000));
            put(reader, std::string_view(stream).substr(at, count));
            at += count;
            if (below(3) > 0) REQUIRE(take(reader, frames) == FrameReader::Status::kNeedMore);
        }
        REQUIRE(take(reader, frames) == FrameReader::Status::kNeedMore);
        REQUIRE(frames == expected);
    }
}
