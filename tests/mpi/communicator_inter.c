/* Intercommunicators: how they are made, their messages, duplicates, splits, parts and mergers. Two
 * tasks or more; one task has nothing to connect. */
#include "mpi_test.h"

static int rank, size;

/* Every member sends to every remote member. */
static void check_all_pairs(MPI_Comm inter, int mark) {
    int own, others, flag = 0;
    CHECK_OK(MPI_Comm_test_inter(inter, &flag));
    CHECK(flag);
    CHECK_OK(MPI_Comm_rank(inter, &own));
    CHECK_OK(MPI_Comm_remote_size(inter, &others));
    for (int i = 0; i < others; ++i) {
        int out[2], in[2];
        MPI_Status status;
        out[0] = mark, out[1] = own;
        MPI_Request request;
        CHECK_OK(MPI_Isend(out, 2, MPI_INT, i, 8, inter, &request));
        CHECK_OK(MPI_Recv(in, 2, MPI_INT, i, MPI_ANY_TAG, inter, &status));
        CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        CHECK_INT(in[0], mark);
        CHECK_INT(in[1], i);
        CHECK_INT(status.MPI_SOURCE, i);
    }
}

static void check_ring(MPI_Comm comm, int mark) {
    int own, members, out, in[2];
    CHECK_OK(MPI_Comm_rank(comm, &own));
    CHECK_OK(MPI_Comm_size(comm, &members));
    out = mark + own;
    CHECK_OK(MPI_Sendrecv(&out, 1, MPI_INT, (own + 1) % members, 5, in, 1, MPI_INT, MPI_ANY_SOURCE,
                          MPI_ANY_TAG, comm, MPI_STATUS_IGNORE));
    CHECK_INT(in[0], mark + (own + members - 1) % members);
}

/* The ranks of a group in MPI_COMM_WORLD. */
static void check_members(MPI_Group group, const int* expected, int n) {
    MPI_Group all;
    int members;
    CHECK_OK(MPI_Comm_group(MPI_COMM_WORLD, &all));
    CHECK_OK(MPI_Group_size(group, &members));
    CHECK_INT(members, n);
    for (int i = 0; i < n; ++i) {
        int world = -1;
        CHECK_OK(MPI_Group_translate_ranks(group, 1, &i, all, &world));
        CHECK_INT(world, expected[i]);
    }
    MPI_Group_free(&all);
    MPI_Group_free(&group);
}

static void check_groups(MPI_Comm inter, const int* local, int locals, const int* remote,
                         int remotes) {
    MPI_Group group;
    int members = -1;
    CHECK_OK(MPI_Comm_size(inter, &members));
    CHECK_INT(members, locals);
    CHECK_OK(MPI_Comm_group(inter, &group));
    check_members(group, local, locals);
    CHECK_OK(MPI_Comm_remote_group(inter, &group));
    check_members(group, remote, remotes);
}

static int compared(MPI_Comm one, MPI_Comm two) {
    int result = -1;
    CHECK_OK(MPI_Comm_compare(one, two, &result));
    return result;
}

/* The world in two groups by the remainder by 2, ranked backwards, and the connection of both. */
static int evens[64], odds[64], n_even, n_odd;

static MPI_Comm connect_halves(MPI_Comm* half) {
    MPI_Comm inter;
    const int odd = rank % 2;
    CHECK_OK(MPI_Comm_split(MPI_COMM_WORLD, odd, -rank, half));
    /* The leaders are the last ones, which have the lowest ranks in the world. */
    const int leader = (odd ? n_odd : n_even) - 1;
    const int is_leader = rank < 2;
    /* The other arguments count at the leaders only. */
    CHECK_OK(MPI_Intercomm_create(*half, leader, is_leader ? MPI_COMM_WORLD : MPI_COMM_NULL,
                                  is_leader ? 1 - odd : -99, 12, &inter));
    return inter;
}

