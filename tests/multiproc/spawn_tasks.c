/* MPI tasks that start more tasks, for tests. Each does as its first argument says:
 *   rounds N K      spawns K tasks and merges with them, N times; they disconnect each time
 *   generations D   spawns one task with D - 1, which does the same, down to 0
 *   several         spawns two programs at once, of 1 and 2 tasks; each task says its number
 *   info KEY VALUE  spawns 2 tasks with that info; they say where they are
 *   missing PROGRAM spawns PROGRAM, says that it was refused, and goes on
 *   leave           ends when its task runs, which goes on without it
 *   die             its second spawned task dies of SIGKILL while all others wait
 *   left            its spawned task ends without MPI_Finalize while all others wait
 *   abort           its spawned task calls MPI_Abort
 *   stay            all wait until they are killed
 *   meet            task 0 accepts a connection by a published name, the last task makes it */
#include <errno.h>
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static int rank, size;

static MPI_Comm merge_with(MPI_Comm others, int high) {
    MPI_Comm all;
    MPI_Intercomm_merge(others, high, &all);
    return all;
}

/* All of both groups add up their ranks; the first says so. */
static void add_up(MPI_Comm all, const char* what) {
    int me, count, sum = -1;
    MPI_Comm_rank(all, &me);
    MPI_Comm_size(all, &count);
    MPI_Allreduce(&me, &sum, 1, MPI_INT, MPI_SUM, all);
    if (sum != count * (count - 1) / 2) MPI_Abort(MPI_COMM_WORLD, 99);
    if (me == 0) printf("%s: %d tasks add up\n", what, count);
    fflush(stdout);
}

static MPI_Comm spawn(char* program, char** words, int count, MPI_Info info) {
    MPI_Comm children;
    MPI_Comm_spawn(program, words, count, info, 0, MPI_COMM_WORLD, &children, MPI_ERRCODES_IGNORE);
    return children;
}

static void rounds(char* program, int times, int count) {
    char* words[] = {"round", NULL};
    char what[32];
    for (int i = 0; i < times; ++i) {
        MPI_Comm children = spawn(program, words, count, MPI_INFO_NULL);
        MPI_Comm all = merge_with(children, 0);
        snprintf(what, sizeof what, "round %d", i);
        add_up(all, what);
        MPI_Comm_free(&all);
        MPI_Comm_disconnect(&children);
    }
}

static void generations(char* program, int depth) {
    char number[16];
    char* words[] = {"generations", number, NULL};
    printf("generation %d\n", depth);
    fflush(stdout);
    if (depth == 0) return;
    snprintf(number, sizeof number, "%d", depth - 1);
    MPI_Comm child = spawn(program, words, 1, MPI_INFO_NULL);
    MPI_Comm all = merge_with(child, 0);
    add_up(all, "a generation and the next");
    MPI_Comm_free(&all);
    MPI_Comm_disconnect(&child);
}

static void several(char* program) {
    char* programs[] = {program, program};
    char* first[] = {"which", "one", NULL};
    char* second[] = {"which", "two words", NULL};
    char** words[] = {first, second};
    int counts[] = {1, 2};
    MPI_Info infos[] = {MPI_INFO_NULL, MPI_INFO_NULL};
    MPI_Comm children, all;
    MPI_Comm_spawn_multiple(2, programs, words, counts, infos, 0, MPI_COMM_WORLD, &children,
                            MPI_ERRCODES_IGNORE);
    all = merge_with(children, 0);
    add_up(all, "several");
    MPI_Comm_free(&all);
    MPI_Comm_disconnect(&children);
}

/* By one task: where several spawn together, Open MPI tells only the root that it failed. */
static void missing(char* program) {
    MPI_Comm children;
    int code = 0;
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    if (rank == 0) {
        if (MPI_Comm_spawn(program, MPI_ARGV_NULL, 2, MPI_INFO_NULL, 0, MPI_COMM_SELF, &children,
                           &code) == MPI_SUCCESS)
            MPI_Abort(MPI_COMM_WORLD, 99);
        printf("refused\n");
        fflush(stdout);
    }
    add_up(MPI_COMM_WORLD, "those who are there");
}

