/* A profile of MPI calls by the profiling interface of the standard, to compare with what POE records: how often each
   function was called, and the bytes that its calls give, or receive if they are receives. Shares nothing with the
   observer. Compile as a shared library with the compiler command of the MPI library and preload it; each task
   writes lines "function calls bytes" to the file PROFILE_PREFIX.RANK in MPI_Finalize.

   Calls that complete requests are counted without bytes. Bytes of a collective call are what the observer
   defines them to be: the own block; the sum of all blocks in the calls with a length for each member. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { kMostFunctions = 128, kPathBytes = 4096 };

static struct Function {
    const char* name;
    long calls;
    long bytes;
} functions[kMostFunctions];
static int known;

static void count(struct Function** own, const char* name, long bytes) {
    if (*own == NULL) {
        if (known == kMostFunctions) abort();
        *own = &functions[known++];
        (*own)->name = name;
    }
    ++(*own)->calls;
    (*own)->bytes += bytes;
}

static long length(long elements, MPI_Datatype type) {
    int size = 0;
    if (elements > 0) PMPI_Type_size(type, &size);
    return elements * size;
}
static int tasks(MPI_Comm comm) {
    int inter, size;
    PMPI_Comm_test_inter(comm, &inter);
    if (inter)
        PMPI_Comm_remote_size(comm, &size);
    else
        PMPI_Comm_size(comm, &size);
    return size;
}
static int own_rank(MPI_Comm comm) {
    int rank;
    PMPI_Comm_rank(comm, &rank);
    return rank;
}
static long sent(int elements, MPI_Datatype type, int dest) {
    return dest == MPI_PROC_NULL ? 0 : length(elements, type);
}
static long came(const MPI_Status* status, int source) {
    int bytes = 0;
    if (source != MPI_PROC_NULL) PMPI_Get_count(status, MPI_BYTE, &bytes);
    return bytes;
}
static long all(const int* counts, MPI_Datatype type, int blocks) {
    long sum = 0;
    for (int i = 0; i < blocks; ++i) sum += length(counts[i], type);
    return sum;
}
static long all_of_types(const int* counts, const MPI_Datatype* types, int blocks) {
    long sum = 0;
    for (int i = 0; i < blocks; ++i) sum += length(counts[i], types[i]);
    return sum;
}

/* A function that is forwarded and counted with these bytes, which are computed after the call. */
#define PROFILED(name, parameters, arguments, bytes) \
    int MPI_##name parameters {                      \
        static struct Function* own;                 \
        const int result = PMPI_##name arguments;    \
        count(&own, "MPI_" #name, bytes);            \
        return result;                               \
    }

#define SEND(name)                                                                             \
    PROFILED(name, (const void* b, int n, MPI_Datatype t, int dest, int tag, MPI_Comm comm),   \
             (b, n, t, dest, tag, comm), sent(n, t, dest))                                     \
    PROFILED(                                                                                  \
        name##_init,                                                                           \
        (const void* b, int n, MPI_Datatype t, int dest, int tag, MPI_Comm c, MPI_Request* r), \
        (b, n, t, dest, tag, c, r), 0)
#define SEND_LATER(name)                                                                       \
    PROFILED(                                                                                  \
        name,                                                                                  \
        (const void* b, int n, MPI_Datatype t, int dest, int tag, MPI_Comm c, MPI_Request* r), \
        (b, n, t, dest, tag, c, r), sent(n, t, dest))
SEND(Send)
SEND(Bsend)
SEND(Ssend)
SEND(Rsend)
SEND_LATER(Isend)
SEND_LATER(Ibsend)
SEND_LATER(Issend)
SEND_LATER(Irsend)

int MPI_Recv(void* b, int n, MPI_Datatype t, int source, int tag, MPI_Comm comm, MPI_Status* s) {
    static struct Function* own;
    MPI_Status mine;
    if (s == MPI_STATUS_IGNORE) s = &mine;
    const int result = PMPI_Recv(b, n, t, source, tag, comm, s);
    count(&own, "MPI_Recv", came(s, source));
    return result;
}
int MPI_Mrecv(void* b, int n, MPI_Datatype t, MPI_Message* message, MPI_Status* s) {
    static struct Function* own;
    MPI_Status mine;
    if (s == MPI_STATUS_IGNORE) s = &mine;
    const int result = PMPI_Mrecv(b, n, t, message, s);
    count(&own, "MPI_Mrecv", came(s, MPI_ANY_SOURCE));
    return result;
}
int MPI_Sendrecv(const void* sb, int sn, MPI_Datatype st, int dest, int stag, void* rb, int rn,
                 MPI_Datatype rt, int source, int rtag, MPI_Comm comm, MPI_Status* s) {
    static struct Function* own;
    MPI_Status mine;
    if (s == MPI_STATUS_IGNORE) s = &mine;
    const int result = PMPI_Sendrecv(sb, sn, st, dest, stag, rb, rn, rt, source, rtag, comm, s);
    count(&own, "MPI_Sendrecv", sent(sn, st, dest) + came(s, source));
    return result;
}
int MPI_Sendrecv_replace(void* b, int n, MPI_Datatype t, int dest, int stag, int source, int rtag,
                         MPI_Comm comm, MPI_Status* s) {
    static struct Function* own;
    MPI_Status mine;
    if (s == MPI_STATUS_IGNORE) s = &mine;
    const int result = PMPI_Sendrecv_replace(b, n, t, dest, stag, source, rtag, comm, s);
    count(&own, "MPI_Sendrecv_replace", sent(n, t, dest) + came(s, source));
    return result;
}
PROFILED(Irecv, (void* b, int n, MPI_Datatype t, int from, int tag, MPI_Comm c, MPI_Request* r),
         (b, n, t, from, tag, c, r), 0)
