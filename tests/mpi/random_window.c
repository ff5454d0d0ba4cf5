/* Random operations on windows against an oracle. All tasks draw the same rounds, so each knows the operations of
 * all others, executes them on its own picture of all windows, and compares its part after each round.
 *
 * In a round every block of every window has a role: it belongs to one origin, which makes one operation or a
 * sequence of atomic ones on it and knows the results; or all origins accumulate on it with one operation, whose
 * result does not depend on the order. Arguments: first seed, number of seeds; each has some rounds on three windows. Any
 * number of tasks. */
#include <stdint.h>
#include <unistd.h>

#include "mpi_test.h"

enum { kBlocks = 24, kCells = 60, kWords = kBlocks * kCells, kMostTasks = 64, kRounds = 6 };
enum Epoch { kFence, kPost, kLock, kLockAll, kEpochs };
enum Action { kPut, kGet, kAtomics, kRequests, kCommon, kNothing, kActions };

static int rank, size;
static uint64_t state;
static int64_t (*pictures)[kWords]; /* the windows of all tasks */
static int64_t* memory;             /* the own window */
static MPI_Aint addresses[kMostTasks];

static uint32_t draw(uint32_t below) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(state >> 33) % below;
}

/* Places of cells within a block, in the order of a datatype. */
struct Shape {
    int count;
    int at[kCells];
    int kind, length, stride;
};

static struct Shape draw_shape(int count) {
    struct Shape shape;
    shape.count = count;
    shape.kind = (int)draw(4);
    shape.length = 1 + (int)draw(3);
    if (count % shape.length != 0) shape.length = 1;
    const int blocks = count / shape.length;
    const int most = blocks == 1 ? kCells : (kCells - shape.length) / (blocks - 1);
    shape.stride = shape.length + (int)draw((uint32_t)(most - shape.length + 1));
    for (int i = 0; i < count; ++i) {
        if (shape.kind == 0) shape.at[i] = i;
        if (shape.kind == 1 || shape.kind == 3)
            shape.at[i] = i / shape.length * shape.stride + i % shape.length;
        if (shape.kind == 2) shape.at[i] = kCells - 1 - i; /* backwards */
    }
    return shape;
}

/* The datatype of a shape, with the number of elements that are passed with it. */
static MPI_Datatype make_type(const struct Shape* shape, int* count) {
    MPI_Datatype type, part;
    int places[kCells];
    *count = 1;
    if (shape->kind == 0) {
        *count = shape->count;
        MPI_Type_dup(MPI_INT64_T, &type);
    } else if (shape->kind == 1) {
        MPI_Type_vector(shape->count / shape->length, shape->length, shape->stride, MPI_INT64_T,
                        &type);
    } else if (shape->kind == 2) {
        for (int i = 0; i < shape->count; ++i) places[i] = shape->at[i];
        MPI_Type_create_indexed_block(shape->count, 1, places, MPI_INT64_T, &type);
    } else {
        MPI_Type_contiguous(shape->length, MPI_INT64_T, &part);
        MPI_Type_create_resized(part, 0, shape->stride * 8, &type);
        MPI_Type_free(&part);
        *count = shape->count / shape->length;
    }
    MPI_Type_commit(&type);
    return type;
}

static const MPI_Op operations[] = {MPI_SUM,  MPI_PROD, MPI_MAX, MPI_MIN,  MPI_BAND,    MPI_BOR,
                                    MPI_BXOR, MPI_LAND, MPI_LOR, MPI_LXOR, MPI_REPLACE, MPI_NO_OP};
enum { kOrderFree = 7, kOperations = 12 };

static int64_t combine(int operation, int64_t old, int64_t given) {
    switch (operation) {
        case 0:
            return (int64_t)((uint64_t)old + (uint64_t)given);
        case 1:
            return (int64_t)((uint64_t)old * (uint64_t)given);
        case 2:
            return old > given ? old : given;
        case 3:
            return old < given ? old : given;
        case 4:
            return old & given;
        case 5:
            return old | given;
        case 6:
            return old ^ given;
        case 7:
            return old && given;
        case 8:
            return old || given;
        case 9:
            return !old != !given;
        case 10:
            return given;
        default:
            return old;
    }
}

static int64_t draw_value(void) {
    return (int64_t)draw(1u << 30) - (1 << 29);
}

/* The buffers of an origin stay until the end of the epoch. */
enum { kMostChecks = 64 * kBlocks * 4 };
struct Check {
    int64_t given[kCells], other[2], got[kCells], expected[kCells];
    int places[kCells], count;
};
static struct Check checks[kMostChecks];
static int checks_used;
static MPI_Request requests[kMostChecks];
static int requests_used;

static MPI_Win window;
static int is_dynamic;

static MPI_Aint displacement(int target, int cell) {
    return is_dynamic ? MPI_Aint_add(addresses[target], cell * 8) : cell;
}

static void finish_requests(void) {
    CHECK_OK(MPI_Waitall(requests_used, requests, MPI_STATUSES_IGNORE));
    requests_used = 0;
}

