/* Random sequences of collective calls against an oracle: all operations on intracommunicators, blocking,
   non-blocking and persistent, in place and not, with datatypes with gaps, blocks of different lengths, and an
   operation of the program that does not commute. Several calls are under way at once.

   Usage: collective_random [SEED [CALLS]]. All tasks draw the same random numbers, so every task knows the
   data of all others. */
#include "mpi_test.h"

enum { kUnit = 6, kMost = 8, kGap = -77 };
enum Operation {
    kBarrier,
    kBcast,
    kGather,
    kGatherv,
    kScatter,
    kScatterv,
    kAllgather,
    kAllgatherv,
    kAlltoall,
    kAlltoallv,
    kAlltoallw,
    kReduce,
    kAllreduce,
    kScan,
    kExscan,
    kReduceScatterBlock,
    kReduceScatter,
    kOperations
};
enum Form { kBlocking, kNonblocking, kPersistent };

/* A datatype of ints: how many there are in an element, where, and how far elements are apart. */
struct Type {
    MPI_Datatype handle;
    int ints;
    int extent;
    int at[3];
};
static struct Type types[3];
static int n, me;

/* Ints in memory, in blocks. */
struct Memory {
    int* ints;
    int length;
    const struct Type* type;
    int* wanted; /* the contents that are expected afterwards */
};

struct Call {
    enum Operation operation;
    enum Form form;
    int number, root, in_place, composes;
    int counts[kMost];                     /* of ints: by member, or counts[0] for all */
    int send_at[kMost], receive_at[kMost]; /* where blocks begin, in elements */
    int send_counts[kMost], receive_counts[kMost];
    MPI_Datatype send_types[kMost], receive_types[kMost];
    struct Memory send, receive;
    MPI_Request request;
    int active;
};

static unsigned long long state;
static int draw(int below) {
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    return (int)((state >> 33) % (unsigned long long)below);
}

static int value(int call, int rank, int i) {
    return (int)((unsigned)(call * 31 + rank * 1009 + i * 7) % 997u) + 1;
}

/* Where the i-th int of a block is that begins at this element. */
static int place(const struct Type* type, int element, int i) {
    return (element + i / type->ints) * type->extent + type->at[i % type->ints];
}

static void make_memory(struct Memory* memory, const struct Type* type, int elements) {
    memory->type = type;
    memory->length = elements * type->extent + 4;
    memory->ints = malloc(sizeof(int) * (size_t)memory->length);
    memory->wanted = malloc(sizeof(int) * (size_t)memory->length);
    for (int i = 0; i < memory->length; ++i) memory->ints[i] = memory->wanted[i] = kGap;
}

static void put(struct Memory* memory, int element, int i, int what) {
    const int at = place(memory->type, element, i);
    memory->ints[at] = memory->wanted[at] = what;
}
static void expect(struct Memory* memory, int element, int i, int what) {
    memory->wanted[place(memory->type, element, i)] = what;
}
static int check_memory(struct Memory* memory) {
    int wrong = 0;
    for (int i = 0; i < memory->length; ++i) wrong += memory->ints[i] != memory->wanted[i];
    free(memory->ints);
    free(memory->wanted);
    return wrong;
}

/* The operation of the program: pairs (a, b) stand for x -> a x + b modulo a prime; one after the other. */
enum { kPrime = 1009 };
static void compose(const int* one, const int* two, int* out) {
    const int a = one[0] * two[0] % kPrime, b = (one[1] * two[0] + two[1]) % kPrime;
    out[0] = a;
    out[1] = b;
}
static void compose_pairs(void* in, void* inout, int* count, MPI_Datatype* datatype) {
    MPI_Aint lower, extent;
    MPI_Type_get_extent(*datatype, &lower, &extent);
    CHECK_INT(extent, 4 * sizeof(int));
    for (int i = 0; i < *count; ++i) {
        const int* left = (const int*)((char*)in + i * extent);
        int* right = (int*)((char*)inout + i * extent);
        /* The datatype is types[1]. */
        int out[2];
        const int one[2] = {left[0], left[2]}, two[2] = {right[0], right[2]};
        compose(one, two, out);
        right[0] = out[0];
        right[2] = out[1];
    }
}
static MPI_Op composition;

