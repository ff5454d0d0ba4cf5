// Graph topologies (MPI 5.0, sections 8.5.3 to 8.5.5 and 8.5.8).
#include <algorithm>
#include <mpi.h>
#include <string>

#include "mpi/api/bodies.hpp"
#include "mpi/api/topology_call.hpp"
#include "mpi/communicator/exchange.hpp"

namespace poe::mpi {
namespace {

// What is wrong with the arguments of a graph, if anything.
Fault check_nodes(const Comm& comm, int nnodes, const int* indx, const int* edges) {
    if (nnodes < 0) return {MPI_ERR_ARG, "nnodes", std::to_string(nnodes) + " is negative", ""};
    if (nnodes > comm.size())
        return {MPI_ERR_ARG, "nnodes",
                std::to_string(nnodes) + " is more than the members of the communicator, " +
                    std::to_string(comm.size()),
                ""};
    if (nnodes > 0 && indx == nullptr) return {MPI_ERR_ARG, "indx", "it is a null pointer", ""};
    return check_graph({indx, static_cast<std::size_t>(nnodes)}, edges);
}

// Copies at most `room` numbers.
void copy_numbers(std::span<const int> from, int room, int* to) {
    const std::size_t n = std::min(from.size(), static_cast<std::size_t>(std::max(room, 0)));
    std::copy_n(from.begin(), n, to);
}

bool is_weighted(const int* weights) noexcept {
    return weights != MPI_UNWEIGHTED;
}

// True if the array has values: it is none of the constants that stand for no array.
bool has_weights(const int* weights) noexcept {
    return weights != MPI_UNWEIGHTED && weights != MPI_WEIGHTS_EMPTY;
}

// The neighbours in one direction and their weights.
Fault check_neighbors(const Comm& comm, int degree, const int* ranks, const int* weights,
                      const char* argument) {
    if (degree < 0)
        return {MPI_ERR_ARG, argument, "their number, " + std::to_string(degree) + ", is negative",
                ""};
    if (degree > 0 && (ranks == nullptr || weights == nullptr))
        return {MPI_ERR_ARG, argument, "the array or that of the weights is a null pointer", ""};
    if (degree > 0 && weights == MPI_WEIGHTS_EMPTY)
        return {MPI_ERR_ARG, argument,
                "the weights are MPI_WEIGHTS_EMPTY, but there are neighbours", ""};
    for (int i = 0; i < degree; ++i) {
        if (ranks[i] < 0 || ranks[i] >= comm.size())
            return {MPI_ERR_RANK, argument,
                    "element " + std::to_string(i) + " is " + std::to_string(ranks[i]) +
                        ", which is no rank of the communicator",
                    ""};
        if (has_weights(weights) && weights[i] < 0)
            return {MPI_ERR_ARG, argument,
                    "the weight of element " + std::to_string(i) + " is negative", ""};
    }
    return {};
}

void assign_neighbors(std::vector<int>& ranks, std::vector<int>& weights, int degree,
                      const int* from, const int* its_weights) {
    if (degree == 0) return;
    ranks.assign(from, from + degree);
    if (has_weights(its_weights)) weights.assign(its_weights, its_weights + degree);
}

// An edge as it travels: source, destination, weight.
constexpr std::size_t kEdgeWords = 3;

struct Edges {
    Words words;
    Fault fault;
};

Edges edges_of(const Comm& comm, int n, const int* sources, const int* degrees,
               const int* destinations, const int* weights) {
    Edges edges;
    edges.fault = check_neighbors(comm, n, sources, MPI_UNWEIGHTED, "sources");
    if (!edges.fault && n > 0 && degrees == nullptr)
        edges.fault = {MPI_ERR_ARG, "degrees", "it is a null pointer", ""};
    int total = 0;
    for (int i = 0; i < n && !edges.fault; ++i) {
        if (degrees[i] < 0)
            edges.fault = {MPI_ERR_ARG, "degrees", "element " + std::to_string(i) + " is negative",
                           ""};
        else
            total += degrees[i];
    }
    if (!edges.fault)
        edges.fault = check_neighbors(comm, total, destinations, weights, "destinations");
    if (edges.fault) return edges;
    for (int i = 0, edge = 0; i < n; ++i) {
        for (int k = 0; k < degrees[i]; ++k, ++edge) {
            const int weight = has_weights(weights) ? weights[edge] : 0;
            edges.words.insert(edges.words.end(), {sources[i], destinations[edge], weight});
        }
    }
    return edges;
}

// Keeps those of all edges that begin or end at this member.
std::unique_ptr<DistGraphTopology> own_edges(const Words& all, int rank, bool weighted) {
    auto graph = std::make_unique<DistGraphTopology>();
    graph->weighted = weighted;
    for (std::size_t at = 0; at < all.size(); at += kEdgeWords) {
        if (all[at] == rank) {
            graph->destinations.push_back(all[at + 1]);
            if (weighted) graph->destination_weights.push_back(all[at + 2]);
        }
        if (all[at + 1] == rank) {
            graph->sources.push_back(all[at]);
            if (weighted) graph->source_weights.push_back(all[at + 2]);
        }
    }
    return graph;
}

}  // namespace

int topo_test(Call&, MPI_Comm comm, int* status) {
    const Topology* topology = find_comm(comm)->topology.get();
    *status = topology != nullptr ? topology->kind() : MPI_UNDEFINED;
    return MPI_SUCCESS;
}

int graph_create(Call& call, MPI_Comm comm_old, int nnodes, const int* indx, const int* edges, int,
                 MPI_Comm* comm_graph) {
    *comm_graph = MPI_COMM_NULL;
    Comm& parent = *find_comm(comm_old);
    if (refuse_inter(call, parent)) return call.code();
    const Fault wrong = check_nodes(parent, nnodes, indx, edges);
    const VisibleCollective visible(call, parent);
    if (const int code = agree(call, parent, [&](check::Description& description) {
            description.fail(wrong);
            if (wrong) return;
            description.agree_list("index", indx, nnodes);
            description.agree_list("edges", edges, nnodes > 0 ? indx[nnodes - 1] : 0);
        }))
        return code;
    const MadeComm made = take_part(call.runtime(), parent, parent.rank < nnodes, wrong);
    if (made.comm != nullptr) {
        auto graph = std::make_unique<GraphTopology>();
        graph->index.assign(indx, indx + nnodes);
        if (indx[nnodes - 1] > 0) graph->edges.assign(edges, edges + indx[nnodes - 1]);
        made.comm->topology = std::move(graph);
    }
    return store_comm(call, made, comm_graph);
}

int graph_map(Call& call, MPI_Comm comm, int nnodes, const int* indx, const int* edges,
              int* newrank) {
    const Comm& found = *find_comm(comm);
    if (Fault fault = check_nodes(found, nnodes, indx, edges)) return call.fail(fault);
    *newrank = found.rank < nnodes ? found.rank : MPI_UNDEFINED;
    return MPI_SUCCESS;
}

int graphdims_get(Call& call, MPI_Comm comm, int* nnodes, int* nedges) {
    const auto* graph = find_topology<GraphTopology>(call, comm);
    if (graph == nullptr) return call.code();
    *nnodes = static_cast<int>(graph->index.size());
    *nedges = static_cast<int>(graph->edges.size());
    return MPI_SUCCESS;
}

int graph_get(Call& call, MPI_Comm comm, int maxindex, int maxedges, int* indx, int* edges) {
    const auto* graph = find_topology<GraphTopology>(call, comm);
    if (graph == nullptr) return call.code();
    copy_numbers(graph->index, maxindex, indx);
    copy_numbers(graph->edges, maxedges, edges);
    return MPI_SUCCESS;
}

int graph_neighbors_count(Call& call, MPI_Comm comm, int rank, int* nneighbors) {
    const auto* graph = find_topology<GraphTopology>(call, comm);
    if (graph == nullptr || !check_rank(call, comm, rank)) return call.code();
    *nneighbors = static_cast<int>(graph->neighbors_of(rank).size());
    return MPI_SUCCESS;
}

int graph_neighbors(Call& call, MPI_Comm comm, int rank, int maxneighbors, int* neighbors) {
    const auto* graph = find_topology<GraphTopology>(call, comm);
    if (graph == nullptr || !check_rank(call, comm, rank)) return call.code();
    copy_numbers(graph->neighbors_of(rank), maxneighbors, neighbors);
    return MPI_SUCCESS;
}

int dist_graph_create_adjacent(Call& call, MPI_Comm comm_old, int indegree, const int* sources,
                               const int* sourceweights, int outdegree, const int* destinations,
                               const int* destweights, MPI_Info, int, MPI_Comm* comm_dist_graph) {
    *comm_dist_graph = MPI_COMM_NULL;
    Comm& parent = *find_comm(comm_old);
    if (refuse_inter(call, parent)) return call.code();
    Fault fault = check_neighbors(parent, indegree, sources, sourceweights, "sources");
    if (!fault)
        fault = check_neighbors(parent, outdegree, destinations, destweights, "destinations");
    if (!fault && is_weighted(sourceweights) != is_weighted(destweights))
        fault = {MPI_ERR_ARG, "destweights", "only one direction is MPI_UNWEIGHTED",
                 "give MPI_UNWEIGHTED for both directions or for none"};
    const VisibleCollective visible(call, parent);
    if (const int code =
            agree(call, parent, [&](check::Description& description) { description.fail(fault); }))
        return code;
    const MadeComm made = take_part(call.runtime(), parent, true, fault);
    if (made.comm != nullptr) {
        auto graph = std::make_unique<DistGraphTopology>();
        graph->weighted = is_weighted(sourceweights);
        assign_neighbors(graph->sources, graph->source_weights, indegree, sources, sourceweights);
        assign_neighbors(graph->destinations, graph->destination_weights, outdegree, destinations,
                         destweights);
        made.comm->topology = std::move(graph);
    }
    return store_comm(call, made, comm_dist_graph);
}

int dist_graph_create(Call& call, MPI_Comm comm_old, int n, const int* sources, const int* degrees,
                      const int* destinations, const int* weights, MPI_Info, int,
                      MPI_Comm* comm_dist_graph) {
    *comm_dist_graph = MPI_COMM_NULL;
    Comm& parent = *find_comm(comm_old);
    if (refuse_inter(call, parent)) return call.code();
    const Edges edges = edges_of(parent, n, sources, degrees, destinations, weights);
    const VisibleCollective visible(call, parent);
    if (const int code = agree(
            call, parent, [&](check::Description& description) { description.fail(edges.fault); }))
        return code;
    const MadeComm made = take_part(call.runtime(), parent, true, edges.fault);
    if (made.comm == nullptr) return store_comm(call, made, comm_dist_graph);
    Words all;
    if (Fault fault = collect_words(call.runtime(), *made.comm, edges.words, all)) {
        comm_pool().release(*made.comm);
        return call.fail(fault);
    }
    made.comm->topology = own_edges(all, parent.rank, is_weighted(weights));
    return store_comm(call, made, comm_dist_graph);
}

int dist_graph_neighbors_count(Call& call, MPI_Comm comm, int* indegree, int* outdegree,
                               int* weighted) {
    const auto* graph = find_topology<DistGraphTopology>(call, comm);
    if (graph == nullptr) return call.code();
    *indegree = static_cast<int>(graph->sources.size());
    *outdegree = static_cast<int>(graph->destinations.size());
    *weighted = graph->weighted ? 1 : 0;
    return MPI_SUCCESS;
}

// If the graph has no weights, the arrays of weights are not changed.
int dist_graph_neighbors(Call& call, MPI_Comm comm, int maxindegree, int* sources,
                         int* sourceweights, int maxoutdegree, int* destinations,
                         int* destweights) {
    const auto* graph = find_topology<DistGraphTopology>(call, comm);
    if (graph == nullptr) return call.code();
    copy_numbers(graph->sources, maxindegree, sources);
    copy_numbers(graph->destinations, maxoutdegree, destinations);
    if (has_weights(sourceweights)) copy_numbers(graph->source_weights, maxindegree, sourceweights);
    if (has_weights(destweights))
        copy_numbers(graph->destination_weights, maxoutdegree, destweights);
    return MPI_SUCCESS;
}

}  // namespace poe::mpi
