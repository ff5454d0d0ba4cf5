/* Tasks that start tasks, and jobs that connect. The first argument says what to do; started tasks are given the same
 * program with "child" first. Any failed check ends the job with exit code 1. */
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include "mpi_test.h"

#define MANY (1 << 18)

static const char* program;

static int rank_in(MPI_Comm comm) {
    int rank;
    CHECK_OK(MPI_Comm_rank(comm, &rank));
    return rank;
}

static int size_of(MPI_Comm comm) {
    int size;
    CHECK_OK(MPI_Comm_size(comm, &size));
    return size;
}

static int remote_size_of(MPI_Comm comm) {
    int size;
    CHECK_OK(MPI_Comm_remote_size(comm, &size));
    return size;
}

/* Point-to-point messages of every kind in one communicator, which has one or two groups. */
static void exchange(MPI_Comm comm, int others) {
    int* const out = malloc(MANY * sizeof *out);
    int* const in = malloc(MANY * sizeof *in);
    const int me = rank_in(comm);
    CHECK(out != NULL && in != NULL);
    MPI_Request requests[64];
    int count = 0;
    for (int large = 0; large < 2; ++large) {
        const int length = large ? MANY : 1;
        count = 0;
        for (int i = 0; i < length; ++i) out[i] = me + i;
        for (int other = 0; other < others; ++other)
            CHECK_OK(MPI_Isend(out, length, MPI_INT, other, 3, comm, &requests[count++]));
        for (int other = 0; other < others; ++other) {
            MPI_Status status;
            int elements;
            CHECK_OK(MPI_Recv(in, length, MPI_INT, MPI_ANY_SOURCE, 3, comm, &status));
            CHECK_OK(MPI_Get_count(&status, MPI_INT, &elements));
            CHECK_INT(elements, length);
            CHECK(status.MPI_SOURCE >= 0 && status.MPI_SOURCE < others);
            for (int i = 0; i < length; ++i) CHECK_INT(in[i], status.MPI_SOURCE + i);
        }
        CHECK_OK(MPI_Waitall(count, requests, MPI_STATUSES_IGNORE));
        CHECK_OK(MPI_Barrier(comm));
    }
    /* Synchronous sends and matched probes. */
    for (int other = 0; other < others; ++other)
        CHECK_OK(MPI_Issend(&me, 1, MPI_INT, other, 4, comm, &requests[other]));
    for (int other = 0; other < others; ++other) {
        MPI_Message message;
        int from = -1;
        CHECK_OK(MPI_Mprobe(other, 4, comm, &message, MPI_STATUS_IGNORE));
        CHECK_OK(MPI_Mrecv(&from, 1, MPI_INT, &message, MPI_STATUS_IGNORE));
        CHECK_INT(from, other);
    }
    CHECK_OK(MPI_Waitall(others, requests, MPI_STATUSES_IGNORE));
    free(out);
    free(in);
}

static void add(void* in, void* inout, int* length, MPI_Datatype* type) {
    (void)type;
    for (int i = 0; i < *length; ++i) ((int*)inout)[i] += ((int*)in)[i];
}

