/* Calls with a constant pattern, for plans of vt -plan: two alltoallv on MPI_COMM_WORLD, one on a
 * communicator with the ranks in reverse order, a bcast, and a loop of messages that is an alltoall.
 *
 *   planned_calls ROUNDS [SEED [disagree|short]]
 *
 * Without SEED, or with 0, every round is the same. With it, one round or all later rounds differ at random: the
 * lengths of one member, the order of the calls, the root. Every member checks every byte that it
 * receives. The first one prints a sum of what all have received, which does not depend on how the
 * data were sent. With "disagree", task 0 expects 8 bytes more from task 1 than that sends, in place 0
 * of round 0, and prints the class of the error that it gets. With "short", all
 * blocks have a sixteenth of their lengths. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kPlaces = 3, kMostTasks = 64, kLong = 8192 };

static int tasks, task, rounds, disagree, is_short;
static unsigned seed; /* 0: no change */

/* What is different, drawn from the seed: the same at all members. */
static struct {
    int lengths, order, root; /* whether they change */
    int round, forever;       /* from when on, and whether it stays */
    int member, place;        /* whose lengths, in which call */
} change;

static unsigned mix(unsigned a, unsigned b, unsigned c, unsigned d) {
    unsigned x = a * 2654435761u ^ b * 2246822519u ^ c * 3266489917u ^ d * 668265263u;
    x ^= x >> 15;
    x *= 2246822519u;
    return x ^ x >> 13;
}

static int changed(int round) {
    return seed != 0 && (change.forever ? round >= change.round : round == change.round);
}

/* Bytes from one task to another in a call of this round. The pattern of place 1 is sparse: a ring of
 * long messages and some short ones. */
static int length(int place, int from, int to, int round) {
    int usual = place == 1 ? (to == (from + 1) % tasks
                                  ? 3 * kLong
                                  : (int)(mix(1, 2, (unsigned)from, (unsigned)to) % 3) * 20)
                           : kLong + 1000 * place + 512 * ((from + 2 * to) % 3);
    if (is_short) usual /= 16;
    if (from == to) usual = 100;
    if (changed(round) && change.lengths && place == change.place &&
        (from == change.member || to == change.member) && from != to) {
        switch (mix(seed, 77, (unsigned)(from * kMostTasks + to), 0) % 6) {
            case 0:
                return 0;
            case 1:
                return usual * 5;
            case 2:
                return 16; /* as long as a short header */
            case 3:
                return usual + 3;
            case 4:
                return 1 + (int)(mix(seed, 78, (unsigned)from, (unsigned)to) % 50000);
            default:
                break;
        }
    }
    return usual;
}

static unsigned char byte_of(int place, int from, int to, int round, int at) {
    return (unsigned char)(at * 7 + from * 31 + to * 17 + round * 13 + place);
}

static unsigned long sum;

static void check(const unsigned char* data, int place, int from, int round, int many) {
    for (int i = 0; i < many; ++i) {
        if (data[i] != byte_of(place, from, task, round, i)) {
            fprintf(stderr, "place %d, round %d: byte %d from task %d to %d is wrong\n", place,
                    round, i, from, task);
            MPI_Abort(MPI_COMM_WORLD, 1);
        }
        sum = sum * 31 + data[i];
    }
}

