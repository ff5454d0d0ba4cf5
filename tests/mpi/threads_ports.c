/* Several threads of each task accept and connect at the same time, each at a port of its own: tasks 0 and 1, 2 and 3, and
 * so on. Others time out meanwhile. Any number of tasks. */
#include "threads_test.h"

enum { kRounds = 3 };

static void exchange(MPI_Comm inter, int number) {
    int got = -1;
    MPI_Comm whole;
    CHECK_OK(MPI_Sendrecv(&number, 1, MPI_INT, 0, number, &got, 1, MPI_INT, 0, number, inter,
                          MPI_STATUS_IGNORE));
    CHECK_INT(got, number);
    CHECK_OK(MPI_Intercomm_merge(inter, threads_rank % 2, &whole));
    CHECK_OK(MPI_Allreduce(&number, &got, 1, MPI_INT, MPI_SUM, whole));
    CHECK_INT(got, 2 * number);
    CHECK_OK(MPI_Comm_free(&whole));
    CHECK_OK(MPI_Comm_disconnect(&inter));
}

static void meet(int number) {
    const int partner = threads_rank ^ 1;
    char port[MPI_MAX_PORT_NAME], own[MPI_MAX_PORT_NAME];
    MPI_Comm inter;
    MPI_Info soon;
    CHECK_OK(MPI_Info_create(&soon));
    CHECK_OK(MPI_Info_set(soon, "timeout", "0.01"));
    CHECK_OK(MPI_Open_port(MPI_INFO_NULL, own));
    for (int round = 0; round < kRounds; ++round) {
        CHECK_CLASS(MPI_Comm_accept(own, soon, 0, MPI_COMM_SELF, &inter), MPI_ERR_PORT);
        if (partner >= threads_size) continue;
        if (threads_rank % 2 == 0) {
            CHECK_OK(MPI_Send(own, MPI_MAX_PORT_NAME, MPI_CHAR, partner, number, MPI_COMM_WORLD));
            CHECK_OK(MPI_Comm_accept(own, MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter));
        } else {
            CHECK_OK(MPI_Recv(port, MPI_MAX_PORT_NAME, MPI_CHAR, partner, number, MPI_COMM_WORLD,
                              MPI_STATUS_IGNORE));
            CHECK_OK(MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter));
        }
        exchange(inter, number);
    }
    CHECK_OK(MPI_Close_port(own));
    CHECK_OK(MPI_Info_free(&soon));
}

int main(int argc, char** argv) {
    begin_threads(&argc, &argv);
    CHECK_OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    in_threads(meet);
    end_threads();
    return 0;
}
