/* Sessions: without the world model, several at once, before, during and after it; process sets;
 * communicators from groups; buffers and error handlers of sessions. If MP_PSETS describes the sets
 * test://odd and test://last, these are checked, too. */
#include "mpi_test.h"

static int world_size; /* from the size of mpi://WORLD */

static MPI_Session open_session(void) {
    MPI_Session session = MPI_SESSION_NULL;
    CHECK_OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session));
    CHECK(session != MPI_SESSION_NULL);
    return session;
}

static MPI_Comm make_comm(MPI_Session session, const char* set, const char* tag) {
    MPI_Group group;
    MPI_Comm comm;
    CHECK_OK(MPI_Group_from_session_pset(session, set, &group));
    CHECK_OK(MPI_Comm_create_from_group(group, tag, MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm));
    CHECK_OK(MPI_Group_free(&group));
    return comm;
}

/* The communicator works: a collective call, a message, and a duplicate. */
static void use(MPI_Comm comm) {
    int rank, size, sum = -1, got = -1;
    CHECK_OK(MPI_Comm_rank(comm, &rank));
    CHECK_OK(MPI_Comm_size(comm, &size));
    const int mine = rank + 1;
    CHECK_OK(MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, comm));
    CHECK_INT(sum, size * (size + 1) / 2);
    MPI_Comm copy;
    CHECK_OK(MPI_Comm_dup(comm, &copy));
    CHECK_OK(MPI_Sendrecv(&rank, 1, MPI_INT, (rank + 1) % size, 3, &got, 1, MPI_INT,
                          (rank + size - 1) % size, 3, copy, MPI_STATUS_IGNORE));
    CHECK_INT(got, (rank + size - 1) % size);
    CHECK_OK(MPI_Comm_free(&copy));
}

static int size_of_set(MPI_Session session, const char* set) {
    MPI_Info info;
    char text[32] = "";
    int flag = 0, length = sizeof text;
    CHECK_OK(MPI_Session_get_pset_info(session, set, &info));
    CHECK_OK(MPI_Info_get_string(info, "mpi_size", &length, text, &flag));
    CHECK_INT(flag, 1);
    CHECK_OK(MPI_Info_free(&info));
    return atoi(text);
}

static void process_sets(MPI_Session session) {
    int sets = 0, world = 0, self = 0;
    CHECK_OK(MPI_Session_get_num_psets(session, MPI_INFO_NULL, &sets));
    CHECK(sets >= 2);
    for (int n = 0; n < sets; ++n) {
        int length = 0;
        CHECK_OK(MPI_Session_get_nth_pset(session, MPI_INFO_NULL, n, &length, NULL));
        CHECK(length > 1);
        char name[MPI_MAX_PSET_NAME_LEN];
        int room = length;
        CHECK_OK(MPI_Session_get_nth_pset(session, MPI_INFO_NULL, n, &room, name));
        CHECK_INT(room, length);
        CHECK_INT(strlen(name) + 1, length);
        char first[4] = "???";
        room = 3; /* too short: the beginning, and the full length */
        CHECK_OK(MPI_Session_get_nth_pset(session, MPI_INFO_NULL, n, &room, first));
        CHECK_INT(room, length);
        CHECK(first[0] == name[0] && first[1] == name[1] && first[2] == '\0');
        world += strcmp(name, "mpi://WORLD") == 0;
        self += strcmp(name, "mpi://SELF") == 0;
        CHECK(size_of_set(session, name) >= 1);
    }
    CHECK_INT(world, 1);
    CHECK_INT(self, 1);
    world_size = size_of_set(session, "mpi://WORLD");
    CHECK_INT(size_of_set(session, "mpi://SELF"), 1);
    MPI_Group group;
    CHECK_CLASS(MPI_Group_from_session_pset(session, "test://none", &group), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Session_get_nth_pset(session, MPI_INFO_NULL, sets, &sets, NULL), MPI_ERR_ARG);
}

