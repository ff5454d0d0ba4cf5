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
static void bcast_later(int root, MPI_Comm comm) {
    MPI_Request request;
    MPI_Ibcast(letters, 64, MPI_CHAR, root, comm, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

#if MPI_VERSION >= 4
static MPI_Request barrier, bcast, reduce, allreduce;

static void make_persistent(void) {
    MPI_Barrier_init(MPI_COMM_WORLD, MPI_INFO_NULL, &barrier);
    MPI_Bcast_init(letters, 64, MPI_CHAR, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &bcast);
    MPI_Reduce_init(&word, &result, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &reduce);
    MPI_Allreduce_init(&word, &result, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL,
                       &allreduce);
}
static void run_persistent(MPI_Request* request, int several) {
    several ? MPI_Startall(1, request) : MPI_Start(request);
    MPI_Wait(request, MPI_STATUS_IGNORE);
}
#define MAKE_PERSISTENT() make_persistent()
#define RUN_PERSISTENT(name, several) run_persistent(&name, several)
#define END_PERSISTENT()                                                              \
    (MPI_Request_free(&barrier), MPI_Request_free(&bcast), MPI_Request_free(&reduce), \
     MPI_Request_free(&allreduce))
#endif

static MPI_Comm inter = MPI_COMM_NULL;

/* Tasks 0 and 1 in one group, 2 and 3 in the other. */
static void make_inter(void) {
    MPI_Comm half;
    MPI_Comm_split(MPI_COMM_WORLD, ME / 2, ME, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, ME < 2 ? 2 : 0, 1, &inter);
    MPI_Comm_free(&half);
}
#define INTER_ROOT (ME == 0 ? MPI_ROOT : ME == 1 ? MPI_PROC_NULL : 0)
#define MAKE_INTER() make_inter()
#define INTER_BCAST() MPI_Bcast(letters, 64, MPI_CHAR, INTER_ROOT, inter)
#define INTER_REDUCE() MPI_Reduce(&word, &result, 1, MPI_INT, MPI_SUM, INTER_ROOT, inter)
#define INTER_IBCAST() bcast_later(INTER_ROOT, inter)
#define END_INTER() MPI_Comm_free(&inter)

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
#define IBCAST_WAIT(root) bcast_later(root, MPI_COMM_WORLD)
#define BEGIN(phase) region("vt_region_begin", phase)
#define END(phase) region("vt_region_end", phase)
#include "diagnosis_tasks.inc"
