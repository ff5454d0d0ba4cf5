/* Epochs that are not allowed, in check mode: one test for each rule of the standard's section about synchronisation
 * that a task can know by itself. After each error the window works as before. */
#include <mpi.h>
#include <string.h>

#include "mpi_test.h"

static int rank, size, peer;
static long* memory;
static MPI_Win win;
static MPI_Group own_group;

static const long value = 3;

static int put_to(int target) {
    return MPI_Put(&value, 1, MPI_LONG, target, 0, 1, MPI_LONG, win);
}

static void make(const char* hint, const char* text) {
    MPI_Info info;
    MPI_Info_create(&info);
    if (hint != NULL) MPI_Info_set(info, hint, text);
    CHECK_OK(MPI_Win_allocate(4 * sizeof(long), sizeof(long), info, MPI_COMM_WORLD, &memory, &win));
    MPI_Info_free(&info);
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
}

/* The window still works. */
static void use(void) {
    CHECK_OK(MPI_Win_fence(0, win));
    CHECK_OK(put_to(peer));
    CHECK_OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, win));
    CHECK_INT(memory[0], value);
    memory[0] = 0;
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
}

static void operations_need_epochs(void) {
    long found;
    CHECK_CLASS(put_to(peer), MPI_ERR_RMA_SYNC);
    CHECK_CLASS(MPI_Get(&found, 1, MPI_LONG, peer, 0, 1, MPI_LONG, win), MPI_ERR_RMA_SYNC);
    CHECK_CLASS(MPI_Accumulate(&value, 1, MPI_LONG, peer, 0, 1, MPI_LONG, MPI_SUM, win),
                MPI_ERR_RMA_SYNC);
    CHECK_CLASS(MPI_Fetch_and_op(&value, &found, MPI_LONG, peer, 0, MPI_SUM, win),
                MPI_ERR_RMA_SYNC);
    CHECK_CLASS(MPI_Compare_and_swap(&value, &value, &found, MPI_LONG, peer, 0, win),
                MPI_ERR_RMA_SYNC);
    use();
    /* The last fence of use() has asserted that no epoch follows. */
    CHECK_CLASS(put_to(peer), MPI_ERR_RMA_SYNC);
    /* An epoch is for the members of the lock, or of the group, only. */
    CHECK_OK(MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win));
    if (size > 1) CHECK_CLASS(put_to(peer), MPI_ERR_RMA_SYNC);
    CHECK_OK(MPI_Win_unlock(rank, win));
    CHECK_OK(MPI_Win_post(own_group, 0, win));
    CHECK_OK(MPI_Win_start(own_group, 0, win));
    if (size > 1) CHECK_CLASS(put_to(peer), MPI_ERR_RMA_SYNC);
    CHECK_OK(MPI_Win_complete(win));
    CHECK_OK(MPI_Win_wait(win));
    use();
}

static void requests_need_locks(void) {
    MPI_Request request = MPI_REQUEST_NULL;
    CHECK_OK(MPI_Win_fence(0, win));
    CHECK_CLASS(MPI_Rput(&value, 1, MPI_LONG, peer, 0, 1, MPI_LONG, win, &request),
                MPI_ERR_RMA_SYNC);
    CHECK_OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, win));
    CHECK_OK(MPI_Win_post(own_group, 0, win));
    CHECK_OK(MPI_Win_start(own_group, 0, win));
    CHECK_CLASS(MPI_Rput(&value, 1, MPI_LONG, rank, 0, 1, MPI_LONG, win, &request),
                MPI_ERR_RMA_SYNC);
    CHECK_OK(MPI_Win_complete(win));
    CHECK_OK(MPI_Win_wait(win));
    CHECK_OK(MPI_Win_lock_all(0, win));
    CHECK_OK(MPI_Rput(&value, 1, MPI_LONG, rank, 0, 1, MPI_LONG, win, &request));
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Win_unlock_all(win));
    memory[0] = 0;
    use();
}