/* Collective calls in an intracommunicator. */
static void collectives(MPI_Comm comm) {
    int* const large = malloc(MANY * sizeof *large);
    const int me = rank_in(comm), size = size_of(comm);
    int all[64], other[64], sum = 0;
    MPI_Op op;
    MPI_Request request;
    CHECK(large != NULL);
    for (int root = 0; root < size; ++root) {
        for (int i = 0; i < MANY; ++i) large[i] = me == root ? i + root : -1;
        CHECK_OK(MPI_Bcast(large, MANY, MPI_INT, root, comm));
        for (int i = 0; i < MANY; ++i) CHECK_INT(large[i], i + root);
    }
    CHECK_OK(MPI_Allgather(&me, 1, MPI_INT, all, 1, MPI_INT, comm));
    for (int i = 0; i < size; ++i) CHECK_INT(all[i], i);
    for (int i = 0; i < size; ++i) all[i] = 100 * me + i;
    CHECK_OK(MPI_Alltoall(all, 1, MPI_INT, other, 1, MPI_INT, comm));
    for (int i = 0; i < size; ++i) CHECK_INT(other[i], 100 * i + me);
    CHECK_OK(MPI_Op_create(add, 0, &op));
    CHECK_OK(MPI_Iallreduce(&me, &sum, 1, MPI_INT, op, comm, &request));
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK_INT(sum, size * (size - 1) / 2);
    CHECK_OK(MPI_Op_free(&op));
    CHECK_OK(MPI_Scan(&me, &sum, 1, MPI_INT, MPI_SUM, comm));
    CHECK_INT(sum, me * (me + 1) / 2);
    for (int i = 0; i < MANY; ++i) large[i] = i;
    CHECK_OK(MPI_Allreduce(MPI_IN_PLACE, large, MANY, MPI_INT, MPI_SUM, comm));
    for (int i = 0; i < MANY; ++i) CHECK_INT(large[i], i * size);
    free(large);
}

#include "mpi_spawn_windows.h"

/* Communicators that are made of one with tasks of several jobs, of which each has at most `own_tasks` tasks. */
static void communicators(MPI_Comm comm, int own_tasks) {
    const int me = rank_in(comm), size = size_of(comm);
    int result, sum, one = 1;
    MPI_Comm made, again, last;
    MPI_Request requests[2];
    MPI_Group group, part;
    CHECK_OK(MPI_Comm_dup(comm, &made));
    CHECK_OK(MPI_Comm_compare(comm, made, &result));
    CHECK_INT(result, MPI_CONGRUENT);
    collectives(made);
    /* Duplicates of duplicates, without a wait in between. */
    CHECK_OK(MPI_Comm_idup(made, &again, &requests[0]));
    CHECK_OK(MPI_Wait(&requests[0], MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Comm_idup(again, &last, &requests[0]));
    MPI_Comm third;
    CHECK_OK(MPI_Comm_idup(made, &third, &requests[1]));
    CHECK_OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
    exchange(last, size);
    collectives(third);
    CHECK_OK(MPI_Comm_free(&third));
    CHECK_OK(MPI_Comm_free(&last));
    CHECK_OK(MPI_Comm_free(&again));
    CHECK_OK(MPI_Comm_split(made, me % 2, -me, &again));
    CHECK_INT(size_of(again), (size + (me % 2 == 0 ? 1 : 0)) / 2);
    collectives(again);
    exchange(again, size_of(again));
    CHECK_OK(MPI_Comm_free(&again));
    /* Tasks of several jobs have no memory in common. */
    CHECK_OK(MPI_Comm_split_type(made, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &again));
    CHECK(size_of(again) <= own_tasks);
    CHECK_OK(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, again));
    CHECK_INT(sum, size_of(again));
    CHECK_OK(MPI_Comm_free(&again));
    /* Without the last one. */
    const int last_rank = size - 1;
    CHECK_OK(MPI_Comm_group(made, &group));
    CHECK_OK(MPI_Group_excl(group, 1, &last_rank, &part));
    CHECK_OK(MPI_Comm_create(made, part, &again));
    CHECK((again == MPI_COMM_NULL) == (me == last_rank));
    if (again != MPI_COMM_NULL) {
        collectives(again);
        CHECK_OK(MPI_Comm_free(&again));
        CHECK_OK(MPI_Comm_create_group(made, part, 17, &again));
        collectives(again);
        CHECK_OK(MPI_Comm_free(&again));
    }
    CHECK_OK(MPI_Group_free(&part));
    CHECK_OK(MPI_Group_free(&group));
    /* A ring. */
    int left, right, dims[1] = {size}, periods[1] = {1}, from = -1;
    CHECK_OK(MPI_Cart_create(made, 1, dims, periods, 0, &again));
    CHECK_OK(MPI_Cart_shift(again, 0, 1, &left, &right));
    CHECK_OK(MPI_Sendrecv(&me, 1, MPI_INT, right, 0, &from, 1, MPI_INT, left, 0, again,
                          MPI_STATUS_IGNORE));
    CHECK_INT(from, (me + size - 1) % size);
    CHECK_OK(MPI_Comm_free(&again));
    /* A window. */
    int memory = -1, next = (me + 1) % size;
    MPI_Win win;
    CHECK_OK(MPI_Win_create(&memory, sizeof memory, sizeof memory, MPI_INFO_NULL, made, &win));
    CHECK_OK(MPI_Win_fence(0, win));
    CHECK_OK(MPI_Put(&me, 1, MPI_INT, next, 0, 1, MPI_INT, win));
    CHECK_OK(MPI_Win_fence(0, win));
    CHECK_INT(memory, (me + size - 1) % size);
    CHECK_OK(MPI_Win_free(&win));
    CHECK_OK(MPI_Comm_free(&made));
}

