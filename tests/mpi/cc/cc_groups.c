/* The extension of CC-MPI (mpi_cc.h): all levels and schedules move the same data, groups can be
 * used several times, and misuse gives errors that all who must know learn of. */
#include <mpi_cc.h>
#include <stdlib.h>
#include <string.h>

#include "mpi_test.h"

enum { kInts = 5, kRepeats = 3 };
static int n, me;

static int value(int root, int rank, int at) {
    return root * 10000 + rank * 100 + at;
}

static void check_equal_blocks(int root) {
    int* all = malloc((size_t)n * kInts * sizeof(int));
    int own[kInts], data[kInts], sum[kInts];
    MPIX_Cc bcast, scatter, gather, reduce;
    CHECK_OK(MPIX_Bcast_open_group(data, kInts, MPI_INT, root, MPI_COMM_WORLD, &bcast));
    CHECK_OK(MPIX_Scatter_open_group(all, kInts, MPI_INT, own, kInts, MPI_INT, root, MPI_COMM_WORLD,
                                     &scatter));
    CHECK_OK(MPIX_Gather_open_group(own, kInts, MPI_INT, all, kInts, MPI_INT, root, MPI_COMM_WORLD,
                                    &gather));
    CHECK_OK(
        MPIX_Reduce_open_group(own, sum, kInts, MPI_INT, MPI_SUM, root, MPI_COMM_WORLD, &reduce));
    for (int repeat = 0; repeat < kRepeats; ++repeat) {
        for (int i = 0; i < kInts; ++i) data[i] = me == root ? value(root, 7, i + repeat) : -1;
        CHECK_OK(MPIX_Bcast_data_movement(data, kInts, MPI_INT, root, MPI_COMM_WORLD, bcast));
        for (int i = 0; i < kInts; ++i) CHECK_INT(data[i], value(root, 7, i + repeat));
        for (int i = 0; me == root && i < n * kInts; ++i)
            all[i] = value(root, i / kInts, i % kInts + repeat);
        CHECK_OK(MPIX_Scatter_data_movement(all, kInts, MPI_INT, own, kInts, MPI_INT, root,
                                            MPI_COMM_WORLD, scatter));
        for (int i = 0; i < kInts; ++i) CHECK_INT(own[i], value(root, me, i + repeat));
        memset(all, 0, (size_t)n * kInts * sizeof(int));
        CHECK_OK(MPIX_Gather_data_movement(own, kInts, MPI_INT, all, kInts, MPI_INT, root,
                                           MPI_COMM_WORLD, gather));
        for (int i = 0; me == root && i < n * kInts; ++i)
            CHECK_INT(all[i], value(root, i / kInts, i % kInts + repeat));
        CHECK_OK(MPIX_Reduce_data_movement(own, sum, kInts, MPI_INT, MPI_SUM, root, MPI_COMM_WORLD,
                                           reduce));
        for (int i = 0; me == root && i < kInts; ++i)
            CHECK_INT(sum[i], n * value(root, 0, i + repeat) + 100 * (n * (n - 1) / 2));
    }
    CHECK_OK(MPIX_Bcast_close_group(&bcast));
    CHECK_INT(bcast, MPIX_CC_NULL);
    CHECK_OK(MPIX_Scatter_close_group(&scatter));
    CHECK_OK(MPIX_Gather_close_group(&gather));
    CHECK_OK(MPIX_Reduce_close_group(&reduce));
    free(all);
}

