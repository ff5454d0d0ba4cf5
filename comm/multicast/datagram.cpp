// Sealing and opening datagrams; see datagram.hpp.
#include "comm/multicast/datagram.hpp"

#include <cstring>

#include <sodium.h>

#include "base/check.hpp"

namespace poe::comm {
namespace {

constexpr std::uint32_t kDatagramMagic = 0x314d'4350;  // "PCM1" in memory
constexpr char kPurpose[] = "poe multicast 1";
constexpr std::size_t kCodeBytes = sizeof(DatagramHeader::code);

bool is_kind(DatagramKind kind) noexcept {
    return kind >= DatagramKind::kData && kind <= DatagramKind::kProbeAnswer;
}

}  // namespace

std::array<std::byte, kStatusBytes> bits_of(const MulticastStatus& status) noexcept {
    std::array<std::byte, kStatusBytes> bits{};
    for (std::uint32_t i = 0; i < kMulticastWindow; ++i)
        if (status.missing[i]) bits[i / 8] |= std::byte{1} << (i % 8);
    return bits;
}

MulticastStatus status_of(const DatagramHeader& header,
                          std::span<const std::byte> payload) noexcept {
    MulticastStatus status{header.number, header.sent, {}};
    for (std::uint32_t i = 0; i < kMulticastWindow; ++i)
        status.missing[i] = (payload[i / 8] >> (i % 8) & std::byte{1}) != std::byte{0};
    return status;
}

DatagramKey::DatagramKey(const JobKey& job) {
    static const bool ready = ::sodium_init() >= 0;
    POE_CHECK(ready);
    const int failed = ::crypto_generichash(key_.data(), key_.size(),
                                            reinterpret_cast<const unsigned char*>(kPurpose),
                                            sizeof kPurpose, job.data(), job.size());
    POE_CHECK(failed == 0, failed);
}

std::array<std::uint8_t, 16> DatagramKey::code_of(std::span<const std::byte> covered) const {
    std::array<std::uint8_t, kCodeBytes> code;
    const int failed = ::crypto_generichash(code.data(), code.size(),
                                            reinterpret_cast<const unsigned char*>(covered.data()),
                                            covered.size(), key_.data(), key_.size());
    POE_CHECK(failed == 0, failed);
    return code;
}

std::size_t DatagramKey::seal(DatagramHeader header, std::span<const std::byte> payload,
                              std::byte* room) const {
    POE_CHECK(payload.size() <= kDatagramData, payload.size());
    header.magic = kDatagramMagic;
    header.size = static_cast<std::uint16_t>(payload.size());
    const std::size_t size = sizeof header + payload.size();
    std::memcpy(room, &header, sizeof header);
    if (!payload.empty()) std::memcpy(room + sizeof header, payload.data(), payload.size());
    header.code = code_of({room + kCodeBytes, size - kCodeBytes});
    std::memcpy(room, header.code.data(), kCodeBytes);
    return size;
}

std::optional<DatagramHeader> DatagramKey::open(std::span<const std::byte> datagram) const {
    DatagramHeader header;
    if (datagram.size() < sizeof header) return std::nullopt;
    std::memcpy(&header, datagram.data(), sizeof header);
    if (header.magic != kDatagramMagic || datagram.size() != sizeof header + header.size)
        return std::nullopt;
    const auto code = code_of(datagram.subspan(kCodeBytes));
    if (::sodium_memcmp(code.data(), header.code.data(), code.size()) != 0) return std::nullopt;
    if (!is_kind(header.kind)) return std::nullopt;
    if (header.kind == DatagramKind::kStatus && header.size != kStatusBytes) return std::nullopt;
    return header;
}

}  // namespace poe::comm
