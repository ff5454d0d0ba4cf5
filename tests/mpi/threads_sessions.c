/* Each thread opens a session of its own, at the same time as the others, and never meets their messages. */
#include "threads_test.h"

static void work(int number) {
    for (int round = 0; round < 5; ++round) {
        MPI_Session session;
        MPI_Info info;
        MPI_Group group;
        MPI_Comm comm;
        char tag[32];
        CHECK_OK(MPI_Info_create(&info));
        CHECK_OK(MPI_Info_set(info, "thread_level", "MPI_THREAD_MULTIPLE"));
        CHECK_OK(MPI_Session_init(info, MPI_ERRORS_RETURN, &session));
        CHECK_OK(MPI_Info_free(&info));
        CHECK_OK(MPI_Group_from_session_pset(session, "mpi://WORLD", &group));
        snprintf(tag, sizeof tag, "thread %d", number);
        CHECK_OK(MPI_Comm_create_from_group(group, tag, MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm));
        int size, sum = -1;
        const int mine = number * 100 + round;
        CHECK_OK(MPI_Group_size(group, &size));
        CHECK_OK(MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, comm));
        CHECK_INT(sum, size * mine);
        CHECK_OK(MPI_Group_free(&group));
        CHECK_OK(MPI_Comm_free(&comm));
        CHECK_OK(MPI_Session_finalize(&session));
    }
}

/* A session that does not ask for a level has that of the process. */
static void check_level_of_process(void) {
    MPI_Session session;
    MPI_Info info;
    char text[64] = "";
    int flag = 0, length = sizeof text;
    CHECK_OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session));
    CHECK_OK(MPI_Session_get_info(session, &info));
    CHECK_OK(MPI_Info_get_string(info, "thread_level", &length, text, &flag));
    CHECK(flag && strcmp(text, "MPI_THREAD_MULTIPLE") == 0);
    CHECK_OK(MPI_Info_free(&info));
    CHECK_OK(MPI_Session_finalize(&session));
}

int main(void) {
    in_threads(work);
    check_level_of_process();
    return 0;
}
