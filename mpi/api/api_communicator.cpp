// Communicators: what they are, names, hints (MPI 5.0, sections 7.4.1, 7.4.4, 7.6.1 and 7.8).
#include <algorithm>
#include <cstring>
#include <mpi.h>
#include <mutex>
#include <span>

#include "mpi/api/bodies.hpp"
#include "mpi/communicator/comm.hpp"
#include "mpi/communicator/hints.hpp"

namespace poe::mpi {
namespace {

int fail_no_intercomm(Call& call, const char* argument) {
    return call.fail(MPI_ERR_COMM, argument, "it is no intercommunicator",
                     "find out with MPI_Comm_test_inter");
}

// Compares the groups of two different communicators: equal groups are congruent, because MPI_IDENT
// is for a communicator and itself.
int compare_members(const Members& one, const Members& two) {
    const int result = compare(one, two);
    return result == MPI_IDENT ? MPI_CONGRUENT : result;
}

}  // namespace

int comm_size(Call&, MPI_Comm comm, int* size) {
    *size = find_comm(comm)->size();
    return MPI_SUCCESS;
}

int comm_rank(Call&, MPI_Comm comm, int* rank) {
    *rank = find_comm(comm)->rank;
    return MPI_SUCCESS;
}

int comm_compare(Call&, MPI_Comm comm1, MPI_Comm comm2, int* result) {
    const Comm& one = *find_comm(comm1);
    const Comm& two = *find_comm(comm2);
    if (&one == &two) {
        *result = MPI_IDENT;
    } else if (one.is_inter() != two.is_inter()) {
        *result = MPI_UNEQUAL;
    } else if (!one.is_inter()) {
        *result = compare_members(*one.local, *two.local);
    } else {
        // MPI_CONGRUENT < MPI_SIMILAR < MPI_UNEQUAL
        *result = std::max(compare_members(*one.local, *two.local),
                           compare_members(*one.remote, *two.remote));
    }
    return MPI_SUCCESS;
}

int comm_group(Call&, MPI_Comm comm, MPI_Group* group) {
    *group = environment().make_group(find_comm(comm)->local);
    return MPI_SUCCESS;
}

int comm_test_inter(Call&, MPI_Comm comm, int* flag) {
    *flag = find_comm(comm)->is_inter() ? 1 : 0;
    return MPI_SUCCESS;
}

int comm_remote_size(Call& call, MPI_Comm comm, int* size) {
    const Comm& found = *find_comm(comm);
    if (!found.is_inter()) return fail_no_intercomm(call, "comm");
    *size = found.remote->size();
    return MPI_SUCCESS;
}

int comm_remote_group(Call& call, MPI_Comm comm, MPI_Group* group) {
    const Comm& found = *find_comm(comm);
    if (!found.is_inter()) return fail_no_intercomm(call, "comm");
    *group = environment().make_group(found.remote);
    return MPI_SUCCESS;
}

int comm_set_name(Call&, MPI_Comm comm, const char* comm_name) {
    set_name(*find_comm(comm),
             std::string(comm_name, ::strnlen(comm_name, MPI_MAX_OBJECT_NAME - 1)));
    return MPI_SUCCESS;
}

int comm_get_name(Call&, MPI_Comm comm, char* comm_name, int* resultlen) {
    const std::string& name = find_comm(comm)->name;
    copy_info_value(name, {comm_name, MPI_MAX_OBJECT_NAME});
    *resultlen = static_cast<int>(name.size());
    return MPI_SUCCESS;
}

int comm_set_info(Call&, MPI_Comm comm, MPI_Info info) {
    const std::lock_guard guard(environment().lock);
    add_hints(*find_comm(comm), environment().find_readable_info(info));
    return MPI_SUCCESS;
}

int comm_get_info(Call&, MPI_Comm comm, MPI_Info* info_used) {
    const std::lock_guard guard(environment().lock);
    Info& copy = environment().infos.make();
    copy_hints(*find_comm(comm), copy);
    *info_used = handle_of<MPI_Info>(static_cast<Object&>(copy));
    return MPI_SUCCESS;
}

}  // namespace poe::mpi
