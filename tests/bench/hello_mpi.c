/* hello_mpl.c for MPI. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
    int tasks = 0, task = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &tasks);
    MPI_Comm_rank(MPI_COMM_WORLD, &task);
    MPI_Barrier(MPI_COMM_WORLD);
    printf("hello from %d of %d\n", task, tasks);
    MPI_Finalize();
    return 0;
}
