/* Several threads of each task use files at the same time: a file for each thread with collective calls, one file
 * that all threads have in common, files in atomic mode, and a file whose gaps are written back. Any number of tasks. */
#include <unistd.h>

#include "threads_test.h"

enum { kRounds = 3, kBlocks = 40, kShort = 100, kLong = 400000, kRecords = 50 };

static char folder[4096];
static MPI_File common;

static const char* name_of(char* name, size_t room, const char* what, int number) {
    snprintf(name, room, "%s-%s-%d", folder, what, number);
    return name;
}

/* The value of a byte that a thread of a task has written. */
static char value_of(int thread, int rank, int at) {
    return (char)(17 * thread + 31 * rank + at % 113);
}

static void fill(char* memory, int bytes, int thread, int rank) {
    for (int i = 0; i < bytes; ++i) memory[i] = value_of(thread, rank, i);
}

static int differs(const char* memory, int bytes, int thread, int rank) {
    for (int i = 0; i < bytes; ++i)
        if (memory[i] != value_of(thread, rank, i)) return 1;
    return 0;
}

/* The blocks of all tasks interleave in the file of this thread. */
static void own_file(int thread) {
    const int bytes = kBlocks * kShort;
    char name[5000], *written = malloc((size_t)bytes), *found = malloc((size_t)bytes);
    MPI_Datatype blocks;
    MPI_Info hints;
    CHECK_OK(MPI_Info_create(&hints));
    /* Windows are shorter than the file, and every second thread has two aggregators. */
    CHECK_OK(MPI_Info_set(hints, "cb_buffer_size", "4096"));
    if (thread % 2 == 0) CHECK_OK(MPI_Info_set(hints, "cb_nodes", "2"));
    CHECK_OK(MPI_Type_vector(kBlocks, kShort, kShort * threads_size, MPI_CHAR, &blocks));
    CHECK_OK(MPI_Type_commit(&blocks));
    for (int round = 0; round < kRounds; ++round) {
        MPI_File file;
        MPI_Request requests[2];
        MPI_Status status;
        int count = -1;
        CHECK_OK(MPI_File_open(threads_comms[thread], name_of(name, sizeof name, "own", thread),
                               MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, hints,
                               &file));
        CHECK_OK(MPI_File_set_view(file, threads_rank * kShort, MPI_CHAR, blocks, "native",
                                   MPI_INFO_NULL));
        fill(written, bytes, thread, threads_rank + round);
        if (round % 2 == 0) {
            CHECK_OK(MPI_File_write_all(file, written, bytes, MPI_CHAR, &status));
        } else {
            CHECK_OK(MPI_File_iwrite_all(file, written, bytes / 2, MPI_CHAR, &requests[0]));
            CHECK_OK(
                MPI_File_iwrite_all(file, written + bytes / 2, bytes / 2, MPI_CHAR, &requests[1]));
            CHECK_OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
        }
        CHECK_OK(MPI_File_sync(file));
        memset(found, 0, (size_t)bytes);
        CHECK_OK(MPI_File_read_at_all(file, 0, found, bytes, MPI_CHAR, &status));
        CHECK_OK(MPI_Get_count(&status, MPI_CHAR, &count));
        CHECK_INT(count, bytes);
        CHECK_INT(differs(found, bytes, thread, threads_rank + round), 0);
        memset(found, 0, (size_t)bytes);
        CHECK_OK(MPI_File_read_at_all_begin(file, 0, found, bytes, MPI_CHAR));
        CHECK_OK(MPI_File_read_at_all_end(file, found, &status));
        CHECK_INT(differs(found, bytes, thread, threads_rank + round), 0);
        CHECK_OK(MPI_File_close(&file));
    }
    CHECK_OK(MPI_Type_free(&blocks));
    CHECK_OK(MPI_Info_free(&hints));
    free(written);
    free(found);
}

/* Each thread has a long part of the common file, and takes records by the shared pointer. */
static void common_file(int thread) {
    const MPI_Offset records =
        (MPI_Offset)kThreads * threads_size * kRecords * (MPI_Offset)sizeof(int);
    const MPI_Offset at = records + ((MPI_Offset)threads_rank * kThreads + thread) * kLong;
    char *written = malloc(kLong), *found = malloc(kLong);
    MPI_Request request;
    MPI_Status status;
    fill(written, kLong, thread, threads_rank);
    for (int round = 0; round < kRounds; ++round) {
        int done = 0;
        CHECK_OK(MPI_File_iwrite_at(common, at, written, kLong, MPI_CHAR, &request));
        if (round == 0)
            for (int i = 0; i < kRecords; ++i) {
                const int record = (threads_rank * kThreads + thread) * kRecords + i;
                CHECK_OK(MPI_File_write_shared(common, &record, (int)sizeof record, MPI_CHAR,
                                               MPI_STATUS_IGNORE));
            }
        while (!done) CHECK_OK(MPI_Test(&request, &done, MPI_STATUS_IGNORE));
        memset(found, 0, kLong);
        CHECK_OK(MPI_File_iread_at(common, at, found, kLong, MPI_CHAR, &request));
        CHECK_OK(MPI_Wait(&request, &status));
        CHECK_INT(differs(found, kLong, thread, threads_rank), 0);
        memset(found, 0, kLong);
        CHECK_OK(MPI_File_read_at(common, at, found, kLong, MPI_CHAR, &status));
        CHECK_INT(differs(found, kLong, thread, threads_rank), 0);
        MPI_Info hints;
        CHECK_OK(MPI_File_get_info(common, &hints));
        CHECK_OK(MPI_Info_free(&hints));
    }
    free(written);
    free(found);
}

/* Two accesses that are under way at the same time change the same pieces of a file in atomic mode: the pieces are all
 * of one access in the end. */
