/* What the parts of mpi_death_tasks.c share: the table of rows, and the objects that are made before the calls. */
#ifndef MPI_DEATH_TASKS_H
#define MPI_DEATH_TASKS_H

#include <mpi.h>
#include <string.h>

enum Who {
    kAlone, /* the victim makes no call, and the others need it */
    kAll,   /* the victim makes the call, too */
    kStuck, /* the same, but no call ends as long as the victim lives */
};

/* What the tasks do again and again until it returns an error. */
struct Row {
    const char* name;
    enum Who who;
    int (*call)(void);
};

enum { kVictim = 1, kMostRows = 200, kBytes = 1 << 20 };

static struct Row rows[kMostRows];
static int row_count;

/* A row of the table, followed by the body of its call. */
#define ROW(who, name)                                             \
    static int call_##name(void);                                  \
    __attribute__((constructor)) static void add_##name(void) {    \
        rows[row_count++] = (struct Row){#name, who, call_##name}; \
    }                                                              \
    static int call_##name(void)

/* Ends the call of a row if it has failed. */
#define TRY(call)                             \
    do {                                      \
        const int code = (call);              \
        if (code != MPI_SUCCESS) return code; \
    } while (0)

static int rank, size, number, sum;
static char memory[kBytes], other[kBytes];
static const char* path; /* of a file that no other job uses */
static MPI_Errhandler handler;
static MPI_Group victim_group, others_group; /* the victim alone, and all others */
static MPI_Comm side;                        /* the own one of these two groups */

/* After a call that succeeds without the victim, too. */
static int then_meet(void) {
    return MPI_Barrier(MPI_COMM_WORLD);
}

#endif