static void test_create_and_merge(void) {
    MPI_Comm half, inter, merged;
    inter = connect_halves(&half);
    const int odd = rank % 2;
    const int* own = odd ? odds : evens;
    const int* other = odd ? evens : odds;
    const int n_own = odd ? n_odd : n_even, n_other = odd ? n_even : n_odd;
    check_groups(inter, own, n_own, other, n_other);
    check_all_pairs(inter, 20);
    CHECK_INT(compared(inter, MPI_COMM_WORLD), MPI_UNEQUAL);
    CHECK_INT(compared(inter, inter), MPI_IDENT);
    for (int high = 0; high < 4; ++high) {
        const int own_high = (high >> odd) & 1, other_high = (high >> (1 - odd)) & 1;
        CHECK_OK(MPI_Intercomm_merge(inter, own_high, &merged));
        int members, place, flag = 1;
        CHECK_OK(MPI_Comm_test_inter(merged, &flag));
        CHECK(!flag);
        CHECK_OK(MPI_Comm_size(merged, &members));
        CHECK_OK(MPI_Comm_rank(merged, &place));
        CHECK_INT(members, size);
        int local;
        MPI_Comm_rank(inter, &local);
        if (own_high != other_high)
            CHECK_INT(place, own_high ? n_other + local : local);
        else
            CHECK(place == n_other + local || place == local);
        check_ring(merged, 30);
        CHECK_OK(MPI_Comm_free(&merged));
    }
    CHECK_OK(MPI_Comm_free(&half));
    check_all_pairs(inter, 21);
    CHECK_OK(MPI_Comm_free(&inter));
}

static void test_dup(void) {
    MPI_Comm half, inter, copies[12];
    MPI_Request requests[12];
    inter = connect_halves(&half);
    for (int i = 0; i < 12; ++i) {
        if (i % 2)
            CHECK_OK(MPI_Comm_idup(inter, &copies[i], &requests[i]));
        else
            CHECK_OK(MPI_Comm_dup(inter, &copies[i]));
    }
    for (int i = 11; i > 0; i -= 2) CHECK_OK(MPI_Wait(&requests[i], MPI_STATUS_IGNORE));
    for (int i = 0; i < 12; ++i) {
        CHECK_INT(compared(inter, copies[i]), MPI_CONGRUENT);
        check_all_pairs(copies[i], i);
        CHECK_OK(MPI_Comm_disconnect(&copies[i]));
        CHECK(copies[i] == MPI_COMM_NULL);
    }
    CHECK_OK(MPI_Comm_free(&half));
    CHECK_OK(MPI_Comm_free(&inter));
}

static void test_split(void) {
    MPI_Comm half, inter, part;
    inter = connect_halves(&half);
    int own, others;
    CHECK_OK(MPI_Comm_rank(inter, &own));
    CHECK_OK(MPI_Comm_remote_size(inter, &others));
    /* The color is the place in the own group: pairs. */
    CHECK_OK(MPI_Comm_split(inter, own, 0, &part));
    CHECK((part == MPI_COMM_NULL) == (own >= others));
    if (part != MPI_COMM_NULL) {
        const int me = rank;
        const int partner = (rank % 2 ? evens : odds)[own];
        check_groups(part, &me, 1, &partner, 1);
        check_all_pairs(part, 40 + own);
        CHECK_OK(MPI_Comm_free(&part));
    }
    /* One group has none of the color of the other one. */
    CHECK_OK(MPI_Comm_split(inter, rank % 2, 0, &part));
    CHECK(part == MPI_COMM_NULL);
    CHECK_OK(MPI_Comm_split(inter, rank < 2 ? MPI_UNDEFINED : 3, rank, &part));
    CHECK((part == MPI_COMM_NULL) == (rank < 2 || size < 4));
    if (part != MPI_COMM_NULL) {
        check_all_pairs(part, 41);
        CHECK_OK(MPI_Comm_free(&part));
    }
    /* The first members of both. */
    MPI_Group local, first;
    const int zero = 0;
    CHECK_OK(MPI_Comm_group(inter, &local));
    CHECK_OK(MPI_Group_incl(local, 1, &zero, &first));
    CHECK_OK(MPI_Comm_create(inter, first, &part));
    CHECK((part == MPI_COMM_NULL) == (own != 0));
    if (part != MPI_COMM_NULL) {
        check_all_pairs(part, 42);
        CHECK_OK(MPI_Comm_free(&part));
    }
    MPI_Group_free(&first);
    /* All of both, backwards. */
    int members, backwards[64];
    MPI_Group_size(local, &members);
    for (int i = 0; i < members; ++i) backwards[i] = members - 1 - i;
    CHECK_OK(MPI_Group_incl(local, members, backwards, &first));
    CHECK_OK(MPI_Comm_create(inter, first, &part));
    CHECK_INT(compared(inter, part), size < 3 ? MPI_CONGRUENT : MPI_SIMILAR);
    check_all_pairs(part, 43);
    CHECK_OK(MPI_Comm_free(&part));
    MPI_Group_free(&first);
    MPI_Group_free(&local);
    CHECK_OK(MPI_Comm_free(&half));
    CHECK_OK(MPI_Comm_free(&inter));
}