/* One alltoallv; `rank_of[t]` is the rank of task t in the communicator. */
static void exchange(int place, int round, MPI_Comm comm, const int* task_of) {
    int out[kMostTasks], in[kMostTasks], out_at[kMostTasks], in_at[kMostTasks];
    int out_end = 0, in_end = 0;
    for (int r = 0; r < tasks; ++r) {
        out[r] = length(place, task, task_of[r], round);
        in[r] = length(place, task_of[r], task, round);
        out_at[r] = out_end;
        in_at[r] = in_end + 5; /* not one after the other */
        out_end += out[r];
        in_end = in_at[r] + in[r];
    }
    const int wrong = disagree && task == 0 && place == 0 && round == 0;
    if (wrong) {
        for (int r = 2; r < tasks; ++r) in_at[r] += 8;
        in[1] += 8;
        in_end += 8;
        MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    }
    unsigned char* send = malloc((size_t)out_end + 1);
    unsigned char* receive = malloc((size_t)in_end + 1);
    for (int r = 0; r < tasks; ++r)
        for (int i = 0; i < out[r]; ++i)
            send[out_at[r] + i] = byte_of(place, task, task_of[r], round, i);
#define ALLTOALLV MPI_Alltoallv(send, out, out_at, MPI_BYTE, receive, in, in_at, MPI_BYTE, comm)
    int code = MPI_SUCCESS, class = MPI_SUCCESS;
    if (place == 0)
        code = ALLTOALLV; /* place 0 */
    else if (place == 1)
        ALLTOALLV; /* place 1 */
    else
        ALLTOALLV; /* place 2 */
    if (wrong) {
        MPI_Error_class(code, &class);
        printf("%s\n", class == MPI_ERR_TRUNCATE ? "truncated" : "another class");
        in[1] -= 8;
    }
    for (int r = 0; r < tasks; ++r) check(receive + in_at[r], place, task_of[r], round, in[r]);
    free(send);
    free(receive);
}

static void messages(int round) {
    unsigned char out[200], in[200];
    for (int step = 1; step < tasks; ++step) {
        const int to = (task + step) % tasks, from = (task + tasks - step) % tasks;
        for (int i = 0; i < 200; ++i) out[i] = byte_of(9, task, to, round, i);
        MPI_Sendrecv(out, 200, MPI_BYTE, to, 4, in, 200, MPI_BYTE, from, 4, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        check(in, 9, from, round, 200);
    }
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &tasks);
    MPI_Comm_rank(MPI_COMM_WORLD, &task);
    rounds = argc > 1 ? atoi(argv[1]) : 10;
    seed = argc > 2 ? (unsigned)atoi(argv[2]) : 0;
    disagree = argc > 3 && strcmp(argv[3], "disagree") == 0;
    is_short = argc > 3 && strcmp(argv[3], "short") == 0;
    if (seed != 0) {
        const unsigned what = 1 + mix(seed, 1, 0, 0) % 7;
        change.lengths = (what & 1) != 0;
        change.order = (what & 2) != 0;
        change.root = (what & 4) != 0;
        change.round = (int)(mix(seed, 2, 0, 0) % (unsigned)rounds);
        change.forever = (int)(mix(seed, 3, 0, 0) % 2);
        change.member = (int)(mix(seed, 4, 0, 0) % (unsigned)tasks);
        change.place = (int)(mix(seed, 5, 0, 0) % kPlaces);
    }
    MPI_Comm reversed;
    MPI_Comm_split(MPI_COMM_WORLD, 0, tasks - task, &reversed);
    int same[kMostTasks], reverse[kMostTasks];
    for (int r = 0; r < tasks; ++r) {
        same[r] = r;
        reverse[r] = tasks - 1 - r;
    }
    for (int round = 0; round < rounds; ++round) {
        const int other_order = changed(round) && change.order;
        exchange(other_order ? 1 : 0, round, MPI_COMM_WORLD, same);
        exchange(other_order ? 0 : 1, round, MPI_COMM_WORLD, same);
        exchange(2, round, reversed, reverse);
        const int root = changed(round) && change.root ? tasks - 1 : 0;
        int value = task == root ? 1000 + round : 0;
        MPI_Bcast(&value, 1, MPI_INT, root, MPI_COMM_WORLD);
        if (value != 1000 + round) MPI_Abort(MPI_COMM_WORLD, 2);
        messages(round);
    }
    unsigned long all = 0;
    MPI_Reduce(&sum, &all, 1, MPI_UNSIGNED_LONG, MPI_BXOR, 0, MPI_COMM_WORLD);
    if (task == 0)
        printf("sum %lu, changed: lengths %d order %d root %d, place %d round %d\n", all,
               change.lengths, change.order, change.root, change.place, change.round);
    MPI_Comm_free(&reversed);
    MPI_Finalize();
    return 0;
}