/* The same at parents and children; `inter` connects them. */
static void use(MPI_Comm inter, int high) {
    int highest = -1, flag = 0;
    MPI_Comm all, copy;
    const int me = rank_in(inter), remote = remote_size_of(inter), own = size_of(inter);
    CHECK_OK(MPI_Comm_test_inter(inter, &flag));
    CHECK_INT(flag, 1);
    exchange(inter, remote);
    CHECK_OK(MPI_Allreduce(&me, &highest, 1, MPI_INT, MPI_MAX, inter));
    CHECK_INT(highest, remote - 1);
    CHECK_OK(MPI_Comm_dup(inter, &copy));
    exchange(copy, remote);
    CHECK_OK(MPI_Comm_free(&copy));
    CHECK_OK(MPI_Comm_split(inter, 0, -me, &copy));
    CHECK_INT(rank_in(copy), own - 1 - me);
    exchange(copy, remote);
    CHECK_OK(MPI_Comm_free(&copy));
    CHECK_OK(MPI_Intercomm_merge(inter, high, &all));
    CHECK_INT(size_of(all), own + remote);
    CHECK_INT(rank_in(all), high ? remote + me : me);
    exchange(all, own + remote);
    collectives(all);
    communicators(all, own > remote ? own : remote);
    CHECK_OK(MPI_Comm_free(&all));
}

static MPI_Comm spawn(MPI_Comm comm, int root, int tasks, const char* what) {
    char* arguments[] = {"child", (char*)what, "two words", "", NULL};
    int codes[64];
    MPI_Comm inter;
    for (int i = 0; i < tasks; ++i) codes[i] = -1;
    CHECK_OK(MPI_Comm_spawn(program, arguments, tasks, MPI_INFO_NULL, root, comm, &inter, codes));
    for (int i = 0; i < tasks; ++i) CHECK_INT(codes[i], MPI_SUCCESS);
    CHECK_INT(remote_size_of(inter), tasks);
    return inter;
}

/* The same at parents and children. */
static void use_windows(MPI_Comm inter, int high) {
    MPI_Comm all;
    CHECK_OK(MPI_Intercomm_merge(inter, high, &all));
    windows(all);
    CHECK_OK(MPI_Comm_free(&all));
}

static void everything(void) {
    MPI_Comm inter = spawn(MPI_COMM_WORLD, size_of(MPI_COMM_WORLD) - 1, 3, "use");
    use(inter, 0);
    CHECK_OK(MPI_Comm_disconnect(&inter));
}

