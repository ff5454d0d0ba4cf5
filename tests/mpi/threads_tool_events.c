/* Events of the tools interface in a program of several threads: no event is lost or doubled, callbacks run one at a
 * time, handles are registered and freed while other threads raise events, and no callback of a handle runs after its
 * free callback. */
#include <stdatomic.h>

#include "threads_test.h"

enum { kRounds = 150, kEach = 3, kHandles = 100, kBytes = 24 };

static atomic_int inside; /* callbacks that are running */
static atomic_llong came; /* messages of the program, by the handles that exist all the time */
static atomic_llong matched;
static atomic_llong number_of_frees;

static int is_own(MPI_T_event_instance instance) {
    int internal = -1;
    unsigned long long bytes = 0;
    CHECK_OK(MPI_T_event_read(instance, 3, &internal));
    CHECK_OK(MPI_T_event_read(instance, 5, &bytes));
    CHECK(internal == 1 || bytes == kBytes);
    return internal == 0;
}

static void count(MPI_T_event_instance instance, MPI_T_event_registration registration,
                  MPI_T_cb_safety safety, void* user_data) {
    (void)registration;
    CHECK_INT(safety, MPI_T_CB_REQUIRE_THREAD_SAFE);
    CHECK_INT(atomic_fetch_add(&inside, 1), 0);
    if (is_own(instance)) atomic_fetch_add((atomic_llong*)user_data, 1);
    CHECK_INT(atomic_fetch_sub(&inside, 1), 1);
}

/* A handle that exists for a short time. */
struct Short {
    atomic_int events;
    atomic_int freed;
};

static void on_short(MPI_T_event_instance instance, MPI_T_event_registration registration,
                     MPI_T_cb_safety safety, void* user_data) {
    struct Short* log = user_data;
    (void)safety;
    (void)is_own(instance);
    CHECK_INT(atomic_load(&log->freed), 0);
    /* Every third one frees itself; another thread may free it, too, and one of both succeeds. */
    if (atomic_fetch_add(&log->events, 1) == 2) {
        const int code = MPI_T_event_handle_free(registration, NULL, NULL);
        if (code == MPI_SUCCESS) atomic_fetch_add(&number_of_frees, 1);
        CHECK(code == MPI_SUCCESS || code == MPI_T_ERR_INVALID_HANDLE);
    }
}

static void on_short_free(MPI_T_event_registration registration, MPI_T_cb_safety safety,
                          void* user_data) {
    struct Short* log = user_data;
    (void)registration, (void)safety;
    CHECK_INT(atomic_fetch_add(&log->freed, 1), 0);
    atomic_fetch_add(&number_of_frees, 1);
}

static struct Short logs[kThreads][kHandles];
static int type_of_arrivals, type_of_matches;

static void work(int thread) {
    const int to = (threads_rank + 1) % threads_size,
              from = (threads_rank + threads_size - 1) % threads_size;
    MPI_T_event_registration handle;
    if (thread < 2) {
        for (int i = 0; i < kHandles; ++i) {
            struct Short* const log = &logs[thread][i];
            int code;
            CHECK_OK(MPI_T_event_handle_alloc(type_of_arrivals, NULL, MPI_INFO_NULL, &handle));
            CHECK_OK(MPI_T_event_register_callback(handle, MPI_T_CB_REQUIRE_THREAD_SAFE,
                                                   MPI_INFO_NULL, log, on_short));
            for (int k = 0; k < 20; ++k) {
                int flag;
                CHECK_OK(MPI_Iprobe(MPI_ANY_SOURCE, 7, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE));
            }
            code = MPI_T_event_handle_free(handle, log, on_short_free);
            CHECK(code == MPI_SUCCESS || code == MPI_T_ERR_INVALID_HANDLE);
        }
        return;
    }
    for (int round = 0; round < kRounds; ++round) {
        char data[kBytes] = {0};
        for (int tag = 0; tag < kEach; ++tag)
            CHECK_OK(MPI_Send(data, kBytes, MPI_CHAR, to, tag, threads_comms[thread]));
        for (int tag = kEach - 1; tag >= 0; --tag)
            CHECK_OK(MPI_Recv(data, kBytes, MPI_CHAR, from, tag, threads_comms[thread],
                              MPI_STATUS_IGNORE));
    }
}

int main(int argc, char** argv) {
    int provided;
    MPI_T_event_registration arrivals, matches;
    begin_threads(&argc, &argv);
    CHECK_OK(MPI_T_init_thread(MPI_THREAD_MULTIPLE, &provided));
    CHECK_OK(MPI_T_event_get_index("message_unexpected", &type_of_arrivals));
    CHECK_OK(MPI_T_event_get_index("message_matched", &type_of_matches));
    CHECK_OK(MPI_T_event_handle_alloc(type_of_arrivals, NULL, MPI_INFO_NULL, &arrivals));
    CHECK_OK(MPI_T_event_handle_alloc(type_of_matches, NULL, MPI_INFO_NULL, &matches));
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_OK(MPI_T_event_register_callback(arrivals, MPI_T_CB_REQUIRE_THREAD_SAFE, MPI_INFO_NULL,
                                           &came, count));
    CHECK_OK(MPI_T_event_register_callback(matches, MPI_T_CB_REQUIRE_ASYNC_SIGNAL_SAFE,
                                           MPI_INFO_NULL, &matched, count));
    MPI_Barrier(MPI_COMM_WORLD);
    in_threads(work);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_INT(atomic_load(&came), atomic_load(&matched));
    /* Of the messages with three tags of a round, at most the last one can find its receive posted. */
    CHECK(atomic_load(&came) >= (long long)(kThreads - 2) * kRounds * (kEach - 1));
    CHECK_INT(atomic_load(&number_of_frees), 2 * kHandles);
    CHECK_OK(MPI_T_event_handle_free(arrivals, NULL, NULL));
    CHECK_OK(MPI_T_event_handle_free(matches, NULL, NULL));
    CHECK_OK(MPI_T_finalize());
    end_threads();
    return 0;
}
