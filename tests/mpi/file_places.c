/* Long accesses of files from and to all places in a page of memory: some of them go through a
 * buffer. Any number of tasks. */
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#include "mpi_test.h"

enum { kPage = 4096, kBytes = 100000 };
static const int places[] = {0, 1, 16, 31, 32, 2048, kPage - 16};
enum { kPlaces = sizeof places / sizeof *places };
static int rank, size;

static void expect_bytes(const MPI_Status* status, int wanted) {
    int count = -1;
    CHECK_OK(MPI_Get_count(status, MPI_BYTE, &count));
    CHECK_INT(count, wanted);
}

/* Long accesses from and to all places in a page, and the end of the file. */
static void test_places(MPI_File file) {
    MPI_Status status;
    unsigned char* const memory = malloc(kBytes + 3 * kPage);
    unsigned char* const page = memory + kPage - (uintptr_t)memory % kPage;
    const MPI_Offset own = (MPI_Offset)rank * 2 * kBytes;
    CHECK(memory != NULL);
    for (int f = 0; f < kPlaces; ++f)
        for (int m = 0; m < kPlaces; ++m) {
            unsigned char* const data = page + places[m];
            const MPI_Offset at = own + places[f];
            for (int i = 0; i < kBytes; ++i) data[i] = (unsigned char)(i * 7 + i / 251 + f + m);
            CHECK_OK(MPI_File_write_at(file, at, data, kBytes, MPI_BYTE, &status));
            expect_bytes(&status, kBytes);
            memset(page, 0xee, kBytes + kPage);
            CHECK_OK(MPI_File_read_at(file, at, data, kBytes, MPI_BYTE, &status));
            expect_bytes(&status, kBytes);
            for (int i = 0; i < kBytes; ++i)
                CHECK(data[i] == (unsigned char)(i * 7 + i / 251 + f + m));
            CHECK(data[kBytes] == 0xee && (places[m] == 0 || data[-1] == 0xee));
        }
    CHECK_OK(MPI_File_set_size(file, (MPI_Offset)size * 2 * kBytes));
    for (int m = 0; m < kPlaces; ++m) {
        CHECK_OK(MPI_File_read_at(file, (MPI_Offset)size * 2 * kBytes - 50000, page + places[m],
                                  kBytes, MPI_BYTE, &status));
        expect_bytes(&status, 50000);
    }
    free(memory);
}

/* Memory of which the last page is not there. */
static void test_missing_memory(MPI_File file) {
    enum { kThere = 64 * 1024 };
    unsigned char* const memory =
        mmap(NULL, kThere + kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(memory != MAP_FAILED);
    CHECK(mprotect(memory + kThere, kPage, PROT_NONE) == 0);
    for (int f = 0; f < kPlaces; ++f) {
        MPI_Status status;
        CHECK(MPI_File_write_at(file, places[f], memory, kThere + 100, MPI_BYTE, &status) !=
              MPI_SUCCESS);
        CHECK(MPI_File_read_at(file, places[f], memory, kThere + 100, MPI_BYTE, &status) !=
              MPI_SUCCESS);
    }
    munmap(memory, kThere + kPage);
}

int main(int argc, char** argv) {
    const char* const folder = getenv("TMPDIR");
    char name[300];
    MPI_File file;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    snprintf(name, sizeof name, "%s/poe-file-places-%d", folder != NULL ? folder : "/tmp",
             (int)getpid());
    MPI_Bcast(name, sizeof name, MPI_CHAR, 0, MPI_COMM_WORLD);
    CHECK_OK(MPI_File_open(MPI_COMM_WORLD, name,
                           MPI_MODE_RDWR | MPI_MODE_CREATE | MPI_MODE_DELETE_ON_CLOSE,
                           MPI_INFO_NULL, &file));
    test_places(file);
    test_missing_memory(file);
    CHECK_OK(MPI_File_close(&file));
    MPI_Finalize();
    return 0;
}