/* Every third member takes no part. */
static void check_unequal_blocks(int root) {
    int* counts = malloc((size_t)n * sizeof(int));
    int* starts = malloc((size_t)n * sizeof(int));
    int total = 0;
    MPIX_Cc scatter, gather;
    for (int r = 0; r < n; ++r) {
        counts[r] = r % 3 == 2 ? 0 : r + 1;
        starts[r] = total;
        total += counts[r] + 1;
    }
    int* all = malloc((size_t)total * sizeof(int));
    int* own = malloc((size_t)(n + 1) * sizeof(int));
    /* The names of the paper. */
    CHECK_OK(MPI_Scatterv_open_group(all, counts, starts, MPI_INT, own, counts[me], MPI_INT, root,
                                     MPI_COMM_WORLD, &scatter));
    CHECK_OK(MPIX_Gatherv_open_group(own, counts[me], MPI_INT, all, counts, starts, MPI_INT, root,
                                     MPI_COMM_WORLD, &gather));
    for (int repeat = 0; repeat < kRepeats; ++repeat) {
        for (int i = 0; i < total; ++i) all[i] = -1;
        for (int r = 0; me == root && r < n; ++r)
            for (int i = 0; i < counts[r]; ++i) all[starts[r] + i] = value(root, r, i + repeat);
        own[counts[me]] = -7;
        CHECK_OK(MPI_Scatterv_data_movement(all, counts, starts, MPI_INT, own, counts[me], MPI_INT,
                                            root, MPI_COMM_WORLD, scatter));
        for (int i = 0; i < counts[me]; ++i) CHECK_INT(own[i], value(root, me, i + repeat));
        CHECK_INT(own[counts[me]], -7);
        for (int i = 0; i < counts[me]; ++i) own[i] = 0;
        CHECK_OK(MPIX_Scatterv_dynamic(all, counts, starts, MPI_INT, own, counts[me], MPI_INT, root,
                                       MPI_COMM_WORLD));
        for (int i = 0; i < counts[me]; ++i) CHECK_INT(own[i], value(root, me, i + repeat));
        for (int i = 0; i < total; ++i) all[i] = -1;
        CHECK_OK(MPIX_Gatherv_data_movement(own, counts[me], MPI_INT, all, counts, starts, MPI_INT,
                                            root, MPI_COMM_WORLD, gather));
        for (int r = 0; me == root && r < n; ++r)
            for (int i = 0; i <= counts[r]; ++i)
                CHECK_INT(all[starts[r] + i], i < counts[r] ? value(root, r, i + repeat) : -1);
    }
    CHECK_OK(MPI_Scatterv_close_group(&scatter));
    CHECK_OK(MPIX_Gatherv_close_group(&gather));
    free(counts), free(starts), free(all), free(own);
}

/* Lengths in ints from some thousands down to 0: the phases have long and short messages. */
static int length(int from, int to, int seed) {
    const unsigned drawn = (unsigned)(from * 131 + to * 31 + seed * 17) * 2654435761u;
    const unsigned kind = (drawn >> 28) % 4;
    return kind == 0 ? 0 : kind == 1 ? (int)(drawn >> 20 & 15) : (int)(drawn >> 16 & 8191);
}

static void check_alltoallv(int seed) {
    static const int schedules[] = {MPIX_CC_AUTO, MPIX_CC_SIMPLE, MPIX_CC_GREEDY,
                                    MPIX_CC_ALL_TO_ALL};
    int *out_counts, *out_starts, *in_counts, *in_starts;
    int given = 0, got = 0;
    MPI_Count* bytes = malloc((size_t)n * (size_t)n * sizeof(MPI_Count));
    out_counts = malloc((size_t)n * sizeof(int)), out_starts = malloc((size_t)n * sizeof(int));
    in_counts = malloc((size_t)n * sizeof(int)), in_starts = malloc((size_t)n * sizeof(int));
    for (int i = 0; i < n * n; ++i)
        bytes[i] = (MPI_Count)(length(i / n, i % n, seed) * sizeof(int));
    for (int r = 0; r < n; ++r) {
        out_counts[r] = length(me, r, seed), in_counts[r] = length(r, me, seed);
        out_starts[r] = given, in_starts[r] = got;
        given += out_counts[r], got += in_counts[r];
    }
    int* out = malloc((size_t)(given + 1) * sizeof(int));
    int* in = malloc((size_t)(got + 1) * sizeof(int));
    int* expected = malloc((size_t)(got + 1) * sizeof(int));
    for (int i = 0; i < given; ++i) out[i] = value(me, seed, i);
    MPI_Alltoallv(out, out_counts, out_starts, MPI_INT, expected, in_counts, in_starts, MPI_INT,
                  MPI_COMM_WORLD);
    for (int which = 0; which < 4; ++which) {
        MPIX_Cc first, second;
        int phases, schedule, phases2;
        CHECK_OK(MPIX_Alltoallv_control1(out_counts, MPI_INT, in_counts, MPI_INT, schedules[which],
                                         MPI_COMM_WORLD, &first));
        CHECK_OK(MPI_Alltoallv_control2(bytes, schedules[which], MPI_COMM_WORLD, &second));
        CHECK_OK(MPIX_Alltoallv_get_phases(first, &phases, &schedule));
        CHECK_OK(MPIX_Alltoallv_get_phases(second, &phases2, NULL));
        CHECK_INT(phases, phases2);
        CHECK(schedule != MPIX_CC_AUTO);
        if (schedule == MPIX_CC_SIMPLE) CHECK_INT(phases, 0);
        if (schedule == MPIX_CC_ALL_TO_ALL) CHECK(phases <= n - 1 || n == 1);
        /* Level 3: several data movements with one group. */
        for (int repeat = 0; repeat < 2 * kRepeats; ++repeat) {
            memset(in, 0xee, (size_t)got * sizeof(int));
            CHECK_OK(MPI_Alltoallv_data_trans2(out, out_counts, out_starts, MPI_INT, in, in_counts,
                                               in_starts, MPI_INT, MPI_COMM_WORLD,
                                               repeat % 2 == 0 ? first : second));
            CHECK(memcmp(in, expected, (size_t)got * sizeof(int)) == 0);
        }
        CHECK_OK(MPIX_Alltoallv_close_group(&first));
        CHECK_OK(MPIX_Alltoallv_close_group(&second));
    }
    free(out_counts), free(out_starts), free(in_counts), free(in_starts);
    free(out), free(in), free(expected), free(bytes);
}

