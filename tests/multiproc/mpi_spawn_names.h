/* Published names of services: the checks of mpi_spawn_tasks.c, which has defined the functions that are used here. */
#ifndef MPI_SPAWN_NAMES_H
#define MPI_SPAWN_NAMES_H

/* Names of services: a short one, one with all bytes, and two long ones that differ in the last byte only. */
enum { NAMES = 4, LONGEST = 1024 };
static const char* name_of_service(int which, const char* word) {
    static char name[LONGEST + 1];
    const size_t length = strlen(word);
    memset(name, 0, sizeof name);
    memcpy(name, word, length);
    if (which == 1)
        for (int byte = 1; byte < 256; ++byte) name[length + byte - 1] = (char)byte;
    if (which >= 2) memset(name + length, '/', LONGEST - length);
    if (which == 3) name[LONGEST - 1] = '.';
    return name;
}

/* A server that is found by its names, and its client in another job. */
static void publish(const char* word, const char* until) {
    char port[MPI_MAX_PORT_NAME];
    MPI_Comm inter;
    if (rank_in(MPI_COMM_WORLD) == 0) {
        CHECK_OK(MPI_Open_port(MPI_INFO_NULL, port));
        CHECK_OK(MPI_Publish_name(name_of_service(3, word), MPI_INFO_NULL, "another port"));
        for (int i = 0; i < NAMES - 1; ++i)
            CHECK_OK(MPI_Publish_name(name_of_service(i, word), MPI_INFO_NULL, port));
    }
    if (strcmp(until, "killed") == 0) pause();
    CHECK_OK(MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter));
    use(inter, 0);
    CHECK_OK(MPI_Comm_disconnect(&inter));
    if (rank_in(MPI_COMM_WORLD) == 0) {
        CHECK_OK(MPI_Unpublish_name(name_of_service(0, word), MPI_INFO_NULL, port));
        CHECK_OK(MPI_Close_port(port));
    }
}

static void find(const char* word) {
    char port[MPI_MAX_PORT_NAME] = "", same[MPI_MAX_PORT_NAME] = "";
    MPI_Comm inter;
    CHECK_OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    if (rank_in(MPI_COMM_WORLD) == 0) {
        while (MPI_Lookup_name(name_of_service(0, word), MPI_INFO_NULL, port) != MPI_SUCCESS)
            usleep(1000);
        for (int i = 1; i < NAMES - 1; ++i) {
            while (MPI_Lookup_name(name_of_service(i, word), MPI_INFO_NULL, same) != MPI_SUCCESS)
                usleep(1000);
            CHECK(strcmp(port, same) == 0);
        }
        CHECK_OK(MPI_Lookup_name(name_of_service(3, word), MPI_INFO_NULL, same));
        CHECK(strcmp(same, "another port") == 0);
        /* What another job has published cannot be withdrawn, and does not hinder this one. */
        CHECK_CLASS(MPI_Unpublish_name(name_of_service(3, word), MPI_INFO_NULL, same),
                    MPI_ERR_SERVICE);
        CHECK_OK(MPI_Publish_name(name_of_service(3, word), MPI_INFO_NULL, "own port"));
        CHECK_OK(MPI_Lookup_name(name_of_service(3, word), MPI_INFO_NULL, same));
        CHECK(strcmp(same, "own port") == 0);
        CHECK_OK(MPI_Unpublish_name(name_of_service(3, word), MPI_INFO_NULL, same));
        CHECK_OK(MPI_Lookup_name(name_of_service(3, word), MPI_INFO_NULL, same));
        CHECK(strcmp(same, "another port") == 0);
    }
    CHECK_OK(MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter));
    use(inter, 1);
    CHECK_OK(MPI_Comm_disconnect(&inter));
    if (rank_in(MPI_COMM_WORLD) == 0)
        while (MPI_Lookup_name(name_of_service(0, word), MPI_INFO_NULL, port) == MPI_SUCCESS)
            usleep(1000);
}

/* Prints which of the names are known. */
static void seek(const char* word) {
    char port[MPI_MAX_PORT_NAME];
    CHECK_OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    for (int i = 0; i < NAMES; ++i) {
        const int code = MPI_Lookup_name(name_of_service(i, word), MPI_INFO_NULL, port);
        if (code != MPI_SUCCESS) CHECK_CLASS(code, MPI_ERR_NAME);
        printf("%d", code == MPI_SUCCESS);
    }
    puts("");
}

#endif
