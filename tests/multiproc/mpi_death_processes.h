/* Rows of mpi_death_tasks.c: intercommunicators, ports, tasks that start tasks, and sessions. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "mpi_death_tasks.h"

static char* program;
static char port[MPI_MAX_PORT_NAME]; /* of the victim */
static char service[100];            /* the name under which the victim has published it */
static int connected = -1;           /* a socket whose other end is at the victim */
static MPI_Comm inter, spare_inter, spare_copy;

/* The sockets of MPI_Comm_join. The victim accepts none of them. */
static void connect_sockets(void) {
    struct sockaddr_in place = {.sin_family = AF_INET};
    socklen_t length = sizeof place;
    place.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const int made = socket(AF_INET, SOCK_STREAM, 0);
    if (rank == kVictim) {
        if (bind(made, (struct sockaddr*)&place, length) != 0 || listen(made, 16) != 0) exit(2);
        getsockname(made, (struct sockaddr*)&place, &length);
    }
    MPI_Bcast(&place, sizeof place, MPI_BYTE, kVictim, MPI_COMM_WORLD);
    if (rank == kVictim) return;
    if (connect(made, (struct sockaddr*)&place, length) != 0) exit(2);
    connected = made;
}

static void make_processes(void) {
    MPI_Intercomm_create(side, 0, MPI_COMM_WORLD, rank == kVictim ? 0 : kVictim, 7, &inter);
    MPI_Comm_dup(inter, &spare_inter);
    MPI_Comm_dup(MPI_COMM_WORLD, &spare_copy);
    if (rank == kVictim) MPI_Open_port(MPI_INFO_NULL, port);
    MPI_Bcast(port, MPI_MAX_PORT_NAME, MPI_CHAR, kVictim, MPI_COMM_WORLD);
}

static void prepare_processes(const char* row) {
    if (strcmp(row, "join") == 0) connect_sockets();
    if (strcmp(row, "lookup_and_connect") == 0) {
        snprintf(service, sizeof service, "death %d", (int)getpid());
        MPI_Bcast(service, sizeof service, MPI_CHAR, kVictim, MPI_COMM_WORLD);
        if (rank == kVictim) MPI_Publish_name(service, MPI_INFO_NULL, port);
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

static int disconnect(int code, MPI_Comm* made) {
    return code != MPI_SUCCESS ? code : MPI_Comm_disconnect(made);
}

ROW(kAlone, connect) {
    MPI_Comm made = MPI_COMM_NULL;
    return disconnect(MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &made), &made);
}
ROW(kAlone, lookup_and_connect) {
    MPI_Comm made = MPI_COMM_NULL;
    char found[MPI_MAX_PORT_NAME];
    TRY(MPI_Lookup_name(service, MPI_INFO_NULL, found));
    return disconnect(MPI_Comm_connect(found, MPI_INFO_NULL, 0, MPI_COMM_SELF, &made), &made);
}
ROW(kStuck, accept) {
    MPI_Comm made = MPI_COMM_NULL;
    return disconnect(MPI_Comm_accept(port, MPI_INFO_NULL, kVictim, MPI_COMM_WORLD, &made), &made);
}
ROW(kAll, accept_and_connect) {
    MPI_Comm made = MPI_COMM_NULL;
    TRY(rank == kVictim ? MPI_Comm_accept(port, MPI_INFO_NULL, 0, side, &made)
                        : MPI_Comm_connect(port, MPI_INFO_NULL, 0, side, &made));
    TRY(MPI_Barrier(made));
    return MPI_Comm_disconnect(&made);
}
/* MPI does not know that the other end of the socket is a task. */
ROW(kAlone, join) {
    MPI_Comm made = MPI_COMM_NULL;
    int class;
    const int code = MPI_Comm_join(connected, &made);
    if (code != MPI_SUCCESS) MPI_Error_class(code, &class);
    return code != MPI_SUCCESS && class == MPI_ERR_ARG ? then_meet() : code;
}

static int spawn(int root) {
    char* arguments[] = {"child", NULL};
    MPI_Comm made = MPI_COMM_NULL;
    return disconnect(MPI_Comm_spawn(program, arguments, 1, MPI_INFO_NULL, root, MPI_COMM_WORLD,
                                     &made, MPI_ERRCODES_IGNORE),
                      &made);
}
ROW(kAll, spawn) {
    return spawn(0);
}
ROW(kAll, spawn_by_the_victim) {
    return spawn(kVictim);
}

ROW(kAlone, disconnect) {
    TRY(MPI_Comm_disconnect(&spare_copy));
    return then_meet();
}
ROW(kAlone, disconnect_inter) {
    TRY(MPI_Comm_disconnect(&spare_inter));
    return then_meet();
}
ROW(kAll, intercomm_create) {
    MPI_Comm made = MPI_COMM_NULL;
    return disconnect(
        MPI_Intercomm_create(side, 0, MPI_COMM_WORLD, rank == kVictim ? 0 : kVictim, 8, &made),
        &made);
}
ROW(kAll, intercomm_create_from_groups) {
    MPI_Comm made = MPI_COMM_NULL;
    return disconnect(
        MPI_Intercomm_create_from_groups(rank == kVictim ? victim_group : others_group, 0,
                                         rank == kVictim ? others_group : victim_group, 0, "death",
                                         MPI_INFO_NULL, handler, &made),
        &made);
}
ROW(kAll, intercomm_merge) {
    MPI_Comm made = MPI_COMM_NULL;
    return disconnect(MPI_Intercomm_merge(inter, rank == kVictim, &made), &made);
}
ROW(kAll, inter_dup) {
    MPI_Comm made = MPI_COMM_NULL;
    return disconnect(MPI_Comm_dup(inter, &made), &made);
}
ROW(kAll, inter_barrier) {
    return MPI_Barrier(inter);
}
ROW(kAll, inter_bcast) {
    const int root = rank == kVictim ? MPI_ROOT : 0;
    return MPI_Bcast(memory, 100, MPI_INT, root, inter);
}
ROW(kAll, inter_allreduce) {
    return MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, inter);
}
ROW(kAll, inter_ialltoall) {
    MPI_Request request;
    TRY(MPI_Ialltoall(memory, 1000, MPI_INT, other, 1000, MPI_INT, inter, &request));
    return MPI_Wait(&request, MPI_STATUS_IGNORE);
}
ROW(kAlone, inter_recv) {
    return MPI_Recv(&number, 1, MPI_INT, 0, 0, inter, MPI_STATUS_IGNORE);
}

ROW(kAlone, create_from_group) {
    MPI_Group all, pair;
    MPI_Comm made = MPI_COMM_NULL;
    const int ranks[2] = {kVictim, rank};
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Group_incl(all, 2, ranks, &pair);
    return disconnect(MPI_Comm_create_from_group(pair, "pair", MPI_INFO_NULL, handler, &made),
                      &made);
}
ROW(kAll, session) {
    MPI_Session session;
    MPI_Group group;
    MPI_Comm made = MPI_COMM_NULL;
    TRY(MPI_Session_init(MPI_INFO_NULL, handler, &session));
    TRY(MPI_Group_from_session_pset(session, "mpi://WORLD", &group));
    TRY(MPI_Comm_create_from_group(group, "all", MPI_INFO_NULL, handler, &made));
    TRY(MPI_Barrier(made));
    TRY(MPI_Comm_disconnect(&made));
    TRY(MPI_Group_free(&group));
    return MPI_Session_finalize(&session);
}