static void meet(void) {
    char port[MPI_MAX_PORT_NAME];
    MPI_Comm other, both;
    if (rank == 0) {
        MPI_Open_port(MPI_INFO_NULL, port);
        MPI_Publish_name("meeting", MPI_INFO_NULL, port);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &other);
    } else if (rank == size - 1) {
        MPI_Lookup_name("meeting", MPI_INFO_NULL, port);
        MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &other);
    }
    if (rank == 0 || rank == size - 1) {
        both = merge_with(other, rank != 0);
        add_up(both, "met");
        MPI_Comm_free(&both);
        MPI_Comm_disconnect(&other);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) MPI_Unpublish_name("meeting", MPI_INFO_NULL, port);
}

/* With whoever was spawned: a word that says what is to be done, and then everybody waits. */
static void stay(char* program, char* word, int count) {
    char* words[] = {word, NULL};
    MPI_Comm children = spawn(program, words, count, MPI_INFO_NULL);
    MPI_Comm all = merge_with(children, 0);
    add_up(all, word);
    while (1) MPI_Barrier(all);
}

static void be_spawned(MPI_Comm parent, char** argv) {
    MPI_Comm all = merge_with(parent, 1);
    int *app, flag;
    char host[256], directory[4096];
    long first = 0;
    const struct timespec moment = {0, 1000000};
    if (strcmp(argv[1], "leaver") == 0) {
        MPI_Bcast(&first, 1, MPI_LONG, 0, all);
        MPI_Comm_free(&all);
        MPI_Comm_disconnect(&parent);
        while (kill((pid_t)first, 0) == 0 || errno != ESRCH) nanosleep(&moment, NULL);
        printf("goes on\n");
        return;
    }
    if (strcmp(argv[1], "which") == 0) {
        MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_APPNUM, &app, &flag);
        printf("%d of %d, program %d: %s\n", rank, size, flag ? *app : -1, argv[2]);
    }
    if (strcmp(argv[1], "where") == 0) {
        gethostname(host, sizeof host);
        if (getcwd(directory, sizeof directory) == NULL) return;
        printf("%d of %d on %s in %s\n", rank, size, host, directory);
    }
    fflush(stdout);
    add_up(all, argv[1]);
    if (strcmp(argv[1], "die") == 0 && rank == 1) kill(getpid(), SIGKILL);
    if (strcmp(argv[1], "left") == 0) _exit(0);
    if (strcmp(argv[1], "abort") == 0) MPI_Abort(MPI_COMM_WORLD, 7);
    while (strcmp(argv[1], "stay") == 0 || strcmp(argv[1], "die") == 0) MPI_Barrier(all);
    MPI_Comm_free(&all);
    MPI_Comm_disconnect(&parent);
}

int main(int argc, char** argv) {
    MPI_Comm parent;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_get_parent(&parent);
    if (parent != MPI_COMM_NULL && strcmp(argv[1], "generations") == 0) {
        MPI_Comm all = merge_with(parent, 1);
        add_up(all, "");
        MPI_Comm_free(&all);
        MPI_Comm_disconnect(&parent);
        generations(argv[0], atoi(argv[2]));
    } else if (parent != MPI_COMM_NULL) {
        be_spawned(parent, argv);
    } else if (strcmp(argv[1], "rounds") == 0) {
        rounds(argv[0], atoi(argv[2]), atoi(argv[3]));
    } else if (strcmp(argv[1], "generations") == 0) {
        generations(argv[0], atoi(argv[2]));
    } else if (strcmp(argv[1], "several") == 0) {
        several(argv[0]);
    } else if (strcmp(argv[1], "info") == 0) {
        char* words[] = {"where", NULL};
        MPI_Info info;
        MPI_Info_create(&info);
        MPI_Info_set(info, argv[2], argv[3]);
        MPI_Comm children = spawn(argv[0], words, 2, info);
        MPI_Comm all = merge_with(children, 0);
        add_up(all, "where");
        MPI_Comm_free(&all);
        MPI_Comm_disconnect(&children);
    } else if (strcmp(argv[1], "missing") == 0) {
        missing(argv[2]);
    } else if (strcmp(argv[1], "leave") == 0) {
        char* words[] = {"leaver", NULL};
        long me = getpid();
        MPI_Comm child = spawn(argv[0], words, 1, MPI_INFO_NULL);
        MPI_Comm all = merge_with(child, 0);
        MPI_Bcast(&me, 1, MPI_LONG, 0, all);
        MPI_Comm_free(&all);
        MPI_Comm_disconnect(&child);
    } else if (strcmp(argv[1], "meet") == 0) {
        meet();
    } else {
        stay(argv[0], argv[1], 2);
    }
    MPI_Finalize();
    return 0;
}
