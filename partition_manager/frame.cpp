// Encoding and cutting of frames; see frame.hpp for the format.
#include "partition_manager/frame.hpp"

#include <algorithm>
#include <cstring>

#include "comm/base/check.hpp"

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

// More than the largest frame of data. Larger control messages are rare: space for one is given
// back.
constexpr std::size_t kKeptBytes = 2 * kMaxDataPayload;

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

std::span<char> FrameReader::prepare(std::size_t want) {
    if (begin_ == end_) {
        begin_ = end_ = 0;
        if (buffer_.size() > kKeptBytes) buffer_ = {};
    }
    if (buffer_.size() - end_ < want && begin_ > 0) {
        std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
        end_ -= begin_;
        begin_ = 0;
    }
    if (buffer_.size() - end_ < want) buffer_.resize(end_ + want);
    return {buffer_.data() + end_, buffer_.size() - end_};
}

void FrameReader::commit(std::size_t count) {
    POE_CHECK(count <= buffer_.size() - end_, count, buffer_.size(), end_);
    end_ += count;
}

FrameReader::Status FrameReader::bad(std::string why) {
    error_ = std::move(why);
    return Status::kBad;
}

FrameReader::Status FrameReader::next(Frame& frame) {
    if (!error_.empty()) return Status::kBad;
    const std::size_t have = end_ - begin_;
    if (have < kFrameHeaderBytes) return Status::kNeedMore;
    const char* header = buffer_.data() + begin_;
    const std::size_t length = get_u32(header);
    const auto kind = static_cast<std::uint8_t>(header[4]);
    if (!known_kind(kind)) return bad("unknown frame kind " + std::to_string(kind));
    if (header[6] != 0 || header[7] != 0) return bad("reserved header bytes are not zero");
    const bool control = static_cast<FrameKind>(kind) == FrameKind::kControl;
    if (length > (control ? kMaxControlPayload : kMaxDataPayload))
        return bad("a frame of " + std::to_string(length) + " bytes is too long");
    if (have < kFrameHeaderBytes + length) return Status::kNeedMore;
    frame.kind = static_cast<FrameKind>(kind);
    frame.flags = static_cast<std::uint8_t>(header[5]);
    frame.task = static_cast<TaskId>(get_u32(header + 8));
    frame.payload = {header + kFrameHeaderBytes, length};
    begin_ += kFrameHeaderBytes + length;
    return Status::kFrame;
}

}  // namespace poe::pm