static void ends_need_beginnings(void) {
    int flag;
    CHECK_CLASS(MPI_Win_complete(win), MPI_ERR_RMA_SYNC);
    CHECK_CLASS(MPI_Win_wait(win), MPI_ERR_RMA_SYNC);
    CHECK_CLASS(MPI_Win_test(win, &flag), MPI_ERR_RMA_SYNC);
    CHECK_CLASS(MPI_Win_unlock(rank, win), MPI_ERR_RMA_SYNC);
    CHECK_CLASS(MPI_Win_unlock_all(win), MPI_ERR_RMA_SYNC);
    CHECK_CLASS(MPI_Win_flush(rank, win), MPI_ERR_RMA_SYNC);
    CHECK_CLASS(MPI_Win_flush_all(win), MPI_ERR_RMA_SYNC);
    CHECK_CLASS(MPI_Win_flush_local(rank, win), MPI_ERR_RMA_SYNC);
    CHECK_CLASS(MPI_Win_flush_local_all(win), MPI_ERR_RMA_SYNC);
    CHECK_OK(MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win));
    CHECK_CLASS(MPI_Win_unlock_all(win), MPI_ERR_RMA_SYNC);
    if (size > 1) CHECK_CLASS(MPI_Win_unlock(peer, win), MPI_ERR_RMA_SYNC);
    if (size > 1) CHECK_CLASS(MPI_Win_flush(peer, win), MPI_ERR_RMA_SYNC);
    CHECK_OK(MPI_Win_unlock(rank, win));
    CHECK_OK(MPI_Win_lock_all(0, win));
    CHECK_CLASS(MPI_Win_unlock(rank, win), MPI_ERR_RMA_SYNC);
    CHECK_OK(MPI_Win_unlock_all(win));
    use();
}

static void access_epochs_are_disjoint(void) {
    CHECK_OK(MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win));
    CHECK_CLASS(MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win), MPI_ERR_RMA_SYNC);
    CHECK_CLASS(MPI_Win_lock_all(0, win), MPI_ERR_RMA_SYNC);
    CHECK_CLASS(MPI_Win_fence(0, win), MPI_ERR_RMA_SYNC);
    CHECK_CLASS(MPI_Win_start(own_group, 0, win), MPI_ERR_RMA_SYNC);
    CHECK_OK(MPI_Win_unlock(rank, win));
    CHECK_OK(MPI_Win_lock_all(0, win));
    CHECK_CLASS(MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win), MPI_ERR_RMA_SYNC);
    CHECK_CLASS(MPI_Win_lock_all(0, win), MPI_ERR_RMA_SYNC);
    CHECK_CLASS(MPI_Win_fence(0, win), MPI_ERR_RMA_SYNC);
    CHECK_CLASS(MPI_Win_start(own_group, 0, win), MPI_ERR_RMA_SYNC);
    CHECK_OK(MPI_Win_unlock_all(win));
    CHECK_OK(MPI_Win_post(own_group, 0, win));
    CHECK_OK(MPI_Win_start(own_group, 0, win));
    CHECK_CLASS(MPI_Win_start(own_group, 0, win), MPI_ERR_RMA_SYNC);
    CHECK_CLASS(MPI_Win_lock(MPI_LOCK_SHARED, peer, 0, win), MPI_ERR_RMA_SYNC);
    CHECK_CLASS(MPI_Win_lock_all(0, win), MPI_ERR_RMA_SYNC);
    CHECK_CLASS(MPI_Win_fence(0, win), MPI_ERR_RMA_SYNC);
    CHECK_OK(MPI_Win_complete(win));
    CHECK_OK(MPI_Win_wait(win));
    /* A fence opens an epoch that counts from its first operation on. */
    CHECK_OK(MPI_Win_fence(0, win));
    CHECK_OK(MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win));
    CHECK_OK(MPI_Win_unlock(rank, win));
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    CHECK_OK(MPI_Win_fence(0, win));
    CHECK_OK(put_to(peer));
    CHECK_CLASS(MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win), MPI_ERR_RMA_SYNC);
    CHECK_CLASS(MPI_Win_lock_all(0, win), MPI_ERR_RMA_SYNC);
    CHECK_CLASS(MPI_Win_start(own_group, 0, win), MPI_ERR_RMA_SYNC);
    CHECK_CLASS(MPI_Win_post(own_group, 0, win), MPI_ERR_RMA_SYNC);
    CHECK_OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, win));
    memory[0] = 0;
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    use();
}

