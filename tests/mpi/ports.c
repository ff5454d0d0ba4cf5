/* Ports and MPI_Comm_join: the halves of the job connect, several times and at several ports; and the errors
 * of wrong arguments. A job of one task does what needs no partner. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "mpi_test.h"

#define KEY "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static int rank, size;

/* The intercommunicator works in both directions and as one. */
static void use(MPI_Comm inter) {
    int remote, flag = 0, got = -1, highest = -1, sum = -1;
    MPI_Comm whole;
    CHECK_OK(MPI_Comm_test_inter(inter, &flag));
    CHECK_INT(flag, 1);
    CHECK_OK(MPI_Comm_remote_size(inter, &remote));
    CHECK_INT(remote, rank % 2 == 0 ? size / 2 : (size + 1) / 2);
    CHECK_OK(MPI_Allreduce(&rank, &highest, 1, MPI_INT, MPI_MAX, inter));
    CHECK_INT(highest, rank % 2 == 0 ? size / 2 * 2 - 1 : (size - 1) / 2 * 2);
    if (rank < 2) {
        CHECK_OK(MPI_Sendrecv(&rank, 1, MPI_INT, 0, 1, &got, 1, MPI_INT, 0, 1, inter,
                              MPI_STATUS_IGNORE));
        CHECK_INT(got, 1 - rank);
    }
    CHECK_OK(MPI_Intercomm_merge(inter, rank % 2, &whole));
    const int one = 1;
    CHECK_OK(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, whole));
    CHECK_INT(sum, size);
    CHECK_OK(MPI_Comm_free(&whole));
}

/* The even ranks accept, the odd ones connect. The root of the accepting half is its last member. */
static void halves_connect(void) {
    MPI_Comm half, inter;
    char port[MPI_MAX_PORT_NAME] = "only the root has a name";
    CHECK_OK(MPI_Comm_split(MPI_COMM_WORLD, rank % 2, 0, &half));
    const int accepting = (size - 1) / 2 * 2; /* the highest even rank */
    const int root = rank % 2 == 0 ? accepting / 2 : 0;
    if (rank == accepting) {
        CHECK_OK(MPI_Open_port(MPI_INFO_NULL, port));
        CHECK_OK(MPI_Send(port, MPI_MAX_PORT_NAME, MPI_CHAR, 1, 9, MPI_COMM_WORLD));
    }
    if (rank == 1)
        CHECK_OK(MPI_Recv(port, MPI_MAX_PORT_NAME, MPI_CHAR, accepting, 9, MPI_COMM_WORLD,
                          MPI_STATUS_IGNORE));
    for (int round = 0; round < 3; ++round) {
        if (rank % 2 == 0)
            CHECK_OK(MPI_Comm_accept(port, MPI_INFO_NULL, root, half, &inter));
        else
            CHECK_OK(MPI_Comm_connect(port, MPI_INFO_NULL, root, half, &inter));
        use(inter);
        CHECK_OK(MPI_Comm_disconnect(&inter));
        CHECK(inter == MPI_COMM_NULL);
    }
    if (rank == accepting) {
        CHECK_OK(MPI_Close_port(port));
        CHECK_CLASS(MPI_Close_port(port), MPI_ERR_PORT);
    }
    /* A closed port accepts nobody, and all members learn of it. */
    if (rank % 2 == 0)
        CHECK_CLASS(MPI_Comm_accept(port, MPI_INFO_NULL, root, half, &inter), MPI_ERR_PORT);
    CHECK_OK(MPI_Comm_free(&half));
}

