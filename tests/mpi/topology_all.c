/* Virtual topologies: grids, graphs, distributed graphs, their queries, duplicates and errors. Any
 * number of tasks. */
#include "mpi_test.h"

static int rank, size;

static int wrapped(int at, int n) {
    return (at % n + n) % n;
}

/* A grid of the first a * b members; the first dimension is periodic. */
static void check_grid(int a, int b) {
    const int dims[2] = {a, b}, periods[2] = {1, 0};
    MPI_Comm grid, copy;
    int status = -1;
    CHECK_OK(MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &grid));
    CHECK((grid == MPI_COMM_NULL) == (rank >= a * b));
    if (grid == MPI_COMM_NULL) return;
    CHECK_OK(MPI_Topo_test(grid, &status));
    CHECK_INT(status, MPI_CART);
    /* A duplicate has the topology; a split has none. */
    CHECK_OK(MPI_Comm_split(grid, 0, 0, &copy));
    CHECK_OK(MPI_Topo_test(copy, &status));
    CHECK_INT(status, MPI_UNDEFINED);
    CHECK_OK(MPI_Comm_free(&copy));
    CHECK_OK(MPI_Comm_dup(grid, &copy));
    CHECK_OK(MPI_Comm_free(&grid));
    int own, n = -1, got_dims[2], got_periods[2], at[2];
    CHECK_OK(MPI_Comm_rank(copy, &own));
    CHECK_INT(own, rank);
    CHECK_OK(MPI_Cartdim_get(copy, &n));
    CHECK_INT(n, 2);
    CHECK_OK(MPI_Cart_get(copy, 2, got_dims, got_periods, at));
    CHECK(got_dims[0] == a && got_dims[1] == b);
    CHECK(got_periods[0] != 0 && got_periods[1] == 0);
    CHECK(at[0] == rank / b && at[1] == rank % b);
    for (int i = 0; i < a * b; ++i) {
        int back = -1, place[2];
        CHECK_OK(MPI_Cart_coords(copy, i, 2, place));
        CHECK(place[0] == i / b && place[1] == i % b);
        CHECK_OK(MPI_Cart_rank(copy, place, &back));
        CHECK_INT(back, i);
        place[0] -= 3 * a;
        CHECK_OK(MPI_Cart_rank(copy, place, &back));
        CHECK_INT(back, i);
    }
    for (int distance = -a - 1; distance <= a + 1; ++distance) {
        int from = -9, to = -9;
        CHECK_OK(MPI_Cart_shift(copy, 0, distance, &from, &to));
        CHECK_INT(from, wrapped(at[0] - distance, a) * b + at[1]);
        CHECK_INT(to, wrapped(at[0] + distance, a) * b + at[1]);
    }
    for (int distance = -b; distance <= b; ++distance) {
        int from = -9, to = -9;
        CHECK_OK(MPI_Cart_shift(copy, 1, distance, &from, &to));
        const int back = at[1] - distance, front = at[1] + distance;
        CHECK_INT(from, back < 0 || back >= b ? MPI_PROC_NULL : at[0] * b + back);
        CHECK_INT(to, front < 0 || front >= b ? MPI_PROC_NULL : at[0] * b + front);
    }
    /* Messages along a dimension, and the rows and columns as communicators. */
    int from, to, value = -1;
    CHECK_OK(MPI_Cart_shift(copy, 1, 1, &from, &to));
    CHECK_OK(MPI_Sendrecv(&rank, 1, MPI_INT, to, 0, &value, 1, MPI_INT, from, 0, copy,
                          MPI_STATUS_IGNORE));
    CHECK_INT(value, at[1] > 0 ? rank - 1 : -1);
    for (int mask = 0; mask < 4; ++mask) {
        const int remain[2] = {mask & 1, mask >> 1};
        MPI_Comm part;
        int members, place;
        CHECK_OK(MPI_Cart_sub(copy, remain, &part));
        CHECK_OK(MPI_Comm_size(part, &members));
        CHECK_OK(MPI_Comm_rank(part, &place));
        CHECK_INT(members, (remain[0] ? a : 1) * (remain[1] ? b : 1));
        CHECK_INT(place, (remain[0] ? at[0] * (remain[1] ? b : 1) : 0) + (remain[1] ? at[1] : 0));
        CHECK_OK(MPI_Cartdim_get(part, &n));
        CHECK_INT(n, remain[0] + remain[1]);
        if (mask == 1) {
            CHECK_OK(MPI_Cart_get(part, 1, got_dims, got_periods, at));
            CHECK(got_dims[0] == a && got_periods[0] != 0 && at[0] == rank / b);
            at[1] = rank % b;
        }
        CHECK_OK(MPI_Comm_free(&part));
    }
    CHECK_OK(MPI_Comm_free(&copy));
}