/* The reduction of the ints i (and i + 1) of the members first..last. */
static int reduced(const struct Call* call, int first, int last, int i) {
    if (!call->composes) {
        int sum = 0;
        for (int r = first; r <= last; ++r) sum += value(call->number, r, i);
        return sum;
    }
    const int even = i / 2 * 2;
    int pair[2] = {value(call->number, first, even), value(call->number, first, even + 1)};
    for (int r = first + 1; r <= last; ++r) {
        const int next[2] = {value(call->number, r, even), value(call->number, r, even + 1)};
        compose(pair, next, pair);
    }
    return pair[i % 2];
}

static int is_reduction(enum Operation operation) {
    return operation >= kReduce;
}
static int has_lengths(enum Operation operation) {
    return operation == kGatherv || operation == kScatterv || operation == kAllgatherv ||
           operation == kAlltoallv || operation == kAlltoallw || operation == kReduceScatter;
}

static int random_length(void) {
    const int lengths[] = {0, 1, 1, 2, 3, 11, 40, 700};
    return kUnit * lengths[draw(8)];
}

/* The number of ints that member `from` sends to member `to`. */
static int between(const struct Call* call, int from, int to) {
    switch (call->operation) {
        case kAlltoallv:
        case kAlltoallw:
            return call->in_place ? kUnit * ((from + to + call->number) % 4)
                                  : kUnit * ((from * 3 + to * 5 + call->number) % 4);
        case kGatherv:
        case kAllgatherv:
            return call->counts[from];
        case kScatterv:
            return call->counts[to];
        default:
            return call->counts[0];
    }
}

/* Lays out blocks with these numbers of ints, in random order with gaps. Returns the elements of all. */
static int lay_out(const struct Type* type, const int* ints, int* at, int* counts) {
    int order[kMost], end = 0;
    for (int r = 0; r < n; ++r) order[r] = r;
    const int mixed = draw(2);
    for (int r = n - 1; r > 0; --r) {
        const int other = draw(r + 1), kept = order[r];
        if (!mixed) continue;
        order[r] = order[other];
        order[other] = kept;
    }
    for (int i = 0; i < n; ++i) {
        const int gap = draw(3);
        end += mixed ? gap : 0;
        at[order[i]] = end;
        counts[order[i]] = ints[order[i]] / type->ints;
        end += counts[order[i]];
    }
    return end;
}

/* Operations in which blocks go from member to member. */
static void prepare_blocks(struct Call* call, const struct Type* out, const struct Type* in) {
    const enum Operation what = call->operation;
    const int from_root = what == kBcast || what == kScatter || what == kScatterv;
    const int to_root = what == kGather || what == kGatherv;
    const int to_each = what == kScatter || what == kScatterv || what == kAlltoall ||
                        what == kAlltoallv || what == kAlltoallw;
    int sent[kMost], received[kMost];
    for (int r = 0; r < n; ++r) {
        sent[r] = between(call, me, r);
        received[r] = between(call, r, me);
    }
    const int own_sent = sent[me], own_received = received[me];
    const int sends = !from_root || me == call->root, receives = !to_root || me == call->root;
    const int block_in = from_root ? 1 : n, block_out = to_each ? n : 1;
    int elements_out = 0, elements_in = 0;
    if (has_lengths(what)) {
        elements_out = lay_out(out, sent, call->send_at, call->send_counts);
        elements_in = lay_out(in, received, call->receive_at, call->receive_counts);
    } else {
        for (int r = 0; r < n; ++r) {
            call->send_at[r] = r * own_sent / out->ints;
            call->receive_at[r] = r * own_received / in->ints;
        }
        elements_out = block_out * own_sent / out->ints;
        elements_in = block_in * own_received / in->ints;
    }
    /* A single block begins at the beginning. */
    const int one_out = !to_each, one_in = from_root;
    if (one_out) elements_out = own_sent / out->ints;
    if (one_in) elements_in = between(call, call->root, me) / in->ints;
    make_memory(&call->send, out, elements_out);
    make_memory(&call->receive, in, elements_in);
    const int given_in_result = call->in_place && !from_root && (!to_root || me == call->root);
    const int fills_send = sends && !given_in_result;
    for (int r = 0; r < (one_out ? 1 : n) && fills_send; ++r) {
        const int length = one_out ? own_sent : sent[r];
        for (int i = 0; i < length; ++i)
            put(&call->send, one_out ? 0 : call->send_at[r], i,
                value(call->number, me, i + (one_out ? 0 : r * 100)));
    }
    /* The root of a broadcast gets nothing. */
    const int gets = receives && !(what == kBcast && me == call->root);
    for (int r = 0; r < (one_in ? 1 : n) && gets; ++r) {
        const int source = one_in ? call->root : r;
        const int length = between(call, source, me);
        const int element = one_in ? 0 : call->receive_at[r];
        for (int i = 0; i < length; ++i) {
            const int what_comes = value(call->number, source, i + (to_each ? me * 100 : 0));
            if (call->in_place && what != kScatter && what != kScatterv) {
                /* The own contribution is in the result already. */
                if (what == kAlltoall || what == kAlltoallv || what == kAlltoallw) {
                    put(&call->receive, element, i, value(call->number, me, i + r * 100));
                } else if (source == me) {
                    put(&call->receive, element, i, what_comes);
                }
            }
            if (call->in_place && (what == kScatter || what == kScatterv) && me == call->root)
                continue;
            expect(&call->receive, element, i, what_comes);
        }
    }
}

