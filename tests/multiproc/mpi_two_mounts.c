/* A file that tasks reach through different mounts of a network file system, each with a cache of its own. What a task
 * has written, the others read after MPI_File_sync, a barrier and MPI_File_sync, and after the file was closed. */
#include "mpi_test.h"

#define COUNT (1 << 16)

static int memory[COUNT];
static int rank, size;
static MPI_File file;

static void fill(int value) {
    for (int i = 0; i < COUNT; ++i) memory[i] = value;
}

static MPI_Offset place_of(int task) {
    return (MPI_Offset)task * (MPI_Offset)sizeof memory;
}

static void make_visible(void) {
    CHECK_OK(MPI_File_sync(file));
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    CHECK_OK(MPI_File_sync(file));
}

static void check(MPI_Offset place, int value) {
    MPI_Status status;
    int count;
    fill(-1);
    CHECK_OK(MPI_File_read_at(file, place, memory, COUNT, MPI_INT, &status));
    CHECK_OK(MPI_Get_count(&status, MPI_INT, &count));
    CHECK_INT(count, COUNT);
    for (int i = 0; i < COUNT; ++i) CHECK_INT(memory[i], value);
}

int main(int argc, char** argv) {
    CHECK_OK(MPI_Init(&argc, &argv));
    CHECK_OK(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    CHECK_OK(MPI_Comm_size(MPI_COMM_WORLD, &size));
    CHECK_OK(MPI_File_open(MPI_COMM_WORLD, argv[1], MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_INFO_NULL,
                           &file));
    const int other = (rank + 1) % size;
    /* The same places again and again, so that old contents are in the caches. */
    for (int round = 0; round < 5; ++round) {
        fill(1000 * round + rank);
        CHECK_OK(
            MPI_File_write_at(file, place_of(rank), memory, COUNT, MPI_INT, MPI_STATUS_IGNORE));
        make_visible();
        check(place_of(other), 1000 * round + other);
        CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    }
    /* Task 0 alone makes the file longer. */
    for (int round = 0; round < 5; ++round) {
        MPI_Offset length;
        fill(7 + round);
        if (rank == 0)
            CHECK_OK(MPI_File_write_at(file, place_of(size + round), memory, COUNT, MPI_INT,
                                       MPI_STATUS_IGNORE));
        make_visible();
        check(place_of(size + round), 7 + round);
        CHECK_OK(MPI_File_get_size(file, &length));
        CHECK_INT(length, place_of(size + round + 1));
        CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    }
    /* Collective accesses, and the file is closed in between. */
    CHECK_OK(MPI_File_close(&file));
    for (int round = 0; round < 3; ++round) {
        CHECK_OK(MPI_File_open(MPI_COMM_WORLD, argv[1], MPI_MODE_RDWR, MPI_INFO_NULL, &file));
        fill(100 * round + rank);
        CHECK_OK(MPI_File_write_at_all(file, place_of(other), memory, COUNT, MPI_INT,
                                       MPI_STATUS_IGNORE));
        CHECK_OK(MPI_File_close(&file));
        CHECK_OK(MPI_File_open(MPI_COMM_WORLD, argv[1], MPI_MODE_RDONLY, MPI_INFO_NULL, &file));
        check(place_of(rank), 100 * round + (rank + size - 1) % size);
        CHECK_OK(MPI_File_close(&file));
        CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    }
    CHECK_OK(MPI_Finalize());
    return 0;
}