static void test_grids(void) {
    for (int a = 1; a <= size; ++a)
        for (int b = 1; a * b <= size; ++b) check_grid(a, b);
    int place = -1;
    const int dims[1] = {size / 2 + 1}, periods[1] = {0};
    CHECK_OK(MPI_Cart_map(MPI_COMM_WORLD, 1, dims, periods, &place));
    CHECK(place == MPI_UNDEFINED || (place >= 0 && place < dims[0]));
    /* No dimension: one member. */
    MPI_Comm point;
    CHECK_OK(MPI_Cart_create(MPI_COMM_WORLD, 0, dims, periods, 0, &point));
    CHECK((point == MPI_COMM_NULL) == (rank != 0));
    if (point != MPI_COMM_NULL) CHECK_OK(MPI_Comm_free(&point));
    /* What the program had for the whole world. */
    int whole[3] = {0, 0, 0};
    const int closed[3] = {1, 1, 1};
    MPI_Comm cube;
    CHECK_OK(MPI_Dims_create(size, 3, whole));
    CHECK_OK(MPI_Cart_create(MPI_COMM_WORLD, 3, whole, closed, 1, &cube));
    CHECK(cube != MPI_COMM_NULL);
    CHECK_OK(MPI_Comm_free(&cube));
}

/* A star: node 0 is the neighbour of all others. */
static void test_graph(void) {
    for (int nodes = 1; nodes <= size; ++nodes) {
        int index[64], edges[128], n = 0, n_nodes, n_edges;
        for (int i = 1; i < nodes; ++i) edges[n++] = i;
        index[0] = n;
        for (int i = 1; i < nodes; ++i) {
            edges[n++] = 0;
            index[i] = n;
        }
        MPI_Comm graph, copy;
        int place = -1, status = -1;
        CHECK_OK(MPI_Graph_map(MPI_COMM_WORLD, nodes, index, edges, &place));
        CHECK(place == MPI_UNDEFINED || place < nodes);
        CHECK_OK(MPI_Graph_create(MPI_COMM_WORLD, nodes, index, edges, 0, &graph));
        CHECK((graph == MPI_COMM_NULL) == (rank >= nodes));
        if (graph == MPI_COMM_NULL) continue;
        CHECK_OK(MPI_Comm_dup(graph, &copy));
        CHECK_OK(MPI_Comm_free(&graph));
        CHECK_OK(MPI_Topo_test(copy, &status));
        CHECK_INT(status, MPI_GRAPH);
        CHECK_OK(MPI_Graphdims_get(copy, &n_nodes, &n_edges));
        CHECK_INT(n_nodes, nodes);
        CHECK_INT(n_edges, n);
        int got_index[64], got_edges[128];
        CHECK_OK(MPI_Graph_get(copy, nodes, n, got_index, got_edges));
        for (int i = 0; i < nodes; ++i) CHECK_INT(got_index[i], index[i]);
        for (int i = 0; i < n; ++i) CHECK_INT(got_edges[i], edges[i]);
        for (int i = 0; i < nodes; ++i) {
            int degree = -1, neighbors[64];
            CHECK_OK(MPI_Graph_neighbors_count(copy, i, &degree));
            CHECK_INT(degree, i == 0 ? nodes - 1 : 1);
            CHECK_OK(MPI_Graph_neighbors(copy, i, degree, neighbors));
            for (int k = 0; k < degree; ++k) CHECK_INT(neighbors[k], i == 0 ? k + 1 : 0);
        }
        CHECK_OK(MPI_Comm_free(&copy));
    }
    MPI_Comm none;
    CHECK_OK(MPI_Graph_create(MPI_COMM_WORLD, 0, NULL, NULL, 0, &none));
    CHECK(none == MPI_COMM_NULL);
}

/* The edges of member r: to r + 1, and to r + 2 with weights. */
static void check_own_edges(MPI_Comm graph, int weighted) {
    int in = -1, out = -1, has_weights = -1, status = -1;
    int sources[8], source_weights[8], destinations[8], destination_weights[8];
    CHECK_OK(MPI_Topo_test(graph, &status));
    CHECK_INT(status, MPI_DIST_GRAPH);
    CHECK_OK(MPI_Dist_graph_neighbors_count(graph, &in, &out, &has_weights));
    CHECK_INT(in, 2);
    CHECK_INT(out, 2);
    CHECK_INT(has_weights != 0, weighted);
    CHECK_OK(MPI_Dist_graph_neighbors(graph, 2, sources, weighted ? source_weights : MPI_UNWEIGHTED,
                                      2, destinations,
                                      weighted ? destination_weights : MPI_UNWEIGHTED));
    int seen = 0;
    for (int i = 0; i < 2; ++i) {
        /* With few members both neighbours may be one task; the weights then tell them apart. */
        for (int step = 1; step <= 2; ++step) {
            if (destinations[i] == (rank + step) % size &&
                (!weighted || destination_weights[i] == 10 * rank + step))
                seen |= step;
            if (sources[i] == wrapped(rank - step, size) &&
                (!weighted || source_weights[i] == 10 * wrapped(rank - step, size) + step))
                seen |= 4 * step;
        }
    }
    CHECK_INT(seen, 15);
}