/* One server and several clients that connect by themselves. Each gets its own communicator. */
static void clients_connect(void) {
    char port[MPI_MAX_PORT_NAME];
    if (rank == 0) CHECK_OK(MPI_Open_port(MPI_INFO_NULL, port));
    CHECK_OK(MPI_Bcast(port, MPI_MAX_PORT_NAME, MPI_CHAR, 0, MPI_COMM_WORLD));
    MPI_Comm inter;
    if (rank != 0) {
        int answer = -1;
        CHECK_OK(MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter));
        CHECK_OK(MPI_Send(&rank, 1, MPI_INT, 0, 0, inter));
        CHECK_OK(MPI_Recv(&answer, 1, MPI_INT, 0, 0, inter, MPI_STATUS_IGNORE));
        CHECK_INT(answer, -rank);
        CHECK_OK(MPI_Comm_disconnect(&inter));
        return;
    }
    int sum = 0;
    for (int client = 1; client < size; ++client) {
        int who = -1;
        CHECK_OK(MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter));
        CHECK_OK(MPI_Recv(&who, 1, MPI_INT, 0, 0, inter, MPI_STATUS_IGNORE));
        sum += who;
        who = -who;
        CHECK_OK(MPI_Send(&who, 1, MPI_INT, 0, 0, inter));
        CHECK_OK(MPI_Comm_disconnect(&inter));
    }
    CHECK_INT(sum, size * (size - 1) / 2);
    CHECK_OK(MPI_Close_port(port));
}

