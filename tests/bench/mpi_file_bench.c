/* Collective accesses to a file in which the blocks of the tasks interleave. Prints the seconds
 * of the fastest of several writes and of the fastest read. Uses MPI only, so that it runs with
 * any implementation. Arguments: file, bytes of a block, bytes per task, repetitions. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, size;

static double slowest(double seconds) {
    MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return seconds;
}

static void failed(const char* what, int code) {
    char text[MPI_MAX_ERROR_STRING] = "";
    int length = 0;
    if (code == MPI_SUCCESS) return;
    MPI_Error_string(code, text, &length);
    fprintf(stderr, "%s: %s\n", what, text);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static void measure(const char* path, int block, int bytes, int repetitions) {
    MPI_File file;
    MPI_Datatype type;
    char* data = malloc((size_t)bytes);
    char* got = malloc((size_t)bytes);
    double best[2] = {1e9, 1e9};
    for (int i = 0; i < bytes; ++i) data[i] = (char)(i * 7 + rank);
    failed("open", MPI_File_open(MPI_COMM_WORLD, path,
                                 MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE,
                                 MPI_INFO_NULL, &file));
    MPI_Type_vector(bytes / block, block, block * size, MPI_BYTE, &type);
    MPI_Type_commit(&type);
    failed("view", MPI_File_set_view(file, (MPI_Offset)block * rank, MPI_BYTE, type, "native",
                                     MPI_INFO_NULL));
    for (int i = 0; i < repetitions; ++i) {
        MPI_Barrier(MPI_COMM_WORLD);
        double begin = MPI_Wtime();
        failed("write", MPI_File_write_at_all(file, 0, data, bytes, MPI_BYTE, MPI_STATUS_IGNORE));
        double seconds = slowest(MPI_Wtime() - begin);
        if (seconds < best[0]) best[0] = seconds;
        memset(got, 0, (size_t)bytes);
        MPI_Barrier(MPI_COMM_WORLD);
        begin = MPI_Wtime();
        failed("read", MPI_File_read_at_all(file, 0, got, bytes, MPI_BYTE, MPI_STATUS_IGNORE));
        seconds = slowest(MPI_Wtime() - begin);
        if (seconds < best[1]) best[1] = seconds;
        if (memcmp(got, data, (size_t)bytes) != 0) failed("the data differ", MPI_ERR_OTHER);
    }
    MPI_Type_free(&type);
    MPI_File_close(&file);
    if (rank == 0) printf("%.6f %.6f\n", best[0], best[1]);
    free(data);
    free(got);
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (argc > 4) measure(argv[1], atoi(argv[2]), atoi(argv[3]), atoi(argv[4]));
    MPI_Finalize();
    return 0;
}
