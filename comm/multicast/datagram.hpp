// The datagrams of reliable multicast, and their authentication. Pure: bytes in, bytes out.
//
// A datagram is a DatagramHeader and `size` bytes of payload, without conversion, because all nodes
// of a job have the same architecture. The header begins with an authentication code: BLAKE2b-128
// (crypto_generichash of libsodium) of all bytes that follow it. The key of the code is derived
// from the job's key, so a datagram of multicast proves nothing in a handshake of tcp_handshake.hpp
// and the reverse. A recorded datagram that is sent again is a duplicate: group, call and number
// are covered by the code, and receivers ignore calls that have ended.
#pragma once

#include <array>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "base/types.hpp"

namespace poe::comm {

// Data bytes of a datagram. With all headers it fits into an Ethernet frame of 1500 bytes. Longer
// ones, which the system divides, cost less processor time, but do not survive loss
// (docs/decisions/055).
inline constexpr Bytes kDatagramData = 1408;
// The maximum number of packets of a message that are sent before all members have acknowledged the
// first of them, and the number at its start. The latter fit into a default socket buffer, so
// nothing is lost while a member is late.
inline constexpr std::uint32_t kMulticastWindow = 512;
inline constexpr std::uint32_t kFirstMulticastWindow = 64;

enum class DatagramKind : std::uint8_t {
    kData = 1,    // packet `number` of a message; `flags` may contain kReport
    kStatus = 2,  // what a subtree has received; the payload is a bitmap (MulticastStatus)
    // To all members: does the network carry multicast from this one? As long as a packet can be.
    kProbe = 3,
    kProbeAnswer = 4,  // to the sender of a probe
};
// Flag of kData: members report their status at once.
inline constexpr std::uint8_t kReport = 1;

struct DatagramHeader {
    std::array<std::uint8_t, 16> code{};
    std::uint64_t group = 0;  // random, chosen when the group was opened
    std::uint32_t magic = 0;
    std::uint32_t call = 0;  // number of the call on the group; the first is 1
    DatagramKind kind = DatagramKind::kData;
    std::uint8_t flags = 0;
    std::uint16_t size = 0;    // of the payload, in bytes
    std::uint32_t sender = 0;  // rank in the group
    std::uint32_t number = 0;  // kData: the packet; kStatus: MulticastStatus::base
    std::uint32_t sent = 0;    // kData: packets sent at least once; kStatus: serial number
    std::uint64_t bytes = 0;   // kData: length of the message
};
static_assert(sizeof(DatagramHeader) == 56);
inline constexpr std::size_t kMaxDatagram = sizeof(DatagramHeader) + kDatagramData;

// What the members of a subtree have received. It describes a state, so a status that is lost,
// doubled or overtaken does no harm.
struct MulticastStatus {
    std::uint32_t base = 0;    // all members have all packets before this one
    std::uint32_t serial = 0;  // later statuses of a member have larger numbers
    // Bit i: a member asks for packet base + i, which was sent but has not arrived.
    std::bitset<kMulticastWindow> missing;

    bool operator==(const MulticastStatus&) const = default;
};
inline constexpr std::size_t kStatusBytes = kMulticastWindow / 8;
std::array<std::byte, kStatusBytes> bits_of(const MulticastStatus& status) noexcept;
// Precondition: `payload` has kStatusBytes bytes.
MulticastStatus status_of(const DatagramHeader& header,
                          std::span<const std::byte> payload) noexcept;

// The number of packets of a message; a message of 0 bytes is one packet.
constexpr std::uint32_t packets_of(Bytes bytes) noexcept {
    return bytes == 0 ? 1 : static_cast<std::uint32_t>((bytes + kDatagramData - 1) / kDatagramData);
}
// Longer messages would have more packets than their numbers can count.
inline constexpr Bytes kMaxMulticastBytes = kDatagramData << 31;

class DatagramKey {
  public:
    // Derives the key of datagrams from that of the job.
    explicit DatagramKey(const JobKey& job);

    // Writes a datagram to `room`, which must have kMaxDatagram bytes, and returns its size. Fills
    // in code, magic and size.
    std::size_t seal(DatagramHeader header, std::span<const std::byte> payload,
                     std::byte* room) const;
    // Returns the header of a datagram of this job; its payload is the rest. Empty for anything
    // else, whatever its bytes are.
    std::optional<DatagramHeader> open(std::span<const std::byte> datagram) const;

  private:
    std::array<std::uint8_t, 16> code_of(std::span<const std::byte> covered) const;

    std::array<std::uint8_t, 32> key_{};
};

}  // namespace poe::comm
