/* The tools interface: every variable, category and enumeration; codes for mistakes; and values that are
 * known by construction: bytes, unexpected messages, posted receives, and calls by path. Any number of tasks. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failures;
#define CHECK(condition)                                            \
    do {                                                            \
        if (!(condition)) {                                         \
            fprintf(stderr, "line %d: %s\n", __LINE__, #condition); \
            ++failures;                                             \
        }                                                           \
    } while (0)

static MPI_T_pvar_session session;

static unsigned long long pvar(const char* name, int kind) {
    int index = -1, count = 0;
    MPI_T_pvar_handle handle;
    unsigned long long value = 0;
    CHECK(MPI_T_pvar_get_index(name, kind, &index) == MPI_SUCCESS);
    CHECK(MPI_T_pvar_handle_alloc(session, index, NULL, &handle, &count) == MPI_SUCCESS);
    CHECK(count == 1);
    CHECK(MPI_T_pvar_read(session, handle, &value) == MPI_SUCCESS);
    CHECK(MPI_T_pvar_handle_free(session, &handle) == MPI_SUCCESS);
    CHECK(handle == MPI_T_PVAR_HANDLE_NULL);
    return value;
}

static void check_before_init(void) {
    int num = 0, provided = -1, index = 0;
    MPI_T_cvar_handle handle;
    unsigned long long value;
    CHECK(MPI_T_cvar_get_num(&num) == MPI_T_ERR_NOT_INITIALIZED);
    CHECK(MPI_T_finalize() == MPI_T_ERR_NOT_INITIALIZED);
    CHECK(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided) == MPI_SUCCESS);
    CHECK(provided >= MPI_THREAD_SINGLE);
    CHECK(MPI_T_init_thread(MPI_THREAD_MULTIPLE, &provided) == MPI_SUCCESS);
    CHECK(MPI_T_finalize() == MPI_SUCCESS);
    CHECK(MPI_T_cvar_get_num(&num) == MPI_SUCCESS && num > 5);
    CHECK(MPI_T_cvar_get_index("eager_limit", &index) == MPI_SUCCESS);
    CHECK(MPI_T_cvar_handle_alloc(index, NULL, &handle, &num) == MPI_SUCCESS);
    CHECK(MPI_T_cvar_read(handle, &value) != MPI_SUCCESS);
    CHECK(MPI_T_cvar_handle_free(&handle) == MPI_SUCCESS);
    CHECK(handle == MPI_T_CVAR_HANDLE_NULL);
}

static void check_all_variables(void) {
    int num = 0;
    char name[100], description[200];
    MPI_T_cvar_get_num(&num);
    for (int i = 0; i < num; ++i) {
        int name_len = sizeof name, desc_len = sizeof description, verbosity, bind, scope, index,
            count;
        MPI_Datatype type;
        MPI_T_enum items;
        MPI_T_cvar_handle handle;
        union {
            int number;
            unsigned long long large;
            char text[1000];
        } value;
        CHECK(MPI_T_cvar_get_info(i, name, &name_len, &verbosity, &type, &items, description,
                                  &desc_len, &bind, &scope) == MPI_SUCCESS);
        CHECK(name_len == (int)strlen(name) + 1 && desc_len == (int)strlen(description) + 1);
        CHECK(bind == MPI_T_BIND_NO_OBJECT);
        CHECK(MPI_T_cvar_get_index(name, &index) == MPI_SUCCESS && index == i);
        CHECK(MPI_T_cvar_handle_alloc(i, NULL, &handle, &count) == MPI_SUCCESS);
        CHECK(count >= 1 && count <= 1000 && (count == 1 || type == MPI_CHAR));
        CHECK(MPI_T_cvar_read(handle, &value) == MPI_SUCCESS);
        if (items != MPI_T_ENUM_NULL) {
            int values = 0, item = -1, length = sizeof name;
            CHECK(type == MPI_INT);
            CHECK(MPI_T_enum_get_info(items, &values, name, &length) == MPI_SUCCESS && values > 1);
            CHECK(value.number >= 0 && value.number < values);
            length = sizeof name;
            CHECK(MPI_T_enum_get_item(items, values - 1, &item, name, &length) == MPI_SUCCESS);
            CHECK(item == values - 1 && strlen(name) > 0);
            CHECK(MPI_T_enum_get_item(items, values, &item, name, &length) ==
                  MPI_T_ERR_INVALID_INDEX);
        }
        if (scope == MPI_T_SCOPE_READONLY)
            CHECK(MPI_T_cvar_write(handle, &value) == MPI_T_ERR_CVAR_SET_NEVER);
        else
            CHECK(MPI_T_cvar_write(handle, &value) == MPI_SUCCESS);
        CHECK(MPI_T_cvar_handle_free(&handle) == MPI_SUCCESS);
    }
    CHECK(MPI_T_cvar_get_info(num, name, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL) ==
          MPI_T_ERR_INVALID_INDEX);
    CHECK(MPI_T_cvar_get_index("no such variable", &num) == MPI_T_ERR_INVALID_NAME);
    MPI_T_pvar_get_num(&num);
    CHECK(num > 4);
    for (int i = 0; i < num; ++i) {
        int name_len = sizeof name, kind, readonly, continuous, atomic, index;
        MPI_Datatype type;
        CHECK(MPI_T_pvar_get_info(i, name, &name_len, NULL, &kind, &type, NULL, NULL, NULL, NULL,
                                  &readonly, &continuous, &atomic) == MPI_SUCCESS);
        CHECK(type == MPI_UNSIGNED_LONG_LONG && readonly == 1 && continuous == 1);
        CHECK(MPI_T_pvar_get_index(name, kind, &index) == MPI_SUCCESS && index == i);
        CHECK(MPI_T_pvar_get_index(name, MPI_T_PVAR_CLASS_TIMER, &index) == MPI_T_ERR_INVALID_NAME);
    }
}

static void check_texts_that_are_cut(void) {
    int index, length = 0;
    char name[6];
    MPI_T_cvar_get_index("eager_limit", &index);
    CHECK(MPI_T_cvar_get_info(index, NULL, &length, NULL, NULL, NULL, NULL, NULL, NULL, NULL) ==
          MPI_SUCCESS);
    CHECK(length == (int)strlen("eager_limit") + 1);
    length = sizeof name;
    CHECK(MPI_T_cvar_get_info(index, name, &length, NULL, NULL, NULL, NULL, NULL, NULL, NULL) ==
          MPI_SUCCESS);
    CHECK(strcmp(name, "eager") == 0 && length == (int)strlen("eager_limit") + 1);
}

static void check_categories(void) {
    int categories = 0, cvars = 0, pvars = 0, all_cvars = 0, all_pvars = 0, index, events;
    MPI_T_category_get_num(&categories);
    for (int i = 0; i < categories; ++i) {
        char name[100];
        int length = sizeof name, cs, ps, inner, numbers[200];
        CHECK(MPI_T_category_get_info(i, name, &length, NULL, NULL, &cs, &ps, &inner) ==
              MPI_SUCCESS);
        CHECK(inner == 0 && MPI_T_category_get_index(name, &index) == MPI_SUCCESS && index == i);
        CHECK(MPI_T_category_get_cvars(i, 200, numbers) == MPI_SUCCESS);
        CHECK(MPI_T_category_get_pvars(i, 200, numbers) == MPI_SUCCESS);
        CHECK(MPI_T_category_get_categories(i, 200, numbers) == MPI_SUCCESS);
        CHECK(MPI_T_category_get_num_events(i, &events) == MPI_SUCCESS && events >= 0);
        cvars += cs;
        pvars += ps;
    }
    MPI_T_cvar_get_num(&all_cvars);
    MPI_T_pvar_get_num(&all_pvars);
    CHECK(cvars == all_cvars && pvars == all_pvars);
    CHECK(MPI_T_category_get_index("none", &index) == MPI_T_ERR_INVALID_NAME);
    CHECK(MPI_T_category_changed(&index) == MPI_SUCCESS);
}

static void check_a_change(void) {
    int index, count;
    unsigned long long before, changed = 1234, read = 0, wrong = 2000000;
    MPI_T_cvar_handle handle;
    MPI_T_cvar_get_index("progress_delay", &index);
    MPI_T_cvar_handle_alloc(index, NULL, &handle, &count);
    CHECK(MPI_T_cvar_read(handle, &before) == MPI_SUCCESS);
    CHECK(MPI_T_cvar_write(handle, &changed) == MPI_SUCCESS);
    CHECK(MPI_T_cvar_read(handle, &read) == MPI_SUCCESS && read == changed);
    CHECK(MPI_T_cvar_write(handle, &wrong) == MPI_T_ERR_INVALID);
    CHECK(MPI_T_cvar_read(handle, &read) == MPI_SUCCESS && read == changed);
    CHECK(MPI_T_cvar_write(handle, &before) == MPI_SUCCESS);
    MPI_T_cvar_handle_free(&handle);
}

static void check_messages(int me, int tasks) {
    char data[1000] = {0};
    MPI_Request requests[3];
    /* To the next task and from the previous one; with one task to itself. */
    const int to = (me + 1) % tasks, from = (me + tasks - 1) % tasks;
    unsigned long long sent, received;
    MPI_Barrier(MPI_COMM_WORLD);
    sent = pvar("bytes_sent", MPI_T_PVAR_CLASS_COUNTER);
    received = pvar("bytes_received", MPI_T_PVAR_CLASS_COUNTER);
    CHECK(pvar("posted_receives", MPI_T_PVAR_CLASS_LEVEL) == 0);
    for (int i = 0; i < 3; ++i)
        MPI_Irecv(data, 100, MPI_CHAR, from, i, MPI_COMM_WORLD, &requests[i]);
    CHECK(pvar("posted_receives", MPI_T_PVAR_CLASS_LEVEL) == 3);
    /* Nobody sends before all have looked. */
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < 3; ++i) MPI_Send(data + 500, 100, MPI_CHAR, to, i, MPI_COMM_WORLD);
    MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
    CHECK(pvar("posted_receives", MPI_T_PVAR_CLASS_LEVEL) == 0);
    CHECK(pvar("bytes_sent", MPI_T_PVAR_CLASS_COUNTER) == sent + 300);
    CHECK(pvar("bytes_received", MPI_T_PVAR_CLASS_COUNTER) == received + 300);
}

