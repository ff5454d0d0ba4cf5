/* Events of the tools interface, with answers that are known by construction: messages that are unexpected, matched and announced; the paths and algorithms of collective calls; errors; dropped
 * events; handles that are freed within a callback; codes for mistakes. Any number of tasks. */
#include <stddef.h>
#include <stdint.h>

#include "mpi_test.h"
#include "tool_event_data.h"

enum { kMessages = 5, kLong = 1 << 20, kMost = 64 };

static int me, tasks;

/* What the callbacks of one handle have seen. */
struct Log {
    int index; /* of the type */
    int calls;
    int freed;
    int dropped_calls; /* of the handler of dropped events */
    MPI_Count dropped;
    int inside; /* a callback is running */
    struct Message messages[kMost];
    MPI_Count last_time;
};

static int index_of(const char* name) {
    int index = -1;
    CHECK_OK(MPI_T_event_get_index(name, &index));
    return index;
}

static int elements_of(int index) {
    int num = 0;
    CHECK_OK(MPI_T_event_get_info(index, NULL, NULL, NULL, NULL, NULL, &num, NULL, NULL, NULL, NULL,
                                  NULL));
    return num;
}

static int same(const struct Message* a, const struct Message* b) {
    return a->source == b->source && a->tag == b->tag && a->context == b->context &&
           a->internal == b->internal && a->number == b->number && a->bytes == b->bytes &&
           a->single_copy == b->single_copy && a->buffered == b->buffered;
}

/* Reads the elements of an event about a message one by one, and compares them with the copy. */
static struct Message message_of(MPI_T_event_instance instance, int elements) {
    struct Message copied, read;
    memset(&copied, 0, sizeof copied);
    memset(&read, 0, sizeof read);
    CHECK_OK(MPI_T_event_copy(instance, &copied));
    CHECK_OK(MPI_T_event_read(instance, 0, &read.source));
    CHECK_OK(MPI_T_event_read(instance, 1, &read.tag));
    CHECK_OK(MPI_T_event_read(instance, 2, &read.context));
    CHECK_OK(MPI_T_event_read(instance, 3, &read.internal));
    CHECK_OK(MPI_T_event_read(instance, 4, &read.number));
    CHECK_OK(MPI_T_event_read(instance, 5, &read.bytes));
    if (elements > 6) {
        CHECK_OK(MPI_T_event_read(instance, 6, &read.single_copy));
        CHECK_OK(MPI_T_event_read(instance, 7, &read.buffered));
    }
    CHECK(same(&copied, &read));
    return copied;
}

static MPI_T_event_instance stale; /* of a callback that has returned */

/* Records a message that the program has sent with a tag below 100. */
static void on_message(MPI_T_event_instance instance, MPI_T_event_registration registration,
                       MPI_T_cb_safety safety, void* user_data) {
    struct Log* log = user_data;
    MPI_Count time = -1, now = -1;
    int source = -1, value = 0;
    const int elements = elements_of(log->index);
    const struct Message message = message_of(instance, elements);
    CHECK(registration != NULL && log->inside == 0 && log->freed == 0);
    CHECK(safety == MPI_T_CB_REQUIRE_MPI_RESTRICTED || safety == MPI_T_CB_REQUIRE_THREAD_SAFE);
    log->inside = 1;
    CHECK_OK(MPI_T_event_get_source(instance, &source));
    CHECK_INT(source, 0);
    CHECK_OK(MPI_T_event_get_timestamp(instance, &time));
    CHECK_OK(MPI_T_source_get_timestamp(source, &now));
    CHECK(time >= log->last_time && time <= now);
    log->last_time = time;
    CHECK_INT(MPI_T_event_read(instance, elements, &value), MPI_T_ERR_INVALID_INDEX);
    CHECK_INT(MPI_T_event_read(instance, -1, &value), MPI_T_ERR_INVALID_INDEX);
    CHECK_INT(MPI_T_event_read(instance, 0, NULL), MPI_T_ERR_INVALID);
    CHECK_INT(MPI_T_event_copy(instance, NULL), MPI_T_ERR_INVALID);
    if (!message.internal && message.tag < 100) {
        CHECK(log->calls < kMost);
        log->messages[log->calls++] = message;
    }
    stale = instance;
    log->inside = 0;
}

