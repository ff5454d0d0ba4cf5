/* is: ranks integer keys, with a bucket sort. In each step the tasks add up the sizes of the buckets
 * (MPI_Allreduce), exchange how many keys each sends to each (MPI_Alltoall), and the keys
 * (MPI_Alltoallv); then each task counts the keys of its own range.
 *
 * Run:   mpicc.poe -O2 is.c -o is -lm
 *        poe ./is W -procs 4
 *
 * Kernel IS of "The NAS Parallel Benchmarks" (RNR-94-007): each key is the sum of four random numbers,
 * times a quarter of the largest key. It is ranked ten times, each time with two keys changed; the
 * ranks of five keys are known. At the end the keys must be in order. */
#include "nas.h"

enum { STEPS = 10, PROBES = 5, BUCKETS = 1 << 9 };

/* The rank of a probe in step s is its first number plus or minus s plus an offset. */
static const struct {
    int log_keys, log_range;
    long probe[PROBES], rank[PROBES];
    int rising; /* the first probes, whose ranks rise with the step */
    int offset;
} kClasses[NAS_CLASSES] = {
    {16, 11, {48427, 17148, 23627, 62548, 4431}, {0, 18, 346, 64917, 65463}, 3, 0},
    {20,
     16,
     {357773, 934767, 875723, 898999, 404505},
     {1249, 11698, 1039987, 1043896, 1048018},
     2,
     -2},
    {23,
     19,
     {2112377, 662041, 5336171, 3642833, 4250760},
     {104, 17523, 123928, 8288932, 8388264},
     3,
     -1}};

typedef struct {
    long count, first;  /* own keys, and the index of the first of them */
    int shift;          /* key >> shift is its bucket */
    int *keys, *sorted; /* own keys; by bucket */
    int *received, capacity, arrived;
    int low, high;            /* the range of keys that this task ranks */
    long below;               /* how many keys are smaller than low */
    int *counts, counts_room; /* of each key of the range, how many are not larger */
} Sort;

static void make_keys(Sort* s) {
    const int log_keys = kClasses[nas_class].log_keys, log_range = kClasses[nas_class].log_range;
    s->count = (1L << log_keys) / nas_tasks;
    s->first = s->count * nas_me;
    s->shift = log_range - 9;
    s->keys = nas_memory((size_t)s->count, sizeof *s->keys);
    s->sorted = nas_memory((size_t)s->count, sizeof *s->sorted);
    uint64_t state = nas_skip(NAS_SEED, 4 * (uint64_t)s->first);
    const double quarter = (double)(1L << log_range) / 4;
    for (long i = 0; i < s->count; ++i) {
        double sum = 0;
        for (int j = 0; j < 4; ++j) sum += nas_random(&state);
        s->keys[i] = (int)(quarter * sum);
    }
}

