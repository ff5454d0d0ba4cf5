/* Short non-blocking collective calls, many of them at a time: more than a group has room for in
 * shared memory, waited for in other orders than they were started in, with blocking calls and
 * other messages in between. */
#include "mpi_test.h"

#define MANY 200

static int n, me;

struct started {
    MPI_Request request;
    int kind, count, number;
    int *given, *result;
};

static int value(int rank, int number, int i) {
    return rank * 7919 + number * 131 + i * 17;
}

static int sum_of(int ranks, int number, int i) {
    int sum = 0;
    for (int r = 0; r < ranks; ++r) sum += value(r, number, i);
    return sum;
}

static void start(struct started* call, int kind, int count, int number) {
    call->kind = kind;
    call->count = count;
    call->number = number;
    call->given = malloc(sizeof(int) * (size_t)(count * n));
    call->result = malloc(sizeof(int) * (size_t)(count * n));
    for (int i = 0; i < count * n; ++i) {
        call->given[i] = value(me, number, i);
        call->result[i] = -1;
    }
    const int root = number % n;
    int *given = call->given, *result = call->result;
    MPI_Request* request = &call->request;
    switch (kind) {
        case 0:
            CHECK_OK(MPI_Ibarrier(MPI_COMM_WORLD, request));
            break;
        case 1:
            if (me == root) memcpy(result, given, sizeof(int) * (size_t)count);
            CHECK_OK(MPI_Ibcast(result, count, MPI_INT, root, MPI_COMM_WORLD, request));
            break;
        case 2:
            CHECK_OK(
                MPI_Iallreduce(given, result, count, MPI_INT, MPI_SUM, MPI_COMM_WORLD, request));
            break;
        case 3:
            CHECK_OK(
                MPI_Ireduce(given, result, count, MPI_INT, MPI_SUM, root, MPI_COMM_WORLD, request));
            break;
        case 4:
            CHECK_OK(MPI_Igather(given, count, MPI_INT, result, count, MPI_INT, root,
                                 MPI_COMM_WORLD, request));
            break;
        case 5:
            CHECK_OK(MPI_Iscatter(given, count, MPI_INT, result, count, MPI_INT, root,
                                  MPI_COMM_WORLD, request));
            break;
        case 6:
            CHECK_OK(MPI_Iallgather(given, count, MPI_INT, result, count, MPI_INT, MPI_COMM_WORLD,
                                    request));
            break;
        case 7:
            CHECK_OK(MPI_Ialltoall(given, count, MPI_INT, result, count, MPI_INT, MPI_COMM_WORLD,
                                   request));
            break;
        case 8:
            CHECK_OK(MPI_Iscan(given, result, count, MPI_INT, MPI_SUM, MPI_COMM_WORLD, request));
            break;
        default:
            CHECK_OK(MPI_Iexscan(given, result, count, MPI_INT, MPI_SUM, MPI_COMM_WORLD, request));
    }
}

static void check(struct started* call) {
    const int root = call->number % n, count = call->count, number = call->number;
    const int* result = call->result;
    for (int i = 0; i < count; ++i) {
        switch (call->kind) {
            case 0:
                break;
            case 1:
                CHECK_INT(result[i], value(root, number, i));
                break;
            case 2:
                CHECK_INT(result[i], sum_of(n, number, i));
                break;
            case 3:
                if (me == root) CHECK_INT(result[i], sum_of(n, number, i));
                break;
            case 5:
                CHECK_INT(result[i], value(root, number, me * count + i));
                break;
            case 8:
                CHECK_INT(result[i], sum_of(me + 1, number, i));
                break;
            case 9:
                if (me > 0) CHECK_INT(result[i], sum_of(me, number, i));
                break;
            default:
                if (call->kind == 4 && me != root) break;
                for (int r = 0; r < n; ++r)
                    CHECK_INT(result[r * count + i],
                              value(r, number, call->kind == 7 ? me * count + i : i));
        }
    }
    free(call->given);
    free(call->result);
}

/* `order`: how the calls are completed. */
static void many(int order, int longest) {
    struct started calls[MANY];
    int done[MANY] = {0};
    for (int k = 0; k < MANY; ++k) {
        start(&calls[k], k * 7 % 10, 1 + k * 5 % longest, k);
        if (k % 50 == 49) { /* a blocking call and a message while many calls are under way */
            int sum, one = k, from;
            CHECK_OK(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
            CHECK_INT(sum, n * k);
            CHECK_OK(MPI_Sendrecv(&me, 1, MPI_INT, (me + 1) % n, k, &from, 1, MPI_INT,
                                  (me + n - 1) % n, k, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
            CHECK_INT(from, (me + n - 1) % n);
        }
    }
    if (order == 0) { /* the last one first, and each task in an order of its own */
        for (int k = 0; k < MANY; ++k) {
            const int at = (MANY - 1 - k + me * 31) % MANY;
            CHECK_OK(MPI_Wait(&calls[at].request, MPI_STATUS_IGNORE));
            check(&calls[at]);
        }
        return;
    }
    for (int left = MANY; left > 0;) { /* MPI_Test, round and round */
        for (int k = me % MANY; k < MANY; ++k) {
            int flag = 0;
            if (done[k]) continue;
            CHECK_OK(MPI_Test(&calls[k].request, &flag, MPI_STATUS_IGNORE));
            if (!flag) continue;
            check(&calls[k]);
            done[k] = 1;
            --left;
        }
        for (int k = 0; k < me % MANY; ++k) {
            if (done[k]) continue;
            CHECK_OK(MPI_Wait(&calls[k].request, MPI_STATUS_IGNORE));
            check(&calls[k]);
            done[k] = 1;
            --left;
        }
    }
}

/* A member that is late with its calls does not keep a root or an early member from others. */
static void late_member(void) {
    MPI_Request barrier, bcast;
    int word = me == 0 ? 42 : 0;
    if (me == n - 1 && n > 1) { /* its calls come after the message of task 0 has come */
        CHECK_OK(MPI_Recv(&word, 1, MPI_INT, 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        word = 0;
    }
    CHECK_OK(MPI_Ibarrier(MPI_COMM_WORLD, &barrier));
    CHECK_OK(MPI_Ibcast(&word, 1, MPI_INT, 0, MPI_COMM_WORLD, &bcast));
    CHECK_OK(MPI_Wait(&bcast, MPI_STATUS_IGNORE)); /* before the barrier is over */
    if (me == 0 && n > 1) {
        int flag;
        CHECK_OK(MPI_Test(&barrier, &flag, MPI_STATUS_IGNORE));
        CHECK_INT(flag, 0);
        CHECK_OK(MPI_Send(&word, 1, MPI_INT, n - 1, 5, MPI_COMM_WORLD));
    }
    CHECK_OK(MPI_Wait(&barrier, MPI_STATUS_IGNORE));
    CHECK_INT(word, 42);
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &n);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    many(0, 9); /* before any blocking call: by messages */
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    late_member();
    for (int order = 0; order < 2; ++order) {
        many(order, 3);
        many(order, 13);
        many(order, 250);
    }
    MPI_Finalize();
    return 0;
}