static void exposure_epochs_are_disjoint(void) {
    CHECK_OK(MPI_Win_post(own_group, 0, win));
    CHECK_CLASS(MPI_Win_post(own_group, 0, win), MPI_ERR_RMA_SYNC);
    CHECK_CLASS(MPI_Win_fence(0, win), MPI_ERR_RMA_SYNC);
    /* What is exposed is not locked, and the other way round. */
    CHECK_CLASS(MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win), MPI_ERR_RMA_SYNC);
    CHECK_CLASS(MPI_Win_lock_all(0, win), MPI_ERR_RMA_SYNC);
    CHECK_OK(MPI_Win_start(own_group, 0, win));
    CHECK_OK(MPI_Win_complete(win));
    CHECK_OK(MPI_Win_wait(win));
    CHECK_OK(MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win));
    CHECK_CLASS(MPI_Win_post(own_group, 0, win), MPI_ERR_RMA_SYNC);
    CHECK_OK(MPI_Win_unlock(rank, win));
    use();
}

static void assertions_are_true(void) {
    CHECK_CLASS(MPI_Win_fence(MPI_MODE_NOCHECK, win), MPI_ERR_ASSERT);
    CHECK_CLASS(MPI_Win_lock(MPI_LOCK_SHARED, rank, MPI_MODE_NOPUT, win), MPI_ERR_ASSERT);
    CHECK_CLASS(MPI_Win_start(own_group, MPI_MODE_NOSTORE, win), MPI_ERR_ASSERT);
    CHECK_CLASS(MPI_Win_post(own_group, MPI_MODE_NOPRECEDE, win), MPI_ERR_ASSERT);
    CHECK_CLASS(MPI_Win_lock_all(MPI_MODE_NOSUCCEED, win), MPI_ERR_ASSERT);
    CHECK_OK(MPI_Win_fence(MPI_MODE_NOPRECEDE, win));
    CHECK_OK(put_to(peer));
    CHECK_CLASS(MPI_Win_fence(MPI_MODE_NOPRECEDE, win), MPI_ERR_RMA_SYNC);
    CHECK_OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, win));
    CHECK_INT(memory[0], value);
    memory[0] = 0;
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    use();
}

static void windows_are_freed_without_epochs(void) {
    CHECK_OK(MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win));
    CHECK_CLASS(MPI_Win_free(&win), MPI_ERR_RMA_SYNC);
    CHECK_OK(MPI_Win_unlock(rank, win));
    CHECK_OK(MPI_Win_post(own_group, 0, win));
    CHECK_CLASS(MPI_Win_free(&win), MPI_ERR_RMA_SYNC);
    CHECK_OK(MPI_Win_start(own_group, 0, win));
    CHECK_CLASS(MPI_Win_free(&win), MPI_ERR_RMA_SYNC);
    CHECK_OK(MPI_Win_complete(win));
    CHECK_OK(MPI_Win_wait(win));
    CHECK_OK(MPI_Win_fence(0, win));
    CHECK_OK(put_to(peer));
    CHECK_CLASS(MPI_Win_free(&win), MPI_ERR_RMA_SYNC);
    CHECK_OK(MPI_Win_fence(0, win));
}

static void windows_without_locks_are_not_locked(void) {
    CHECK_CLASS(MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win), MPI_ERR_RMA_SYNC);
    CHECK_CLASS(MPI_Win_lock_all(0, win), MPI_ERR_RMA_SYNC);
    use();
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    peer = (rank + 1) % size;
    MPI_Group all;
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Group_incl(all, 1, &rank, &own_group);
    make(NULL, NULL);
    operations_need_epochs();
    requests_need_locks();
    ends_need_beginnings();
    access_epochs_are_disjoint();
    exposure_epochs_are_disjoint();
    assertions_are_true();
    windows_are_freed_without_epochs();
    CHECK_OK(MPI_Win_free(&win));
    make("no_locks", "true");
    windows_without_locks_are_not_locked();
    CHECK_OK(MPI_Win_free(&win));
    MPI_Group_free(&all);
    MPI_Group_free(&own_group);
    MPI_Finalize();
    return 0;
}