PROFILED(Recv_init, (void* b, int n, MPI_Datatype t, int from, int tag, MPI_Comm c, MPI_Request* r),
         (b, n, t, from, tag, c, r), 0)
PROFILED(Imrecv, (void* b, int n, MPI_Datatype t, MPI_Message* m, MPI_Request* r), (b, n, t, m, r),
         0)
PROFILED(Probe, (int from, int tag, MPI_Comm c, MPI_Status* s), (from, tag, c, s), 0)
PROFILED(Iprobe, (int from, int tag, MPI_Comm c, int* flag, MPI_Status* s), (from, tag, c, flag, s),
         0)
PROFILED(Mprobe, (int from, int tag, MPI_Comm c, MPI_Message* m, MPI_Status* s),
         (from, tag, c, m, s), 0)
PROFILED(Improbe, (int from, int tag, MPI_Comm c, int* flag, MPI_Message* m, MPI_Status* s),
         (from, tag, c, flag, m, s), 0)
PROFILED(Wait, (MPI_Request * r, MPI_Status* s), (r, s), 0)
PROFILED(Waitall, (int n, MPI_Request r[], MPI_Status s[]), (n, r, s), 0)
PROFILED(Waitany, (int n, MPI_Request r[], int* at, MPI_Status* s), (n, r, at, s), 0)
PROFILED(Waitsome, (int n, MPI_Request r[], int* done, int at[], MPI_Status s[]),
         (n, r, done, at, s), 0)
PROFILED(Test, (MPI_Request * r, int* flag, MPI_Status* s), (r, flag, s), 0)
PROFILED(Testall, (int n, MPI_Request r[], int* flag, MPI_Status s[]), (n, r, flag, s), 0)
PROFILED(Testany, (int n, MPI_Request r[], int* at, int* flag, MPI_Status* s), (n, r, at, flag, s),
         0)
PROFILED(Testsome, (int n, MPI_Request r[], int* done, int at[], MPI_Status s[]),
         (n, r, done, at, s), 0)
PROFILED(Start, (MPI_Request * r), (r), 0)
PROFILED(Startall, (int n, MPI_Request r[]), (n, r), 0)
PROFILED(Request_free, (MPI_Request * r), (r), 0)
PROFILED(Cancel, (MPI_Request * r), (r), 0)

PROFILED(Barrier, (MPI_Comm c), (c), 0)
PROFILED(Bcast, (void* b, int n, MPI_Datatype t, int root, MPI_Comm c), (b, n, t, root, c),
         length(n, t))
PROFILED(Reduce, (const void* b, void* r, int n, MPI_Datatype t, MPI_Op op, int root, MPI_Comm c),
         (b, r, n, t, op, root, c), length(n, t))
PROFILED(Allreduce, (const void* b, void* r, int n, MPI_Datatype t, MPI_Op op, MPI_Comm c),
         (b, r, n, t, op, c), length(n, t))
PROFILED(Scan, (const void* b, void* r, int n, MPI_Datatype t, MPI_Op op, MPI_Comm c),
         (b, r, n, t, op, c), length(n, t))
PROFILED(Exscan, (const void* b, void* r, int n, MPI_Datatype t, MPI_Op op, MPI_Comm c),
         (b, r, n, t, op, c), length(n, t))
PROFILED(Reduce_scatter,
         (const void* b, void* r, const int n[], MPI_Datatype t, MPI_Op op, MPI_Comm c),
         (b, r, n, t, op, c), all(n, t, tasks(c)))
PROFILED(Reduce_scatter_block,
         (const void* b, void* r, int n, MPI_Datatype t, MPI_Op op, MPI_Comm c),
         (b, r, n, t, op, c), length(n, t) * tasks(c))
PROFILED(Gather,
         (const void* b, int n, MPI_Datatype t, void* r, int rn, MPI_Datatype rt, int root,
          MPI_Comm c),
         (b, n, t, r, rn, rt, root, c), b == MPI_IN_PLACE ? length(rn, rt) : length(n, t))