static void prepare_reduction(struct Call* call, const struct Type* type) {
    const enum Operation what = call->operation;
    const int scatters = what == kReduceScatter || what == kReduceScatterBlock;
    int all = 0, before = 0, own = call->counts[0];
    for (int r = 0; r < n && scatters; ++r) {
        const int its = what == kReduceScatter ? call->counts[r] : call->counts[0];
        if (r < me) before += its;
        if (r == me) own = its;
        all += its;
        call->receive_counts[r] = its / type->ints;
    }
    if (!scatters) all = own;
    const int gets = what != kReduce || me == call->root;
    make_memory(&call->send, type, all / type->ints);
    make_memory(&call->receive, type, all / type->ints);
    for (int i = 0; i < all; ++i)
        put(call->in_place ? &call->receive : &call->send, 0, i, value(call->number, me, i));
    const int last = what == kScan ? me : what == kExscan ? me - 1 : n - 1;
    for (int i = 0; i < own && gets && last >= 0; ++i)
        expect(&call->receive, 0, i, reduced(call, 0, last, before + i));
}

/* In a reduce_scatter in place, only the block of this member is defined afterwards. */
static void forget_rest(struct Call* call) {
    if (!call->in_place ||
        (call->operation != kReduceScatter && call->operation != kReduceScatterBlock))
        return;
    const int own = call->operation == kReduceScatter ? call->counts[me] : call->counts[0];
    const struct Type* type = call->receive.type;
    const int end = own == 0 ? 0 : own / type->ints * type->extent;
    for (int i = end; i < call->receive.length; ++i)
        call->receive.wanted[i] = call->receive.ints[i];
}

/* Makes the call in one of its three forms. */
#define MAKE(blocking, nonblocking, persistent, ...)                          \
    do {                                                                      \
        if (call->form == kBlocking) {                                        \
            CHECK_INT(blocking(__VA_ARGS__), MPI_SUCCESS);                    \
        } else if (call->form == kNonblocking) {                              \
            CHECK_INT(nonblocking(__VA_ARGS__, &call->request), MPI_SUCCESS); \
        } else {                                                              \
            persistent(__VA_ARGS__);                                          \
        }                                                                     \
    } while (0)
#if MPI_VERSION >= 4
#define INIT(function, ...) \
    CHECK_INT(function(__VA_ARGS__, MPI_INFO_NULL, &call->request), MPI_SUCCESS)
#define PERSISTENT_FORMS 3
#else
#define INIT(function, ...) CHECK(0)
#define PERSISTENT_FORMS 2
#endif
#define init_barrier(...) INIT(MPI_Barrier_init, __VA_ARGS__)
#define init_bcast(...) INIT(MPI_Bcast_init, __VA_ARGS__)
#define init_gather(...) INIT(MPI_Gather_init, __VA_ARGS__)
#define init_gatherv(...) INIT(MPI_Gatherv_init, __VA_ARGS__)
#define init_scatter(...) INIT(MPI_Scatter_init, __VA_ARGS__)
#define init_scatterv(...) INIT(MPI_Scatterv_init, __VA_ARGS__)
#define init_allgather(...) INIT(MPI_Allgather_init, __VA_ARGS__)
#define init_allgatherv(...) INIT(MPI_Allgatherv_init, __VA_ARGS__)
#define init_alltoall(...) INIT(MPI_Alltoall_init, __VA_ARGS__)
#define init_alltoallv(...) INIT(MPI_Alltoallv_init, __VA_ARGS__)
#define init_alltoallw(...) INIT(MPI_Alltoallw_init, __VA_ARGS__)
#define init_reduce(...) INIT(MPI_Reduce_init, __VA_ARGS__)
#define init_allreduce(...) INIT(MPI_Allreduce_init, __VA_ARGS__)
#define init_scan(...) INIT(MPI_Scan_init, __VA_ARGS__)
#define init_exscan(...) INIT(MPI_Exscan_init, __VA_ARGS__)
#define init_reduce_scatter_block(...) INIT(MPI_Reduce_scatter_block_init, __VA_ARGS__)
#define init_reduce_scatter(...) INIT(MPI_Reduce_scatter_init, __VA_ARGS__)