static void atomic_file(int thread) {
    const int bytes = kBlocks * kShort;
    char name[5000], *first = malloc((size_t)bytes), *second = malloc((size_t)bytes);
    char* found = malloc((size_t)bytes);
    MPI_Datatype blocks;
    MPI_File file;
    CHECK_OK(MPI_Type_vector(kBlocks, kShort, 2 * kShort, MPI_CHAR, &blocks));
    CHECK_OK(MPI_Type_commit(&blocks));
    CHECK_OK(MPI_File_open(threads_comms[thread], name_of(name, sizeof name, "atomic", thread),
                           MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE,
                           MPI_INFO_NULL, &file));
    CHECK_OK(MPI_File_set_view(file, (MPI_Offset)threads_rank * 2 * bytes, MPI_CHAR, blocks,
                               "native", MPI_INFO_NULL));
    CHECK_OK(MPI_File_set_atomicity(file, 1));
    for (int round = 0; round < kRounds * 10; ++round) {
        MPI_Request requests[2];
        memset(first, 2 * round, (size_t)bytes);
        memset(second, 2 * round + 1, (size_t)bytes);
        CHECK_OK(MPI_File_iwrite_at_all(file, 0, first, bytes, MPI_CHAR, &requests[0]));
        CHECK_OK(MPI_File_iwrite_at_all(file, 0, second, bytes, MPI_CHAR, &requests[1]));
        CHECK_OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
        CHECK_OK(MPI_File_read_at(file, 0, found, bytes, MPI_CHAR, MPI_STATUS_IGNORE));
        CHECK(memcmp(found, first, (size_t)bytes) == 0 ||
              memcmp(found, second, (size_t)bytes) == 0);
    }
    CHECK_OK(MPI_File_close(&file));
    CHECK_OK(MPI_Type_free(&blocks));
    free(first);
    free(second);
    free(found);
}

/* The blocks of all threads of all tasks interleave in one file, which each thread has opened for itself. Half of the
 * threads write with the gaps and the others one block at a time, so that nobody may lose a block of another one. */
static void sieved_file(int thread) {
    const int bytes = kBlocks * kShort, stride = kShort * kThreads * threads_size;
    const int at = (threads_rank * kThreads + thread) * kShort;
    char name[5000], *written = malloc((size_t)bytes), *found = malloc((size_t)bytes);
    MPI_Datatype blocks;
    MPI_Info hints;
    MPI_File file;
    CHECK_OK(MPI_Info_create(&hints));
    CHECK_OK(MPI_Info_set(hints, "romio_ds_write", "enable"));
    CHECK_OK(MPI_Type_vector(kBlocks, kShort, stride, MPI_CHAR, &blocks));
    CHECK_OK(MPI_Type_commit(&blocks));
    CHECK_OK(MPI_File_open(threads_comms[thread], name_of(name, sizeof name, "sieved", 0),
                           MPI_MODE_CREATE | MPI_MODE_RDWR, hints, &file));
    CHECK_OK(MPI_File_set_view(file, at, MPI_CHAR, blocks, "native", MPI_INFO_NULL));
    for (int round = 0; round < kRounds * 10; ++round) {
        fill(written, bytes, thread, threads_rank + round);
        if (thread % 2 == 0)
            CHECK_OK(MPI_File_write_at(file, 0, written, bytes, MPI_CHAR, MPI_STATUS_IGNORE));
        else
            for (int block = 0; block < bytes; block += kShort)
                CHECK_OK(MPI_File_write_at(file, block, written + block, kShort, MPI_CHAR,
                                           MPI_STATUS_IGNORE));
        CHECK_OK(MPI_File_read_at(file, 0, found, bytes, MPI_CHAR, MPI_STATUS_IGNORE));
        CHECK_INT(differs(found, bytes, thread, threads_rank + round), 0);
    }
    CHECK_OK(MPI_File_close(&file));
    CHECK_OK(MPI_Info_free(&hints));
    CHECK_OK(MPI_Type_free(&blocks));
    free(written);
    free(found);
}

static void test_sieved_file(void) {
    char name[5000];
    in_threads(sieved_file);
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    if (threads_rank == 0)
        CHECK_OK(MPI_File_delete(name_of(name, sizeof name, "sieved", 0), MPI_INFO_NULL));
}

static void test_common_file(void) {
    const int all = kThreads * threads_size * kRecords;
    char name[5000];
    CHECK_OK(MPI_File_open(MPI_COMM_WORLD, name_of(name, sizeof name, "common", 0),
                           MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE,
                           MPI_INFO_NULL, &common));
    in_threads(common_file);
    CHECK_OK(MPI_File_sync(common));
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    int *found = malloc((size_t)all * sizeof(int)), *seen = calloc((size_t)all, sizeof(int));
    CHECK_OK(
        MPI_File_read_at(common, 0, found, all * (int)sizeof(int), MPI_CHAR, MPI_STATUS_IGNORE));
    for (int i = 0; i < all; ++i) {
        CHECK(found[i] >= 0 && found[i] < all);
        CHECK_INT(seen[found[i]]++, 0);
    }
    free(found);
    free(seen);
    CHECK_OK(MPI_File_close(&common));
}

int main(int argc, char** argv) {
    begin_threads(&argc, &argv);
    if (threads_rank == 0)
        snprintf(folder, sizeof folder, "%s/poe-threads-file-%d",
                 getenv("TMPDIR") != NULL ? getenv("TMPDIR") : "/tmp", (int)getpid());
    CHECK_OK(MPI_Bcast(folder, (int)sizeof folder, MPI_CHAR, 0, MPI_COMM_WORLD));
    in_threads(own_file);
    test_common_file();
    in_threads(atomic_file);
    test_sieved_file();
    end_threads();
    return 0;
}
