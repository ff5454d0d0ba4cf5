// Hints of communicators; see hints.hpp.
#include "mpi/communicator/hints.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "mpi/process/environment.hpp"

namespace poe::mpi {
namespace {

constexpr std::array<std::string_view, 6> kKnownHints{
    "mpi_assert_no_any_tag",
    "mpi_assert_no_any_source",
    "mpi_assert_exact_length",
    "mpi_assert_allow_overtaking",
    "mpi_assert_strict_persistent_collective_ordering",
    "mpi_assert_memory_alloc_kinds",
};

}  // namespace

void add_known_hints(MPI_Info& hints, std::span<const std::string_view> known, const Info* info) {
    if (info == nullptr) return;
    for (std::size_t n = 0; n < info->size(); ++n) {
        if (std::find(known.begin(), known.end(), info->key(n)) == known.end()) continue;
        if (hints == MPI_INFO_NULL)
            hints = handle_of<MPI_Info>(static_cast<Object&>(environment().infos.make()));
        find<Info>(hints)->set(info->key(n), info->value(n));
    }
}

void add_hints(Comm& comm, const Info* info) {
    add_known_hints(comm.info, kKnownHints, info);
}

void copy_hints(const Comm& comm, Info& info) {
    if (const auto* hints = find<Info>(comm.info)) info.copy_from(*hints);
}

}  // namespace poe::mpi
