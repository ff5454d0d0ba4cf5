/* collective_progress FILE: task 2 enters the second MPI_Allgather when FILE exists; all others enter it at once. Then comes
 * MPI_Alltoallv with longer blocks, MPI_Bcast and MPI_Barrier. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { BLOCK = 100000, PIECES = 150000, PATIENCE = 60 };
static int rank, size;

static void wait_for_file(const char* path) {
    for (int tenths = 0; rank == 2 && access(path, F_OK) != 0; ++tenths) {
        if (tenths == 10 * PATIENCE) MPI_Abort(MPI_COMM_WORLD, 1);
        usleep(100000);
    }
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    char* out = calloc((size_t)size, PIECES);
    char* in = calloc((size_t)size, PIECES);
    int* counts = calloc((size_t)size, sizeof(int));
    int* places = calloc((size_t)size, sizeof(int));
    for (int r = 0; r < size; ++r) {
        counts[r] = PIECES;
        places[r] = r * PIECES;
    }
    /* The first call of a group finds out which memory it has. */
    MPI_Allgather(out, BLOCK, MPI_BYTE, in, BLOCK, MPI_BYTE, MPI_COMM_WORLD);
    if (argc > 1) wait_for_file(argv[1]);
    MPI_Allgather(out, BLOCK, MPI_BYTE, in, BLOCK, MPI_BYTE, MPI_COMM_WORLD);
    MPI_Alltoallv(out, counts, places, MPI_BYTE, in, counts, places, MPI_BYTE, MPI_COMM_WORLD);
    MPI_Bcast(in, 16, MPI_BYTE, 0, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
