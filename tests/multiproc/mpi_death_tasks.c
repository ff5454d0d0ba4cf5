/* Task 1, the victim, dies while it or another task is in a call of MPI. poe_mpi_deaths.py starts this program:
 *
 *   mpi_death_tasks rows            prints the names of all rows of the table
 *   mpi_death_tasks ROW HOW FILE    repeats what the row does until it returns an error, and prints the error
 *
 *   HOW       the victim                                                       errors
 *   killed    prints its process, and waits or calls until it is killed        are fatal
 *   gone      ends before its first call, by a code that lets the job go on    are returned
 *   TIME      does the same after so many us, wherever it is                   are returned
 */
#include "mpi_death_tasks.h"

#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include "mpi_death_files.h"
#include "mpi_death_processes.h"
#include "mpi_death_survivors.h"
#include "mpi_death_windows.h"

enum { kCodeOfVictim = 7 }; /* does not end the job */

/* Messages. */

static MPI_Status status;

ROW(kAlone, recv) {
    return MPI_Recv(&number, 1, MPI_INT, kVictim, 0, MPI_COMM_WORLD, &status);
}
ROW(kAlone, ssend) {
    return MPI_Ssend(&number, 1, MPI_INT, kVictim, 0, MPI_COMM_WORLD);
}
ROW(kAlone, send) {
    return MPI_Send(memory, kBytes, MPI_BYTE, kVictim, 0, MPI_COMM_WORLD);
}
ROW(kAlone, sendrecv) {
    return MPI_Sendrecv(memory, 1, MPI_INT, kVictim, 0, &number, 1, MPI_INT, kVictim, 0,
                        MPI_COMM_WORLD, &status);
}
ROW(kAlone, probe) {
    return MPI_Probe(kVictim, 0, MPI_COMM_WORLD, &status);
}
ROW(kAlone, mprobe) {
    MPI_Message message;
    return MPI_Mprobe(kVictim, 0, MPI_COMM_WORLD, &message, &status);
}
ROW(kAlone, recv_of_any) {
    return MPI_Recv(&number, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
}
ROW(kAlone, probe_of_any) {
    return MPI_Probe(MPI_ANY_SOURCE, 3, MPI_COMM_WORLD, &status);
}

static MPI_Request receive_of(int source) {
    MPI_Request request;
    MPI_Irecv(&number, 1, MPI_INT, source, 0, MPI_COMM_WORLD, &request);
    return request;
}

ROW(kAlone, wait) {
    MPI_Request request = receive_of(kVictim);
    return MPI_Wait(&request, &status);
}
ROW(kAlone, wait_of_any) {
    MPI_Request request = receive_of(MPI_ANY_SOURCE);
    return MPI_Wait(&request, &status);
}
ROW(kAlone, wait_of_send) {
    MPI_Request request;
    MPI_Issend(&number, 1, MPI_INT, kVictim, 0, MPI_COMM_WORLD, &request);
    return MPI_Wait(&request, &status);
}
ROW(kAlone, waitany) {
    MPI_Request request = receive_of(kVictim);
    int index;
    return MPI_Waitany(1, &request, &index, &status);
}
ROW(kAlone, test) {
    MPI_Request request = receive_of(kVictim);
    int over = 0;
    while (!over) TRY(MPI_Test(&request, &over, &status));
    return MPI_SUCCESS;
}

/* Partitioned communication. */

static MPI_Request partitioned_receive(void) {
    MPI_Request request;
    MPI_Precv_init(memory, 4, 100, MPI_BYTE, kVictim, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    MPI_Start(&request);
    return request;
}

ROW(kAlone, precv) {
    MPI_Request request = partitioned_receive();
    return MPI_Wait(&request, &status);
}
ROW(kAlone, parrived) {
    MPI_Request request = partitioned_receive();
    int arrived = 0;
    while (!arrived) TRY(MPI_Parrived(request, 2, &arrived));
    return MPI_Wait(&request, &status);
}
ROW(kAlone, psend) {
    MPI_Request request;
    MPI_Psend_init(memory, 4, kBytes / 4, MPI_BYTE, kVictim, 0, MPI_COMM_WORLD, MPI_INFO_NULL,
                   &request);
    MPI_Start(&request);
    for (int i = 0; i < 4; ++i) TRY(MPI_Pready(i, request));
    return MPI_Wait(&request, &status);
}
/* The victim is the sender of each round. */
ROW(kAll, psend_and_precv) {
    static MPI_Request requests[16];
    static int made;
    const int count = rank == kVictim ? size : 1;
    for (int i = 0; i < count && !made; ++i) {
        if (rank == kVictim)
            MPI_Psend_init(memory, 4, 5000, MPI_BYTE, i == kVictim ? MPI_PROC_NULL : i, 0,
                           MPI_COMM_WORLD, MPI_INFO_NULL, &requests[i]);
        else
            MPI_Precv_init(memory, 4, 5000, MPI_BYTE, kVictim, 0, MPI_COMM_WORLD, MPI_INFO_NULL,
                           &requests[i]);
    }
    made = 1;
    TRY(MPI_Startall(count, requests));
    for (int i = 0; i < count && rank == kVictim; ++i) TRY(MPI_Pready_range(0, 3, requests[i]));
    for (int i = 0; i < count; ++i) TRY(MPI_Wait(&requests[i], &status));
    return MPI_SUCCESS;
}

/* Collective calls. */

ROW(kAll, barrier) {
    return MPI_Barrier(MPI_COMM_WORLD);
}
ROW(kAll, bcast) {
    return MPI_Bcast(memory, 100, MPI_INT, kVictim, MPI_COMM_WORLD);
}
ROW(kAll, bcast_long) {
    return MPI_Bcast(memory, kBytes, MPI_BYTE, kVictim, MPI_COMM_WORLD);
}
ROW(kAll, allreduce) {
    return MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}
ROW(kAll, allreduce_long) {
    return MPI_Allreduce(memory, other, 100000, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}
ROW(kAll, reduce) {
    return MPI_Reduce(&rank, &sum, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
}
ROW(kAll, scan) {
    return MPI_Scan(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}
ROW(kAll, alltoall) {
    return MPI_Alltoall(memory, 50000, MPI_INT, other, 50000, MPI_INT, MPI_COMM_WORLD);
}
ROW(kAll, gatherv) {
    int counts[16], places[16];
    for (int i = 0; i < size; ++i) counts[i] = 1000, places[i] = 1000 * i;
    return MPI_Gatherv(memory, 1000, MPI_INT, other, counts, places, MPI_INT, kVictim,
                       MPI_COMM_WORLD);
}
ROW(kAll, ibcast) {
    MPI_Request request;
    TRY(MPI_Ibcast(memory, 100, MPI_INT, kVictim, MPI_COMM_WORLD, &request));
    return MPI_Wait(&request, MPI_STATUS_IGNORE);
}
ROW(kAll, allreduce_init) {
    static MPI_Request request = MPI_REQUEST_NULL;
    if (request == MPI_REQUEST_NULL)
        TRY(MPI_Allreduce_init(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL,
                               &request));
    TRY(MPI_Start(&request));
    return MPI_Wait(&request, MPI_STATUS_IGNORE);
}
ROW(kAll, neighbor_alltoall) {
    static MPI_Comm ring = MPI_COMM_NULL;
    const int periodic = 1;
    if (ring == MPI_COMM_NULL) TRY(MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &periodic, 0, &ring));
    return MPI_Neighbor_alltoall(memory, 100, MPI_INT, other, 100, MPI_INT, ring);
}

/* Communicators. */

static int free_comm(int code, MPI_Comm* made) {
    return code != MPI_SUCCESS ? code : MPI_Comm_free(made);
}

ROW(kAll, comm_dup) {
    MPI_Comm made = MPI_COMM_NULL;
    return free_comm(MPI_Comm_dup(MPI_COMM_WORLD, &made), &made);
}
ROW(kAll, comm_idup) {
    MPI_Comm made = MPI_COMM_NULL;
    MPI_Request request;
    TRY(MPI_Comm_idup(MPI_COMM_WORLD, &made, &request));
    return free_comm(MPI_Wait(&request, MPI_STATUS_IGNORE), &made);
}
ROW(kAll, comm_split) {
    MPI_Comm made = MPI_COMM_NULL;
    return free_comm(MPI_Comm_split(MPI_COMM_WORLD, 0, rank, &made), &made);
}
ROW(kAll, comm_split_type) {
    MPI_Comm made = MPI_COMM_NULL;
    return free_comm(
        MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &made), &made);
}
ROW(kAll, comm_create_group) {
    MPI_Comm made = MPI_COMM_NULL;
    MPI_Group all;
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    return free_comm(MPI_Comm_create_group(MPI_COMM_WORLD, all, 9, &made), &made);
}

/* The program. */

static void leave(int signal) {
    (void)signal;
    _exit(kCodeOfVictim);
}

static void be_the_victim(const struct Row* row, const char* how) {
    if (strcmp(how, "gone") == 0) leave(0);
    if (strcmp(how, "killed") != 0) {
        const struct itimerval when = {.it_value.tv_usec = atoi(how)};
        signal(SIGALRM, leave);
        setitimer(ITIMER_REAL, &when, NULL);
    } else if (row->who != kAll || row->call() == MPI_SUCCESS) {
        printf("%d\n", (int)getpid());
        fflush(stdout);
    }
    while (row->who == kAlone) pause();
}

static int run(const struct Row* row, const char* how) {
    const int returns = strcmp(how, "killed") != 0;
    int code = MPI_SUCCESS, class;
    MPI_Group all;
    handler = returns ? MPI_ERRORS_RETURN : MPI_ERRORS_ARE_FATAL;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, handler);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Group_incl(all, 1, (const int[]){kVictim}, &victim_group);
    MPI_Group_excl(all, 1, (const int[]){kVictim}, &others_group);
    MPI_Comm_split(MPI_COMM_WORLD, rank == kVictim, rank, &side);
    make_processes();
    make_windows();
    make_files();
    prepare_processes(row->name);
    if (rank == kVictim) prepare_window(row->name);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == kVictim) be_the_victim(row, how);
    while (code == MPI_SUCCESS) code = row->call();
    MPI_Error_class(code, &class);
    if (class == MPI_ERR_PROC_ABORTED) {
        printf("aborted\n");
    } else {
        char text[MPI_MAX_ERROR_STRING];
        int length;
        MPI_Error_string(code, text, &length);
        printf("%s\n", text);
    }
    return 0;
}

/* A task that MPI_Comm_spawn has started. */
static int be_a_child(void) {
    MPI_Comm parent;
    MPI_Comm_get_parent(&parent);
    MPI_Comm_disconnect(&parent);
    MPI_Finalize();
    return 0;
}

int main(int argc, char** argv) {
    if (argc == 2 && strcmp(argv[1], "rows") == 0) {
        for (int i = 0; i < row_count; ++i) printf("%s\n", rows[i].name);
        return 0;
    }
    program = argv[0];
    MPI_Init(&argc, &argv);
    if (strcmp(argv[1], "child") == 0) return be_a_child();
    path = argv[3];
    for (int i = 0; i < row_count; ++i)
        if (strcmp(rows[i].name, argv[1]) == 0) return run(&rows[i], argv[2]);
    fprintf(stderr, "there is no row %s\n", argv[1]);
    return 2;
}
