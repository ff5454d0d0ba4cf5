/* Objects that several threads use at once: datatypes, groups, infos, attributes, error handlers and
 * names (MPI 5.0, section 11.6.1). Callbacks of the program run without a deadlock. */
#include "threads_test.h"

enum { kRounds = 60 };

static MPI_Datatype shared_type;
static MPI_Info shared_info;
static int shared_keyval;
static int attribute;

static void datatypes(int thread) {
    for (int round = 0; round < kRounds; ++round) {
        MPI_Datatype vector, copy, twice;
        int size = 0;
        MPI_Aint lower = 0, extent = 0;
        char name[MPI_MAX_OBJECT_NAME];
        int length = 0;
        CHECK_OK(MPI_Type_vector(3, 1 + thread % 2, 4, shared_type, &vector));
        CHECK_OK(MPI_Type_commit(&vector));
        CHECK_OK(MPI_Type_dup(vector, &copy));
        CHECK_OK(MPI_Type_free(&vector));
        CHECK_OK(MPI_Type_dup(shared_type, &twice));
        CHECK_OK(MPI_Type_set_name(copy, "copy"));
        CHECK_OK(MPI_Type_get_name(copy, name, &length));
        CHECK_INT(length, 4);
        CHECK_OK(MPI_Type_get_extent(shared_type, &lower, &extent));
        CHECK_INT(extent, 2 * sizeof(int));
        CHECK_OK(MPI_Type_size(copy, &size));
        CHECK_INT(size, 3 * (1 + thread % 2) * 2 * (int)sizeof(int));
        CHECK_OK(MPI_Type_free(&twice));
        CHECK_OK(MPI_Type_free(&copy));
    }
}

static int copies; /* protected by the lock */
static int deletes;
static pthread_mutex_t counts_lock = PTHREAD_MUTEX_INITIALIZER;

static void count(int* counter) {
    pthread_mutex_lock(&counts_lock);
    ++*counter;
    pthread_mutex_unlock(&counts_lock);
}