/* One operation of `origin` on the cells from `base` on; all tasks call this and draw the same. */
static void operate(int origin, int target, int base, enum Action action, int operation) {
    const int count = 1 + (int)draw(kCells / 3);
    const struct Shape at = draw_shape(count), from = draw_shape(count), to = draw_shape(count);
    const int own = origin == rank;
    const int fetches = (int)draw(2);
    int64_t* const cells = pictures[target] + base;
    CHECK(checks_used < kMostChecks);
    struct Check* const check = &checks[checks_used];
    if (own) ++checks_used;
    MPI_Datatype types[3] = {MPI_DATATYPE_NULL, MPI_DATATYPE_NULL, MPI_DATATYPE_NULL};
    int counts[3] = {0, 0, 0};
    if (own) {
        types[0] = make_type(&at, &counts[0]);
        types[1] = make_type(&from, &counts[1]);
        types[2] = make_type(&to, &counts[2]);
        check->count = 0;
        for (int i = 0; i < kCells; ++i) check->given[i] = check->got[i] = -9;
    }
    const int by_request = action == kRequests;
    const MPI_Aint place = displacement(target, base);
    if (by_request) action = (enum Action)draw(2);
    MPI_Request* const request = &requests[requests_used];
    if (own && by_request) ++requests_used;
    if (action == kPut || action == kAtomics || action == kCommon) {
        for (int i = 0; i < count; ++i) {
            const int64_t value = draw_value();
            if (own) check->given[from.at[i]] = value;
            if (own) check->expected[i] = cells[at.at[i]];
            cells[at.at[i]] = combine(action == kPut ? 10 : operation, cells[at.at[i]], value);
        }
    } else if (own) {
        for (int i = 0; i < count; ++i) check->expected[i] = cells[at.at[i]];
    }
    if (!own) return;
    const int gets = action == kGet || (action == kAtomics && fetches);
    if (gets) {
        check->count = count;
        for (int i = 0; i < count; ++i) check->places[i] = to.at[i];
    }
    if (action == kPut) {
        if (by_request)
            CHECK_OK(MPI_Rput(check->given, counts[1], types[1], target, place, counts[0], types[0],
                              window, request));
        else
            CHECK_OK(MPI_Put(check->given, counts[1], types[1], target, place, counts[0], types[0],
                             window));
    } else if (action == kGet) {
        if (by_request)
            CHECK_OK(MPI_Rget(check->got, counts[2], types[2], target, place, counts[0], types[0],
                              window, request));
        else
            CHECK_OK(MPI_Get(check->got, counts[2], types[2], target, place, counts[0], types[0],
                             window));
    } else if (gets) {
        CHECK_OK(MPI_Get_accumulate(check->given, counts[1], types[1], check->got, counts[2],
                                    types[2], target, place, counts[0], types[0],
                                    operations[operation], window));
    } else {
        CHECK_OK(MPI_Accumulate(check->given, counts[1], types[1], target, place, counts[0],
                                types[0], operations[operation], window));
    }
    for (int i = 0; i < 3; ++i) MPI_Type_free(&types[i]);
}

/* One element, with the result. */
static void operate_on_one(int origin, int target, int cell, int operation) {
    const int own = origin == rank;
    const int compares = (int)draw(2), matches = (int)draw(2);
    const int64_t value = draw_value();
    int64_t* const old = &pictures[target][cell];
    if (own) {
        struct Check* const check = &checks[checks_used++];
        check->count = 1;
        check->places[0] = 0;
        check->expected[0] = *old;
        check->given[0] = value;
        check->other[0] = matches ? *old : *old + 1;
        if (compares)
            CHECK_OK(MPI_Compare_and_swap(check->given, check->other, check->got, MPI_INT64_T,
                                          target, displacement(target, cell), window));
        else
            CHECK_OK(MPI_Fetch_and_op(check->given, check->got, MPI_INT64_T, target,
                                      displacement(target, cell), operations[operation], window));
    }
    if (compares) {
        if (matches) *old = value;
    } else {
        *old = combine(operation, *old, value);
    }
}

static void operate_on_block(int target, int block, enum Epoch epoch) {
    const int base = block * kCells;
    enum Action action = (enum Action)draw(kActions);
    if (action == kRequests && epoch != kLock && epoch != kLockAll) action = kPut;
    const int owner = (int)draw((uint32_t)size);
    const int operation = (int)draw(kOperations), common = (int)draw(kOrderFree);
    if (action == kCommon) {
        for (int origin = 0; origin < size; ++origin) {
            const int times = (int)draw(3);
            for (int i = 0; i < times; ++i) operate(origin, target, base, kCommon, common);
        }
    } else if (action == kAtomics) {
        const int times = 1 + (int)draw(3);
        for (int i = 0; i < times; ++i) {
            operate(owner, target, base, kAtomics, operation);
            operate_on_one(owner, target, base + (int)draw(kCells), operation);
        }
    } else if (action != kNothing) {
        operate(owner, target, base, action, operation);
    }
}

