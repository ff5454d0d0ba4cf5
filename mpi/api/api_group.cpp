// Groups (MPI 5.0, section 7.3).
#include <mpi.h>
#include <span>

#include "mpi/api/bodies.hpp"

namespace poe::mpi {
namespace {

int store(Call& call, GroupResult result, MPI_Group* newgroup) {
    if (result.fault) return call.fail(result.fault);
    *newgroup = environment().make_group(std::move(result.members));
    return MPI_SUCCESS;
}

// True if the array of `n` elements can be read; otherwise the error was reported.
bool check_array(Call& call, int n, const void* array, const char* name) {
    if (n < 0) {
        call.fail(MPI_ERR_ARG, "n", std::to_string(n) + " is negative");
        return false;
    }
    if (n > 0 && array == nullptr) {
        call.fail(MPI_ERR_ARG, name, "it is a null pointer and n is not 0");
        return false;
    }
    return true;
}

using Select = GroupResult (*)(const MembersPtr&, std::span<const int>);

int select(Call& call, MPI_Group group, int n, const int* ranks, MPI_Group* newgroup,
           Select operation) {
    if (!check_array(call, n, ranks, "ranks")) return call.code();
    return store(call,
                 operation(environment().share_group(group), {ranks, static_cast<std::size_t>(n)}),
                 newgroup);
}

int select_ranges(Call& call, MPI_Group group, int n, int (*ranges)[3], MPI_Group* newgroup,
                  Select operation) {
    if (!check_array(call, n, ranges, "ranges")) return call.code();
    const MembersPtr members = environment().share_group(group);
    const RanksResult expanded = expand_ranges(*members, {ranges, static_cast<std::size_t>(n)});
    if (expanded.fault) return call.fail(expanded.fault);
    return store(call, operation(members, expanded.ranks), newgroup);
}

using Combine = MembersPtr (*)(const MembersPtr&, const Members&);

int combine(MPI_Group group1, MPI_Group group2, MPI_Group* newgroup, Combine operation) {
    Environment& mpi = environment();
    *newgroup = mpi.make_group(operation(mpi.share_group(group1), *mpi.find_group(group2)));
    return MPI_SUCCESS;
}

}  // namespace

int group_size(Call&, MPI_Group group, int* size) {
    *size = environment().find_group(group)->size();
    return MPI_SUCCESS;
}

int group_rank(Call&, MPI_Group group, int* rank) {
    Environment& mpi = environment();
    *rank = mpi.find_group(group)->rank_of(mpi.task);
    return MPI_SUCCESS;
}

int group_compare(Call&, MPI_Group group1, MPI_Group group2, int* result) {
    Environment& mpi = environment();
    *result = compare(*mpi.find_group(group1), *mpi.find_group(group2));
    return MPI_SUCCESS;
}

int group_translate_ranks(Call& call, MPI_Group group1, int n, const int* ranks1, MPI_Group group2,
                          int* ranks2) {
    if (!check_array(call, n, ranks1, "ranks1") || !check_array(call, n, ranks2, "ranks2")) {
        return call.code();
    }
    Environment& mpi = environment();
    const auto size = static_cast<std::size_t>(n);
    return call.finish(translate(*mpi.find_group(group1), {ranks1, size}, *mpi.find_group(group2),
                                 {ranks2, size}));
}

int group_union(Call&, MPI_Group group1, MPI_Group group2, MPI_Group* newgroup) {
    return combine(group1, group2, newgroup, unite);
}
int group_intersection(Call&, MPI_Group group1, MPI_Group group2, MPI_Group* newgroup) {
    return combine(group1, group2, newgroup, intersect);
}
int group_difference(Call&, MPI_Group group1, MPI_Group group2, MPI_Group* newgroup) {
    return combine(group1, group2, newgroup, subtract);
}

int group_incl(Call& call, MPI_Group group, int n, const int* ranks, MPI_Group* newgroup) {
    return select(call, group, n, ranks, newgroup, include);
}
int group_excl(Call& call, MPI_Group group, int n, const int* ranks, MPI_Group* newgroup) {
    return select(call, group, n, ranks, newgroup, exclude);
}
int group_range_incl(Call& call, MPI_Group group, int n, int (*ranges)[3], MPI_Group* newgroup) {
    return select_ranges(call, group, n, ranges, newgroup, include);
}
int group_range_excl(Call& call, MPI_Group group, int n, int (*ranges)[3], MPI_Group* newgroup) {
    return select_ranges(call, group, n, ranges, newgroup, exclude);
}

// The functions that make groups return MPI_GROUP_EMPTY if the group has no members. A program
// frees what they return, so to free MPI_GROUP_EMPTY is no error and has no effect.
int group_free(Call& call, MPI_Group* group) {
    auto* found = find<Group>(*group);
    if (found != nullptr) {
        environment().groups.release(*found);
    } else if (*group != MPI_GROUP_EMPTY) {
        return call.fail(MPI_ERR_GROUP, "group",
                         *group == MPI_GROUP_NULL ? "it is MPI_GROUP_NULL"
                                                  : "it is no group, or was freed already");
    }
    *group = MPI_GROUP_NULL;
    return MPI_SUCCESS;
}

}  // namespace poe::mpi
