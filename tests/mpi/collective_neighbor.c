/* Collective calls between neighbours of virtual topologies. */
#include "mpi_test.h"

enum { kMostTasks = 16 };
static int n, me;

/* A periodic ring: with two tasks both neighbours are one task, with one task it is this one. */
static void try_ring(void) {
    MPI_Comm ring;
    const int dims[] = {n}, periods[] = {1};
    CHECK_OK(MPI_Cart_create(MPI_COMM_WORLD, 1, dims, periods, 0, &ring));
    const int below = (me + n - 1) % n, above = (me + 1) % n;
    const int out[] = {me * 10, me * 10 + 1};
    int in[2] = {-1, -1}, copies[2] = {-1, -1};
    CHECK_OK(MPI_Neighbor_alltoall(out, 1, MPI_INT, in, 1, MPI_INT, ring));
    CHECK_INT(in[0], below * 10 + 1);
    CHECK_INT(in[1], above * 10);
    MPI_Request request;
    CHECK_OK(MPI_Ineighbor_allgather(&me, 1, MPI_INT, copies, 1, MPI_INT, ring, &request));
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK_INT(copies[0], below);
    CHECK_INT(copies[1], above);
    MPI_Comm_free(&ring);
}

/* Each task sends to all tasks with a smaller rank, as many ints as its own rank. */
static void try_graph(void) {
    int sources[kMostTasks], destinations[kMostTasks], counts[kMostTasks], places[kMostTasks];
    int out[kMostTasks * kMostTasks], in[kMostTasks * kMostTasks], out_counts[kMostTasks],
        out_places[kMostTasks];
    const int incoming = n - 1 - me;
    for (int i = 0; i < incoming; ++i) {
        sources[i] = me + 1 + i;
        counts[i] = sources[i];
        places[i] = i * kMostTasks;
    }
    for (int i = 0; i < me; ++i) {
        destinations[i] = i;
        out_counts[i] = me;
        out_places[i] = i * me;
    }
    for (int i = 0; i < me * me; ++i) out[i] = me * 1000 + i;
    int* volatile unweighted =
        MPI_UNWEIGHTED; /* not a constant for the compiler, which would look into it */
    MPI_Comm graph;
    CHECK_OK(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, incoming, sources, unweighted, me,
                                            destinations, unweighted, MPI_INFO_NULL, 0, &graph));
    CHECK_OK(MPI_Neighbor_alltoallv(out, out_counts, out_places, MPI_INT, in, counts, places,
                                    MPI_INT, graph));
    for (int s = 0; s < incoming; ++s)
        for (int i = 0; i < counts[s]; ++i)
            CHECK_INT(in[places[s] + i], sources[s] * 1000 + me * sources[s] + i);
    CHECK_OK(MPI_Neighbor_allgatherv(out, me, MPI_INT, in, counts, places, MPI_INT, graph));
    for (int s = 0; s < incoming; ++s)
        for (int i = 0; i < counts[s]; ++i) CHECK_INT(in[places[s] + i], sources[s] * 1000 + i);
    MPI_Comm_free(&graph);
}

/* Task 0 sends to task 1. All other arrays have no elements and are null pointers. */
static void try_null_arrays(void) {
    const int first = 0, second = 1, one = 1, none = 0, weight = 1;
    const MPI_Aint start = 0;
    const MPI_Datatype type = MPI_INT;
    const int sends = me == 0, receives = me == 1;
    int in = -1, out = 42;
    MPI_Comm edge;
    CHECK_OK(MPI_Dist_graph_create_adjacent(
        MPI_COMM_WORLD, receives, receives ? &first : NULL, receives ? &weight : MPI_WEIGHTS_EMPTY,
        sends, sends ? &second : NULL, sends ? &weight : MPI_WEIGHTS_EMPTY, MPI_INFO_NULL, 0,
        &edge));
    const int *counts = sends ? &one : NULL, *places = sends ? &none : NULL;
    const int *in_counts = receives ? &one : NULL, *in_places = receives ? &none : NULL;
    CHECK_OK(
        MPI_Neighbor_alltoallv(&out, counts, places, type, &in, in_counts, in_places, type, edge));
    if (receives) CHECK_INT(in, 42);
    in = -1;
    CHECK_OK(MPI_Neighbor_allgatherv(&out, 1, type, &in, in_counts, in_places, type, edge));
    if (receives) CHECK_INT(in, 42);
    in = -1;
    MPI_Request request;
    CHECK_OK(MPI_Ineighbor_alltoallw(&out, counts, sends ? &start : NULL, sends ? &type : NULL, &in,
                                     in_counts, receives ? &start : NULL, receives ? &type : NULL,
                                     edge, &request));
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    if (receives) CHECK_INT(in, 42);
    MPI_Comm_free(&edge);
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &n);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    CHECK(n <= kMostTasks);
    try_ring();
    try_graph();
    if (n > 1) try_null_arrays();
    MPI_Finalize();
    return 0;
}