PROFILED(Gatherv,
         (const void* b, int n, MPI_Datatype t, void* r, const int rn[], const int d[],
          MPI_Datatype rt, int root, MPI_Comm c),
         (b, n, t, r, rn, d, rt, root, c),
         b == MPI_IN_PLACE ? length(rn[own_rank(c)], rt) : length(n, t))
PROFILED(Scatter,
         (const void* b, int n, MPI_Datatype t, void* r, int rn, MPI_Datatype rt, int root,
          MPI_Comm c),
         (b, n, t, r, rn, rt, root, c), r == MPI_IN_PLACE ? length(n, t) : length(rn, rt))
PROFILED(Scatterv,
         (const void* b, const int n[], const int d[], MPI_Datatype t, void* r, int rn,
          MPI_Datatype rt, int root, MPI_Comm c),
         (b, n, d, t, r, rn, rt, root, c),
         r == MPI_IN_PLACE ? length(n[own_rank(c)], t) : length(rn, rt))
PROFILED(Allgather,
         (const void* b, int n, MPI_Datatype t, void* r, int rn, MPI_Datatype rt, MPI_Comm c),
         (b, n, t, r, rn, rt, c), b == MPI_IN_PLACE ? length(rn, rt) : length(n, t))
PROFILED(Allgatherv,
         (const void* b, int n, MPI_Datatype t, void* r, const int rn[], const int d[],
          MPI_Datatype rt, MPI_Comm c),
         (b, n, t, r, rn, d, rt, c), b == MPI_IN_PLACE ? length(rn[own_rank(c)], rt) : length(n, t))
PROFILED(Alltoall,
         (const void* b, int n, MPI_Datatype t, void* r, int rn, MPI_Datatype rt, MPI_Comm c),
         (b, n, t, r, rn, rt, c), b == MPI_IN_PLACE ? length(rn, rt) : length(n, t))
PROFILED(Alltoallv,
         (const void* b, const int n[], const int d[], MPI_Datatype t, void* r, const int rn[],
          const int rd[], MPI_Datatype rt, MPI_Comm c),
         (b, n, d, t, r, rn, rd, rt, c),
         b == MPI_IN_PLACE ? all(rn, rt, tasks(c)) : all(n, t, tasks(c)))
PROFILED(Alltoallw,
         (const void* b, const int n[], const int d[], const MPI_Datatype t[], void* r,
          const int rn[], const int rd[], const MPI_Datatype rt[], MPI_Comm c),
         (b, n, d, t, r, rn, rd, rt, c),
         b == MPI_IN_PLACE ? all_of_types(rn, rt, tasks(c)) : all_of_types(n, t, tasks(c)))
PROFILED(Ibarrier, (MPI_Comm c, MPI_Request* r), (c, r), 0)
PROFILED(Ibcast, (void* b, int n, MPI_Datatype t, int root, MPI_Comm c, MPI_Request* r),
         (b, n, t, root, c, r), length(n, t))
PROFILED(Iallreduce,
         (const void* b, void* x, int n, MPI_Datatype t, MPI_Op op, MPI_Comm c, MPI_Request* r),
         (b, x, n, t, op, c, r), length(n, t))
PROFILED(Ialltoallv,
         (const void* b, const int n[], const int d[], MPI_Datatype t, void* x, const int xn[],
          const int xd[], MPI_Datatype xt, MPI_Comm c, MPI_Request* r),
         (b, n, d, t, x, xn, xd, xt, c, r),
         b == MPI_IN_PLACE ? all(xn, xt, tasks(c)) : all(n, t, tasks(c)))

PROFILED(Comm_dup, (MPI_Comm c, MPI_Comm* made), (c, made), 0)
PROFILED(Comm_split, (MPI_Comm c, int color, int key, MPI_Comm* made), (c, color, key, made), 0)
PROFILED(Comm_create, (MPI_Comm c, MPI_Group g, MPI_Comm* made), (c, g, made), 0)
PROFILED(Comm_free, (MPI_Comm * c), (c), 0)
PROFILED(Cart_create,
         (MPI_Comm c, int n, const int dims[], const int periods[], int reorder, MPI_Comm* made),
         (c, n, dims, periods, reorder, made), 0)

int MPI_Finalize(void) {
    const char* const prefix = getenv("PROFILE_PREFIX");
    char path[kPathBytes];
    if (prefix != NULL) {
        snprintf(path, sizeof path, "%s.%d", prefix, own_rank(MPI_COMM_WORLD));
        FILE* const file = fopen(path, "w");
        if (file == NULL) abort();
        for (int i = 0; i < known; ++i)
            fprintf(file, "%s %ld %ld\n", functions[i].name, functions[i].calls,
                    functions[i].bytes);
        fclose(file);
    }
    return PMPI_Finalize();
}
