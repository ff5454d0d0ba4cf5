// Writes headers and splits frames; frame.hpp describes the format.
#include "partition_manager/channel/frame.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/check.hpp"

namespace poe::pm {

namespace {

void put_u32(char* out, std::uint32_t value) {
    for (int i = 0; i < 4; ++i) out[i] = static_cast<char>(value >> (8 * i));
}

std::uint32_t get_u32(const char* in) {
    std::uint32_t value = 0;
    for (int i = 0; i < 4; ++i)
        value |= static_cast<std::uint32_t>(static_cast<unsigned char>(in[i])) << (8 * i);
    return value;
}

bool known_kind(std::uint8_t kind) {
    return kind >= static_cast<std::uint8_t>(FrameKind::kControl) &&
           kind <= static_cast<std::uint8_t>(FrameKind::kTrace);
}

}  // namespace

void write_frame_header(char* out, FrameKind kind, std::uint8_t flags, TaskId task,
                        std::size_t length) {
    put_u32(out, static_cast<std::uint32_t>(length));
    out[4] = static_cast<char>(kind);
    out[5] = static_cast<char>(flags);
    out[6] = out[7] = 0;
    put_u32(out + 8, static_cast<std::uint32_t>(task));
}

std::string pack_time(std::chrono::system_clock::time_point time) {
    const auto ns = std::chrono::duration_cast<std::chrono::nanoseconds>(time.time_since_epoch());
    const auto bits = static_cast<std::uint64_t>(ns.count());
    std::string payload(sizeof bits, '\0');
    for (std::size_t i = 0; i < payload.size(); ++i)
        payload[i] = static_cast<char>(bits >> (8 * i));
    return payload;
}

std::chrono::system_clock::time_point unpack_time(std::string_view payload) {
    std::uint64_t bits = 0;
    if (payload.size() != sizeof bits) return {};
    for (std::size_t i = payload.size(); i-- > 0;)
        bits = bits << 8 | static_cast<unsigned char>(payload[i]);
    return std::chrono::system_clock::time_point(
        std::chrono::nanoseconds(static_cast<std::int64_t>(bits)));
}

std::span<char> FrameReader::prepare(std::size_t want) {
    if (handed_out_ > 0) received_.take(std::exchange(handed_out_, 0));
    char* space = received_.reserve(want);
    return {space, received_.space()};
}

void FrameReader::commit(std::size_t count) {
    POE_CHECK(count <= received_.space(), count, received_.size(), received_.capacity());
    received_.append(count);
}

FrameReader::Status FrameReader::bad(std::string why) {
    error_ = std::move(why);
    return Status::kBad;
}

FrameReader::Status FrameReader::next(Frame& frame) {
    if (!error_.empty()) return Status::kBad;
    const std::string_view have = rest();
    if (have.size() < kFrameHeaderBytes) return Status::kNeedMore;
    const char* header = have.data();
    const std::size_t length = get_u32(header);
    const auto kind = static_cast<std::uint8_t>(header[4]);
    if (!known_kind(kind)) return bad("unknown frame kind " + std::to_string(kind));
    if (header[6] != 0 || header[7] != 0) return bad("reserved header bytes are not zero");
    const bool control = static_cast<FrameKind>(kind) == FrameKind::kControl;
    if (length > (control ? kMaxControlPayload : kMaxDataPayload))
        return bad("a frame of " + std::to_string(length) + " bytes is too long");
    if (have.size() < kFrameHeaderBytes + length) return Status::kNeedMore;
    frame.kind = static_cast<FrameKind>(kind);
    frame.flags = static_cast<std::uint8_t>(header[5]);
    frame.task = static_cast<TaskId>(get_u32(header + 8));
    frame.payload = {header + kFrameHeaderBytes, length};
    handed_out_ += kFrameHeaderBytes + length;
    return Status::kFrame;
}

}  // namespace poe::pm