/* Two programs in one call; each child says which program it is. */
static void several(void) {
    char* commands[] = {(char*)program, (char*)program};
    char* first[] = {"child", "tell", NULL};
    char* second[] = {"child", "tell", "more", NULL};
    char** arguments[] = {first, second};
    const int tasks[] = {2, 1};
    int codes[3] = {9, 9, 9};
    MPI_Info infos[2];
    MPI_Comm inter;
    CHECK_OK(MPI_Info_create(&infos[0]));
    CHECK_OK(MPI_Info_set(infos[0], "wdir", "/"));
    CHECK_OK(MPI_Info_set(infos[0], "unknown", "ignored"));
    CHECK_OK(MPI_Info_create(&infos[1]));
    CHECK_OK(MPI_Info_set(infos[1], "soft", "0,1:1"));
    CHECK_OK(MPI_Comm_spawn_multiple(2, commands, arguments, tasks, infos, 0, MPI_COMM_WORLD,
                                     &inter, codes));
    for (int i = 0; i < 3; ++i) CHECK_INT(codes[i], 0);
    if (rank_in(MPI_COMM_WORLD) == 0) {
        for (int child = 0; child < 3; ++child) {
            int facts[3];
            CHECK_OK(MPI_Recv(facts, 3, MPI_INT, child, 0, inter, MPI_STATUS_IGNORE));
            CHECK_INT(facts[0], child == 2); /* MPI_APPNUM */
            CHECK_INT(facts[1], child == 2); /* an argument more */
            CHECK_INT(facts[2], child < 2);  /* the folder is / */
        }
    }
    CHECK_OK(MPI_Comm_disconnect(&inter));
    CHECK_OK(MPI_Info_free(&infos[0]));
    CHECK_OK(MPI_Info_free(&infos[1]));
}

static void tell(MPI_Comm parent, int arguments) {
    char folder[4096];
    int flag, *number;
    CHECK_OK(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_APPNUM, &number, &flag));
    CHECK(flag);
    CHECK(getcwd(folder, sizeof folder) != NULL);
    int facts[] = {*number, arguments > 3, strcmp(folder, "/") == 0};
    CHECK_OK(MPI_Send(facts, 3, MPI_INT, 0, 0, parent));
}

/* Three generations in one communicator: the parents and children together start grandchildren. */
static void generations(MPI_Comm inter, int high) {
    MPI_Comm two, three;
    CHECK_OK(MPI_Intercomm_merge(inter, high, &two));
    three = spawn(two, 1, 2, "use");
    use(three, 0);
    CHECK_OK(MPI_Comm_free(&two));
    CHECK_OK(MPI_Comm_disconnect(&three));
}

/* Children of two calls, who do not know each other, are connected by the parents as a bridge. */
static void bridge(void) {
    MPI_Comm first = spawn(MPI_COMM_WORLD, 0, 2, "bridge"),
             second = spawn(MPI_COMM_WORLD, 0, 1, "far");
    MPI_Comm near, inter;
    CHECK_OK(MPI_Intercomm_merge(first, 0, &near));
    /* The leader of the near group is a parent, that of the far group the child of the second call. */
    CHECK_OK(MPI_Intercomm_create(near, 0, second, 0, 5, &inter));
    use(inter, 0);
    CHECK_OK(MPI_Comm_free(&inter));
    CHECK_OK(MPI_Comm_free(&near));
    CHECK_OK(MPI_Comm_disconnect(&first));
    CHECK_OK(MPI_Comm_disconnect(&second));
}

static void bridge_child(MPI_Comm parent) {
    MPI_Comm near, inter;
    CHECK_OK(MPI_Intercomm_merge(parent, 1, &near));
    CHECK_OK(MPI_Intercomm_create(near, 0, MPI_COMM_NULL, 0, 5, &inter));
    use(inter, 0);
    CHECK_OK(MPI_Comm_free(&inter));
    CHECK_OK(MPI_Comm_free(&near));
}

static void far_child(MPI_Comm parent) {
    MPI_Comm inter;
    CHECK_OK(MPI_Intercomm_create(MPI_COMM_WORLD, 0, parent, 0, 5, &inter));
    use(inter, 1);
    CHECK_OK(MPI_Comm_free(&inter));
}