static void test_dist_graph(void) {
    MPI_Comm graph, copy;
    const int sources[2] = {wrapped(rank - 1, size), wrapped(rank - 2, size)};
    const int source_weights[2] = {10 * sources[0] + 1, 10 * sources[1] + 2};
    const int destinations[2] = {(rank + 1) % size, (rank + 2) % size};
    const int destination_weights[2] = {10 * rank + 1, 10 * rank + 2};
    for (int weighted = 0; weighted < 2; ++weighted) {
        CHECK_OK(MPI_Dist_graph_create_adjacent(
            MPI_COMM_WORLD, 2, sources, weighted ? source_weights : MPI_UNWEIGHTED, 2, destinations,
            weighted ? destination_weights : MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &graph));
        check_own_edges(graph, weighted);
        CHECK_OK(MPI_Comm_dup(graph, &copy));
        CHECK_OK(MPI_Comm_free(&graph));
        check_own_edges(copy, weighted);
        CHECK_OK(MPI_Comm_free(&copy));
        /* Every member names the edges of its right neighbour. */
        const int source = (rank + 1) % size, degree = 2;
        const int to[2] = {(source + 1) % size, (source + 2) % size};
        const int weights[2] = {10 * source + 1, 10 * source + 2};
        CHECK_OK(MPI_Dist_graph_create(MPI_COMM_WORLD, 1, &source, &degree, to,
                                       weighted ? weights : MPI_UNWEIGHTED, MPI_INFO_NULL, 0,
                                       &graph));
        check_own_edges(graph, weighted);
        CHECK_OK(MPI_Comm_free(&graph));
        /* One member names all edges. */
        int all[64], degrees[64], ends[128], all_weights[128];
        for (int i = 0; i < size; ++i) {
            all[i] = i;
            degrees[i] = 2;
            for (int k = 0; k < 2; ++k) {
                ends[2 * i + k] = (i + 1 + k) % size;
                all_weights[2 * i + k] = 10 * i + 1 + k;
            }
        }
        const int n = rank == size - 1 ? size : 0;
        CHECK_OK(MPI_Dist_graph_create(MPI_COMM_WORLD, n, all, degrees, ends,
                                       weighted ? all_weights : MPI_UNWEIGHTED, MPI_INFO_NULL, 0,
                                       &graph));
        check_own_edges(graph, weighted);
        CHECK_OK(MPI_Comm_free(&graph));
    }
    /* No edges at all. */
    int in = -1, out = -1, weighted = -1;
    CHECK_OK(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 0, NULL, MPI_WEIGHTS_EMPTY, 0, NULL,
                                            MPI_WEIGHTS_EMPTY, MPI_INFO_NULL, 0, &graph));
    CHECK_OK(MPI_Dist_graph_neighbors_count(graph, &in, &out, &weighted));
    CHECK(in == 0 && out == 0);
    CHECK_OK(MPI_Comm_free(&graph));
}

/* Errors of one member reach all members. */
static void test_errors(void) {
    MPI_Comm one, made;
    int value, values[4] = {0, 0, 0, 0};
    const int too_large[1] = {size + 1}, flat[1] = {size}, open[1] = {0};
    CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &one));
    CHECK_OK(MPI_Comm_set_errhandler(one, MPI_ERRORS_RETURN));
    CHECK_CLASS(MPI_Cartdim_get(one, &value), MPI_ERR_TOPOLOGY);
    CHECK_CLASS(MPI_Graph_neighbors_count(one, 0, &value), MPI_ERR_TOPOLOGY);
    CHECK_CLASS(MPI_Cart_create(one, 1, too_large, open, 0, &made), MPI_ERR_DIMS);
    CHECK_CLASS(MPI_Cart_create(one, 1, rank == size / 2 ? too_large : flat, open, 0, &made),
                MPI_ERR_DIMS);
    CHECK(made == MPI_COMM_NULL);
    CHECK_CLASS(MPI_Dist_graph_create_adjacent(one, rank == 0 ? 1 : 0, &size, MPI_UNWEIGHTED, 0,
                                               NULL, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &made),
                MPI_ERR_RANK);
    CHECK_OK(MPI_Cart_create(one, 1, flat, open, 0, &made));
    CHECK_CLASS(MPI_Cart_coords(made, size, 1, values), MPI_ERR_RANK);
    CHECK_CLASS(MPI_Cart_coords(made, 0, 0, values), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Cart_rank(made, too_large, &value), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Cart_shift(made, 1, 1, values, values + 1), MPI_ERR_DIMS);
    CHECK_CLASS(MPI_Graphdims_get(made, values, values + 1), MPI_ERR_TOPOLOGY);
    CHECK_OK(MPI_Comm_free(&made));
    CHECK_OK(MPI_Comm_free(&one));
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    test_grids();
    test_graph();
    test_dist_graph();
    /* Any argument: an implementation with other error classes, or that may wait forever. */
    if (argc < 2) test_errors();
    MPI_Finalize();
    return 0;
}
