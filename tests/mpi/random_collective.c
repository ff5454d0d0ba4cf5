/* Random sequences of collective calls against an oracle: all operations on random intracommunicators and
 * intercommunicators, blocking, non-blocking and persistent, in place and not, with six basic types, datatypes
 * with gaps that differ between the tasks, blocks of different lengths, predefined operations, and operations
 * of the program of which one does not commute. Several calls are under way at once, and communicators are
 * made and freed meanwhile.
 *
 *   random_collective [first seed] [number of seeds] [calls of a seed] */
#include "random_groups.h"
#include "random_memory.h"

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
    kReduceScatterBlock,
    kReduceScatter,
    kScan,
    kExscan,
    kOperations
};
enum Form { kBlocking, kNonblocking, kPersistent, kForms };
enum { kAtOnce = 6, kAlltoallTimes = 4 };

struct Call {
    enum Operation operation;
    enum Form form;
    int number, in_place;
    struct Group group;
    int root_side, root; /* of an intracommunicator, root_side is 0 */
    int at_root, in_root_group;
    enum Reduction reduction;
    enum Basic basic;
    const struct Type *out, *in;
    int units[2];                                            /* of a block, by the sender's side */
    int of_task[kMostTasks];                                 /* the same in calls with lengths */
    int send_counts[kMostTasks], receive_counts[kMostTasks]; /* in elements, or bytes for w */
    int send_at[kMostTasks], receive_at[kMostTasks];
    MPI_Datatype send_types[kMostTasks], receive_types[kMostTasks];
    struct Memory send, receive;
    int again; /* further starts of a persistent call */
    MPI_Request request;
    int active;
};

static int is_reduction(enum Operation what) {
    return what >= kReduce;
}
static int scatters_sum(enum Operation what) {
    return what == kReduceScatter || what == kReduceScatterBlock;
}
static int is_from_root(enum Operation what) {
    return what == kBcast || what == kScatter || what == kScatterv;
}
static int is_to_root(enum Operation what) {
    return what == kGather || what == kGatherv || what == kReduce;
}
static int is_rooted(enum Operation what) {
    return is_from_root(what) || is_to_root(what);
}
static int goes_to_each(enum Operation what) {
    return what == kScatter || what == kScatterv || what == kAlltoall || what == kAlltoallv ||
           what == kAlltoallw;
}
static int has_lengths(enum Operation what) {
    return what == kGatherv || what == kScatterv || what == kAllgatherv || what == kAlltoallv ||
           what == kAlltoallw;
}

/* The side whose members this task communicates with. */
static int peer_side(const struct Call* call) {
    return call->group.inter ? 1 - call->group.side : 0;
}

/* The units that one task sends to another one. The sender is on `side`. */
static int between(const struct Call* call, int side, int from, int to) {
    switch (call->operation) {
        case kAlltoallv:
        case kAlltoallw: {
            const int mixed = call->in_place ? from + to : 3 * from + 5 * to;
            return kUnit * ((mixed + call->number) % kAlltoallTimes);
        }
        case kGatherv:
        case kAllgatherv:
            return call->of_task[from];
        case kScatterv:
            return call->of_task[to];
        default:
            return call->units[side];
    }
}

/* Unit i of a block. */
static long long unit_of_block(const struct Call* call, int from, int to, int i) {
    return unit_value(call->basic, call->number, from,
                      i + (goes_to_each(call->operation) ? 100 * to : 0));
}

/* Lays out blocks, one after the other or, if the call has displacements, mixed and with gaps. Returns the
 * elements that they span. */
static int place_blocks(const struct Type* type, const int* units, int blocks, int has_places,
                        int* counts, int* at) {
    const int mixed = has_places && draw_own(2);
    int order[kMostTasks], end = 0;
    for (int i = 0; i < blocks; ++i) order[i] = i;
    for (int i = blocks - 1; i > 0 && mixed; --i) {
        const int other = draw_own(i + 1), kept = order[i];
        order[i] = order[other];
        order[other] = kept;
    }
    for (int i = 0; i < blocks; ++i) {
        const int block = order[i];
        end += mixed ? draw_own(3) : 0;
        at[block] = end;
        counts[block] = units[block] / type->layout->units;
        end += counts[block];
    }
    return end;
}

