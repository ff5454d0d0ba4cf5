/* Random communicators for the testers of collective calls. Every task knows the members of every
 * communicator, so a task can compute what the others send. All tasks draw the same numbers in the same
 * order, and make the calls of the communicators that they belong to. */
#ifndef RANDOM_GROUPS_H
#define RANDOM_GROUPS_H

#include <stdint.h>

#include "mpi_test.h"

enum { kMostTasks = 16, kMostGroups = 6 };

/* The random numbers that all tasks draw alike. */
static uint64_t shared_state;

static void seed_random(uint64_t seed) {
    shared_state = seed * 0x2545f4914f6cdd1du + 1;
}

static int draw(int below) {
    shared_state = shared_state * 6364136223846793005u + 1442695040888963407u;
    return (int)((shared_state >> 33) % (uint64_t)below);
}

/* A communicator. */
struct Group {
    MPI_Comm comm; /* MPI_COMM_NULL at tasks that are no members */
    int used;
    int inter;
    int size[2];             /* members of each side; an intracommunicator has side 0 only */
    int task[2][kMostTasks]; /* the ranks of the members in MPI_COMM_WORLD */
    int side, me;            /* of this task; me is -1 if it is no member */
};

static int world_rank, world_size;
static struct Group groups[kMostGroups]; /* groups[0] is MPI_COMM_WORLD */

/* A subset of a communicator: the members of each side that are chosen, in the order of their keys. */
struct Choice {
    int colors[2][kMostTasks];
    int keys[2][kMostTasks];
};

static void find_own_place(struct Group* group) {
    group->me = -1;
    for (int side = 0; side <= group->inter; ++side) {
        for (int r = 0; r < group->size[side]; ++r) {
            if (group->task[side][r] != world_rank) continue;
            group->side = side;
            group->me = r;
        }
    }
}

static void draw_choice(const struct Group* parent, int colors, struct Choice* choice) {
    for (int side = 0; side <= parent->inter; ++side) {
        for (int r = 0; r < parent->size[side]; ++r) {
            choice->colors[side][r] = draw(colors);
            choice->keys[side][r] = draw(4);
        }
    }
}

/* Adds the members of the parent's side that have this color, in the order of a split. */
static void select_members(const struct Group* parent, int side, const struct Choice* choice,
                           int color, struct Group* made, int made_side) {
    made->size[made_side] = 0;
    for (int key = 0; key < 4; ++key) {
        for (int r = 0; r < parent->size[side]; ++r) {
            if (choice->colors[side][r] == color && choice->keys[side][r] == key)
                made->task[made_side][made->size[made_side]++] = parent->task[side][r];
        }
    }
}

static void copy_members(const struct Group* parent, struct Group* made) {
    made->inter = parent->inter;
    for (int side = 0; side <= parent->inter; ++side) {
        made->size[side] = parent->size[side];
        memcpy(made->task[side], parent->task[side], sizeof made->task[side]);
    }
}

/* The handle names a communicator with these members. */
static void check_group(const struct Group* group) {
    int size, rank, inter;
    MPI_Group of_world, members;
    if (group->me < 0) {
        CHECK(group->comm == MPI_COMM_NULL);
        return;
    }
    CHECK(group->comm != MPI_COMM_NULL);
    CHECK_OK(MPI_Comm_test_inter(group->comm, &inter));
    CHECK_INT(inter, group->inter);
    CHECK_OK(MPI_Comm_rank(group->comm, &rank));
    CHECK_INT(rank, group->me);
    CHECK_OK(MPI_Comm_group(MPI_COMM_WORLD, &of_world));
    for (int side = 0; side <= group->inter; ++side) {
        int ranks[kMostTasks], expected[kMostTasks];
        if (side == group->side) {
            CHECK_OK(MPI_Comm_group(group->comm, &members));
        } else {
            CHECK_OK(MPI_Comm_remote_group(group->comm, &members));
        }
        CHECK_OK(MPI_Group_size(members, &size));
        CHECK_INT(size, group->size[side]);
        for (int r = 0; r < size; ++r) expected[r] = r;
        CHECK_OK(MPI_Group_translate_ranks(of_world, size, group->task[side], members, ranks));
        for (int r = 0; r < size; ++r) CHECK_INT(ranks[r], expected[r]);
        CHECK_OK(MPI_Group_free(&members));
    }
    CHECK_OK(MPI_Group_free(&of_world));
}

static void duplicate(const struct Group* parent, struct Group* made) {
    MPI_Request request;
    const int way = draw(3);
    copy_members(parent, made);
    if (parent->me < 0) return;
    if (way == 0) {
        CHECK_OK(MPI_Comm_dup(parent->comm, &made->comm));
    } else if (way == 1) {
        CHECK_OK(MPI_Comm_dup_with_info(parent->comm, MPI_INFO_NULL, &made->comm));
    } else {
        CHECK_OK(MPI_Comm_idup(parent->comm, &made->comm, &request));
        CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    }
}

/* The communicator of color 0 is kept. Those of other colors are freed, and color 2 stands for
 * MPI_UNDEFINED. On an intercommunicator, a color that one side lacks gives no communicator. */