/* Each task starts its own, several times. */
static void many(void) {
    for (int round = 0; round < 3; ++round) {
        MPI_Comm inter = spawn(MPI_COMM_SELF, 0, 2, "use");
        use(inter, 0);
        CHECK_OK(MPI_Comm_disconnect(&inter));
    }
}

static void* spawn_in_thread(void* unused) {
    (void)unused;
    MPI_Comm inter = spawn(MPI_COMM_SELF, 0, 1, "use");
    use(inter, 0);
    CHECK_OK(MPI_Comm_disconnect(&inter));
    return NULL;
}

static void threads(void) {
    pthread_t all[3];
    for (int i = 0; i < 3; ++i) CHECK(pthread_create(&all[i], NULL, spawn_in_thread, NULL) == 0);
    for (int i = 0; i < 3; ++i) CHECK(pthread_join(all[i], NULL) == 0);
}

static void errors(void) {
    MPI_Comm inter = MPI_COMM_SELF;
    MPI_Info info;
    char text[MPI_MAX_PORT_NAME];
    int codes[2] = {0, 0};
    CHECK_OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    CHECK_OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    CHECK_CLASS(MPI_Comm_spawn("/no/such/program", MPI_ARGV_NULL, 2, MPI_INFO_NULL, 0,
                               MPI_COMM_WORLD, &inter, codes),
                MPI_ERR_SPAWN);
    CHECK(inter == MPI_COMM_NULL);
    if (rank_in(MPI_COMM_WORLD) == 0) CHECK_CLASS(codes[1], MPI_ERR_SPAWN);
    CHECK_CLASS(MPI_Comm_spawn(program, MPI_ARGV_NULL, 0, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter,
                               MPI_ERRCODES_IGNORE),
                MPI_ERR_SPAWN);
    CHECK_CLASS(MPI_Comm_spawn(program, MPI_ARGV_NULL, 1, MPI_INFO_NULL, 99, MPI_COMM_WORLD, &inter,
                               MPI_ERRCODES_IGNORE),
                MPI_ERR_ROOT);
    CHECK_OK(MPI_Info_create(&info));
    CHECK_OK(MPI_Info_set(info, "soft", "7:3"));
    CHECK_CLASS(MPI_Comm_spawn(program, MPI_ARGV_NULL, 2, info, 0, MPI_COMM_WORLD, &inter,
                               MPI_ERRCODES_IGNORE),
                MPI_ERR_SPAWN);
    CHECK_OK(MPI_Info_delete(info, "soft"));
    CHECK_OK(MPI_Info_set(info, "host", "no-such-host"));
    CHECK_CLASS(MPI_Comm_spawn(program, MPI_ARGV_NULL, 2, info, 0, MPI_COMM_WORLD, &inter,
                               MPI_ERRCODES_IGNORE),
                MPI_ERR_SPAWN);
    CHECK_OK(MPI_Info_free(&info));
    char* line_feed[] = {"one\ntwo", NULL};
    CHECK_CLASS(MPI_Comm_spawn(program, line_feed, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter,
                               MPI_ERRCODES_IGNORE),
                MPI_ERR_SPAWN);
    if (rank_in(MPI_COMM_WORLD) == 0) {
        CHECK_CLASS(MPI_Lookup_name("a name", MPI_INFO_NULL, text), MPI_ERR_NAME);
        CHECK_OK(MPI_Publish_name("a name", MPI_INFO_NULL, "50 % of a=port"));
        CHECK_CLASS(MPI_Publish_name("a name", MPI_INFO_NULL, "another"), MPI_ERR_SERVICE);
        CHECK_OK(MPI_Lookup_name("a name", MPI_INFO_NULL, text));
        CHECK(strcmp(text, "50 % of a=port") == 0);
        CHECK_OK(MPI_Unpublish_name("a name", MPI_INFO_NULL, text));
        CHECK_CLASS(MPI_Unpublish_name("a name", MPI_INFO_NULL, text), MPI_ERR_SERVICE);
    }
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    /* After all this, it works. */
    inter = spawn(MPI_COMM_WORLD, 0, 1, "use");
    use(inter, 0);
    CHECK_OK(MPI_Comm_disconnect(&inter));
}

