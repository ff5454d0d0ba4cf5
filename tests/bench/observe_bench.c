/* What an observer adds to a call of MPI: ns per half round trip of 8 bytes between two tasks, and per send to nobody,
   in which the library does next to nothing. Prints both. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { kBytes = 8, kNanoseconds = 1000000000 };

static double round_trips(int rank, int count) {
    char bytes[kBytes] = {0};
    const double begin = MPI_Wtime();
    for (int i = 0; i < count; ++i) {
        if (rank == 0) MPI_Send(bytes, kBytes, MPI_CHAR, 1, 1, MPI_COMM_WORLD);
        MPI_Recv(bytes, kBytes, MPI_CHAR, 1 - rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (rank == 1) MPI_Send(bytes, kBytes, MPI_CHAR, 0, 1, MPI_COMM_WORLD);
    }
    return (MPI_Wtime() - begin) / count / 2 * kNanoseconds;
}

static double sends_to_nobody(int count) {
    char bytes[kBytes] = {0};
    const double begin = MPI_Wtime();
    for (int i = 0; i < count; ++i)
        MPI_Send(bytes, kBytes, MPI_CHAR, MPI_PROC_NULL, 1, MPI_COMM_WORLD);
    return (MPI_Wtime() - begin) / count * kNanoseconds;
}

int main(int argc, char** argv) {
    int rank;
    const int count = argc > 1 ? atoi(argv[1]) : 100000;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    round_trips(rank, count / 10);
    const double trip = round_trips(rank, count);
    const double send = sends_to_nobody(count);
    if (rank == 0) printf("%.2f %.2f\n", trip, send);
    MPI_Finalize();
    return 0;
}
