/* Windows whose members belong to several jobs: the checks of mpi_spawn_tasks.c, which has defined rank_in() and
 * the other functions that are used here. */
#ifndef MPI_SPAWN_WINDOWS_H
#define MPI_SPAWN_WINDOWS_H

/* All kinds of operations and of synchronisation in a window whose members belong to several jobs, so that some reach
 * each other through shared memory and others over TCP. Part: one word that all count in, one for each member, and a
 * long row. */
enum { kRow = 1 << 16, kRounds = 20 };

static void access_window(MPI_Win win, MPI_Comm comm, long long* part) {
    const int me = rank_in(comm), size = size_of(comm), next = (me + 1) % size;
    const MPI_Aint row = 1 + size;
    long long* const data = malloc(kRow * sizeof *data);
    long long one = 1, before, all[64];
    MPI_Group group, left, right;
    MPI_Request request;
    CHECK(data != NULL && size <= 64);
    for (int i = 0; i < row + kRow; ++i) part[i] = 0;
    CHECK_OK(MPI_Win_fence(0, win));
    /* Long and short puts into the next part, and a sum of all in part 0. */
    for (int i = 0; i < kRow; ++i) data[i] = me * 1000000ll + i;
    CHECK_OK(MPI_Put(data, kRow, MPI_LONG_LONG, next, row, kRow, MPI_LONG_LONG, win));
    for (int i = 0; i < size; ++i)
        CHECK_OK(MPI_Accumulate(&one, 1, MPI_LONG_LONG, i, 0, 1, MPI_LONG_LONG, MPI_SUM, win));
    CHECK_OK(MPI_Win_fence(0, win));
    CHECK_INT(part[0], size);
    for (int i = 0; i < kRow; ++i) CHECK_INT(part[row + i], (me + size - 1) % size * 1000000ll + i);
    CHECK_OK(MPI_Get(data, kRow, MPI_LONG_LONG, next, row, kRow, MPI_LONG_LONG, win));
    CHECK_OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, win));
    for (int i = 0; i < kRow; ++i) CHECK_INT(data[i], me * 1000000ll + i);
    /* Exclusive locks: a count by get and put is correct only if each holder is alone. */
    for (int round = 0; round < kRounds; ++round) {
        const int target = (me + round) % size;
        CHECK_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, win));
        CHECK_OK(MPI_Get(&before, 1, MPI_LONG_LONG, target, 0, 1, MPI_LONG_LONG, win));
        CHECK_OK(MPI_Win_flush(target, win));
        ++before;
        CHECK_OK(MPI_Put(&before, 1, MPI_LONG_LONG, target, 0, 1, MPI_LONG_LONG, win));
        CHECK_OK(MPI_Win_unlock(target, win));
    }
    /* Shared locks: every number from part 0 is given once. */
    CHECK_OK(MPI_Win_lock_all(0, win));
    for (int round = 0; round < kRounds; ++round) {
        CHECK_OK(MPI_Fetch_and_op(&one, &before, MPI_LONG_LONG, 0, 0, MPI_SUM, win));
        CHECK_OK(MPI_Win_flush(0, win));
        CHECK_OK(MPI_Rget_accumulate(&one, 1, MPI_LONG_LONG, &all[0], 1, MPI_LONG_LONG, next,
                                     1 + me, 1, MPI_LONG_LONG, MPI_SUM, win, &request));
        CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        CHECK_INT(all[0], round);
        long long expected = round + 1, set = round + 1, found = -1;
        CHECK_OK(MPI_Compare_and_swap(&set, &expected, &found, MPI_LONG_LONG, next, 1 + me, win));
        CHECK_OK(MPI_Win_flush_all(win));
        CHECK_INT(found, round + 1);
    }
    CHECK_OK(MPI_Win_unlock_all(win));
    CHECK_OK(MPI_Barrier(comm));
    CHECK_OK(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win));
    CHECK_OK(MPI_Get(all, 1 + size, MPI_LONG_LONG, 0, 0, 1 + size, MPI_LONG_LONG, win));
    CHECK_OK(MPI_Win_unlock(0, win));
    CHECK_INT(all[1 + size - 1], kRounds);
    /* Each round of exclusive locks has increased one word of each residue, and part 0 had size before. */
    long long counted = 0, expected = (long long)size * size + 2ll * kRounds * size;
    CHECK_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, me, 0, win));
    before = part[0];
    CHECK_OK(MPI_Win_unlock(me, win));
    CHECK_OK(MPI_Allreduce(&before, &counted, 1, MPI_LONG_LONG, MPI_SUM, comm));
    CHECK_INT(counted, expected);
    /* Posts and starts between neighbours. */
    const int from = (me + size - 1) % size;
    CHECK_OK(MPI_Comm_group(comm, &group));
    CHECK_OK(MPI_Group_incl(group, 1, &from, &left));
    CHECK_OK(MPI_Group_incl(group, 1, &next, &right));
    for (int round = 0; round < kRounds; ++round) {
        const long long word = 100ll * round + me;
        CHECK_OK(MPI_Win_post(left, 0, win));
        CHECK_OK(MPI_Win_start(right, 0, win));
        CHECK_OK(MPI_Put(&word, 1, MPI_LONG_LONG, next, 1, 1, MPI_LONG_LONG, win));
        CHECK_OK(MPI_Win_complete(win));
        CHECK_OK(MPI_Win_wait(win));
        CHECK_INT(part[1], 100ll * round + from);
    }
    CHECK_OK(MPI_Group_free(&left));
    CHECK_OK(MPI_Group_free(&right));
    CHECK_OK(MPI_Group_free(&group));
    free(data);
}

static void windows(MPI_Comm comm) {
    const MPI_Aint bytes = (1 + size_of(comm) + kRow) * (MPI_Aint)sizeof(long long);
    long long* const own = malloc((size_t)bytes);
    long long* part;
    MPI_Win win;
    CHECK(own != NULL);
    CHECK_OK(MPI_Win_create(own, bytes, sizeof *own, MPI_INFO_NULL, comm, &win));
    access_window(win, comm, own);
    CHECK_OK(MPI_Win_free(&win));
    CHECK_OK(MPI_Win_allocate(bytes, sizeof *part, MPI_INFO_NULL, comm, (void*)&part, &win));
    access_window(win, comm, part);
    CHECK_OK(MPI_Win_free(&win));
    free(own);
    /* Nobody shares memory with a task of another job. */
    MPI_Errhandler returns = MPI_ERRORS_RETURN;
    CHECK_OK(MPI_Comm_set_errhandler(comm, returns));
    CHECK_CLASS(MPI_Win_allocate_shared(8, 8, MPI_INFO_NULL, comm, (void*)&part, &win),
                MPI_ERR_RMA_SHARED);
}

#endif
