/* MPI_Pready and MPI_Parrived from several threads: each thread fills its partitions of one request, and
 * another one reads what has arrived. */
#include "threads_test.h"

enum { kPartitions = 4 * kThreads, kElements = 96, kRounds = 20 };

static int out[kPartitions * kElements], in[kPartitions * kElements];
static MPI_Request sends, receives;
static int now;

static void fill(int number) {
    for (int n = 0; n < 4; ++n) {
        const int p = n * kThreads + number;
        for (int i = 0; i < kElements; ++i)
            out[p * kElements + i] = threads_rank * 100000 + now * 1000 + p;
        CHECK_OK(MPI_Pready(p, sends));
    }
    /* The receiver has half as many partitions. */
    const int before = (threads_rank + threads_size - 1) % threads_size;
    for (int n = 0; n < 2; ++n) {
        const int p = n * kThreads + number;
        int flag = 0;
        while (!flag) CHECK_OK(MPI_Parrived(receives, p, &flag));
        for (int i = p * 2 * kElements; i < (p + 1) * 2 * kElements; ++i)
            CHECK_INT(in[i], before * 100000 + now * 1000 + i / kElements);
    }
}

int main(int argc, char** argv) {
    begin_threads(&argc, &argv);
    const int next = (threads_rank + 1) % threads_size;
    const int before = (threads_rank + threads_size - 1) % threads_size;
    CHECK_OK(MPI_Psend_init(out, kPartitions, kElements, MPI_INT, next, 0, MPI_COMM_WORLD,
                            MPI_INFO_NULL, &sends));
    CHECK_OK(MPI_Precv_init(in, kPartitions / 2, 2 * kElements, MPI_INT, before, 0, MPI_COMM_WORLD,
                            MPI_INFO_NULL, &receives));
    for (now = 0; now < kRounds; ++now) {
        CHECK_OK(MPI_Start(&receives));
        CHECK_OK(MPI_Start(&sends));
        in_threads(fill);
        CHECK_OK(MPI_Wait(&sends, MPI_STATUS_IGNORE));
        CHECK_OK(MPI_Wait(&receives, MPI_STATUS_IGNORE));
    }
    CHECK_OK(MPI_Request_free(&sends));
    CHECK_OK(MPI_Request_free(&receives));
    end_threads();
    return 0;
}