/* Task 0 gets two messages that it has not asked for, and a third that it waits for. The last task sends them.
 * Nobody else sends anything to task 0 before it has looked, because all others wait for a message of it. */
static void check_unexpected_messages(int me, int tasks) {
    char data[10] = {0};
    MPI_Barrier(MPI_COMM_WORLD);
    if (me == tasks - 1) {
        MPI_Request third;
        for (int i = 0; i < 2; ++i) MPI_Send(data, 10, MPI_CHAR, 0, i, MPI_COMM_WORLD);
        MPI_Isend(data, 1, MPI_CHAR, 0, 9, MPI_COMM_WORLD, &third);
        if (me != 0)
            MPI_Wait(&third, MPI_STATUS_IGNORE);
        else
            MPI_Request_free(&third);
    }
    if (me != 0) {
        MPI_Recv(data, 1, MPI_CHAR, 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        return;
    }
    MPI_Recv(data, 1, MPI_CHAR, tasks - 1, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK(pvar("unexpected_messages", MPI_T_PVAR_CLASS_LEVEL) == 2);
    for (int i = 0; i < 2; ++i)
        MPI_Recv(data, 10, MPI_CHAR, tasks - 1, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK(pvar("unexpected_messages", MPI_T_PVAR_CLASS_LEVEL) == 0);
    for (int task = 1; task < tasks; ++task) MPI_Send(data, 1, MPI_CHAR, task, 5, MPI_COMM_WORLD);
}

/* The calls of all paths together. */
static unsigned long long collective_calls(void) {
    int num = 0;
    unsigned long long all = 0;
    MPI_T_pvar_get_num(&num);
    for (int i = 0; i < num; ++i) {
        char name[100];
        int length = sizeof name;
        MPI_T_pvar_get_info(i, name, &length, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
                            NULL);
        if (strncmp(name, "collectives_by_", 15) == 0) all += pvar(name, MPI_T_PVAR_CLASS_COUNTER);
    }
    return all;
}

static void check_collectives(int tasks) {
    int data[4] = {1, 2, 3, 4}, sum[4];
    unsigned long long before;
    MPI_Bcast(data, 4, MPI_INT, 0, MPI_COMM_WORLD);
    before = collective_calls();
    for (int i = 0; i < 5; ++i) MPI_Bcast(data, 4, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Allreduce(data, sum, 4, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    /* A call over several nodes also makes calls among the tasks of each node. */
    if (tasks > 1) CHECK(collective_calls() >= before + 6);
}

static void check_mistakes(void) {
    MPI_T_pvar_session other = session;
    MPI_T_pvar_handle handle, wrong = (MPI_T_pvar_handle)&handle;
    MPI_Count stamp = 0, again = 0, ticks = 0;
    int index, count, num = -1;
    unsigned long long value;
    MPI_T_pvar_get_index("bytes_sent", MPI_T_PVAR_CLASS_COUNTER, &index);
    CHECK(MPI_T_pvar_handle_alloc(session, index, NULL, &handle, &count) == MPI_SUCCESS);
    CHECK(MPI_T_pvar_start(session, handle) == MPI_T_ERR_PVAR_NO_STARTSTOP);
    CHECK(MPI_T_pvar_stop(session, handle) == MPI_T_ERR_PVAR_NO_STARTSTOP);
    CHECK(MPI_T_pvar_start(session, MPI_T_PVAR_ALL_HANDLES) == MPI_SUCCESS);
    CHECK(MPI_T_pvar_reset(session, handle) == MPI_T_ERR_PVAR_NO_WRITE);
    CHECK(MPI_T_pvar_write(session, handle, &value) == MPI_T_ERR_PVAR_NO_WRITE);
    CHECK(MPI_T_pvar_readreset(session, handle, &value) == MPI_T_ERR_PVAR_NO_ATOMIC);
    CHECK(MPI_T_pvar_read(session, wrong, &value) == MPI_T_ERR_INVALID_HANDLE);
    CHECK(MPI_T_pvar_read(MPI_T_PVAR_SESSION_NULL, handle, &value) == MPI_T_ERR_INVALID_SESSION);
    CHECK(MPI_T_pvar_session_free(&other) == MPI_SUCCESS && other == MPI_T_PVAR_SESSION_NULL);
    CHECK(MPI_T_pvar_read(session, handle, &value) == MPI_T_ERR_INVALID_SESSION);
    CHECK(MPI_T_source_get_num(&num) == MPI_SUCCESS && num == 1);
    CHECK(MPI_T_source_get_info(0, NULL, NULL, NULL, NULL, NULL, &ticks, NULL, NULL) ==
          MPI_SUCCESS);
    CHECK(ticks == 1000000000);
    CHECK(MPI_T_source_get_timestamp(0, &stamp) == MPI_SUCCESS);
    CHECK(MPI_T_source_get_timestamp(0, &again) == MPI_SUCCESS && again >= stamp);
    CHECK(MPI_T_source_get_timestamp(1, &again) == MPI_T_ERR_INVALID_INDEX);
}

int main(int argc, char** argv) {
    int me, tasks;
    check_before_init();
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &tasks);
    check_all_variables();
    check_texts_that_are_cut();
    check_categories();
    check_a_change();
    CHECK(MPI_T_pvar_session_create(&session) == MPI_SUCCESS);
    check_messages(me, tasks);
    check_unexpected_messages(me, tasks);
    check_collectives(tasks);
    check_mistakes();
    MPI_Finalize();
    CHECK(MPI_T_finalize() == MPI_SUCCESS);
    if (failures == 0 && me == 0) puts("ok");
    return failures == 0 ? 0 : 2;
}