/* Operations in which blocks go from member to member. */
static void prepare_blocks(struct Call* call) {
    const struct Group* group = &call->group;
    const enum Operation what = call->operation;
    const int side = group->side, peers = peer_side(call), n = group->size[peers];
    const int root_task = group->task[call->root_side][call->root];
    const int sends = is_from_root(what) ? call->at_root
                      : is_to_root(what) ? !group->inter || !call->in_root_group
                                         : 1;
    const int receives = is_to_root(what)     ? call->at_root
                         : is_from_root(what) ? !group->inter || !call->in_root_group
                                              : 1;
    /* The root of a broadcast within a group gets nothing. */
    const int gets = receives && !(what == kBcast && call->at_root);
    const int blocks_out = !sends ? 0 : goes_to_each(what) ? n : 1;
    const int blocks_in = !gets ? 0 : is_from_root(what) ? 1 : n;
    int units_out[kMostTasks], units_in[kMostTasks];
    for (int r = 0; r < blocks_out; ++r)
        units_out[r] = between(call, side, world_rank, group->task[peers][r]);
    for (int r = 0; r < blocks_in; ++r)
        units_in[r] = between(call, is_rooted(what) && !is_to_root(what) ? call->root_side : peers,
                              is_from_root(what) ? root_task : group->task[peers][r], world_rank);
    const int own_is_in_place = call->in_place && !is_from_root(what);
    const int end_out =
        place_blocks(call->out, units_out, blocks_out, has_lengths(what) && goes_to_each(what),
                     call->send_counts, call->send_at);
    const int end_in =
        place_blocks(call->in, units_in, blocks_in, has_lengths(what) && !is_from_root(what),
                     call->receive_counts, call->receive_at);
    make_memory(&call->send, call->out, end_out);
    make_memory(&call->receive, call->in, end_in);
    for (int r = 0; r < blocks_out && !own_is_in_place; ++r) {
        for (int i = 0; i < units_out[r]; ++i)
            put(&call->send, call->send_at[r], i,
                unit_of_block(call, world_rank, group->task[peers][r], i));
    }
    for (int r = 0; r < blocks_in; ++r) {
        const int from = is_from_root(what) ? root_task : group->task[peers][r];
        for (int i = 0; i < units_in[r]; ++i) {
            const long long comes = unit_of_block(call, from, world_rank, i);
            if (call->in_place && is_from_root(what)) continue; /* the root of a scatter */
            if (own_is_in_place && goes_to_each(what)) {
                put(&call->receive, call->receive_at[r], i,
                    unit_of_block(call, world_rank, from, i));
            } else if (own_is_in_place && from == world_rank) {
                put(&call->receive, call->receive_at[r], i, comes);
            }
            expect(&call->receive, call->receive_at[r], i, comes);
        }
    }
}

/* The units of the vector of a reduction, and those that a member of a side gets of a reduce_scatter. */
static int vector_units(const struct Call* call) {
    if (!scatters_sum(call->operation)) return call->units[0];
    const int others = call->group.inter ? call->group.size[1] : 1;
    return call->units[0] * call->group.size[0] * others;
}
static int scattered_units(const struct Call* call, int side, int r) {
    const int n = call->group.size[side], even = vector_units(call) / n;
    if (call->operation == kReduceScatterBlock) return even;
    /* Pairs of members move some of their part. */
    const int moved = kUnit * (even / kUnit / 2);
    if (r == n - 1 && n % 2 == 1) return even;
    return r % 2 == 0 ? even + moved : even - moved;
}

static void prepare_reduction(struct Call* call) {
    const struct Group* group = &call->group;
    const enum Operation what = call->operation;
    const int givers = what == kReduce && group->inter ? 1 - call->root_side : peer_side(call);
    const int gives = what != kReduce || !group->inter || !call->in_root_group;
    const int gets = what != kReduce || call->at_root;
    const int units = vector_units(call);
    int before = 0, own = units;
    for (int r = 0; r < group->size[group->side] && scatters_sum(what); ++r) {
        const int its = scattered_units(call, group->side, r);
        call->receive_counts[r] = its / call->out->layout->units;
        if (r < group->me) before += its;
        if (r == group->me) own = its;
    }
    const int elements = units / call->out->layout->units;
    make_memory(&call->send, call->out, gives ? elements : 0);
    make_memory(&call->receive, call->out, gets || call->in_place ? elements : 0);
    for (int i = 0; i < units && gives; ++i)
        put(call->in_place ? &call->receive : &call->send, 0, i,
            unit_value(call->basic, call->number, world_rank, i));
    const int last = what == kScan     ? group->me
                     : what == kExscan ? group->me - 1
                                       : group->size[givers] - 1;
    for (int i = 0; i < own && gets && last >= 0; ++i)
        expect(&call->receive, 0, i,
               reduced(call->reduction, call->basic, call->number, group->task[givers], last + 1,
                       before + i));
    /* In place, only the block of this member is defined after a reduce_scatter. */
    if (scatters_sum(what) && call->in_place)
        call->receive.checked = own / call->out->layout->units * call->out->bytes;
}