static void given_sets(MPI_Session session) {
    const char* const described = getenv("MP_PSETS");
    if (described == NULL || strstr(described, "test://odd") == NULL) return;
    CHECK_INT(size_of_set(session, "test://odd"), world_size / 2);
    CHECK_INT(size_of_set(session, "test://last"), 1);
    MPI_Group odd, all;
    int rank, place;
    CHECK_OK(MPI_Group_from_session_pset(session, "mpi://WORLD", &all));
    CHECK_OK(MPI_Group_from_session_pset(session, "test://odd", &odd));
    CHECK_OK(MPI_Group_rank(all, &rank));
    CHECK_OK(MPI_Group_rank(odd, &place));
    CHECK_INT(place, rank % 2 == 1 ? rank / 2 : MPI_UNDEFINED);
    if (place != MPI_UNDEFINED) {
        MPI_Comm comm = make_comm(session, "test://odd", "odd");
        use(comm);
        CHECK_OK(MPI_Comm_free(&comm));
    } else {
        MPI_Comm comm;
        CHECK_CLASS(MPI_Comm_create_from_group(odd, "odd", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm),
                    MPI_ERR_GROUP);
    }
    /* The odd ones and the others, with each other. */
    MPI_Group even;
    MPI_Comm inter;
    CHECK_OK(MPI_Group_difference(all, odd, &even));
    CHECK_OK(MPI_Intercomm_create_from_groups(rank % 2 ? odd : even, 0, rank % 2 ? even : odd, 0,
                                              "inter", MPI_INFO_NULL, MPI_ERRORS_RETURN, &inter));
    int remote;
    CHECK_OK(MPI_Comm_remote_size(inter, &remote));
    CHECK_INT(remote, rank % 2 ? (world_size + 1) / 2 : world_size / 2);
    int highest = -1;
    CHECK_OK(MPI_Allreduce(&rank, &highest, 1, MPI_INT, MPI_MAX, inter));
    CHECK_INT(highest, rank % 2 ? (world_size - 1) / 2 * 2 : (world_size / 2) * 2 - 1);
    CHECK_OK(MPI_Comm_free(&inter));
    CHECK_OK(MPI_Group_free(&even));
    CHECK_OK(MPI_Group_free(&odd));
    CHECK_OK(MPI_Group_free(&all));
}

/* Two creations with other tags, in another order at every other task. */
static void tags(MPI_Session session) {
    MPI_Comm comms[2];
    MPI_Group group;
    int rank, sum = 0;
    CHECK_OK(MPI_Group_from_session_pset(session, "mpi://WORLD", &group));
    CHECK_OK(MPI_Group_rank(group, &rank));
    CHECK_OK(
        MPI_Comm_create_from_group(group, "first", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comms[0]));
    CHECK_OK(
        MPI_Comm_create_from_group(group, "second", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comms[1]));
    for (int c = 0; c < 2; ++c) {
        const int mine = c * 10 + 1;
        CHECK_OK(MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, comms[c]));
        CHECK_INT(sum, mine * world_size);
        CHECK_OK(MPI_Comm_free(&comms[c]));
    }
    MPI_Comm none = MPI_COMM_WORLD;
    CHECK_OK(MPI_Comm_create_from_group(MPI_GROUP_EMPTY, "none", MPI_INFO_NULL, MPI_ERRORS_RETURN,
                                        &none));
    CHECK(none == MPI_COMM_NULL);
    static char longest[2000 + 1]; /* longer than the limit of any binary interface */
    memset(longest, 'x', 2000);
    CHECK_CLASS(MPI_Comm_create_from_group(group, longest, MPI_INFO_NULL, MPI_ERRORS_RETURN, &none),
                MPI_ERR_ARG);
    CHECK_CLASS(
        MPI_Comm_create_from_group(MPI_GROUP_NULL, "x", MPI_INFO_NULL, MPI_ERRORS_RETURN, &none),
        MPI_ERR_GROUP);
    CHECK_OK(MPI_Group_free(&group));
}