static void run_round(enum Epoch epoch, MPI_Group all) {
    checks_used = 0;
    if (epoch == kFence) CHECK_OK(MPI_Win_fence(0, window));
    if (epoch == kPost) {
        CHECK_OK(MPI_Win_post(all, 0, window));
        CHECK_OK(MPI_Win_start(all, 0, window));
    }
    if (epoch == kLockAll) CHECK_OK(MPI_Win_lock_all(0, window));
    for (int target = 0; target < size; ++target) {
        /* The origins may take different kinds of locks. */
        const int kind =
            ((int)draw(4) + rank) % 4 < (int)draw(4) ? MPI_LOCK_EXCLUSIVE : MPI_LOCK_SHARED;
        if (epoch == kLock) CHECK_OK(MPI_Win_lock(kind, target, 0, window));
        for (int block = 0; block < kBlocks; ++block) operate_on_block(target, block, epoch);
        finish_requests();
        if (epoch == kLockAll && draw(2)) CHECK_OK(MPI_Win_flush(target, window));
        if (epoch == kLock) CHECK_OK(MPI_Win_unlock(target, window));
    }
    if (epoch == kFence) CHECK_OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, window));
    if (epoch == kPost) {
        CHECK_OK(MPI_Win_complete(window));
        CHECK_OK(MPI_Win_wait(window));
    }
    if (epoch == kLockAll) CHECK_OK(MPI_Win_unlock_all(window));
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < checks_used; ++i)
        for (int k = 0; k < checks[i].count; ++k)
            CHECK_INT(checks[i].got[checks[i].places[k]], checks[i].expected[k]);
    CHECK_OK(MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, window));
    for (int i = 0; i < kWords; ++i) CHECK_INT(memory[i], pictures[rank][i]);
    CHECK_OK(MPI_Win_unlock(rank, window));
    MPI_Barrier(MPI_COMM_WORLD);
}

/* A task that learns of the end of another one has nothing more to check. Other errors come back to CHECK_OK. */
static void end_quietly(int code) {
    int class = MPI_SUCCESS;
    MPI_Error_class(code, &class);
    if (class == MPI_ERR_PROC_ABORTED) _exit(0);
}
static void on_comm_error(MPI_Comm* comm, int* code, ...) {
    (void)comm;
    end_quietly(*code);
}
static void on_window_error(MPI_Win* win, int* code, ...) {
    (void)win;
    end_quietly(*code);
}
static MPI_Errhandler window_handler;

static void run_window(int flavor) {
    MPI_Group all;
    int64_t* own = NULL;
    is_dynamic = flavor == 2;
    if (flavor == 1) {
        CHECK_OK(MPI_Win_allocate(kWords * 8, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window));
    } else {
        memory = own = malloc(kWords * 8);
        if (flavor == 0)
            CHECK_OK(MPI_Win_create(own, kWords * 8, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &window));
        else
            CHECK_OK(MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &window));
    }
    CHECK_OK(MPI_Win_set_errhandler(window, window_handler));
    if (is_dynamic) {
        MPI_Aint address;
        /* In two parts, which count as one. */
        CHECK_OK(MPI_Win_attach(window, own, 800));
        CHECK_OK(MPI_Win_attach(window, own + 100, kWords * 8 - 800));
        MPI_Get_address(own, &address);
        MPI_Allgather(&address, 1, MPI_AINT, addresses, 1, MPI_AINT, MPI_COMM_WORLD);
    }
    for (int target = 0; target < size; ++target)
        for (int i = 0; i < kWords; ++i) pictures[target][i] = draw_value();
    memcpy(memory, pictures[rank], kWords * 8);
    MPI_Win_get_group(window, &all);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int round = 0; round < kRounds; ++round) run_round((enum Epoch)draw(kEpochs), all);
    MPI_Group_free(&all);
    CHECK_OK(MPI_Win_free(&window));
    free(own);
}

int main(int argc, char** argv) {
    CHECK_OK(MPI_Init(&argc, &argv));
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    CHECK(size <= kMostTasks);
    MPI_Errhandler comm_handler;
    CHECK_OK(MPI_Comm_create_errhandler(on_comm_error, &comm_handler));
    CHECK_OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, comm_handler));
    CHECK_OK(MPI_Errhandler_free(&comm_handler));
    CHECK_OK(MPI_Win_create_errhandler(on_window_error, &window_handler));
    const int first = argc > 1 ? atoi(argv[1]) : 1, seeds = argc > 2 ? atoi(argv[2]) : 1;
    pictures = malloc(sizeof *pictures * (size_t)size);
    for (int seed = first; seed < first + seeds; ++seed) {
        state = (uint64_t)seed * 7919;
        for (int flavor = 0; flavor < 3; ++flavor) run_window(flavor);
    }
    free(pictures);
    MPI_Errhandler_free(&window_handler);
    MPI_Finalize();
    return 0;
}
