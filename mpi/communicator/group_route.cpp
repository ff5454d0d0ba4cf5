// Routes from a hash; see group_route.hpp.
#include "mpi/communicator/group_route.hpp"

#include <cstdint>

#include "base/hash.hpp"

namespace poe::mpi {

namespace {

// For a hash that is divided into two parts.
std::uint64_t well_mixed(std::uint64_t hash) noexcept {
    std::uint64_t mixed = (hash ^ hash >> 31) * 0x9e3779b97f4a7c15u;
    mixed = (mixed ^ mixed >> 29) * 0xbf58476d1ce4e5b9u;
    return mixed ^ mixed >> 32;
}

constexpr ContextId kFromGroupContexts = 0x88000000u;
// The number of hashes that a context can hold; the first numbers after 2^27 may be those of
// groups.
constexpr ContextId kHashes = (1u << 27) - 32;

}  // namespace

Route route_of(FromGroup purpose, std::string_view tag, std::span<const TaskId> tasks) noexcept {
    Hash64 hash;
    hash.add(std::uint64_t{static_cast<unsigned char>(purpose)}).add(std::uint64_t{tag.size()});
    hash.add(tag);
    for (const TaskId task : tasks) hash.add(std::uint64_t{static_cast<std::uint32_t>(task)});
    const std::uint64_t value = well_mixed(hash.value());
    return {kFromGroupContexts + 16 + static_cast<ContextId>((value >> 31) % kHashes),
            static_cast<std::int32_t>(value & 0x7fffffffu)};
}

}  // namespace poe::mpi