/* A server of another job, and its client: the name of the port is in a file. */
static void serve(const char* file, int clients) {
    char port[MPI_MAX_PORT_NAME];
    MPI_Comm inter;
    if (rank_in(MPI_COMM_WORLD) == 0) {
        CHECK_OK(MPI_Open_port(MPI_INFO_NULL, port));
        char temporary[4096];
        snprintf(temporary, sizeof temporary, "%s.new", file);
        FILE* out = fopen(temporary, "w");
        CHECK(out != NULL && fputs(port, out) >= 0 && fclose(out) == 0);
        CHECK(rename(temporary, file) == 0);
    }
    for (int client = 0; client < clients; ++client) {
        CHECK_OK(MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter));
        use(inter, 0);
        CHECK_OK(MPI_Comm_disconnect(&inter));
    }
    if (rank_in(MPI_COMM_WORLD) == 0) CHECK_OK(MPI_Close_port(port));
}

static void ask(const char* file) {
    char port[MPI_MAX_PORT_NAME] = "";
    MPI_Comm inter;
    if (rank_in(MPI_COMM_WORLD) == 0) {
        FILE* in;
        while ((in = fopen(file, "r")) == NULL) usleep(1000);
        CHECK(fgets(port, sizeof port, in) != NULL);
        fclose(in);
    }
    CHECK_OK(MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter));
    use(inter, 1);
    CHECK_OK(MPI_Comm_disconnect(&inter));
}

#include "mpi_spawn_names.h"