static void expect_text(int code, const char* part) {
    char text[MPI_MAX_ERROR_STRING];
    int length;
    CHECK_CLASS(code, MPI_ERR_ARG);
    MPI_Error_string(code, text, &length);
    if (strstr(text, part) == NULL) {
        fprintf(stderr, "expected \"%s\" in \"%s\"\n", part, text);
        CHECK(!"the text of the error");
    }
}

static void check_misuse(void) {
    int data[2] = {0, 0}, other[2];
    MPIX_Cc group, closed, never = 123456789, none = MPIX_CC_NULL;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    CHECK_OK(MPIX_Bcast_open_group(data, 2, MPI_INT, 0, MPI_COMM_WORLD, &group));
    expect_text(MPIX_Bcast_data_movement(data, 1, MPI_INT, 0, MPI_COMM_WORLD, group),
                "count is not that");
    expect_text(MPIX_Bcast_data_movement(other, 2, MPI_INT, 0, MPI_COMM_WORLD, group),
                "buffer is not that");
    expect_text(MPIX_Bcast_data_movement(data, 2, MPI_INT, n - 1 + (n == 1), MPI_COMM_WORLD, group),
                "root is not that");
    expect_text(MPIX_Bcast_data_movement(data, 2, MPI_INT, 0, MPI_COMM_SELF, group),
                "another communicator");
    expect_text(MPIX_Bcast_data_movement(data, 2, MPI_INT, 0, MPI_COMM_WORLD, none),
                "open a group first");
    expect_text(MPIX_Bcast_data_movement(data, 2, MPI_INT, 0, MPI_COMM_WORLD, never), "not open");
    closed = group;
    expect_text(MPIX_Reduce_close_group(&closed), "opened for Bcast");
    CHECK_OK(MPIX_Bcast_data_movement(data, 2, MPI_INT, 0, MPI_COMM_WORLD, group));
    CHECK_OK(MPIX_Bcast_close_group(&group));
    expect_text(MPIX_Bcast_close_group(&closed), "not open");
    expect_text(MPIX_Bcast_close_group(&group), "MPIX_CC_NULL");
    expect_text(MPIX_Bcast_data_movement(data, 2, MPI_INT, 0, MPI_COMM_WORLD, closed), "not open");

    int* counts = malloc((size_t)n * sizeof(int));
    int* wrong = malloc((size_t)n * sizeof(int));
    int* starts = calloc((size_t)n, sizeof(int));
    int* memory = calloc((size_t)n, sizeof(int));
    int* result = calloc((size_t)n, sizeof(int));
    for (int r = 0; r < n; ++r) counts[r] = wrong[r] = 1, starts[r] = r;
    /* One member sends less than another one receives: all learn of it. */
    if (me == n - 1) wrong[0] = 0;
    expect_text(MPIX_Alltoallv_control1(wrong, MPI_INT, counts, MPI_INT, MPIX_CC_GREEDY,
                                        MPI_COMM_WORLD, &group),
                "rank 0 does not receive as many bytes");
    CHECK_INT(group, MPIX_CC_NULL);
    expect_text(
        MPIX_Alltoallv_control1(counts, MPI_INT, counts, MPI_INT, 77, MPI_COMM_WORLD, &group),
        "the schedule is 77");
    CHECK_OK(MPIX_Alltoallv_control1(counts, MPI_INT, counts, MPI_INT, MPIX_CC_GREEDY,
                                     MPI_COMM_WORLD, &group));
    /* The members must give the same schedule. */
    if (n > 1) {
        MPIX_Cc unequal;
        expect_text(MPIX_Alltoallv_control1(counts, MPI_INT, counts, MPI_INT,
                                            me == 0 ? MPIX_CC_GREEDY : MPIX_CC_SIMPLE,
                                            MPI_COMM_WORLD, &unequal),
                    "different schedules");
        MPI_Comm half, inter;
        MPI_Comm_split(MPI_COMM_WORLD, me % 2, me, &half);
        MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - me % 2, 0, &inter);
        MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN);
        expect_text(MPIX_Alltoallv_control1(counts, MPI_INT, counts, MPI_INT, MPIX_CC_GREEDY, inter,
                                            &unequal),
                    "intercommunicator");
        MPI_Comm_free(&inter);
        MPI_Comm_free(&half);
    }
    /* A receive of the program gets no data of the group. */
    int stray = -1, stray_came;
    MPI_Request receive;
    MPI_Irecv(&stray, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_SELF, &receive);
    CHECK_OK(MPIX_Alltoallv_data_trans2(memory, counts, starts, MPI_INT, result, counts, starts,
                                        MPI_INT, MPI_COMM_WORLD, group));
    MPI_Test(&receive, &stray_came, MPI_STATUS_IGNORE);
    CHECK_INT(stray_came, 0);
    MPI_Cancel(&receive);
    MPI_Wait(&receive, MPI_STATUS_IGNORE);
    wrong[0] = 5;
    expect_text(MPIX_Alltoallv_data_trans2(memory, wrong, starts, MPI_INT, result, counts, starts,
                                           MPI_INT, MPI_COMM_WORLD, group),
                "sendcounts[0] is 20 bytes");
    CHECK_OK(MPIX_Alltoallv_data_trans2(memory, counts, starts, MPI_INT, result, counts, starts,
                                        MPI_INT, MPI_COMM_WORLD, group));
    CHECK_OK(MPIX_Alltoallv_close_group(&group));
    free(counts), free(wrong), free(starts), free(memory), free(result);
}

/* The communicator for data belongs to the program's communicator. */
static void check_communicators(void) {
    for (int i = 0; i < 3; ++i) {
        MPI_Comm copy;
        MPIX_Cc group;
        MPI_Count* bytes = calloc((size_t)n * (size_t)n, sizeof(MPI_Count));
        MPI_Comm_dup(MPI_COMM_WORLD, &copy);
        CHECK_OK(MPIX_Alltoallv_control2(bytes, MPIX_CC_GREEDY, copy, &group));
        CHECK_OK(MPIX_Alltoallv_close_group(&group));
        MPI_Comm_free(&copy);
        free(bytes);
    }
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &n);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    for (int root = 0; root<n; root += n> 4 ? 3 : 1) {
        check_equal_blocks(root);
        check_unequal_blocks(root);
    }
    for (int seed = 0; seed < 6; ++seed) check_alltoallv(seed);
    check_communicators();
    check_misuse();
    /* A group that is never closed does no harm. */
    static int left[2];
    MPIX_Cc open;
    CHECK_OK(MPIX_Bcast_open_group(left, 2, MPI_INT, 0, MPI_COMM_WORLD, &open));
    MPI_Finalize();
    return 0;
}