static int handled;
static void handle(MPI_Session* session, int* code, ...) {
    (void)session;
    handled = *code;
}

static void error_handlers(void) {
    MPI_Errhandler own, same;
    MPI_Session session;
    CHECK_OK(MPI_Session_create_errhandler(handle, &own));
    CHECK_OK(MPI_Session_init(MPI_INFO_NULL, own, &session));
    CHECK_OK(MPI_Session_get_errhandler(session, &same));
    CHECK(same == own);
    CHECK_OK(MPI_Errhandler_free(&same));
    MPI_Group group;
    CHECK_CLASS(MPI_Group_from_session_pset(session, "nothing", &group), MPI_ERR_ARG);
    int class = -1;
    MPI_Error_class(handled, &class);
    CHECK_INT(class, MPI_ERR_ARG);
    CHECK_OK(MPI_Session_call_errhandler(session, MPI_ERR_OTHER));
    CHECK_INT(handled, MPI_ERR_OTHER);
    CHECK_OK(MPI_Session_set_errhandler(session, MPI_ERRORS_RETURN));
    CHECK_OK(MPI_Errhandler_free(&own));
    CHECK_OK(MPI_Session_finalize(&session));
    CHECK(session == MPI_SESSION_NULL);
    /* The handler of the argument gets the errors of the call itself. */
    MPI_Info info;
    CHECK_OK(MPI_Info_create(&info));
    CHECK_OK(MPI_Info_set(info, "thread_level", "MPI_THREAD_DOUBLE"));
    CHECK_CLASS(MPI_Session_init(info, MPI_ERRORS_RETURN, &session), MPI_ERR_INFO_VALUE);
    CHECK_OK(MPI_Info_set(info, "thread_level", "MPI_THREAD_SERIALIZED"));
    CHECK_OK(MPI_Session_init(info, MPI_ERRORS_RETURN, &session));
    CHECK_OK(MPI_Info_free(&info));
    CHECK_OK(MPI_Session_get_info(session, &info));
    char text[64] = "";
    int flag = 0, length = sizeof text;
    CHECK_OK(MPI_Info_get_string(info, "thread_level", &length, text, &flag));
    CHECK(flag && strcmp(text, "MPI_THREAD_SERIALIZED") == 0);
    CHECK_OK(MPI_Info_free(&info));
    CHECK_OK(MPI_Session_finalize(&session));
}

/* Since MPI 4.1. */
#if MPI_VERSION > 4 || (MPI_VERSION == 4 && MPI_SUBVERSION >= 1)
#define WITH_SESSION_BUFFERS 1
#else
#define WITH_SESSION_BUFFERS 0
#endif

