// Communicators; see comm.hpp.
#include "mpi/communicator/comm.hpp"

#include <algorithm>
#include <numeric>

#include "mpi/process/environment.hpp"
#include "tracer/probe/process_context.hpp"

namespace poe::mpi {
namespace {

struct Predefined {
    Comm world;
    Comm self;
};

Predefined& predefined() noexcept {
    static Predefined* const comms = new Predefined;
    return *comms;
}

// Returns a communicator in use of which matches() is true; null if there is none.
template <typename Matches>
const Comm* find_comm_if(Matches&& matches) {
    if (matches(predefined().world)) return &predefined().world;
    if (matches(predefined().self)) return &predefined().self;
    return comm_pool().find_if(matches);
}

}  // namespace

Pool<Comm>& comm_pool() noexcept {
    static Pool<Comm>* const pool = new Pool<Comm>(Kind::kComm);
    return *pool;
}

void Comm::reset() noexcept {
    environment().release(errhandler);
    errhandler = MPI_ERRORS_ARE_FATAL;
    if (auto* hints = find<Info>(info)) environment().infos.release(*hints);
    info = MPI_INFO_NULL;
    name.clear();
    local.reset();
    remote.reset();
    topology.reset();
    collective.reset();
    group.reset();
}

Comm* find_comm(MPI_Comm handle) noexcept {
    return static_cast<Comm*>(environment().find_comm(handle));
}

MPI_Comm handle_of(Comm& comm) noexcept {
    if (&comm == &predefined().world) return MPI_COMM_WORLD;
    if (&comm == &predefined().self) return MPI_COMM_SELF;
    return handle_of<MPI_Comm>(static_cast<Object&>(comm));
}

void set_name(Comm& comm, std::string name) {
    comm.name = std::move(name);
    process_context().tracer.name_context(comm.context, comm.name);
}

std::string_view name_of_context(ContextId context) {
    const Comm* found =
        find_comm_if([context](const Comm& comm) { return comm.context == context; });
    // Never a null pointer, because the reader copies from it.
    return found != nullptr ? std::string_view(found->name) : std::string_view("");
}

TaskId lost_member_of(ContextId context, std::int32_t type,
                      const std::function<bool(TaskId)>& lost) {
    const bool by_number = context == kCclContext;
    const int number = type / collectives::kCallsAtOnce;
    const Comm* comm = find_comm_if([&](const Comm& each) {
        return by_number ? each.group && each.group->gid == number
                         : each.context == (context & ~kInternalContexts);
    });
    if (comm == nullptr) return -1;
    for (const MembersPtr& members : {comm->local, comm->remote}) {
        if (members == nullptr) continue;
        const auto tasks = members->tasks();
        const auto first = std::find_if(tasks.begin(), tasks.end(), lost);
        if (first != tasks.end()) return *first;
    }
    return -1;
}

void set_up(Comm& comm, int gid, MembersPtr local, MembersPtr remote, ContextId context, TaskId own,
            const CommBase* parent) {
    comm.rank = local->rank_of(own);
    comm.context = context;
    process_context().tracer.begin_context(context);
    comm.duplicates = comm.operations = comm.agreements = 0;
    comm.spare_numbers = {};
    const auto tasks = local->tasks();
    comm.group = std::make_shared<collectives::Group>(
        gid, 0, std::vector<TaskId>(tasks.begin(), tasks.end()), own);
    comm.local = std::move(local);
    comm.remote = std::move(remote);
    if (parent != nullptr) {
        comm.errhandler = parent->errhandler;
        environment().retain(comm.errhandler);
    }
}

void make_predefined_comms(collectives::Groups& groups, std::uint32_t tasks, int own_gid) {
    const TaskId own = groups.task();
    std::vector<TaskId> all(tasks);
    std::iota(all.begin(), all.end(), 0);
    auto& [world, self] = predefined();
    set_up(world, 0, std::make_shared<const Members>(std::move(all)), nullptr, context_of(0), own,
           nullptr);
    world.group = {std::shared_ptr<void>(), groups.find(0)};  // not owned
    world.name = "MPI_COMM_WORLD";
    set_up(self, own_gid, std::make_shared<const Members>(std::vector<TaskId>{own}), nullptr,
           context_of(own_gid), own, nullptr);
    self.name = "MPI_COMM_SELF";
    Environment& mpi = environment();
    mpi.pools[static_cast<std::size_t>(Kind::kComm)] = &comm_pool();
    mpi.task = own;
}

void publish_predefined_comms() {
    auto& [world, self] = predefined();
    Environment& mpi = environment();
    world.errhandler = self.errhandler = mpi.initial_errhandler;
    mpi.retain(world.errhandler);
    mpi.retain(self.errhandler);
    mpi.world = &world;
    mpi.self = &self;
}

Comm& world() noexcept {
    return predefined().world;
}

Comm& self() noexcept {
    return predefined().self;
}

}  // namespace poe::mpi