static void make_call(struct Call* call, MPI_Comm comm) {
    int *out = call->send.ints, *in = call->receive.ints;
    const struct Type *ot = call->send.type, *it = call->receive.type;
    const int oc = ot == NULL ? 0 : between(call, me, me) / ot->ints;
    const int ic = it == NULL ? 0 : between(call, me, me) / it->ints;
    const int at_root = me == call->root;
    void* send = call->in_place ? MPI_IN_PLACE : (void*)out;
    void* root_send = call->in_place && at_root ? MPI_IN_PLACE : (void*)out;
    void* root_receive = call->in_place && at_root ? MPI_IN_PLACE : (void*)in;
    /* The root of a reduction in place has its contribution in the result. */
    const MPI_Op op = call->composes ? composition : MPI_SUM;
    switch (call->operation) {
        case kBarrier:
            MAKE(MPI_Barrier, MPI_Ibarrier, init_barrier, comm);
            break;
        case kBcast:
            if (at_root)
                MAKE(MPI_Bcast, MPI_Ibcast, init_bcast, out, oc, ot->handle, call->root, comm);
            else
                MAKE(MPI_Bcast, MPI_Ibcast, init_bcast, in, ic, it->handle, call->root, comm);
            break;
        case kGather:
            MAKE(MPI_Gather, MPI_Igather, init_gather, root_send, oc, ot->handle, in, ic,
                 it->handle, call->root, comm);
            break;
        case kGatherv:
            MAKE(MPI_Gatherv, MPI_Igatherv, init_gatherv, root_send, oc, ot->handle, in,
                 call->receive_counts, call->receive_at, it->handle, call->root, comm);
            break;
        case kScatter:
            MAKE(MPI_Scatter, MPI_Iscatter, init_scatter, out, oc, ot->handle, root_receive, ic,
                 it->handle, call->root, comm);
            break;
        case kScatterv:
            MAKE(MPI_Scatterv, MPI_Iscatterv, init_scatterv, out, call->send_counts, call->send_at,
                 ot->handle, root_receive, ic, it->handle, call->root, comm);
            break;
        case kAllgather:
            MAKE(MPI_Allgather, MPI_Iallgather, init_allgather, send, oc, ot->handle, in, ic,
                 it->handle, comm);
            break;
        case kAllgatherv:
            MAKE(MPI_Allgatherv, MPI_Iallgatherv, init_allgatherv, send, oc, ot->handle, in,
                 call->receive_counts, call->receive_at, it->handle, comm);
            break;
        case kAlltoall:
            MAKE(MPI_Alltoall, MPI_Ialltoall, init_alltoall, send, oc, ot->handle, in, ic,
                 it->handle, comm);
            break;
        case kAlltoallv:
            MAKE(MPI_Alltoallv, MPI_Ialltoallv, init_alltoallv, send, call->send_counts,
                 call->send_at, ot->handle, in, call->receive_counts, call->receive_at, it->handle,
                 comm);
            break;
        case kAlltoallw:
            for (int r = 0; r < n; ++r) {
                call->send_types[r] = ot->handle;
                call->receive_types[r] = it->handle;
                call->send_at[r] *= ot->extent * (int)sizeof(int);
                call->receive_at[r] *= it->extent * (int)sizeof(int);
            }
            MAKE(MPI_Alltoallw, MPI_Ialltoallw, init_alltoallw, send, call->send_counts,
                 call->send_at, call->send_types, in, call->receive_counts, call->receive_at,
                 call->receive_types, comm);
            break;
        case kReduce:
            MAKE(MPI_Reduce, MPI_Ireduce, init_reduce,
                 !call->in_place ? (void*)out
                 : at_root       ? MPI_IN_PLACE
                                 : (void*)in,
                 in, oc, ot->handle, op, call->root, comm);
            break;
        case kAllreduce:
            MAKE(MPI_Allreduce, MPI_Iallreduce, init_allreduce, send, in, oc, ot->handle, op, comm);
            break;
        case kScan:
            MAKE(MPI_Scan, MPI_Iscan, init_scan, send, in, oc, ot->handle, op, comm);
            break;
        case kExscan:
            MAKE(MPI_Exscan, MPI_Iexscan, init_exscan, send, in, oc, ot->handle, op, comm);
            break;
        case kReduceScatterBlock:
            MAKE(MPI_Reduce_scatter_block, MPI_Ireduce_scatter_block, init_reduce_scatter_block,
                 send, in, oc, ot->handle, op, comm);
            break;
        default:
            MAKE(MPI_Reduce_scatter, MPI_Ireduce_scatter, init_reduce_scatter, send, in,
                 call->receive_counts, ot->handle, op, comm);
    }
    if (call->form == kPersistent) CHECK_INT(MPI_Start(&call->request), MPI_SUCCESS);
    call->active = 1;
}

