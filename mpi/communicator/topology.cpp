// Virtual topologies; see topology.hpp.
#include "mpi/communicator/topology.hpp"

#include <string>

namespace poe::mpi {

std::unique_ptr<Topology> CartTopology::copy() const {
    return std::make_unique<CartTopology>(*this);
}
std::unique_ptr<Topology> GraphTopology::copy() const {
    return std::make_unique<GraphTopology>(*this);
}
std::unique_ptr<Topology> DistGraphTopology::copy() const {
    return std::make_unique<DistGraphTopology>(*this);
}

std::vector<int> CartTopology::coordinates(int rank) const {
    std::vector<int> at(dims.size());
    for (std::size_t i = dims.size(); i-- > 0;) {
        at[i] = rank % dims[i];
        rank /= dims[i];
    }
    return at;
}

int CartTopology::rank_at(std::span<const int> coordinates) const {
    int rank = 0;
    for (std::size_t i = 0; i < dims.size(); ++i) {
        int at = coordinates[i];
        if (at < 0 || at >= dims[i]) {
            if (periods[i] == 0) return MPI_PROC_NULL;
            at = (at % dims[i] + dims[i]) % dims[i];
        }
        rank = rank * dims[i] + at;
    }
    return rank;
}

int CartTopology::shifted(int rank, std::size_t dimension, long long distance) const {
    std::vector<int> at = coordinates(rank);
    const long long size = dims[dimension];
    long long place = at[dimension] + distance;
    if (place < 0 || place >= size) {
        if (periods[dimension] == 0) return MPI_PROC_NULL;
        place = (place % size + size) % size;
    }
    at[dimension] = static_cast<int>(place);
    return rank_at(at);
}

Neighbors CartTopology::neighbors(int rank) const {
    Neighbors all;
    all.in_pairs = true;
    for (std::size_t i = 0; i < dims.size(); ++i) {
        all.sources.push_back(shifted(rank, i, -1));
        all.sources.push_back(shifted(rank, i, 1));
    }
    all.destinations = all.sources;
    return all;
}

GridSize grid_size(std::span<const int> dims, int most) {
    long long members = 1;
    for (std::size_t i = 0; i < dims.size(); ++i) {
        if (dims[i] < 1)
            return {0,
                    {MPI_ERR_DIMS, "dims",
                     "dimension " + std::to_string(i) + " has the size " + std::to_string(dims[i]),
                     "give sizes from 1 on; MPI_Dims_create finds them"}};
        members *= dims[i];
        if (members > most)
            return {0,
                    {MPI_ERR_DIMS, "dims",
                     "the grid has more places than the communicator has members, which are " +
                         std::to_string(most),
                     "give smaller sizes; MPI_Dims_create finds them"}};
    }
    return {static_cast<int>(members), {}};
}

std::span<const int> GraphTopology::neighbors_of(int rank) const noexcept {
    const auto at = static_cast<std::size_t>(rank);
    const auto first = static_cast<std::size_t>(at == 0 ? 0 : index[at - 1]);
    return {edges.data() + first, static_cast<std::size_t>(index[at]) - first};
}

Neighbors GraphTopology::neighbors(int rank) const {
    const std::span<const int> own = neighbors_of(rank);
    Neighbors all;
    all.sources.assign(own.begin(), own.end());
    all.destinations = all.sources;
    return all;
}

Fault check_graph(std::span<const int> index, const int* edges) {
    int before = 0;
    for (std::size_t node = 0; node < index.size(); ++node) {
        if (index[node] < before)
            return {MPI_ERR_ARG, "indx",
                    "element " + std::to_string(node) + " is " + std::to_string(index[node]) +
                        ", which is less than the one before it",
                    "give the sums of the numbers of neighbours"};
        before = index[node];
    }
    if (before > 0 && edges == nullptr) return {MPI_ERR_ARG, "edges", "it is a null pointer", ""};
    for (int i = 0; i < before; ++i) {
        if (edges[i] < 0 || edges[i] >= static_cast<int>(index.size()))
            return {MPI_ERR_ARG, "edges",
                    "element " + std::to_string(i) + " is " + std::to_string(edges[i]) +
                        ", which is no node of the graph",
                    "give numbers from 0 to nnodes - 1"};
    }
    return {};
}

Neighbors DistGraphTopology::neighbors(int) const {
    Neighbors all;
    all.sources = sources;
    all.destinations = destinations;
    return all;
}

}  // namespace poe::mpi