/* Makes the call in one of its three forms. */
#define MAKE(name, ...)                                                              \
    do {                                                                             \
        if (call->form == kBlocking) {                                               \
            CHECK_OK(MPI_##name(__VA_ARGS__));                                       \
        } else if (call->form == kNonblocking) {                                     \
            CHECK_OK(MPI_I##name(__VA_ARGS__, &call->request));                      \
        } else {                                                                     \
            CHECK_OK(MPI_##name##_init(__VA_ARGS__, MPI_INFO_NULL, &call->request)); \
        }                                                                            \
    } while (0)
#define MPI_IBarrier MPI_Ibarrier
#define MPI_IBcast MPI_Ibcast
#define MPI_IGather MPI_Igather
#define MPI_IGatherv MPI_Igatherv
#define MPI_IScatter MPI_Iscatter
#define MPI_IScatterv MPI_Iscatterv
#define MPI_IAllgather MPI_Iallgather
#define MPI_IAllgatherv MPI_Iallgatherv
#define MPI_IAlltoall MPI_Ialltoall
#define MPI_IAlltoallv MPI_Ialltoallv
#define MPI_IAlltoallw MPI_Ialltoallw
#define MPI_IReduce MPI_Ireduce
#define MPI_IAllreduce MPI_Iallreduce
#define MPI_IReduce_scatter_block MPI_Ireduce_scatter_block
#define MPI_IReduce_scatter MPI_Ireduce_scatter
#define MPI_IScan MPI_Iscan
#define MPI_IExscan MPI_Iexscan

static void make_call(struct Call* call) {
    const struct Group* group = &call->group;
    const enum Operation what = call->operation;
    const MPI_Comm comm = group->comm;
    const int n = group->size[peer_side(call)];
    const int root = !group->inter         ? call->root
                     : call->at_root       ? MPI_ROOT
                     : call->in_root_group ? MPI_PROC_NULL
                                           : call->root;
    const MPI_Datatype sent = call->out->handle, received = call->in->handle;
    const MPI_Op op = operation_of(call->reduction);
    void *out = call->send.bytes, *in = call->receive.bytes;
    void* const result = in;
    if (call->in_place && is_from_root(what)) {
        in = MPI_IN_PLACE;
    } else if (call->in_place) {
        out = MPI_IN_PLACE;
    }
    const int out_count = call->send_counts[0], in_count = call->receive_counts[0];
    const int elements = vector_units(call) / call->out->layout->units;
    switch (what) {
        case kBarrier:
            MAKE(Barrier, comm);
            break;
        case kBcast:
            if (call->at_root) {
                MAKE(Bcast, out, out_count, sent, root, comm);
            } else {
                MAKE(Bcast, in, in_count, received, root, comm);
            }
            break;
        case kGather:
            MAKE(Gather, out, out_count, sent, in, in_count, received, root, comm);
            break;
        case kGatherv:
            MAKE(Gatherv, out, out_count, sent, in, call->receive_counts, call->receive_at,
                 received, root, comm);
            break;
        case kScatter:
            MAKE(Scatter, out, out_count, sent, in, in_count, received, root, comm);
            break;
        case kScatterv:
            MAKE(Scatterv, out, call->send_counts, call->send_at, sent, in, in_count, received,
                 root, comm);
            break;
        case kAllgather:
            MAKE(Allgather, out, out_count, sent, in, in_count, received, comm);
            break;
        case kAllgatherv:
            MAKE(Allgatherv, out, out_count, sent, in, call->receive_counts, call->receive_at,
                 received, comm);
            break;
        case kAlltoall:
            MAKE(Alltoall, out, out_count, sent, in, in_count, received, comm);
            break;
        case kAlltoallv:
            MAKE(Alltoallv, out, call->send_counts, call->send_at, sent, in, call->receive_counts,
                 call->receive_at, received, comm);
            break;
        case kAlltoallw:
            for (int r = 0; r < n; ++r) {
                call->send_types[r] = sent;
                call->receive_types[r] = received;
                call->send_at[r] *= call->out->bytes;
                call->receive_at[r] *= call->in->bytes;
            }
            MAKE(Alltoallw, out, call->send_counts, call->send_at, call->send_types, in,
                 call->receive_counts, call->receive_at, call->receive_types, comm);
            break;
        case kReduce:
            MAKE(Reduce, out, result, elements, sent, op, root, comm);
            break;
        case kAllreduce:
            MAKE(Allreduce, out, result, elements, sent, op, comm);
            break;
        case kReduceScatterBlock:
            MAKE(Reduce_scatter_block, out, result, call->receive_counts[0], sent, op, comm);
            break;
        case kReduceScatter:
            MAKE(Reduce_scatter, out, result, call->receive_counts, sent, op, comm);
            break;
        case kScan:
            MAKE(Scan, out, result, elements, sent, op, comm);
            break;
        default:
            MAKE(Exscan, out, result, elements, sent, op, comm);
    }
    if (call->form == kPersistent) CHECK_OK(MPI_Start(&call->request));
}

static void check_call(struct Call* call) {
    if (call->operation == kBarrier) return;
    const int wrong = wrong_bytes(&call->send) + wrong_bytes(&call->receive);
    if (wrong == 0) return;
    fprintf(
        stderr,
        "task %d: call %d: operation %d, form %d, in place %d, root %d of side %d, %s of %d and %d "
        "members, basic type %d, reduction %d, %d units: %d bytes are wrong\n",
        world_rank, call->number, (int)call->operation, (int)call->form, call->in_place, call->root,
        call->root_side, call->group.inter ? "intercommunicator" : "intracommunicator",
        call->group.size[0], call->group.size[1], (int)call->basic, (int)call->reduction,
        call->units[0], wrong);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static void finish_call(struct Call* call) {
    int done = call->form == kBlocking;
    if (call->number % 3 == 0) {
        while (!done) CHECK_OK(MPI_Test(&call->request, &done, MPI_STATUS_IGNORE));
    } else if (!done) {
        CHECK_OK(MPI_Wait(&call->request, MPI_STATUS_IGNORE));
    }
    check_call(call);
    while (call->again > 0) {
        --call->again;
        if (call->operation != kBarrier) fill_again(&call->send), fill_again(&call->receive);
        CHECK_OK(MPI_Start(&call->request));
        CHECK_OK(MPI_Wait(&call->request, MPI_STATUS_IGNORE));
        check_call(call);
    }
    if (call->form == kPersistent) CHECK_OK(MPI_Request_free(&call->request));
    CHECK(call->form == kBlocking || call->request == MPI_REQUEST_NULL);
    free_memory(&call->send);
    free_memory(&call->receive);
    call->active = 0;
}

/* All tasks draw the call; its members prepare it. */
static void draw_call(struct Call* call, int number) {
    memset(call, 0, sizeof *call);
    call->number = number;
    const struct Group* group = &groups[draw(kMostGroups)];
    call->group = group->used ? *group : groups[0];
    group = &call->group;
    call->operation = (enum Operation)draw(group->inter ? kScan : kOperations);
    call->form = (enum Form)draw(kForms);
    call->again = draw(3);
    if (call->form != kPersistent) call->again = 0;
    call->in_place = draw(3) == 0 && !group->inter;
    call->root_side = draw(2) && group->inter;
    call->root = draw(group->size[call->root_side]);
    call->basic = (enum Basic)draw(kBasics);
    call->reduction = (enum Reduction)draw(kReductions);
    if (!allows(call->reduction, call->basic)) call->reduction = kSum;
    call->units[0] = draw_units(group->size[0] + group->size[1]);
    call->units[1] = draw_units(group->size[0] + group->size[1]);
    for (int r = 0; r < world_size; ++r) call->of_task[r] = draw_units(world_size);
    if (group->me < 0) return;
    call->in_root_group = group->side == call->root_side;
    call->at_root = call->in_root_group && group->me == call->root;
    if (call->operation == kBcast || (is_rooted(call->operation) && !call->at_root))
        call->in_place = 0;
    seed_own(number);
    call->out = &types[call->basic][draw_own(kLayouts)];
    call->in = &types[call->basic][draw_own(kLayouts)];
    call->active = 1;
    if (is_reduction(call->operation)) {
        call->out = call->in = &types[call->basic][layout_of(call->reduction)];
        prepare_reduction(call);
    } else if (call->operation != kBarrier) {
        prepare_blocks(call);
    }
}

static void run_seed(int seed, int calls) {
    static struct Call under_way[kAtOnce];
    seed_random((uint64_t)seed);
    for (int number = 0; number < calls; ++number) {
        struct Call* call = &under_way[draw(kAtOnce)];
        if (draw(8) == 0) change_groups();
        if (call->active) finish_call(call);
        draw_call(call, number);
        if (!call->active) continue;
        make_call(call);
        if (call->form == kBlocking) finish_call(call);
    }
    for (int i = 0; i < kAtOnce; ++i) {
        if (under_way[i].active) finish_call(&under_way[i]);
    }
    free_groups();
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    const int first = argc > 1 ? atoi(argv[1]) : 1, seeds = argc > 2 ? atoi(argv[2]) : 4;
    const int calls = argc > 3 ? atoi(argv[3]) : 150;
    start_groups();
    make_types();
    for (int seed = first; seed < first + seeds; ++seed) run_seed(seed, calls);
    free_types();
    if (world_rank == 0) printf("%d seeds from %d on\n", seeds, first);
    MPI_Finalize();
    return 0;
}