static void split(const struct Group* parent, struct Group* made) {
    struct Choice choice;
    int sizes[2][2] = {{1, 1}, {1, 1}}; /* by color and side */
    draw_choice(parent, 3, &choice);
    made->inter = parent->inter;
    for (int color = 0; color < 2; ++color) {
        struct Group of_color;
        for (int side = 0; side <= parent->inter; ++side) {
            select_members(parent, side, &choice, color, color == 0 ? made : &of_color, side);
            sizes[color][side] = (color == 0 ? made : &of_color)->size[side];
        }
    }
    made->used = sizes[0][0] > 0 && sizes[0][1] > 0;
    if (parent->me < 0) return;
    const int color = choice.colors[parent->side][parent->me];
    MPI_Comm comm;
    CHECK_OK(MPI_Comm_split(parent->comm, color == 2 ? MPI_UNDEFINED : color,
                            choice.keys[parent->side][parent->me], &comm));
    const int gets = color < 2 && sizes[color][0] > 0 && sizes[color][1] > 0;
    CHECK_INT(comm != MPI_COMM_NULL, gets);
    if (color == 0) {
        made->comm = comm;
    } else if (gets) {
        CHECK_OK(MPI_Comm_free(&comm));
    }
}

/* MPI_Comm_create, and MPI_Comm_create_group, which only the members of the new communicator call. */
static void create(const struct Group* parent, struct Group* made) {
    struct Choice choice;
    const int only_members = !parent->inter && draw(2), tag = draw(3);
    draw_choice(parent, 2, &choice);
    made->inter = parent->inter;
    for (int side = 0; side <= parent->inter; ++side) {
        const int chosen = draw(parent->size[side]);
        choice.colors[side][chosen] = 0;
        select_members(parent, side, &choice, 0, made, side);
    }
    if (parent->me < 0) return;
    MPI_Group all, members;
    int ranks[kMostTasks];
    for (int i = 0; i < made->size[parent->side]; ++i) {
        for (int r = 0; r < parent->size[parent->side]; ++r) {
            if (parent->task[parent->side][r] == made->task[parent->side][i]) ranks[i] = r;
        }
    }
    CHECK_OK(MPI_Comm_group(parent->comm, &all));
    CHECK_OK(MPI_Group_incl(all, made->size[parent->side], ranks, &members));
    if (!only_members) {
        CHECK_OK(MPI_Comm_create(parent->comm, members, &made->comm));
    } else if (choice.colors[0][parent->me] == 0) {
        CHECK_OK(MPI_Comm_create_group(parent->comm, members, tag, &made->comm));
    }
    CHECK_OK(MPI_Group_free(&members));
    CHECK_OK(MPI_Group_free(&all));
}

/* Two parts of an intracommunicator of at least two members become an intercommunicator. */
static void connect_parts(const struct Group* parent, struct Group* made) {
    struct Choice choice;
    int leader[2];
    draw_choice(parent, 2, &choice);
    const int first = draw(parent->size[0]);
    choice.colors[0][first] = 0;
    choice.colors[0][(first + 1) % parent->size[0]] = 1;
    made->inter = 1;
    for (int side = 0; side < 2; ++side) {
        select_members(parent, 0, &choice, side, made, side);
        leader[side] = draw(made->size[side]);
    }
    const int tag = draw(100);
    if (parent->me < 0) return;
    const int side = choice.colors[0][parent->me];
    MPI_Comm part;
    int leader_in_parent = -1;
    for (int r = 0; r < parent->size[0]; ++r) {
        if (parent->task[0][r] == made->task[1 - side][leader[1 - side]]) leader_in_parent = r;
    }
    CHECK_OK(MPI_Comm_split(parent->comm, side, choice.keys[0][parent->me], &part));
    CHECK_OK(
        MPI_Intercomm_create(part, leader[side], parent->comm, leader_in_parent, tag, &made->comm));
    CHECK_OK(MPI_Comm_free(&part));
}

static void merge(const struct Group* parent, struct Group* made) {
    const int low = draw(2);
    made->inter = 0;
    for (int r = 0; r < parent->size[low]; ++r) made->task[0][r] = parent->task[low][r];
    for (int r = 0; r < parent->size[1 - low]; ++r)
        made->task[0][parent->size[low] + r] = parent->task[1 - low][r];
    made->size[0] = parent->size[0] + parent->size[1];
    if (parent->me >= 0)
        CHECK_OK(MPI_Intercomm_merge(parent->comm, parent->side != low, &made->comm));
}

static void free_group(struct Group* group) {
    if (group->used && group->comm != MPI_COMM_NULL) CHECK_OK(MPI_Comm_free(&group->comm));
    group->used = 0;
}

/* Makes a random communicator from another one, in a random place. */
static void change_groups(void) {
    struct Group* made = &groups[1 + draw(kMostGroups - 1)];
    const struct Group* parent = &groups[draw(kMostGroups)];
    const int way = draw(4);
    if (!parent->used || parent == made) parent = &groups[0];
    free_group(made);
    memset(made, 0, sizeof *made);
    made->comm = MPI_COMM_NULL;
    made->used = 1;
    if (way == 0) {
        duplicate(parent, made);
    } else if (way == 1) {
        split(parent, made);
    } else if (way == 2) {
        create(parent, made);
    } else if (parent->inter) {
        merge(parent, made);
    } else if (parent->size[0] > 1) {
        connect_parts(parent, made);
    } else {
        duplicate(parent, made);
    }
    if (!made->used) return;
    find_own_place(made);
    check_group(made);
}

static void start_groups(void) {
    CHECK_OK(MPI_Comm_rank(MPI_COMM_WORLD, &world_rank));
    CHECK_OK(MPI_Comm_size(MPI_COMM_WORLD, &world_size));
    CHECK(world_size <= kMostTasks);
    struct Group* all = &groups[0];
    all->comm = MPI_COMM_WORLD;
    all->used = 1;
    all->size[0] = world_size;
    for (int r = 0; r < world_size; ++r) all->task[0][r] = r;
    find_own_place(all);
}

static void free_groups(void) {
    for (int i = 1; i < kMostGroups; ++i) free_group(&groups[i]);
}

#endif