/* The callbacks call MPI, and the copy function even waits for a message of the own task. */
static int on_copy(MPI_Comm comm, int keyval, void* extra, void* in, void* out, int* flag) {
    int rank = -1, value = 3;
    (void)keyval;
    (void)extra;
    if (MPI_Comm_rank(comm, &rank) != MPI_SUCCESS || rank != threads_rank) abort();
    MPI_Sendrecv_replace(&value, 1, MPI_INT, 0, 7, 0, 7, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    *(void**)out = in;
    *flag = 1;
    count(&copies);
    return MPI_SUCCESS;
}
static int on_delete(MPI_Comm comm, int keyval, void* value, void* extra) {
    int size = 0;
    (void)keyval;
    (void)value;
    (void)extra;
    if (MPI_Comm_size(comm, &size) != MPI_SUCCESS || size != threads_size) abort();
    count(&deletes);
    return MPI_SUCCESS;
}

static void attributes(int thread) {
    MPI_Comm comm = threads_comms[thread];
    for (int round = 0; round < kRounds / 4; ++round) {
        MPI_Comm copy;
        void* value = NULL;
        int found = 0;
        CHECK_OK(MPI_Comm_set_attr(comm, shared_keyval, &attribute));
        CHECK_OK(MPI_Comm_dup(comm, &copy));
        CHECK_OK(MPI_Comm_get_attr(copy, shared_keyval, &value, &found));
        CHECK_INT(found, 1);
        CHECK(value == &attribute);
        CHECK_OK(MPI_Comm_free(&copy));
        CHECK_OK(MPI_Comm_delete_attr(comm, shared_keyval));
    }
}

static void infos(int thread) {
    for (int round = 0; round < kRounds; ++round) {
        MPI_Info copy;
        char key[32], value[32];
        int length = sizeof value, found = 0;
        snprintf(key, sizeof key, "key %d", thread);
        snprintf(value, sizeof value, "%d", round);
        CHECK_OK(MPI_Info_set(shared_info, key, value));
        CHECK_OK(MPI_Info_dup(shared_info, &copy));
        CHECK_OK(MPI_Info_get_string(copy, key, &length, value, &found));
        CHECK_INT(found, 1);
        CHECK_INT(atoi(value), round);
        CHECK_OK(MPI_Info_free(&copy));
    }
}

static void groups(int thread) {
    for (int round = 0; round < kRounds; ++round) {
        MPI_Group all, own, united;
        int size = 0, result = -1;
        CHECK_OK(MPI_Comm_group(threads_comms[round % kThreads], &all));
        CHECK_OK(MPI_Group_incl(all, 1, &threads_rank, &own));
        CHECK_OK(MPI_Group_union(own, all, &united));
        CHECK_OK(MPI_Group_size(united, &size));
        CHECK_INT(size, threads_size);
        CHECK_OK(MPI_Comm_compare(threads_comms[thread], MPI_COMM_WORLD, &result));
        CHECK_INT(result, MPI_CONGRUENT);
        CHECK_OK(MPI_Group_free(&united));
        CHECK_OK(MPI_Group_free(&own));
        CHECK_OK(MPI_Group_free(&all));
    }
}

static int handled;

static void on_error(MPI_Comm* comm, int* code, ...) {
    char text[MPI_MAX_ERROR_STRING];
    int length = 0, rank = -1;
    if (MPI_Error_string(*code, text, &length) != MPI_SUCCESS) abort();
    if (MPI_Comm_rank(*comm, &rank) != MPI_SUCCESS || rank != threads_rank) abort();
    count(&handled);
}

static void error_handlers(int thread) {
    MPI_Comm comm = threads_comms[thread];
    char name[MPI_MAX_OBJECT_NAME];
    int length = 0;
    for (int round = 0; round < kRounds; ++round) {
        MPI_Errhandler handler;
        int data = 0, added = 0;
        CHECK_OK(MPI_Comm_create_errhandler(on_error, &handler));
        CHECK_OK(MPI_Comm_set_errhandler(comm, handler));
        CHECK_OK(MPI_Errhandler_free(&handler));
        CHECK_CLASS(MPI_Send(&data, 1, MPI_INT, threads_size, 0, comm), MPI_ERR_RANK);
        CHECK_CLASS(MPI_Send(&data, -1, MPI_INT, 0, 0, comm), MPI_ERR_COUNT);
        CHECK_OK(MPI_Comm_set_errhandler(comm, MPI_ERRORS_ARE_FATAL));
        CHECK_OK(MPI_Comm_set_name(comm, thread % 2 == 0 ? "even" : "odd"));
        CHECK_OK(MPI_Comm_get_name(comm, name, &length));
        CHECK_INT(length, thread % 2 == 0 ? 4 : 3);
        if (round == 0) CHECK_OK(MPI_Add_error_class(&added));
    }
}

static void main_thread(int thread) {
    int flag = -1;
    (void)thread;
    CHECK_OK(MPI_Is_thread_main(&flag));
    CHECK_INT(flag, 0);
}

int main(int argc, char** argv) {
    begin_threads(&argc, &argv);
    in_threads(main_thread);
    CHECK_OK(MPI_Type_contiguous(2, MPI_INT, &shared_type));
    CHECK_OK(MPI_Type_commit(&shared_type));
    in_threads(datatypes);
    CHECK_OK(MPI_Type_free(&shared_type));

    CHECK_OK(MPI_Comm_create_keyval(on_copy, on_delete, &shared_keyval, NULL));
    in_threads(attributes);
    CHECK_INT(copies, kThreads * (kRounds / 4));
    CHECK_INT(deletes, 2 * kThreads * (kRounds / 4));
    CHECK_OK(MPI_Comm_free_keyval(&shared_keyval));

    CHECK_OK(MPI_Info_create(&shared_info));
    in_threads(infos);
    CHECK_OK(MPI_Info_free(&shared_info));
    in_threads(groups);
    in_threads(error_handlers);
    CHECK_INT(handled, 2 * kThreads * kRounds);
    end_threads();
    return 0;
}
