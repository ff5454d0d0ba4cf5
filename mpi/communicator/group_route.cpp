// Routes from a hash; see group_route.hpp.
#include "mpi/communicator/group_route.hpp"

#include <cstdint>

namespace poe::mpi {

namespace {

// FNV-1a, and at the end a mixing step, because the hash is divided into two parts.
class Hash {
  public:
    void add(std::uint64_t value) noexcept { hash_ = (hash_ ^ value) * 0x100000001b3u; }
    std::uint64_t value() const noexcept {
        std::uint64_t mixed = (hash_ ^ hash_ >> 31) * 0x9e3779b97f4a7c15u;
        mixed = (mixed ^ mixed >> 29) * 0xbf58476d1ce4e5b9u;
        return mixed ^ mixed >> 32;
    }

  private:
    std::uint64_t hash_ = 0xcbf29ce484222325u;
};

constexpr ContextId kFromGroupContexts = 0x88000000u;
// The number of hashes that a context can hold; the first numbers after 2^27 may be those of
// groups.
constexpr ContextId kHashes = (1u << 27) - 32;

}  // namespace

Route route_of(FromGroup purpose, std::string_view tag, std::span<const TaskId> tasks) noexcept {
    Hash hash;
    hash.add(static_cast<unsigned char>(purpose));
    hash.add(tag.size());
    for (const char letter : tag) hash.add(static_cast<unsigned char>(letter));
    for (const TaskId task : tasks) hash.add(static_cast<std::uint32_t>(task));
    const std::uint64_t value = hash.value();
    return {kFromGroupContexts + 16 + static_cast<ContextId>((value >> 31) % kHashes),
            static_cast<std::int32_t>(value & 0x7fffffffu)};
}

}  // namespace poe::mpi
