// Virtual topologies (MPI 5.0, chapter 8): what a communicator knows about the neighbours of its
// members. Pure. Ranks are never reordered: members keep their order of the old communicator.
#pragma once

#include <memory>
#include <mpi.h>
#include <span>
#include <vector>

#include "mpi/communicator/comm.hpp"
#include "mpi/object/fault.hpp"

namespace poe::mpi {

// A Cartesian grid. The last coordinate changes fastest with the rank.
struct CartTopology final : Topology {
    std::vector<int> dims;
    std::vector<int> periods;  // 0 or 1

    std::unique_ptr<Topology> copy() const override;
    int kind() const noexcept override { return MPI_CART; }
    // In each dimension the lower neighbour, then the upper one.
    Neighbors neighbors(int rank) const override;

    std::size_t size() const noexcept { return dims.size(); }
    std::vector<int> coordinates(int rank) const;
    // The rank at the coordinates; MPI_PROC_NULL outside of the grid in a dimension without period.
    int rank_at(std::span<const int> coordinates) const;
    // The rank that is `distance` places from `rank` in a dimension; or MPI_PROC_NULL.
    int shifted(int rank, std::size_t dimension, long long distance) const;
};

// The number of members of a grid. Refused: sizes below 1, and more than `most` members.
struct GridSize {
    int members = 0;
    Fault fault;
};
GridSize grid_size(std::span<const int> dims, int most);

// A graph that every member knows.
struct GraphTopology final : Topology {
    std::vector<int> index;  // the number of edges of the ranks 0 to r
    std::vector<int> edges;

    std::unique_ptr<Topology> copy() const override;
    int kind() const noexcept override { return MPI_GRAPH; }
    Neighbors neighbors(int rank) const override;

    std::span<const int> neighbors_of(int rank) const noexcept;
};
// Refuses an index that decreases, and edges to ranks that the graph does not have.
Fault check_graph(std::span<const int> index, const int* edges);

// A graph of which every member knows its own edges.
struct DistGraphTopology final : Topology {
    std::vector<int> sources;
    std::vector<int> source_weights;  // empty if not weighted
    std::vector<int> destinations;
    std::vector<int> destination_weights;
    bool weighted = false;

    std::unique_ptr<Topology> copy() const override;
    int kind() const noexcept override { return MPI_DIST_GRAPH; }
    // Returns the neighbours of this task, whatever `rank` is.
    Neighbors neighbors(int rank) const override;
};

}  // namespace poe::mpi
