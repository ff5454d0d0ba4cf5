/* The programs of diagnosis_tasks.inc with MPI. Regions are those of our tracer, if it is there. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>

static int ME, TASKS;
static char letters[64];
static int word, result;

static void region(const char* call, const char* phase) {
    int (*function)(const char*);
    *(void**)&function = dlsym(RTLD_DEFAULT, call);
    if (function) function(phase);
}
static void bcast_later(int root) {
    MPI_Request request;
    MPI_Ibcast(letters, 64, MPI_CHAR, root, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

#define WORLD()                                                \
    (MPI_Init(NULL, NULL), MPI_Comm_rank(MPI_COMM_WORLD, &ME), \
     MPI_Comm_size(MPI_COMM_WORLD, &TASKS), MPI_Comm_set_name(MPI_COMM_WORLD, "mesh"))
#define LEAVE() MPI_Finalize()
#define SEND(to, tag) MPI_Send(letters, 64, MPI_CHAR, to, tag, MPI_COMM_WORLD)
#define RECEIVE(from, tag) \
    MPI_Recv(letters, 64, MPI_CHAR, from, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
#define BARRIER() MPI_Barrier(MPI_COMM_WORLD)
#define BCAST(root) MPI_Bcast(letters, 64, MPI_CHAR, root, MPI_COMM_WORLD)
#define REDUCE(root) MPI_Reduce(&word, &result, 1, MPI_INT, MPI_SUM, root, MPI_COMM_WORLD)
#define ALLREDUCE() MPI_Allreduce(&word, &result, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD)
#define IBCAST_WAIT(root) bcast_later(root)
#define BEGIN(phase) region("vt_region_begin", phase)
#define END(phase) region("vt_region_end", phase)
#include "diagnosis_tasks.inc"