/* Sorts the own keys into buckets; sizes[b] is how many of all tasks are in bucket b. */
static void fill_buckets(Sort* s, int* own, int* sizes) {
    memset(own, 0, BUCKETS * sizeof *own);
    for (long i = 0; i < s->count; ++i) ++own[s->keys[i] >> s->shift];
    MPI_Allreduce(own, sizes, BUCKETS, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    int place[BUCKETS], next = 0;
    for (int b = 0; b < BUCKETS; ++b) place[b] = next, next += own[b];
    for (long i = 0; i < s->count; ++i) s->sorted[place[s->keys[i] >> s->shift]++] = s->keys[i];
}

/* Each task gets buckets that follow each other, with about as many keys as the others. */
static void divide(Sort* s, const int* sizes, int* owner) {
    const double share = (double)s->count;
    long before = 0;
    int first = BUCKETS, last = -1;
    s->below = 0;
    for (int b = 0; b < BUCKETS; ++b) {
        const int task = (int)(((double)before + 0.5 * sizes[b]) / share);
        owner[b] = task < nas_tasks ? task : nas_tasks - 1;
        if (owner[b] < nas_me) s->below += sizes[b];
        if (owner[b] == nas_me && b < first) first = b;
        if (owner[b] == nas_me) last = b;
        before += sizes[b];
    }
    s->low = first << s->shift;
    s->high = last < 0 ? s->low : (last + 1) << s->shift;
}

static void exchange(Sort* s, const int* own, const int* owner) {
    int to[16] = {0}, from[16], to_place[16], from_place[16], sent = 0;
    for (int b = 0; b < BUCKETS; ++b) to[owner[b]] += own[b];
    MPI_Alltoall(to, 1, MPI_INT, from, 1, MPI_INT, MPI_COMM_WORLD);
    s->arrived = 0;
    for (int task = 0; task < nas_tasks; ++task) {
        to_place[task] = sent, sent += to[task];
        from_place[task] = s->arrived, s->arrived += from[task];
    }
    if (s->arrived > s->capacity) {
        free(s->received);
        s->capacity = s->arrived + s->arrived / 8;
        s->received = nas_memory((size_t)s->capacity, sizeof *s->received);
    }
    MPI_Alltoallv(s->sorted, to, to_place, MPI_INT, s->received, from, from_place, MPI_INT,
                  MPI_COMM_WORLD);
}

/* counts[k - low] becomes the number of keys in [low, k]. */
static void count_keys(Sort* s) {
    const int range = s->high - s->low;
    if (range > s->counts_room) {
        free(s->counts);
        s->counts_room = range;
        s->counts = nas_memory((size_t)range, sizeof *s->counts);
    }
    if (range > 0) memset(s->counts, 0, (size_t)range * sizeof *s->counts);
    for (int i = 0; i < s->arrived; ++i) ++s->counts[s->received[i] - s->low];
    for (int k = 1; k < range; ++k) s->counts[k] += s->counts[k - 1];
}

/* How many ranks of probes are wrong here; a probe is checked by the task that ranks its key. */
static int wrong_ranks(const Sort* s, const int* probes, int step) {
    int wrong = 0;
    for (int i = 0; i < PROBES; ++i) {
        const int key = probes[i];
        if (key < s->low || key >= s->high) continue;
        const long rank = s->below + (key > s->low ? s->counts[key - s->low - 1] : 0);
        const int change = step + kClasses[nas_class].offset;
        const long expected = kClasses[nas_class].rank[i] + (i < kClasses[nas_class].rising ? change
                                                             : nas_class == 1               ? -step
                                                                              : -change);
        wrong += rank != expected;
    }
    return wrong;
}

static int step_of_ranking(Sort* s, int step) {
    static int own[BUCKETS], sizes[BUCKETS], owner[BUCKETS];
    if (nas_me == 0) {
        s->keys[step] = step;
        s->keys[step + STEPS] = (1 << kClasses[nas_class].log_range) - step;
    }
    int mine[PROBES], probes[PROBES];
    for (int i = 0; i < PROBES; ++i) {
        const long at = kClasses[nas_class].probe[i] - s->first;
        mine[i] = at >= 0 && at < s->count ? s->keys[at] : 0;
    }
    MPI_Allreduce(mine, probes, PROBES, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    fill_buckets(s, own, sizes);
    divide(s, sizes, owner);
    exchange(s, own, owner);
    count_keys(s);
    return wrong_ranks(s, probes, step);
}

/* Puts the keys into the order of their ranks; how many neighbours are out of order, or lost. */
static long disorder(Sort* s) {
    int* order = nas_memory((size_t)s->arrived, sizeof *order);
    for (int i = s->arrived - 1; i >= 0; --i)
        order[--s->counts[s->received[i] - s->low]] = s->received[i];
    long wrong = 0, all = 0, own = s->arrived;
    for (int i = 1; i < s->arrived; ++i) wrong += order[i - 1] > order[i];
    /* The largest key of the tasks before this one. */
    int last = s->arrived > 0 ? order[s->arrived - 1] : -1, before = -1;
    MPI_Exscan(&last, &before, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    if (nas_me > 0 && s->arrived > 0) wrong += before > order[0];
    MPI_Allreduce(&own, &all, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    free(order);
    return wrong + labs(all - (1L << kClasses[nas_class].log_keys));
}

int main(int argc, char** argv) {
    nas_begin(&argc, &argv, "IS");
    Sort s = {0};
    make_keys(&s);
    long wrong_here[2] = {0, 0}, wrong_all[2];
    step_of_ranking(&s, 1);
    const double start = nas_start();
    for (int step = 1; step <= STEPS; ++step) wrong_here[0] += step_of_ranking(&s, step);
    const double took = MPI_Wtime() - start;
    wrong_here[1] = disorder(&s);
    MPI_Allreduce(wrong_here, wrong_all, 2, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    char wrong[120] = "";
    if (wrong_all[0] != 0 || wrong_all[1] != 0)
        snprintf(wrong, sizeof wrong, "%ld ranks of %d, %ld keys out of order", wrong_all[0],
                 STEPS * PROBES, wrong_all[1]);
    free(s.keys), free(s.sorted), free(s.received), free(s.counts);
    return nas_end("IS", MPI_Wtime() - took, (double)STEPS * (1L << kClasses[nas_class].log_keys),
                   wrong);
}
