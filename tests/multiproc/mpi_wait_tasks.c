/* What poe_waits.py traces: the programs of wait_tasks.c with MPI. The argument says how they wait. */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define LONG (4 << 20)
#define ROUNDS 10

static void pause_ms(int ms) {
    struct timespec time = {ms / 1000, ms % 1000 * 1000000L};
    nanosleep(&time, NULL);
}

static void receive(char* buffer, int from) {
    MPI_Recv(buffer, LONG, MPI_CHAR, from, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

int main(int argc, char** argv) {
    const char* how = argc > 1 ? argv[1] : "";
    char* buffer = calloc(1, LONG);
    int tasks, me, i, other, flag = 0;
    MPI_Request request;
    MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &tasks);
    MPI_Barrier(MPI_COMM_WORLD);
    for (i = 0; i < ROUNDS; ++i) {
        if (strcmp(how, "late") == 0) { /* the receiver is late */
            if (me == 0) MPI_Send(buffer, LONG, MPI_CHAR, 1, 1, MPI_COMM_WORLD);
            if (me == 1) pause_ms(20), receive(buffer, 0);
        } else if (strcmp(how, "many") == 0) { /* many senders, one slow receiver */
            if (me > 0) MPI_Send(buffer, LONG, MPI_CHAR, 0, 1, MPI_COMM_WORLD);
            for (other = 1; me == 0 && other < tasks; ++other)
                pause_ms(5), receive(buffer, MPI_ANY_SOURCE);
        } else if (strcmp(how, "wait") == 0) { /* a send that does not block, waited for */
            if (me == 0) {
                MPI_Isend(buffer, LONG, MPI_CHAR, 1, 1, MPI_COMM_WORLD, &request);
                pause_ms(2);
                MPI_Wait(&request, MPI_STATUS_IGNORE);
            }
            if (me == 1) pause_ms(20), receive(buffer, 0);
        } else if (strcmp(how, "ibcast") == 0) { /* the root is late */
            if (me == 0) pause_ms(20);
            MPI_Ibcast(buffer, 64, MPI_CHAR, 0, MPI_COMM_WORLD, &request);
            if (me != 0) pause_ms(2);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
            MPI_Barrier(MPI_COMM_WORLD);
        } else if (strcmp(how, "poll") == 0) { /* asks again and again */
            if (me == 1) pause_ms(20), MPI_Send(buffer, 64, MPI_CHAR, 0, 1, MPI_COMM_WORLD);
            if (me == 0 && i % 2 == 0) {
                MPI_Irecv(buffer, LONG, MPI_CHAR, 1, 1, MPI_COMM_WORLD, &request);
                do MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
                while (!flag);
            } else if (me == 0) {
                do MPI_Iprobe(1, 1, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
                while (!flag);
                receive(buffer, 1);
            }
        }
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    free(buffer);
    return 0;
}