static void on_free(MPI_T_event_registration registration, MPI_T_cb_safety safety,
                    void* user_data) {
    struct Log* log = user_data;
    (void)registration;
    (void)safety;
    CHECK_INT(log->inside, 0);
    ++log->freed;
}

static MPI_T_event_registration watch(const char* type, struct Log* log,
                                      MPI_T_event_cb_function* function) {
    MPI_T_event_registration registration = NULL;
    memset(log, 0, sizeof *log);
    log->index = index_of(type);
    CHECK_OK(MPI_T_event_handle_alloc(log->index, NULL, MPI_INFO_NULL, &registration));
    CHECK_OK(MPI_T_event_register_callback(registration, MPI_T_CB_REQUIRE_THREAD_SAFE,
                                           MPI_INFO_NULL, log, function));
    return registration;
}

static void unwatch(MPI_T_event_registration registration, struct Log* log) {
    CHECK_OK(MPI_T_event_handle_free(registration, log, on_free));
    CHECK_INT(log->freed, 1);
    CHECK_INT(MPI_T_event_handle_free(registration, log, on_free), MPI_T_ERR_INVALID_HANDLE);
}

/* The last task sends messages that task 0 has not asked for: short ones with the tags 0 to kMessages - 1, and, if
 * `large` is 1, one of kLong bytes with the tag 20. Task 0 receives them in the reverse order after all have come. */