static void finish_call(struct Call* call) {
    if (call->form != kBlocking)
        CHECK_INT(MPI_Wait(&call->request, MPI_STATUS_IGNORE), MPI_SUCCESS);
    if (call->form == kPersistent) MPI_Request_free(&call->request);
    call->active = 0;
    if (call->operation == kBarrier) return;
    forget_rest(call);
    const int wrong = check_memory(&call->send) + check_memory(&call->receive);
    if (wrong != 0) {
        fprintf(stderr,
                "task %d: call %d, operation %d, form %d, in place %d, root %d, length %d: %d ints "
                "are wrong\n",
                me, call->number, (int)call->operation, (int)call->form, call->in_place, call->root,
                call->counts[0], wrong);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
}

static void draw_call(struct Call* call, int number) {
    memset(call, 0, sizeof *call);
    call->number = number;
    call->operation = (enum Operation)draw(kOperations);
    call->form = (enum Form)draw(PERSISTENT_FORMS);
    call->root = draw(n);
    call->in_place = draw(3) == 0;
    call->composes = draw(2);
    for (int r = 0; r < kMost; ++r) call->counts[r] = random_length();
    const struct Type *out = &types[draw(3)], *in = &types[draw(3)];
    if (call->operation == kBarrier) return;
    if (call->operation == kBcast) call->in_place = 0;
    if (is_reduction(call->operation)) {
        prepare_reduction(call, call->composes ? &types[1] : &types[0]);
    } else {
        prepare_blocks(call, out, in);
    }
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    const int seed = argc > 1 ? atoi(argv[1]) : 1, calls = argc > 2 ? atoi(argv[2]) : 400;
    MPI_Comm_size(MPI_COMM_WORLD, &n);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    if (n > kMost) return 2;
    types[0] = (struct Type){MPI_INT, 1, 1, {0}};
    types[1] = (struct Type){MPI_DATATYPE_NULL, 2, 4, {0, 2}};
    types[2] = (struct Type){MPI_DATATYPE_NULL, 3, 3, {2, 0, 1}};
    MPI_Datatype pair;
    MPI_Type_vector(2, 1, 2, MPI_INT, &pair);
    MPI_Type_create_resized(pair, 0, 4 * sizeof(int), &types[1].handle);
    MPI_Type_free(&pair);
    const int lengths[] = {1, 2}, at[] = {2, 0};
    MPI_Type_indexed(2, lengths, at, MPI_INT, &types[2].handle);
    MPI_Type_commit(&types[1].handle);
    MPI_Type_commit(&types[2].handle);
    MPI_Op_create(compose_pairs, 0, &composition);

    enum { kAtOnce = 6 };
    static struct Call under_way[kAtOnce];
    state = (unsigned long long)seed;
    for (int number = 0; number < calls; ++number) {
        struct Call* call = &under_way[draw(kAtOnce)];
        if (call->active) finish_call(call);
        draw_call(call, number);
        make_call(call, MPI_COMM_WORLD);
        if (call->form == kBlocking) finish_call(call);
    }
    for (int i = 0; i < kAtOnce; ++i) {
        if (under_way[i].active) finish_call(&under_way[i]);
    }
    MPI_Op_free(&composition);
    MPI_Type_free(&types[1].handle);
    MPI_Type_free(&types[2].handle);
    MPI_Finalize();
    return 0;
}