/* The parents wait for a message of the child, which never comes, or comes late. */
static void wait_for_child(const char* what) {
    MPI_Comm inter = spawn(MPI_COMM_WORLD, 0, 1, what);
    int number;
    CHECK_OK(MPI_Recv(&number, 1, MPI_INT, MPI_ANY_SOURCE, 0, inter, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Comm_disconnect(&inter));
}

static void child(MPI_Comm parent, int argc, char** argv) {
    char name[MPI_MAX_OBJECT_NAME];
    int length;
    const char* what = argc > 2 ? argv[2] : "";
    CHECK_OK(MPI_Comm_get_name(parent, name, &length));
    CHECK(strcmp(name, "MPI_COMM_PARENT") == 0);
    if (strcmp(what, "use") == 0) {
        CHECK_INT(argc, 5);
        CHECK(strcmp(argv[3], "two words") == 0);
        CHECK(argv[4][0] == '\0');
        use(parent, 1);
    } else if (strcmp(what, "windows") == 0) {
        use_windows(parent, 1);
    } else if (strcmp(what, "tell") == 0) {
        tell(parent, argc);
    } else if (strcmp(what, "generations") == 0) {
        generations(parent, 1);
    } else if (strcmp(what, "bridge") == 0) {
        bridge_child(parent);
    } else if (strcmp(what, "far") == 0) {
        far_child(parent);
    } else if (strcmp(what, "die") == 0) {
        _exit(7);
    } else if (strcmp(what, "wait") == 0) {
        int number;
        CHECK_OK(MPI_Recv(&number, 1, MPI_INT, 0, 0, parent, MPI_STATUS_IGNORE));
    } else if (strcmp(what, "slow") == 0) {
        sleep(4);
        for (int other = 0; other < remote_size_of(parent); ++other)
            CHECK_OK(MPI_Send(&other, 1, MPI_INT, other, 0, parent));
    }
    CHECK_OK(MPI_Comm_disconnect(&parent));
    CHECK_OK(MPI_Comm_get_parent(&parent));
    CHECK(parent == MPI_COMM_NULL);
}

static void die(void) {
    MPI_Comm inter = spawn(MPI_COMM_WORLD, 0, 2, "die");
    int number;
    MPI_Recv(&number, 1, MPI_INT, 0, 0, inter, MPI_STATUS_IGNORE);
}

/* Spawned tasks of which one or all end before MPI_Init, by a code that by itself would end the job, by one that would
 * not, and by a signal. */
static void early(void) {
    static const char* const ends[][2] = {
        {"0", "all"}, {"3", "one"}, {"1", "one"}, {"1", "all"}, {"killed", "one"}};
    CHECK_OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    for (int i = 0; i < (int)(sizeof ends / sizeof ends[0]); ++i) {
        char* arguments[] = {"end-early", (char*)ends[i][0], (char*)ends[i][1], NULL};
        MPI_Comm inter = MPI_COMM_SELF;
        int codes[3] = {0, 0, 0};
        CHECK_CLASS(
            MPI_Comm_spawn(program, arguments, 3, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter, codes),
            MPI_ERR_SPAWN);
        CHECK(inter == MPI_COMM_NULL);
        if (rank_in(MPI_COMM_WORLD) == 0)
            for (int task = 0; task < 3; ++task) CHECK_CLASS(codes[task], MPI_ERR_SPAWN);
    }
    /* After all this, it works. */
    MPI_Comm inter = spawn(MPI_COMM_WORLD, 0, 1, "use");
    use(inter, 0);
    CHECK_OK(MPI_Comm_disconnect(&inter));
}

/* Ends this task, before MPI_Init, if it is one of those that are to end. */
static void end_early(const char* how, const char* which) {
    if (strcmp(which, "one") == 0 && atoi(getenv("MP_CHILD")) != 1) return;
    if (strcmp(how, "killed") == 0) raise(SIGKILL);
    exit(atoi(how));
}

int main(int argc, char** argv) {
    const char* what = argc > 1 ? argv[1] : "";
    MPI_Comm parent;
    int provided;
    program = argv[0];
    if (strcmp(what, "end-early") == 0) end_early(argv[2], argv[3]);
    CHECK_OK(MPI_Init_thread(&argc, &argv,
                             strcmp(what, "threads") == 0 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE,
                             &provided));
    CHECK_OK(MPI_Comm_get_parent(&parent));
    if (parent != MPI_COMM_NULL) {
        child(parent, argc, argv);
    } else if (strcmp(what, "use") == 0) {
        everything();
    } else if (strcmp(what, "several") == 0) {
        several();
    } else if (strcmp(what, "generations") == 0) {
        MPI_Comm inter = spawn(MPI_COMM_WORLD, 0, 2, "generations");
        generations(inter, 0);
        CHECK_OK(MPI_Comm_disconnect(&inter));
    } else if (strcmp(what, "bridge") == 0) {
        bridge();
    } else if (strcmp(what, "many") == 0) {
        many();
    } else if (strcmp(what, "threads") == 0) {
        threads();
    } else if (strcmp(what, "errors") == 0) {
        errors();
    } else if (strcmp(what, "windows") == 0) {
        MPI_Comm inter = spawn(MPI_COMM_WORLD, 0, 2, "windows");
        use_windows(inter, 0);
        CHECK_OK(MPI_Comm_disconnect(&inter));
    } else if (strcmp(what, "early") == 0) {
        early();
    } else if (strcmp(what, "serve") == 0) {
        serve(argv[2], atoi(argv[3]));
    } else if (strcmp(what, "ask") == 0) {
        ask(argv[2]);
    } else if (strcmp(what, "publish") == 0) {
        publish(argv[2], argv[3]);
    } else if (strcmp(what, "find") == 0) {
        find(argv[2]);
    } else if (strcmp(what, "seek") == 0) {
        seek(argv[2]);
    } else if (strcmp(what, "die") == 0) {
        die();
    } else if (strcmp(what, "wait") == 0 || strcmp(what, "slow") == 0) {
        wait_for_child(what);
    } else {
        fprintf(stderr, "\"%s\" is nothing that this program can do\n", what);
        return 2;
    }
    CHECK_OK(MPI_Finalize());
    return 0;
}