#if WITH_SESSION_BUFFERS
/* Buffered sends of a communicator use the buffer of its session, also after a split. */
static void buffers(void) {
    static char memory[2][100 * (MPI_BSEND_OVERHEAD + 100)];
    MPI_Session sessions[2] = {open_session(), open_session()};
    MPI_Comm comm = make_comm(sessions[0], "mpi://WORLD", "buffers"), part;
    int rank, size, got = -1;
    CHECK_OK(MPI_Comm_split(comm, 0, 0, &part));
    CHECK_OK(MPI_Comm_rank(part, &rank));
    CHECK_OK(MPI_Comm_size(part, &size));
    CHECK_OK(MPI_Session_attach_buffer(sessions[1], memory[1], sizeof memory[1]));
    CHECK_CLASS(MPI_Bsend(&rank, 1, MPI_INT, (rank + 1) % size, 0, part), MPI_ERR_BUFFER);
    CHECK_OK(MPI_Session_attach_buffer(sessions[0], memory[0], sizeof memory[0]));
    CHECK_CLASS(MPI_Session_attach_buffer(sessions[0], memory[0], sizeof memory[0]),
                MPI_ERR_BUFFER);
    CHECK_OK(MPI_Bsend(&rank, 1, MPI_INT, (rank + 1) % size, 0, part));
    CHECK_OK(MPI_Recv(&got, 1, MPI_INT, (rank + size - 1) % size, 0, part, MPI_STATUS_IGNORE));
    CHECK_INT(got, (rank + size - 1) % size);
    CHECK_OK(MPI_Session_flush_buffer(sessions[0]));
    MPI_Request request;
    CHECK_OK(MPI_Session_iflush_buffer(sessions[0], &request));
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    void* address = NULL;
    int bytes = 0;
    CHECK_OK(MPI_Session_detach_buffer(sessions[0], &address, &bytes));
    CHECK(address == memory[0]);
    CHECK_INT(bytes, sizeof memory[0]);
    CHECK_CLASS(MPI_Session_flush_buffer(sessions[0]), MPI_ERR_BUFFER);
    CHECK_OK(MPI_Comm_free(&part));
    CHECK_OK(MPI_Comm_free(&comm));
    CHECK_OK(MPI_Session_finalize(&sessions[1])); /* with its buffer */
    CHECK_OK(MPI_Session_finalize(&sessions[0]));
}

#endif

int main(int argc, char** argv) {
    int flag = -1;
    /* Without the world model, again and again. */
    for (int round = 0; round < 3; ++round) {
        MPI_Session session = open_session();
        process_sets(session);
        MPI_Comm comm = make_comm(session, "mpi://WORLD", "round");
        MPI_Comm self = make_comm(session, "mpi://SELF", "round");
        use(comm);
        use(self);
        tags(session);
        given_sets(session);
        CHECK_OK(MPI_Comm_free(&self));
        CHECK_OK(MPI_Comm_free(&comm));
        CHECK_OK(MPI_Session_finalize(&session));
    }
    error_handlers();
#if WITH_SESSION_BUFFERS
    buffers();
#endif
    CHECK_OK(MPI_Initialized(&flag));
    CHECK_INT(flag, 0);

    /* Two at once, and the world model between them. */
    MPI_Session one = open_session(), two = open_session();
    CHECK(one != two);
    MPI_Comm first = make_comm(one, "mpi://WORLD", "first");
    CHECK_OK(MPI_Init(&argc, &argv));
    CHECK_OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    MPI_Comm second = make_comm(two, "mpi://WORLD", "second");
    use(first);
    use(second);
    use(MPI_COMM_WORLD);
    int result = -1;
    CHECK_OK(MPI_Comm_compare(first, MPI_COMM_WORLD, &result));
    CHECK_INT(result, MPI_CONGRUENT);
#if WITH_SESSION_BUFFERS
    CHECK_CLASS(MPI_Session_init(MPI_INFO_NULL, MPI_ERRHANDLER_NULL, &two), MPI_ERR_ERRHANDLER);
#endif
    MPI_Session none = MPI_SESSION_NULL;
    CHECK_CLASS(MPI_Session_finalize(&none), MPI_ERR_SESSION);
    CHECK_OK(MPI_Comm_free(&first));
    CHECK_OK(MPI_Session_finalize(&one));
    use(MPI_COMM_WORLD);
    CHECK_OK(MPI_Finalize());

    /* A session that outlives the world model, and one that begins after it. */
    use(second);
    MPI_Session three = open_session();
    MPI_Comm third = make_comm(three, "mpi://WORLD", "third");
    use(third);
    CHECK_OK(MPI_Comm_free(&third));
    CHECK_OK(MPI_Session_finalize(&three));
    use(second);
    CHECK_OK(MPI_Comm_free(&second));
    CHECK_OK(MPI_Session_finalize(&two));
    CHECK_OK(MPI_Finalized(&flag));
    CHECK_INT(flag, 1);
    return 0;
}
