// Cartesian topologies (MPI 5.0, sections 8.5.1, 8.5.5 to 8.5.8).
#include <algorithm>
#include <mpi.h>
#include <string>

#include "mpi/api/bodies.hpp"
#include "mpi/api/topology_call.hpp"

namespace poe::mpi {
namespace {

// The arrays of a grid. Returns what is wrong with them, and the number of members.
GridSize check_grid(int ndims, const int* dims, const int* periods, int most) {
    if (ndims < 0) return {0, {MPI_ERR_DIMS, "ndims", std::to_string(ndims) + " is negative", ""}};
    if (ndims > 0 && dims == nullptr) return {0, {MPI_ERR_ARG, "dims", "it is a null pointer", ""}};
    if (ndims > 0 && periods == nullptr)
        return {0, {MPI_ERR_ARG, "periods", "it is a null pointer", ""}};
    return grid_size({dims, static_cast<std::size_t>(ndims)}, most);
}

bool check_room(Call& call, int room, std::size_t needed, const char* argument) {
    if (room >= 0 && static_cast<std::size_t>(room) >= needed) return true;
    call.fail(
        MPI_ERR_ARG, argument,
        std::to_string(room) + " is less than the number of dimensions, " + std::to_string(needed));
    return false;
}

}  // namespace

int cart_create(Call& call, MPI_Comm comm_old, int ndims, const int* dims, const int* periods, int,
                MPI_Comm* comm_cart) {
    *comm_cart = MPI_COMM_NULL;
    Comm& parent = *find_comm(comm_old);
    if (refuse_inter(call, parent)) return call.code();
    const GridSize size = check_grid(ndims, dims, periods, parent.size());
    const VisibleCollective visible(call, parent);
    if (const int code = agree(call, parent, [&](check::Description& description) {
            description.agree_list("dims", dims, ndims, MPI_ERR_DIMS);
            description.agree_list("periods", periods, ndims);
            description.fail(size.fault);
        }))
        return code;
    const MadeComm made = take_part(call.runtime(), parent, parent.rank < size.members, size.fault);
    if (made.comm != nullptr) {
        auto cart = std::make_unique<CartTopology>();
        cart->dims.assign(dims, dims + ndims);
        for (int i = 0; i < ndims; ++i) cart->periods.push_back(periods[i] != 0 ? 1 : 0);
        made.comm->topology = std::move(cart);
    }
    return store_comm(call, made, comm_cart);
}

// The members with equal coordinates in the dropped dimensions make a communicator.
int cart_sub(Call& call, MPI_Comm comm, const int* remain_dims, MPI_Comm* newcomm) {
    *newcomm = MPI_COMM_NULL;
    Comm& parent = *find_comm(comm);
    const auto* cart = find_topology<CartTopology>(call, comm);
    if (cart == nullptr) return call.code();
    if (cart->size() > 0 && remain_dims == nullptr)
        return call.fail(MPI_ERR_ARG, "remain_dims", "it is a null pointer");
    const std::vector<int> at = cart->coordinates(parent.rank);
    auto part = std::make_unique<CartTopology>();
    int color = 0;
    for (std::size_t i = 0; i < cart->size(); ++i) {
        if (remain_dims[i] != 0) {
            part->dims.push_back(cart->dims[i]);
            part->periods.push_back(cart->periods[i]);
        } else {
            color = color * cart->dims[i] + at[i];
        }
    }
    const VisibleCollective visible(call, parent);
    if (const int code = agree(call, parent, [&](check::Description& description) {
            description.agree_list("remain_dims", remain_dims, static_cast<int>(cart->size()));
        }))
        return code;
    const MadeComm made = split(call.runtime(), parent, color, 0);
    if (made.comm != nullptr) made.comm->topology = std::move(part);
    return store_comm(call, made, newcomm);
}

int cart_map(Call& call, MPI_Comm comm, int ndims, const int* dims, const int* periods,
             int* newrank) {
    const Comm& found = *find_comm(comm);
    const GridSize size = check_grid(ndims, dims, periods, found.size());
    if (size.fault) return call.fail(size.fault);
    *newrank = found.rank < size.members ? found.rank : MPI_UNDEFINED;
    return MPI_SUCCESS;
}

int cartdim_get(Call& call, MPI_Comm comm, int* ndims) {
    const auto* cart = find_topology<CartTopology>(call, comm);
    if (cart == nullptr) return call.code();
    *ndims = static_cast<int>(cart->size());
    return MPI_SUCCESS;
}

int cart_get(Call& call, MPI_Comm comm, int maxdims, int* dims, int* periods, int* coords) {
    const auto* cart = find_topology<CartTopology>(call, comm);
    if (cart == nullptr) return call.code();
    if (!check_room(call, maxdims, cart->size(), "maxdims")) return call.code();
    const std::vector<int> at = cart->coordinates(find_comm(comm)->rank);
    std::copy(cart->dims.begin(), cart->dims.end(), dims);
    std::copy(cart->periods.begin(), cart->periods.end(), periods);
    std::copy(at.begin(), at.end(), coords);
    return MPI_SUCCESS;
}

int cart_rank(Call& call, MPI_Comm comm, const int* coords, int* rank) {
    const auto* cart = find_topology<CartTopology>(call, comm);
    if (cart == nullptr) return call.code();
    if (cart->size() > 0 && coords == nullptr)
        return call.fail(MPI_ERR_ARG, "coords", "it is a null pointer");
    const int found = cart->rank_at({coords, cart->size()});
    if (found == MPI_PROC_NULL)
        return call.fail(MPI_ERR_ARG, "coords", "they are outside of the grid",
                         "only in periodic dimensions may coordinates exceed the grid");
    *rank = found;
    return MPI_SUCCESS;
}

int cart_coords(Call& call, MPI_Comm comm, int rank, int maxdims, int* coords) {
    const auto* cart = find_topology<CartTopology>(call, comm);
    if (cart == nullptr || !check_rank(call, comm, rank)) return call.code();
    if (!check_room(call, maxdims, cart->size(), "maxdims")) return call.code();
    const std::vector<int> at = cart->coordinates(rank);
    std::copy(at.begin(), at.end(), coords);
    return MPI_SUCCESS;
}

int cart_shift(Call& call, MPI_Comm comm, int direction, int disp, int* rank_source,
               int* rank_dest) {
    const auto* cart = find_topology<CartTopology>(call, comm);
    if (cart == nullptr) return call.code();
    if (direction < 0 || static_cast<std::size_t>(direction) >= cart->size())
        return call.fail(MPI_ERR_DIMS, "direction",
                         std::to_string(direction) + " is no dimension of the grid, which has " +
                             std::to_string(cart->size()));
    const int own = find_comm(comm)->rank;
    const auto dimension = static_cast<std::size_t>(direction);
    *rank_source = cart->shifted(own, dimension, -static_cast<long long>(disp));
    *rank_dest = cart->shifted(own, dimension, disp);
    return MPI_SUCCESS;
}

}  // namespace poe::mpi
