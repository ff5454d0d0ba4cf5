// Encodes numbers and texts as bytes, small numbers in few bytes; used for an index. The decoder
// trusts nothing: after the end or an invalid value it returns zeros and records the failure.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>

#include "tracer/read/trace_time.hpp"

namespace poe::trace {

class Packer {
  public:
    void number(std::uint64_t value) {
        while (value >= 0x80) {
            out_ += static_cast<char>(value | 0x80);
            value >>= 7;
        }
        out_ += static_cast<char>(value);
    }
    // Zigzag encoding: small distances from zero are short, including negative ones.
    void time(Time value) {
        const auto count = static_cast<std::uint64_t>(value.count());
        number(count << 1 ^ (value.count() < 0 ? ~std::uint64_t{0} : 0));
    }
    // Eight bytes, little-endian.
    void raw(std::uint64_t value) {
        for (int byte = 0; byte < 8; ++byte) out_ += static_cast<char>(value >> 8 * byte);
    }
    void text(const std::string& text) {
        number(text.size());
        out_ += text;
    }
    const std::string& bytes() const { return out_; }
    void clear() { out_.clear(); }

  private:
    std::string out_;
};

class Unpacker {
  public:
    explicit Unpacker(std::span<const std::byte> bytes) : bytes_(bytes) {}

    std::uint64_t number() {
        std::uint64_t value = 0;
        for (unsigned shift = 0; shift < 64; shift += 7) {
            if (at_ >= bytes_.size()) break;
            const auto byte = static_cast<std::uint64_t>(bytes_[at_++]);
            value |= (byte & 0x7f) << shift;
            if (byte < 0x80) return value;
        }
        fine_ = false;
        at_ = bytes_.size();
        return 0;
    }
    Time time() {
        const std::uint64_t value = number();
        return Time(static_cast<std::int64_t>(value >> 1 ^ (0 - (value & 1))));
    }
    // A time with which a reader may calculate, whatever the bytes are.
    Time bounded_time() { return std::clamp(time(), -kFarthest, kFarthest); }
    // A number of items that follow, each of at least one byte.
    std::size_t count() {
        const std::uint64_t value = number();
        if (value <= bytes_.size() - at_) return static_cast<std::size_t>(value);
        fine_ = false;
        return 0;
    }
    std::string text() {
        const std::size_t size = count();
        std::string text(reinterpret_cast<const char*>(bytes_.data() + at_), size);
        at_ += size;
        return text;
    }
    bool fine() const { return fine_; }

  private:
    std::span<const std::byte> bytes_;
    std::size_t at_ = 0;
    bool fine_ = true;
};

}  // namespace poe::trace
