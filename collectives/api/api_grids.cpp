// The common group structures of the CCL paper (II.D): lines of grids, subcubes of hypercubes, and
// conversions between ranks and addresses. All groups of a structure are made with one exchange.
#include <climits>

#include "collectives/api/api.hpp"
#include "collectives/api/api_context.hpp"
#include "collectives/engine/call_checker.hpp"
#include "collectives/engine/group_making.hpp"
#include "comm/api/api_checks.hpp"

namespace poe::collectives {
namespace {

using comm::ApiCall;
using comm::Caller;
using comm::MplError;

std::string grid_text(const std::vector<int>& dims) {
    std::string text;
    for (const int dim : dims) text += (text.empty() ? "" : " x ") + std::to_string(dim);
    return text;
}

// Checks the dimensions; sets `places` to the number of places in the grid.
int refuse_dims(const ApiCall& call, int ndims, const int* dims, long long& places) {
    if (ndims < 1)
        return call.refuse(MplError::kMember,
                           "the number of dimensions is " + std::to_string(ndims),
                           "a grid has at least one");
    if (dims == nullptr) return comm::refuse_null(call, "dims", "ndims ints");
    places = 1;
    for (int d = 0; d < ndims; ++d) {
        if (dims[d] < 1 || (places *= dims[d]) > INT_MAX)
            return call.refuse(MplError::kMember,
                               "a grid of " + grid_text({dims, dims + ndims}) + " is none",
                               "dimensions are 1 or more, and have at most 2147483647 places");
    }
    return 0;
}

// The lines of a grid along one dimension: ranks that differ in that coordinate only. Row-major.
SplitPlan lines(const std::vector<int>& dims, std::size_t along, std::uint32_t n) {
    SplitPlan colouring;
    std::uint32_t stride = 1;
    for (std::size_t d = along + 1; d < dims.size(); ++d)
        stride *= static_cast<std::uint32_t>(dims[d]);
    const auto length = static_cast<std::uint32_t>(dims[along]);
    for (std::uint32_t rank = 0; rank < n; ++rank) {
        colouring.labels.push_back(
            static_cast<std::int32_t>(rank / (stride * length) * stride + rank % stride));
        colouring.keys.push_back(static_cast<std::int32_t>(rank / stride % length));
    }
    return colouring;
}

int refuse_grid(const ApiCall& call, const Group& group, int ndims, const int* dims) {
    long long places = 0;
    if (const int refused = refuse_dims(call, ndims, dims, places)) return refused;
    if (places == group.size()) return 0;
    return call.refuse(MplError::kMember,
                       "group " + std::to_string(group.gid) + " has " +
                           std::to_string(group.size()) + " members, a grid of " +
                           grid_text({dims, dims + ndims}) + " has " + std::to_string(places) +
                           " places",
                       "give dimensions whose product is the size of the group");
}

int form(const ApiCall& call, const Caller& name, CollectiveContext& library, Group& group,
         const std::vector<int>& dims, const std::vector<int*>& answers) {
    if (const int refused =
            refuse_other_making(call, library, group, name, "of " + grid_text(dims)))
        return refused;
    std::vector<SplitPlan> colourings;
    colourings.reserve(dims.size());
    for (std::size_t d = 0; d < dims.size(); ++d)
        colourings.push_back(lines(dims, d, group.size()));
    const Made made = split_group(library, group, colourings);
    if (made.wrong != nullptr) return refuse_outcome(call, *made.wrong);
    if (made.groups.size() != answers.size())
        return call.refuse(MplError::kGroup, "there are no more numbers for groups", "");
    for (std::size_t d = 0; d < answers.size(); ++d) *answers[d] = made.groups[d]->gid;
    return 0;
}

}  // namespace

int api_form2dgrid(const Caller& name, int gid, int x, int y, int* row, int* column) {
    return in_call(name, [&](ApiCall& call, CollectiveContext& library) {
        Group* group = group_of(call, library, gid);
        if (group == nullptr) return -1;
        const int dims[] = {x, y};
        const int refused = column == nullptr ? comm::refuse_null(call, "column", "an int")
                            : row == nullptr  ? comm::refuse_null(call, "row", "an int")
                                              : refuse_grid(call, *group, 2, dims);
        if (refused != 0) return tell_of_refused_making(library, *group, name, refused);
        call.doing(Call::kPartition, TaskActivity::kAnyPeer, gid, 0);
        return form(call, name, library, *group, {x, y}, {column, row});
    });
}

int api_formgrid(const Caller& name, int gid, int ndims, const int* dims, int* gids) {
    return in_call(name, [&](ApiCall& call, CollectiveContext& library) {
        Group* group = group_of(call, library, gid);
        if (group == nullptr) return -1;
        const int refused = gids == nullptr ? comm::refuse_null(call, "gids", "ndims ints")
                                            : refuse_grid(call, *group, ndims, dims);
        if (refused != 0) return tell_of_refused_making(library, *group, name, refused);
        call.doing(Call::kPartition, TaskActivity::kAnyPeer, gid, 0);
        std::vector<int*> answers;
        answers.reserve(static_cast<std::size_t>(ndims));
        for (int d = 0; d < ndims; ++d) answers.push_back(gids + d);
        return form(call, name, library, *group, {dims, dims + ndims}, answers);
    });
}

namespace {

int refuse_mask(const ApiCall& call, const Group& group, int mask) {
    if (!is_power_of_two(group.size()))
        return call.refuse(MplError::kMember,
                           "group " + std::to_string(group.gid) + " has " +
                               std::to_string(group.size()) + " members",
                           "a hypercube has a power of two of them");
    if (mask >= 0 && static_cast<std::uint32_t>(mask) < group.size()) return 0;
    return call.refuse(
        MplError::kMember,
        "the mask " + std::to_string(mask) + " has dimensions that the hypercube has not",
        "it has " + std::to_string(log2_down(group.size())) + " dimensions, the bits of its ranks");
}

}  // namespace

// The ranks that agree with this one in all bits except those of the mask.
int api_formsubcube(const Caller& name, int gid, int mask, int* subcube) {
    return in_call(name, [&](ApiCall& call, CollectiveContext& library) {
        Group* group = group_of(call, library, gid);
        if (group == nullptr) return -1;
        const int wrong = subcube == nullptr ? comm::refuse_null(call, "subcube", "an int")
                                             : refuse_mask(call, *group, mask);
        if (wrong != 0) return tell_of_refused_making(library, *group, name, wrong);
        call.doing(Call::kPartition, TaskActivity::kAnyPeer, gid, 0);
        if (const int refused = refuse_other_making(call, library, *group, name,
                                                    "with mask " + std::to_string(mask)))
            return refused;
        SplitPlan colouring;
        for (std::uint32_t rank = 0; rank < group->size(); ++rank) {
            colouring.labels.push_back(
                static_cast<std::int32_t>(rank & ~static_cast<std::uint32_t>(mask)));
            colouring.keys.push_back(static_cast<std::int32_t>(rank));
        }
        const Made made = split_group(library, *group, {colouring});
        if (made.wrong != nullptr) return refuse_outcome(call, *made.wrong);
        if (made.groups.empty())
            return call.refuse(MplError::kGroup, "there are no more numbers for groups", "");
        *subcube = made.groups.front()->gid;
        return 0;
    });
}

int api_rank2grid(const Caller& name, int rank, int ndims, const int* dims, int* coords) {
    return in_call(name, [&](ApiCall& call, CollectiveContext&) {
        long long places = 0;
        if (const int refused = refuse_dims(call, ndims, dims, places)) return refused;
        if (coords == nullptr) return comm::refuse_null(call, "coords", "ndims ints");
        if (rank < 0 || rank >= places)
            return call.refuse(MplError::kMember,
                               "the grid of " + grid_text({dims, dims + ndims}) + " has no rank " +
                                   std::to_string(rank),
                               "ranks are 0 to " + std::to_string(places - 1));
        for (int d = ndims; d-- > 0; rank /= dims[d]) coords[d] = rank % dims[d];
        return 0;
    });
}

int api_grid2rank(const Caller& name, const int* coords, int ndims, const int* dims, int* rank) {
    return in_call(name, [&](ApiCall& call, CollectiveContext&) {
        long long places = 0;
        if (const int refused = refuse_dims(call, ndims, dims, places)) return refused;
        if (coords == nullptr) return comm::refuse_null(call, "coords", "ndims ints");
        if (rank == nullptr) return comm::refuse_null(call, "rank", "an int");
        int sum = 0;
        for (int d = 0; d < ndims; ++d) {
            if (coords[d] < 0 || coords[d] >= dims[d])
                return call.refuse(
                    MplError::kMember,
                    "coordinate " + std::to_string(d) + " is " + std::to_string(coords[d]),
                    "it may be 0 to " + std::to_string(dims[d] - 1));
            sum = sum * dims[d] + coords[d];
        }
        *rank = sum;
        return 0;
    });
}

// Ranks r and r + 1 have Gray codes that differ in one bit: rings in hypercubes.
int api_rank2gray(const Caller& name, int rank, int* gray) {
    return in_call(name, [&](ApiCall& call, CollectiveContext&) {
        if (gray == nullptr) return comm::refuse_null(call, "gray", "an int");
        if (rank < 0)
            return call.refuse(MplError::kMember, "the rank is " + std::to_string(rank),
                               "ranks are 0 or more");
        *gray = rank ^ (rank >> 1);
        return 0;
    });
}

int api_gray2rank(const Caller& name, int gray, int* rank) {
    return in_call(name, [&](ApiCall& call, CollectiveContext&) {
        if (rank == nullptr) return comm::refuse_null(call, "rank", "an int");
        if (gray < 0)
            return call.refuse(MplError::kMember, "the Gray code is " + std::to_string(gray),
                               "Gray codes are 0 or more");
        int sum = 0;
        for (; gray != 0; gray >>= 1) sum ^= gray;
        *rank = sum;
        return 0;
    });
}

}  // namespace poe::collectives