/* Tasks 0 and 1 have a TCP connection of their own. */
static void join(void) {
    if (size < 2 || rank > 1) return;
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof address;
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    if (rank == 0) {
        const int listener = fd;
        CHECK(bind(listener, (struct sockaddr*)&address, length) == 0);
        CHECK(listen(listener, 1) == 0);
        CHECK(getsockname(listener, (struct sockaddr*)&address, &length) == 0);
        int number = ntohs(address.sin_port);
        CHECK_OK(MPI_Send(&number, 1, MPI_INT, 1, 8, MPI_COMM_WORLD));
        fd = accept(listener, NULL, NULL);
        close(listener);
    } else {
        int number = 0;
        CHECK_OK(MPI_Recv(&number, 1, MPI_INT, 0, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        address.sin_port = htons((unsigned short)number);
        CHECK(connect(fd, (struct sockaddr*)&address, length) == 0);
    }
    for (int round = 0; round < 2; ++round) {
        MPI_Comm inter;
        int got = -1;
        CHECK_OK(MPI_Comm_join(fd, &inter));
        CHECK(inter != MPI_COMM_NULL);
        CHECK_OK(MPI_Sendrecv(&rank, 1, MPI_INT, 0, 0, &got, 1, MPI_INT, 0, 0, inter,
                              MPI_STATUS_IGNORE));
        CHECK_INT(got, 1 - rank);
        CHECK_OK(MPI_Comm_disconnect(&inter));
        /* The socket is the program's again. */
        char byte = (char)('a' + rank);
        CHECK_INT(write(fd, &byte, 1), 1);
        CHECK_INT(read(fd, &byte, 1), 1);
        CHECK_INT(byte, 'b' - rank);
    }
    close(fd);
}

static MPI_Info limit_of(const char* seconds) {
    MPI_Info info;
    CHECK_OK(MPI_Info_create(&info));
    CHECK_OK(MPI_Info_set(info, "timeout", seconds));
    return info;
}

/* Nobody accepts or connects within the time limit. Whoever has given up is skipped by a later call. */
static void time_limits(void) {
    static const char* const wrong[] = {"0", "-1", "1 s", "soon", "nan", "0x1"};
    char own[MPI_MAX_PORT_NAME], port[MPI_MAX_PORT_NAME];
    MPI_Comm comm = MPI_COMM_SELF;
    MPI_Info soon = limit_of("0.02"), late = limit_of("1000");
    CHECK_OK(MPI_Open_port(MPI_INFO_NULL, own));
    CHECK_CLASS(MPI_Comm_accept(own, soon, 0, MPI_COMM_SELF, &comm), MPI_ERR_PORT);
    CHECK(comm == MPI_COMM_NULL);
    memcpy(port, own, sizeof port);
    CHECK_OK(MPI_Bcast(port, MPI_MAX_PORT_NAME, MPI_CHAR, 0, MPI_COMM_WORLD));
    /* The info is significant at the root only. */
    CHECK_CLASS(MPI_Comm_accept(port, rank == 0 ? soon : MPI_INFO_NULL, 0, MPI_COMM_WORLD, &comm),
                MPI_ERR_PORT);
    if (rank != 0)
        for (int i = 0; i < 2; ++i)
            CHECK_CLASS(MPI_Comm_connect(port, soon, 0, MPI_COMM_SELF, &comm), MPI_ERR_PORT);
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    if (rank == 1) {
        CHECK_OK(MPI_Comm_connect(port, late, 0, MPI_COMM_SELF, &comm));
        CHECK_OK(MPI_Comm_disconnect(&comm));
    }
    if (rank == 0 && size > 1) {
        CHECK_OK(MPI_Comm_accept(port, late, 0, MPI_COMM_SELF, &comm));
        CHECK_OK(MPI_Comm_disconnect(&comm));
    }
    for (int i = 0; i < (int)(sizeof wrong / sizeof *wrong); ++i) {
        MPI_Info info = limit_of(wrong[i]);
        CHECK_CLASS(MPI_Comm_connect(port, info, 0, MPI_COMM_SELF, &comm), MPI_ERR_INFO_VALUE);
        CHECK_CLASS(MPI_Comm_accept(own, info, 0, MPI_COMM_SELF, &comm), MPI_ERR_INFO_VALUE);
        CHECK_OK(MPI_Info_free(&info));
    }
    CHECK_OK(MPI_Info_free(&soon));
    CHECK_OK(MPI_Info_free(&late));
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    CHECK_OK(MPI_Close_port(own));
}

static void wrong_arguments(void) {
    MPI_Comm comm = MPI_COMM_SELF;
    char port[MPI_MAX_PORT_NAME];
    CHECK_CLASS(MPI_Comm_connect("no port", MPI_INFO_NULL, 0, MPI_COMM_WORLD, &comm), MPI_ERR_PORT);
    CHECK(comm == MPI_COMM_NULL);
    /* Nobody listens there. */
    CHECK_CLASS(MPI_Comm_connect("poe-port/another-job/0/127.0.0.1/1/" KEY, MPI_INFO_NULL, 0,
                                 MPI_COMM_WORLD, &comm),
                MPI_ERR_PORT);
    CHECK_CLASS(MPI_Comm_accept("poe-port/another-job/0/127.0.0.1/1/" KEY, MPI_INFO_NULL, 0,
                                MPI_COMM_WORLD, &comm),
                MPI_ERR_PORT);
    CHECK_CLASS(MPI_Comm_accept("poe-port/another-job/0/127.0.0.1/1/" KEY "0", MPI_INFO_NULL, 0,
                                MPI_COMM_WORLD, &comm),
                MPI_ERR_PORT);
    CHECK_CLASS(MPI_Comm_accept(NULL, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &comm), MPI_ERR_PORT);
    CHECK_CLASS(MPI_Comm_accept("x", MPI_INFO_NULL, size, MPI_COMM_WORLD, &comm), MPI_ERR_ROOT);
    CHECK_CLASS(MPI_Close_port("x"), MPI_ERR_PORT);
    CHECK_CLASS(MPI_Comm_join(-1, &comm), MPI_ERR_ARG);
    int fds[2];
    CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, fds) == 0);
    close(fds[1]);
    CHECK_CLASS(MPI_Comm_join(fds[0], &comm), MPI_ERR_ARG); /* nobody is there */
    close(fds[0]);
    /* A port of a member cannot be meant. */
    CHECK_OK(MPI_Open_port(MPI_INFO_NULL, port));
    CHECK_CLASS(MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &comm), MPI_ERR_PORT);
    CHECK_OK(MPI_Close_port(port));
    comm = MPI_COMM_SELF;
    CHECK_OK(MPI_Comm_get_parent(&comm));
    CHECK(comm == MPI_COMM_NULL);
}

int main(int argc, char** argv) {
    CHECK_OK(MPI_Init(&argc, &argv));
    CHECK_OK(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    CHECK_OK(MPI_Comm_size(MPI_COMM_WORLD, &size));
    CHECK_OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    CHECK_OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    if (size > 1) halves_connect();
    clients_connect();
    join();
    time_limits();
    wrong_arguments();
    CHECK_OK(MPI_Finalize());
    return 0;
}
