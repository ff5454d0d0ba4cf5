// The one Environment, and how handles are resolved.
#include "mpi/process/environment.hpp"

#include "mpi/datatype/datatype.hpp"
#include "mpi/process/start_facts.hpp"

namespace poe::mpi {

Environment::Environment() : nobody_(std::make_shared<const Members>(std::vector<TaskId>{})) {
    pools[static_cast<std::size_t>(Kind::kInfo)] = &infos;
    pools[static_cast<std::size_t>(Kind::kErrhandler)] = &errhandlers;
    pools[static_cast<std::size_t>(Kind::kGroup)] = &groups;
    pools[static_cast<std::size_t>(Kind::kOp)] = &operations;
    pools[static_cast<std::size_t>(Kind::kSession)] = &sessions;
    pools[static_cast<std::size_t>(Kind::kDatatype)] = &datatype_pool();
}

const Info& Environment::info_env() {
    std::call_once(info_env_made_, [&] { describe_start(own_start_facts(), info_env_); });
    return info_env_;
}

CommBase* Environment::find_comm(MPI_Comm comm) noexcept {
    if (comm == MPI_COMM_WORLD) return world;
    if (comm == MPI_COMM_SELF) return self;
    return find<CommBase>(comm);
}

const Members* Environment::find_group(MPI_Group group) noexcept {
    if (group == MPI_GROUP_EMPTY) return nobody_.get();
    const auto* found = find<Group>(group);
    return found == nullptr ? nullptr : found->members.get();
}

MembersPtr Environment::share_group(MPI_Group group) noexcept {
    if (group == MPI_GROUP_EMPTY) return nobody_;
    const auto* found = find<Group>(group);
    return found == nullptr ? nullptr : found->members;
}

Info* Environment::find_info(MPI_Info info) noexcept {
    return find<Info>(info);
}

const Info* Environment::find_readable_info(MPI_Info info) {
    return info == MPI_INFO_ENV ? &info_env() : find<Info>(info);
}

MPI_Group Environment::make_group(MembersPtr members) {
    if (members->size() == 0) return MPI_GROUP_EMPTY;
    Group& group = groups.make();
    group.members = std::move(members);
    return handle_of<MPI_Group>(group);
}

void Environment::retain(MPI_Errhandler handler) noexcept {
    if (auto* object = find<ErrorHandler>(handler)) add_reference(*object);
}

void Environment::release(MPI_Errhandler handler) {
    if (auto* object = find<ErrorHandler>(handler)) errhandlers.release(*object);
}

}  // namespace poe::mpi