/* A chain of intercommunicators between neighbours, made in overlapping calls with different tags,
 * with one of them as the peer communicator of another. */
static void test_chain(void) {
    MPI_Comm left = MPI_COMM_NULL, right = MPI_COMM_NULL, again;
    for (int step = 0; step < 2; ++step) {
        if (rank % 2 == step) {
            if (rank + 1 < size)
                CHECK_OK(
                    MPI_Intercomm_create(MPI_COMM_SELF, 0, MPI_COMM_WORLD, rank + 1, rank, &right));
        } else if (rank > 0) {
            CHECK_OK(
                MPI_Intercomm_create(MPI_COMM_SELF, 0, MPI_COMM_WORLD, rank - 1, rank - 1, &left));
        }
    }
    if (right != MPI_COMM_NULL) {
        check_all_pairs(right, rank);
        CHECK_OK(MPI_Intercomm_create(MPI_COMM_SELF, 0, right, 0, 3, &again));
        check_all_pairs(again, 7);
        CHECK_OK(MPI_Comm_free(&again));
        CHECK_OK(MPI_Comm_free(&right));
    }
    if (left != MPI_COMM_NULL) {
        check_all_pairs(left, rank - 1);
        CHECK_OK(MPI_Intercomm_create(MPI_COMM_SELF, 0, left, 0, 3, &again));
        check_all_pairs(again, 7);
        CHECK_OK(MPI_Comm_free(&again));
        CHECK_OK(MPI_Comm_free(&left));
    }
}

/* A message that is complete only after the program has dropped its request. */
static void test_disconnect(void) {
    enum { kInts = 300000 };
    static int out[kInts], in[kInts];
    MPI_Comm copy;
    MPI_Request requests[2];
    for (int i = 0; i < kInts; ++i) out[i] = rank + i;
    CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &copy));
    CHECK_OK(MPI_Irecv(in, kInts, MPI_INT, (rank + size - 1) % size, 0, copy, &requests[0]));
    CHECK_OK(MPI_Isend(out, kInts, MPI_INT, (rank + 1) % size, 0, copy, &requests[1]));
    CHECK_OK(MPI_Request_free(&requests[0]));
    CHECK_OK(MPI_Request_free(&requests[1]));
    CHECK_OK(MPI_Comm_disconnect(&copy));
    for (int i = 0; i < kInts; ++i) CHECK_INT(in[i], (rank + size - 1) % size + i);
}

/* An error at a leader reaches its group. The leader of the other group is not called. */
static void test_errors(void) {
    MPI_Comm copy, inter;
    CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &copy));
    CHECK_OK(MPI_Comm_set_errhandler(copy, MPI_ERRORS_RETURN));
    CHECK_CLASS(MPI_Intercomm_create(copy, size, MPI_COMM_WORLD, 0, 0, &inter), MPI_ERR_RANK);
    CHECK_CLASS(MPI_Intercomm_create(copy, 0, MPI_COMM_WORLD, rank == 0 ? size : 0, 0, &inter),
                MPI_ERR_RANK);
    CHECK_CLASS(MPI_Intercomm_merge(copy, 0, &inter), MPI_ERR_COMM);
    CHECK_OK(MPI_Comm_free(&copy));
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = size - 1; i >= 0; --i) {
        if (i % 2)
            odds[n_odd++] = i;
        else
            evens[n_even++] = i;
    }
    if (size > 1) {
        test_create_and_merge();
        test_dup();
        test_split();
        test_chain();
    }
    /* Any argument: an implementation that may not wait in the last tests, or wait forever. */
    if (argc < 2) test_disconnect();
    if (argc < 2) test_errors();
    MPI_Finalize();
    return 0;
}