static void send_unexpected(int large) {
    static char data[kLong], got[kLong];
    const int sender = tasks - 1;
    MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    MPI_Barrier(MPI_COMM_WORLD);
    if (me == sender) {
        for (int i = 0; i < kMessages; ++i)
            CHECK_OK(MPI_Send(data, 10 + i, MPI_CHAR, 0, i, MPI_COMM_WORLD));
        if (large) CHECK_OK(MPI_Isend(data, kLong, MPI_CHAR, 0, 20, MPI_COMM_WORLD, &requests[0]));
        CHECK_OK(MPI_Isend(data, 1, MPI_CHAR, 0, 100, MPI_COMM_WORLD, &requests[1]));
    }
    if (me == 0) {
        CHECK_OK(MPI_Recv(got, 1, MPI_CHAR, sender, 100, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        if (large)
            CHECK_OK(MPI_Recv(got, kLong, MPI_CHAR, sender, 20, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        for (int i = kMessages - 1; i >= 0; --i)
            CHECK_OK(MPI_Recv(got, 100, MPI_CHAR, sender, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    }
    CHECK_OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
    MPI_Barrier(MPI_COMM_WORLD);
}

static void check_messages(void) {
    struct Log first, second, matched, accepted, removed;
    MPI_T_event_registration handles[5], idle;
    const int expected = me == 0 ? kMessages + 1 : 0;
    handles[0] = watch("message_unexpected", &first, on_message);
    handles[1] = watch("message_unexpected", &second, on_message);
    handles[2] = watch("message_matched", &matched, on_message);
    handles[3] = watch("message_accepted", &accepted, on_message);
    handles[4] = watch("message_unexpected", &removed, on_message);
    /* The null pointer removes a function; a handle without a function sees nothing. */
    CHECK_OK(MPI_T_event_register_callback(handles[4], MPI_T_CB_REQUIRE_THREAD_SAFE, MPI_INFO_NULL,
                                           NULL, NULL));
    CHECK_OK(MPI_T_event_handle_alloc(first.index, NULL, MPI_INFO_NULL, &idle));
    send_unexpected(1);
    CHECK_INT(first.calls, expected);
    CHECK_INT(second.calls, expected);
    CHECK_INT(matched.calls, expected);
    CHECK_INT(removed.calls, 0);
    /* A message of a task to itself is never announced. */
    CHECK_INT(accepted.calls, me == 0 && tasks > 1);
    for (int i = 0; i < expected; ++i) {
        const struct Message* const came = &first.messages[i];
        const struct Message* const taken = &matched.messages[expected - 1 - i];
        const int is_long = i == kMessages;
        CHECK_INT(came->source, tasks - 1);
        CHECK_INT(came->tag, is_long ? 20 : i);
        CHECK_INT(came->bytes, is_long ? kLong : 10 + i);
        CHECK(came->context == first.messages[0].context);
        CHECK(i == 0 || came->number > first.messages[i - 1].number);
        CHECK(same(came, &second.messages[i]));
        CHECK(same(came, taken));
    }
    if (accepted.calls == 1) {
        const struct Message* const is = &accepted.messages[0];
        CHECK(is->source == tasks - 1 && is->tag == 20 && is->bytes == kLong);
        CHECK_INT(is->number, first.messages[kMessages].number);
        CHECK((is->single_copy | is->buffered | 1) == 1);
    }
    unwatch(handles[0], &first);
    send_unexpected(0);
    CHECK_INT(first.calls, expected);
    CHECK_INT(second.calls, expected == 0 ? 0 : expected + kMessages);
    unwatch(handles[1], &second);
    unwatch(handles[2], &matched);
    unwatch(handles[3], &accepted);
    unwatch(handles[4], &removed);
    CHECK_OK(MPI_T_event_handle_free(idle, NULL, NULL));
    send_unexpected(1);
    CHECK_INT(second.calls, expected == 0 ? 0 : expected + kMessages);
}

/* Uses other functions of the tools interface, and frees its own handle. */
static void on_message_once(MPI_T_event_instance instance, MPI_T_event_registration registration,
                            MPI_T_cb_safety safety, void* user_data) {
    struct Log* log = user_data;
    MPI_T_pvar_session session;
    MPI_T_pvar_handle variable;
    MPI_T_cvar_handle control;
    MPI_T_event_registration other;
    unsigned long long value = 0;
    int index, count;
    (void)safety;
    if (message_of(instance, 6).internal) return;
    log->inside = 1;
    ++log->calls;
    CHECK_OK(MPI_T_pvar_session_create(&session));
    CHECK_OK(MPI_T_pvar_get_index("unexpected_messages", MPI_T_PVAR_CLASS_LEVEL, &index));
    CHECK_OK(MPI_T_pvar_handle_alloc(session, index, NULL, &variable, &count));
    CHECK_OK(MPI_T_pvar_read(session, variable, &value));
    CHECK(value >= 1);
    CHECK_OK(MPI_T_pvar_session_free(&session));
    CHECK_OK(MPI_T_cvar_get_index("progress_delay", &index));
    CHECK_OK(MPI_T_cvar_handle_alloc(index, NULL, &control, &count));
    CHECK_OK(MPI_T_cvar_read(control, &value));
    CHECK_INT(MPI_T_cvar_write(control, &value), MPI_T_ERR_CVAR_SET_NOT_NOW);
    CHECK_OK(MPI_T_cvar_handle_free(&control));
    CHECK_OK(MPI_T_event_handle_alloc(log->index, NULL, MPI_INFO_NULL, &other));
    CHECK_OK(MPI_T_event_register_callback(other, MPI_T_CB_REQUIRE_THREAD_SAFE, MPI_INFO_NULL, log,
                                           on_message_once));
    CHECK_OK(MPI_T_event_handle_free(other, NULL, NULL));
    CHECK_OK(MPI_T_event_handle_free(registration, log, on_free));
    CHECK_INT(log->freed, 0);
    CHECK_INT(MPI_T_event_handle_free(registration, log, on_free), MPI_T_ERR_INVALID_HANDLE);
    log->inside = 0;
}

static void check_free_in_callback(void) {
    static struct Log log; /* the handles of other tasks than task 0 stay */
    struct Log other;
    MPI_T_event_registration handle;
    watch("message_unexpected", &log, on_message_once);
    handle = watch("message_unexpected", &other, on_message);
    send_unexpected(0);
    CHECK_INT(log.calls, me == 0);
    CHECK_INT(log.freed, me == 0);
    CHECK_INT(other.calls, me == 0 ? kMessages : 0);
    unwatch(handle, &other);
}

static void on_dropped(MPI_Count count, MPI_T_event_registration registration, int source,
                       MPI_T_cb_safety safety, void* user_data) {
    struct Log* log = user_data;
    CHECK(registration != NULL && source == 0 && count > 0);
    /* Before the event, or outside of the library. */
    CHECK(log->calls == 0 && log->inside == 0);
    log->inside = safety == MPI_T_CB_REQUIRE_NONE;
    ++log->dropped_calls;
    log->dropped += count;
}

static void must_not_run(MPI_T_event_instance instance, MPI_T_event_registration registration,
                         MPI_T_cb_safety safety, void* user_data) {
    (void)instance, (void)registration, (void)safety, (void)user_data;
    CHECK(0);
}

static MPI_T_event_registration watch_too_low(struct Log* log) {
    MPI_T_event_registration registration;
    memset(log, 0, sizeof *log);
    log->index = index_of("message_unexpected");
    CHECK_OK(MPI_T_event_handle_alloc(log->index, NULL, MPI_INFO_NULL, &registration));
    CHECK_OK(MPI_T_event_register_callback(registration, MPI_T_CB_REQUIRE_NONE, MPI_INFO_NULL, log,
                                           must_not_run));
    CHECK_OK(MPI_T_event_set_dropped_handler(registration, on_dropped));
    return registration;
}

/* Functions of the lowest level are never called from within the library. The events of task 0 are dropped, also
 * internal ones; how many of these there are is not known. */
static void check_dropped(void) {
    struct Log log;
    MPI_T_event_registration handle = watch_too_low(&log);
    send_unexpected(0);
    CHECK_INT(log.dropped_calls, 0);
    CHECK_OK(MPI_T_event_handle_free(handle, NULL, NULL));
    CHECK_INT(log.dropped_calls, log.dropped > 0);
    CHECK_INT(log.inside, log.dropped > 0);
    CHECK(me != 0 || log.dropped >= kMessages);

    handle = watch_too_low(&log);
    send_unexpected(0);
    CHECK_INT(log.dropped_calls, 0);
    CHECK_OK(MPI_T_event_register_callback(handle, MPI_T_CB_REQUIRE_THREAD_SAFE, MPI_INFO_NULL,
                                           &log, on_message));
    send_unexpected(0);
    CHECK_INT(log.calls, me == 0 ? kMessages : 0);
    CHECK_INT(log.inside, 0);
    CHECK(me != 0 || (log.dropped_calls == 1 && log.dropped >= kMessages));
    CHECK_OK(MPI_T_event_handle_free(handle, NULL, NULL));

    /* What was dropped before the handler was set is not reported. */
    handle = watch_too_low(&log);
    send_unexpected(0);
    CHECK_OK(MPI_T_event_set_dropped_handler(handle, on_dropped));
    CHECK_OK(MPI_T_event_handle_free(handle, NULL, NULL));
    CHECK_INT(log.dropped_calls, 0);
}

/* The data of events about collective calls. */
struct Choice {
    uint64_t operation, way;
    double parameter; /* collective_algorithm only */
    unsigned long long bytes;
    unsigned members, context;
};
static struct {
    int calls;
    struct Choice last;
} paths, algorithms;

/* Other calls on other communicators have other lengths. */
enum { kBytes = 12345 };

static void on_path(MPI_T_event_instance instance, MPI_T_event_registration registration,
                    MPI_T_cb_safety safety, void* user_data) {
    struct Choice is;
    (void)registration, (void)safety, (void)user_data;
    CHECK_OK(MPI_T_event_read(instance, 0, &is.operation));
    CHECK_OK(MPI_T_event_read(instance, 1, &is.way));
    CHECK_OK(MPI_T_event_read(instance, 2, &is.bytes));
    CHECK_OK(MPI_T_event_read(instance, 3, &is.members));
    CHECK_OK(MPI_T_event_read(instance, 4, &is.context));
    if (is.bytes != kBytes || (int)is.members != tasks) return;
    ++paths.calls;
    paths.last = is;
}

static void on_algorithm(MPI_T_event_instance instance, MPI_T_event_registration registration,
                         MPI_T_cb_safety safety, void* user_data) {
    struct Choice is;
    (void)registration, (void)safety, (void)user_data;
    CHECK_OK(MPI_T_event_copy(instance, &is));
    if (is.bytes != kBytes || (int)is.members != tasks) return;
    ++algorithms.calls;
    algorithms.last = is;
}

static const char* text_of(uint64_t address) {
    return (const char*)(uintptr_t)address;
}

/* main() names the algorithms before MPI is initialized. */
static void check_collectives(void) {
    char* data = calloc(2 * (size_t)tasks, kBytes);
    MPI_Comm comm;
    struct Log path_log, algorithm_log;
    MPI_T_event_registration path, algorithm;
    CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    path = watch("collective_path", &path_log, on_path);
    algorithm = watch("collective_algorithm", &algorithm_log, on_algorithm);
    for (int i = 0; i < 3; ++i) CHECK_OK(MPI_Bcast(data, kBytes, MPI_BYTE, 0, comm));
    if (tasks > 1) {
        CHECK_INT(paths.calls, 1);
        CHECK(strcmp(text_of(paths.last.operation), "bcast") == 0);
        CHECK(strcmp(text_of(paths.last.way), "schedule") == 0);
        CHECK_INT(algorithms.calls, 1);
        CHECK(strcmp(text_of(algorithms.last.operation), "bcast") == 0);
        CHECK(strcmp(text_of(algorithms.last.way), "binomial") == 0);
        CHECK(algorithms.last.context == paths.last.context);
    }
    CHECK_OK(MPI_Alltoall(data, kBytes, MPI_BYTE, data + (size_t)tasks * kBytes, kBytes, MPI_BYTE,
                          comm));
    if (tasks > 1) {
        CHECK_INT(algorithms.calls, 2);
        CHECK(strcmp(text_of(algorithms.last.operation), "index") == 0);
        CHECK(strcmp(text_of(algorithms.last.way), "radix") == 0);
        CHECK(algorithms.last.parameter == 2.0);
    }
    unwatch(path, &path_log);
    unwatch(algorithm, &algorithm_log);
    CHECK_OK(MPI_Comm_free(&comm));
    free(data);
}

static int errors;
static char error_function[100], error_class[100];

static void on_error(MPI_T_event_instance instance, MPI_T_event_registration registration,
                     MPI_T_cb_safety safety, void* user_data) {
    uint64_t texts[2];
    (void)registration, (void)safety, (void)user_data;
    CHECK_OK(MPI_T_event_copy(instance, texts));
    snprintf(error_function, sizeof error_function, "%s", text_of(texts[0]));
    snprintf(error_class, sizeof error_class, "%s", text_of(texts[1]));
    ++errors;
}

static void check_errors(void) {
    struct Log log;
    int size;
    MPI_Errhandler before;
    MPI_T_event_registration handle = watch("error", &log, on_error);
    CHECK_OK(MPI_Comm_get_errhandler(MPI_COMM_WORLD, &before));
    CHECK_OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    CHECK_OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    CHECK_INT(errors, 0);
    CHECK_CLASS(MPI_Send(&size, 1, MPI_INT, tasks, 0, MPI_COMM_WORLD), MPI_ERR_RANK);
    CHECK_INT(errors, 1);
    CHECK(strcmp(error_function, "MPI_Send") == 0 && strcmp(error_class, "MPI_ERR_RANK") == 0);
    CHECK_CLASS(MPI_Type_size(MPI_DATATYPE_NULL, &size), MPI_ERR_TYPE);
    CHECK_INT(errors, 2);
    CHECK(strcmp(error_function, "MPI_Type_size") == 0 && strcmp(error_class, "MPI_ERR_TYPE") == 0);
    unwatch(handle, &log);
    CHECK_CLASS(MPI_Send(&size, 1, MPI_INT, tasks, 0, MPI_COMM_WORLD), MPI_ERR_RANK);
    CHECK_INT(errors, 2);
    CHECK_OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, before));
    CHECK_OK(MPI_Errhandler_free(&before));
}

static void check_mistakes(void) {
    struct Log log;
    int num = 0, value;
    MPI_Count time;
    MPI_Info info = MPI_INFO_NULL;
    const MPI_T_cb_safety no_level = (MPI_T_cb_safety)77;
    MPI_T_event_registration handle = NULL, wrong = (MPI_T_event_registration)(void*)&log;
    CHECK_OK(MPI_T_event_get_num(&num));
    CHECK_INT(MPI_T_event_handle_alloc(num, NULL, MPI_INFO_NULL, &handle), MPI_T_ERR_INVALID_INDEX);
    CHECK_INT(MPI_T_event_handle_alloc(-1, NULL, MPI_INFO_NULL, &handle), MPI_T_ERR_INVALID_INDEX);
    CHECK_INT(MPI_T_event_handle_alloc(0, NULL, MPI_INFO_NULL, NULL), MPI_T_ERR_INVALID);
    handle = watch("message_matched", &log, on_message);
    CHECK_INT(MPI_T_event_register_callback(handle, no_level, MPI_INFO_NULL, NULL, on_message),
              MPI_T_ERR_INVALID);
    CHECK_INT(MPI_T_event_register_callback(wrong, MPI_T_CB_REQUIRE_NONE, MPI_INFO_NULL, NULL,
                                            on_message),
              MPI_T_ERR_INVALID_HANDLE);
    CHECK_INT(MPI_T_event_set_dropped_handler(wrong, NULL), MPI_T_ERR_INVALID_HANDLE);
    CHECK_INT(MPI_T_event_handle_get_info(wrong, &info), MPI_T_ERR_INVALID_HANDLE);
    CHECK_INT(MPI_T_event_handle_set_info(wrong, MPI_INFO_NULL), MPI_T_ERR_INVALID_HANDLE);
    CHECK_INT(MPI_T_event_callback_get_info(wrong, MPI_T_CB_REQUIRE_NONE, &info),
              MPI_T_ERR_INVALID_HANDLE);
    CHECK_INT(MPI_T_event_callback_set_info(handle, no_level, MPI_INFO_NULL), MPI_T_ERR_INVALID);
    CHECK_OK(MPI_T_event_handle_get_info(handle, &info));
    check_empty(&info);
    CHECK_OK(MPI_T_event_callback_get_info(handle, MPI_T_CB_REQUIRE_THREAD_SAFE, &info));
    check_empty(&info);
    CHECK_OK(MPI_T_event_handle_set_info(handle, MPI_INFO_NULL));
    CHECK_OK(MPI_T_event_callback_set_info(handle, MPI_T_CB_REQUIRE_THREAD_SAFE, MPI_INFO_NULL));
    /* An instance is valid in its callback only. */
    CHECK_INT(MPI_T_event_read(stale, 0, &value), MPI_T_ERR_INVALID_HANDLE);
    CHECK_INT(MPI_T_event_copy(stale, &log), MPI_T_ERR_INVALID_HANDLE);
    CHECK_INT(MPI_T_event_get_timestamp(stale, &time), MPI_T_ERR_INVALID_HANDLE);
    CHECK_INT(MPI_T_event_get_source(NULL, &value), MPI_T_ERR_INVALID_HANDLE);
    unwatch(handle, &log);
}

/* The end of the interface frees all handles. */
static void check_finalize_and_init(void) {
    struct Log log, again;
    int provided;
    MPI_T_event_registration handle = watch("message_unexpected", &log, on_message);
    CHECK_OK(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided));
    CHECK_OK(MPI_T_finalize());
    send_unexpected(0);
    CHECK_INT(log.calls, me == 0 ? kMessages : 0);
    CHECK_OK(MPI_T_finalize());
    CHECK_INT(MPI_T_event_get_num(&provided), MPI_T_ERR_NOT_INITIALIZED);
    CHECK_INT(MPI_T_event_handle_free(handle, NULL, NULL), MPI_T_ERR_NOT_INITIALIZED);
    send_unexpected(0);
    CHECK_INT(log.calls, me == 0 ? kMessages : 0);
    CHECK_OK(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided));
    CHECK_INT(MPI_T_event_handle_free(handle, NULL, NULL), MPI_T_ERR_INVALID_HANDLE);
    handle = watch("message_unexpected", &again, on_message);
    send_unexpected(0);
    CHECK_INT(again.calls, me == 0 ? kMessages : 0);
    CHECK_INT(log.calls, me == 0 ? kMessages : 0);
    unwatch(handle, &again);
}

int main(int argc, char** argv) {
    int provided;
    setenv("MP_COLL_BCAST", "binomial", 1);
    setenv("MP_COLL_INDEX", "radix:2", 1);
    CHECK_OK(MPI_T_init_thread(MPI_THREAD_MULTIPLE, &provided));
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &tasks);
    check_messages();
    check_free_in_callback();
    check_dropped();
    check_collectives();
    check_errors();
    check_mistakes();
    check_finalize_and_init();
    MPI_Finalize();
    CHECK_OK(MPI_T_finalize());
    return 0;
}
