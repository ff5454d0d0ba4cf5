/* collective_progress FILE: task 2 leaves the first MPI_Allgather, creates FILE.out, and enters the second one when FILE
 * exists. All others enter the second one when FILE.out exists, because a task that is still in the first one may take
 * blocks of the second into its buffers. Then comes MPI_Alltoallv with longer blocks, MPI_Bcast and MPI_Barrier. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { BLOCK = 100000, PIECES = 150000, PATIENCE = 60 };
static int rank, size;

static void wait_for_file(const char* path) {
    for (int hundredths = 0; access(path, F_OK) != 0; ++hundredths) {
        if (hundredths == 100 * PATIENCE) MPI_Abort(MPI_COMM_WORLD, 1);
        usleep(10000);
    }
}

static void enter_late(const char* path) {
    char out[4096];
    snprintf(out, sizeof out, "%s.out", path);
    if (rank != 2) {
        wait_for_file(out);
        return;
    }
    fclose(fopen(out, "w"));
    wait_for_file(path);
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
    if (argc > 1) enter_late(argv[1]);
    MPI_Allgather(out, BLOCK, MPI_BYTE, in, BLOCK, MPI_BYTE, MPI_COMM_WORLD);
    MPI_Alltoallv(out, counts, places, MPI_BYTE, in, counts, places, MPI_BYTE, MPI_COMM_WORLD);
    MPI_Bcast(in, 16, MPI_BYTE, 0, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    free(out);
    free(in);
    free(counts);
    free(places);
    MPI_Finalize();
    return 0;
}
