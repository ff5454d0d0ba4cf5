// Communicators from groups; see from_group.hpp.
#include "mpi/communicator/from_group.hpp"

#include <algorithm>

#include "mpi/communicator/intercomm.hpp"
#include "mpi/communicator/leaving.hpp"
#include "mpi/process/environment.hpp"

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
// The number of hashes that a context can hold; the first numbers after 2^27 may be those of groups.
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

MadeComm create_from_group(comm::Runtime& runtime, const CommBase& parent, const MembersPtr& group,
                           FromGroup purpose, std::string_view tag) {
    const int rank = group->rank_of(environment().task);
    Words number{Reservation::kNoNumber};
    if (rank == 0) {
        Reservation reserved(collectives::the_collectives(runtime).groups());
        reserved.use();
        number[0] = reserved.number();
    }
    const Route route = route_of(purpose, tag, group->tasks());
    if (Fault fault = bcast_words(runtime, group->tasks(), rank, 0, route, number))
        return {nullptr, std::move(fault)};
    remember_connected(group->tasks());
    return make_comm(parent, {group, nullptr, number[0], Reservation::kNoNumber});
}

// The local group needs a communicator for the exchange among its members, which is freed afterwards.
MadeComm connect_groups(comm::Runtime& runtime, const CommBase& parent, const GroupPair& pair,
                        std::string_view tag) {
    MadeComm local = create_from_group(runtime, parent, pair.local, FromGroup::kLocal, tag);
    if (local.comm == nullptr) return local;
    RemoteLeader remote;
    if (local.comm->rank == pair.local_leader) {
        const TaskId own = environment().task;
        const TaskId leaders[] = {std::min(own, pair.remote_leader),
                                  std::max(own, pair.remote_leader)};
        remote = {pair.remote_leader, route_of(FromGroup::kLeaders, tag, leaders), pair.wrong};
    }
    MadeComm made = connect(runtime, *local.comm, pair.local_leader, remote);
    comm_pool().release(*local.comm);
    if (made.comm != nullptr) remember_connected(unite(pair.local, *made.comm->remote)->tasks());
    return made;
}

}  // namespace poe::mpi
