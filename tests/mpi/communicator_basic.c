/* Communicators within one group: queries, duplicates, splits, groups, names, hints, attributes, and
 * how they are freed. Any number of tasks. */
#include "mpi_test.h"

static int rank, size;

/* Messages around the ring of the members; a message of another communicator would be found. */
static void check_ring(MPI_Comm comm, int mark) {
    int own, members, out[2], in[2];
    MPI_Status status;
    CHECK_OK(MPI_Comm_rank(comm, &own));
    CHECK_OK(MPI_Comm_size(comm, &members));
    out[0] = mark;
    out[1] = own;
    CHECK_OK(MPI_Sendrecv(out, 2, MPI_INT, (own + 1) % members, 5, in, 2, MPI_INT, MPI_ANY_SOURCE,
                          MPI_ANY_TAG, comm, &status));
    CHECK_INT(in[0], mark);
    CHECK_INT(in[1], (own + members - 1) % members);
    CHECK_INT(status.MPI_SOURCE, in[1]);
}

/* The rank in MPI_COMM_WORLD of a member. */
static int world_rank(MPI_Comm comm, int member) {
    MPI_Group all, group;
    int result = -1;
    CHECK_OK(MPI_Comm_group(MPI_COMM_WORLD, &all));
    CHECK_OK(MPI_Comm_group(comm, &group));
    CHECK_OK(MPI_Group_translate_ranks(group, 1, &member, all, &result));
    MPI_Group_free(&group);
    MPI_Group_free(&all);
    return result;
}

static int compared(MPI_Comm one, MPI_Comm two) {
    int result = -1;
    CHECK_OK(MPI_Comm_compare(one, two, &result));
    return result;
}

static void test_dup(void) {
    MPI_Comm copies[40];
    for (int i = 0; i < 40; ++i) {
        CHECK_OK(MPI_Comm_dup(i == 0 ? MPI_COMM_WORLD : copies[i / 2], &copies[i]));
        CHECK_INT(compared(copies[i], MPI_COMM_WORLD), MPI_CONGRUENT);
        CHECK_INT(compared(copies[i], copies[i]), MPI_IDENT);
    }
    /* Equal messages on all of them, received in another order. */
    MPI_Request requests[80];
    int in[40], out[40];
    for (int i = 0; i < 40; ++i) {
        out[i] = i * 100 + rank;
        CHECK_OK(MPI_Isend(&out[i], 1, MPI_INT, (rank + 1) % size, 3, copies[i], &requests[i]));
    }
    for (int i = 39; i >= 0; --i)
        CHECK_OK(MPI_Irecv(&in[i], 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, copies[i],
                           &requests[40 + i]));
    CHECK_OK(MPI_Waitall(80, requests, MPI_STATUSES_IGNORE));
    for (int i = 0; i < 40; ++i) CHECK_INT(in[i], i * 100 + (rank + size - 1) % size);
    for (int i = 0; i < 40; ++i) {
        CHECK_OK(MPI_Comm_free(&copies[i]));
        CHECK(copies[i] == MPI_COMM_NULL);
    }
    MPI_Comm own;
    CHECK_OK(MPI_Comm_dup(MPI_COMM_SELF, &own));
    check_ring(own, 4);
    CHECK_OK(MPI_Comm_free(&own));
}

static void test_idup(void) {
    enum { kMany = 20 };
    MPI_Comm copies[kMany], half, inner;
    MPI_Request requests[kMany];
    CHECK_OK(MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &half));
    for (int i = 0; i < kMany; ++i) {
        CHECK_OK(MPI_Comm_idup(i % 3 == 0 ? MPI_COMM_WORLD : half, &copies[i], &requests[i]));
        /* Blocking calls while others are in progress. */
        if (i % 5 == 0) {
            CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &inner));
            check_ring(inner, i);
            CHECK_OK(MPI_Comm_free(&inner));
        }
    }
    CHECK_OK(MPI_Comm_free(&half));
    for (int i = 0; i < kMany; ++i) {
        /* In different orders at different tasks. */
        const int k = (i + rank) % kMany;
        CHECK_OK(MPI_Wait(&requests[k], MPI_STATUS_IGNORE));
        CHECK(requests[k] == MPI_REQUEST_NULL);
    }
    for (int i = 0; i < kMany; ++i) {
        check_ring(copies[i], 1000 + i);
        CHECK_OK(MPI_Comm_free(&copies[i]));
    }
}

static void test_split(void) {
    for (int colors = 1; colors <= size; ++colors) {
        MPI_Comm part;
        int members, own;
        CHECK_OK(MPI_Comm_split(MPI_COMM_WORLD, rank % colors, -rank, &part));
        CHECK_OK(MPI_Comm_size(part, &members));
        CHECK_OK(MPI_Comm_rank(part, &own));
        CHECK_INT(members, (size - rank % colors + colors - 1) / colors);
        CHECK_INT(own, members - 1 - rank / colors);
        for (int i = 0; i < members; ++i)
            CHECK_INT(world_rank(part, i), rank % colors + (members - 1 - i) * colors);
        check_ring(part, 50 + rank % colors);
        CHECK_OK(MPI_Comm_free(&part));
    }
    MPI_Comm part;
    CHECK_OK(MPI_Comm_split(MPI_COMM_WORLD, rank == 0 ? MPI_UNDEFINED : 7, 0, &part));
    CHECK((part == MPI_COMM_NULL) == (rank == 0));
    if (part != MPI_COMM_NULL) {
        int own;
        CHECK_OK(MPI_Comm_rank(part, &own));
        CHECK_INT(own, rank - 1);
        CHECK_OK(MPI_Comm_free(&part));
    }
}

static void test_split_type(void) {
    MPI_Comm node, again;
    CHECK_OK(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &node));
    CHECK(node != MPI_COMM_NULL);
    check_ring(node, 60);
    /* The members have one node: a split of them changes nothing. */
    CHECK_OK(MPI_Comm_split_type(node, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &again));
    CHECK_INT(compared(node, again), MPI_CONGRUENT);
    CHECK_OK(MPI_Comm_free(&again));
    CHECK_OK(MPI_Comm_split_type(node, rank % 2 ? MPI_UNDEFINED : MPI_COMM_TYPE_SHARED, 0,
                                 MPI_INFO_NULL, &again));
    CHECK((again == MPI_COMM_NULL) == (rank % 2 != 0));
    if (again != MPI_COMM_NULL) CHECK_OK(MPI_Comm_free(&again));
#if MPI_VERSION >= 4
    MPI_Comm guided;
    MPI_Info info;
    CHECK_OK(MPI_Info_create(&info));
    CHECK_OK(MPI_Info_set(info, "mpi_hw_resource_type", "mpi_shared_memory"));
    CHECK_OK(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_HW_GUIDED, rank, info, &guided));
    CHECK_INT(compared(node, guided), MPI_CONGRUENT);
    CHECK_OK(MPI_Comm_free(&guided));
    CHECK_OK(MPI_Info_set(info, "mpi_hw_resource_type", "no such resource"));
    CHECK_OK(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_HW_GUIDED, rank, info, &guided));
    CHECK(guided == MPI_COMM_NULL);
    CHECK_OK(MPI_Info_free(&info));
#endif
    CHECK_OK(MPI_Comm_free(&node));
}

static void test_create(void) {
    MPI_Group all, part;
    MPI_Comm made;
    CHECK_OK(MPI_Comm_group(MPI_COMM_WORLD, &all));
    int ranks[64], n = 0;
    for (int i = size - 1; i >= 0; --i)
        if (i % 2 == rank % 2) ranks[n++] = i;
    CHECK_OK(MPI_Group_incl(all, n, ranks, &part));
    /* Two disjoint groups at once. */
    CHECK_OK(MPI_Comm_create(MPI_COMM_WORLD, part, &made));
    CHECK(made != MPI_COMM_NULL);
    for (int i = 0; i < n; ++i) CHECK_INT(world_rank(made, i), ranks[i]);
    check_ring(made, 70 + rank % 2);
    CHECK_OK(MPI_Comm_free(&made));
    /* The even ones only. */
    CHECK_OK(MPI_Comm_create(MPI_COMM_WORLD, rank % 2 ? MPI_GROUP_EMPTY : part, &made));
    CHECK((made == MPI_COMM_NULL) == (rank % 2 != 0));
    if (made != MPI_COMM_NULL) CHECK_OK(MPI_Comm_free(&made));
    /* By the members alone, several times with different tags and with the same one. */
    if (rank % 2 == 0) {
        for (int i = 0; i < 10; ++i) {
            CHECK_OK(MPI_Comm_create_group(MPI_COMM_WORLD, part, i / 2, &made));
            check_ring(made, 80 + i);
            CHECK_OK(MPI_Comm_free(&made));
        }
    }
    /* Overlapping groups: every pair of neighbours. */
    for (int i = 0; i + 1 < size; ++i) {
        if (rank != i && rank != i + 1) continue;
        MPI_Group pair;
        const int both[2] = {i, i + 1};
        CHECK_OK(MPI_Group_incl(all, 2, both, &pair));
        CHECK_OK(MPI_Comm_create_group(MPI_COMM_WORLD, pair, 9, &made));
        check_ring(made, 90 + i);
        CHECK_OK(MPI_Comm_free(&made));
        MPI_Group_free(&pair);
    }
    MPI_Group_free(&part);
    MPI_Group_free(&all);
}

static void test_names(void) {
    char name[MPI_MAX_OBJECT_NAME];
    int length = -1;
    CHECK_OK(MPI_Comm_get_name(MPI_COMM_WORLD, name, &length));
    CHECK(strcmp(name, "MPI_COMM_WORLD") == 0);
    CHECK_INT(length, 14);
    MPI_Comm copy, other;
    CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &copy));
    CHECK_OK(MPI_Comm_get_name(copy, name, &length));
    CHECK_INT(length, 0);
    CHECK_OK(MPI_Comm_set_name(copy, "ocean"));
    CHECK_OK(MPI_Comm_dup(copy, &other));
    CHECK_OK(MPI_Comm_get_name(other, name, &length));
    CHECK_INT(length, 0);
    CHECK_OK(MPI_Comm_get_name(copy, name, &length));
    CHECK(strcmp(name, "ocean") == 0);
    CHECK_INT(length, 5);
    CHECK_OK(MPI_Comm_free(&copy));
    CHECK_OK(MPI_Comm_free(&other));
}

static void test_hints(void) {
    MPI_Comm one, two, three;
    MPI_Info info, used;
    char value[MPI_MAX_INFO_VAL + 1];
    int flag = -1;
    CHECK_OK(MPI_Info_create(&info));
    CHECK_OK(MPI_Info_set(info, "mpi_assert_no_any_tag", "true"));
    CHECK_OK(MPI_Info_set(info, "nobody knows this", "true"));
    CHECK_OK(MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, &one));
    CHECK_OK(MPI_Info_free(&info));
    CHECK_OK(MPI_Comm_get_info(one, &used));
    CHECK_OK(MPI_Info_get(used, "mpi_assert_no_any_tag", MPI_MAX_INFO_VAL, value, &flag));
    CHECK_INT(flag, 1);
    CHECK(strcmp(value, "true") == 0);
    CHECK_OK(MPI_Info_free(&used));
    MPI_Request request;
    CHECK_OK(MPI_Comm_dup(one, &two));
    CHECK_OK(MPI_Comm_idup(two, &three, &request));
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Info_create(&info));
    CHECK_OK(MPI_Info_set(info, "mpi_assert_exact_length", "true"));
    CHECK_OK(MPI_Comm_set_info(three, info));
    CHECK_OK(MPI_Info_free(&info));
    CHECK_OK(MPI_Comm_get_info(three, &used));
    CHECK(used != MPI_INFO_NULL);
    CHECK_OK(MPI_Info_free(&used));
    CHECK_OK(MPI_Comm_free(&one));
    CHECK_OK(MPI_Comm_free(&two));
    CHECK_OK(MPI_Comm_free(&three));
}

/* The copy functions of a duplicate run at the call, the delete functions when it is freed. */
static int copied, deleted, copy_result, delete_order[8];

static int copy_attribute(MPI_Comm comm, int key, void* extra, void* value, void* result,
                          int* flag) {
    (void)comm, (void)key;
    ++copied;
    *(void**)result = (char*)value + 1;
    *flag = extra == NULL;
    return copy_result;
}
static int delete_attribute(MPI_Comm comm, int key, void* value, void* extra) {
    (void)comm, (void)value, (void)extra;
    delete_order[deleted++ % 8] = key;
    return MPI_SUCCESS;
}

static void test_attributes(void) {
    int keys[3], flag = 0;
    static char place[8];
    char* value = NULL;
    CHECK_OK(MPI_Comm_create_keyval(copy_attribute, delete_attribute, &keys[0], NULL));
    CHECK_OK(MPI_Comm_create_keyval(copy_attribute, delete_attribute, &keys[1], place));
    CHECK_OK(MPI_Comm_create_keyval(MPI_COMM_DUP_FN, delete_attribute, &keys[2], NULL));
    MPI_Comm one, two, three;
    CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &one));
    for (int i = 0; i < 3; ++i) CHECK_OK(MPI_Comm_set_attr(one, keys[i], place + i));
    copied = deleted = 0;
    MPI_Request request;
    CHECK_OK(MPI_Comm_dup(one, &two));
    CHECK_INT(copied, 2);
    CHECK_OK(MPI_Comm_idup(two, &three, &request));
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK_INT(copied, 3);
    CHECK_OK(MPI_Comm_get_attr(three, keys[0], &value, &flag));
    CHECK(flag && value == place + 2);
    CHECK_OK(MPI_Comm_get_attr(three, keys[1], &value, &flag));
    CHECK(!flag);
    CHECK_OK(MPI_Comm_get_attr(three, keys[2], &value, &flag));
    CHECK(flag && value == place + 2);
    int* bound = NULL;
    CHECK_OK(MPI_Comm_get_attr(three, MPI_TAG_UB, &bound, &flag));
    CHECK(flag && *bound >= 32767);
    /* A split copies nothing. */
    MPI_Comm part;
    CHECK_OK(MPI_Comm_split(one, 0, 0, &part));
    CHECK_OK(MPI_Comm_get_attr(part, keys[2], &value, &flag));
    CHECK(!flag);
    CHECK_OK(MPI_Comm_free(&part));
    CHECK_INT(deleted, 0);
    CHECK_OK(MPI_Comm_free(&three));
    CHECK_INT(deleted, 2);
    CHECK_OK(MPI_Comm_free(&two));
    CHECK_INT(deleted, 4);
    /* A failing copy function: no communicator, and no member waits. */
    MPI_Comm_set_errhandler(one, MPI_ERRORS_RETURN);
    copy_result = MPI_ERR_OTHER;
    CHECK(MPI_Comm_dup(one, &two) != MPI_SUCCESS);
    for (int i = 0; i < 3; ++i) {
        CHECK(MPI_Comm_idup(one, &two, &request) != MPI_SUCCESS);
        check_ring(one, 200 + i);
    }
    /* The same at one member only. */
    copy_result = rank == size / 2 ? MPI_ERR_OTHER : MPI_SUCCESS;
    CHECK((MPI_Comm_dup(one, &two) == MPI_SUCCESS) == (copy_result == MPI_SUCCESS));
    if (copy_result == MPI_SUCCESS) CHECK_OK(MPI_Comm_free(&two));
    copy_result = MPI_SUCCESS;
    deleted = 0;
    CHECK_OK(MPI_Comm_free(&one));
    CHECK_INT(deleted, 3);
    for (int i = 0; i < 3; ++i) CHECK_OK(MPI_Comm_free_keyval(&keys[i]));
}

static void test_errhandler(void) {
    MPI_Comm one, two;
    MPI_Errhandler handler;
    CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &one));
    CHECK_OK(MPI_Comm_set_errhandler(one, MPI_ERRORS_RETURN));
    CHECK_OK(MPI_Comm_dup(one, &two));
    CHECK_OK(MPI_Comm_get_errhandler(two, &handler));
    CHECK(handler == MPI_ERRORS_RETURN);
    CHECK_OK(MPI_Comm_free(&two));
    int number;
    MPI_Comm null = MPI_COMM_NULL, world = MPI_COMM_WORLD;
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    CHECK_CLASS(MPI_Comm_size(null, &number), MPI_ERR_COMM);
    CHECK_CLASS(MPI_Comm_dup(null, &two), MPI_ERR_COMM);
    CHECK_CLASS(MPI_Comm_free(&null), MPI_ERR_COMM);
    CHECK_CLASS(MPI_Comm_free(&world), MPI_ERR_COMM);
    CHECK_OK(MPI_Comm_free(&one));
}

/* Members wait for nobody if one of them gives a wrong argument. Not all implementations do that. */
static void test_wrong_member(void) {
    MPI_Comm one, two;
    int number;
    CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &one));
    CHECK_OK(MPI_Comm_set_errhandler(one, MPI_ERRORS_RETURN));
    CHECK_CLASS(MPI_Comm_remote_size(one, &number), MPI_ERR_COMM);
    CHECK_CLASS(MPI_Comm_split(one, rank == size / 2 ? -5 : 1, 0, &two), MPI_ERR_ARG);
    CHECK(two == MPI_COMM_NULL);
    MPI_Group all;
    CHECK_OK(MPI_Comm_group(one, &all));
    CHECK_CLASS(MPI_Comm_create(one, rank == size / 2 ? MPI_GROUP_NULL : all, &two), MPI_ERR_GROUP);
    CHECK_CLASS(MPI_Comm_split_type(one, rank == size / 2 ? 12345 : MPI_COMM_TYPE_SHARED, 0,
                                    MPI_INFO_NULL, &two),
                MPI_ERR_ARG);
    MPI_Group_free(&all);
    check_ring(one, 3);
    CHECK_OK(MPI_Comm_free(&one));
}

/* A communicator that is freed while messages are in progress. */
static void test_pending(void) {
    enum { kInts = 200000 };
    static int out[kInts], in[kInts];
    for (int i = 0; i < 10; ++i) {
        MPI_Comm copy;
        MPI_Request requests[2];
        for (int k = 0; k < kInts; ++k) out[k] = rank + k + i, in[k] = 0;
        CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &copy));
        CHECK_OK(MPI_Irecv(in, kInts, MPI_INT, (rank + size - 1) % size, 1, copy, &requests[0]));
        CHECK_OK(MPI_Isend(out, kInts, MPI_INT, (rank + 1) % size, 1, copy, &requests[1]));
        CHECK_OK(MPI_Comm_free(&copy));
        MPI_Status status[2];
        CHECK_OK(MPI_Waitall(2, requests, status));
        CHECK_INT(status[0].MPI_SOURCE, (rank + size - 1) % size);
        for (int k = 0; k < kInts; ++k) CHECK_INT(in[k], (rank + size - 1) % size + k + i);
    }
}

/* Many communicators, one after the other and at once. */
static void test_many(int many) {
    for (int i = 0; i < many; ++i) {
        MPI_Comm copy;
        CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &copy));
        if (i % 100 == 0) check_ring(copy, i);
        CHECK_OK(MPI_Comm_free(&copy));
    }
    enum { kAtOnce = 300 };
    static MPI_Comm copies[kAtOnce];
    for (int i = 0; i < kAtOnce; ++i)
        CHECK_OK(MPI_Comm_split(MPI_COMM_WORLD, (rank + i) % 2, 0, &copies[i]));
    for (int i = 0; i < kAtOnce; ++i) check_ring(copies[i], i);
    for (int i = 0; i < kAtOnce; ++i) CHECK_OK(MPI_Comm_free(&copies[i]));
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    CHECK_INT(compared(MPI_COMM_WORLD, MPI_COMM_SELF), size == 1 ? MPI_CONGRUENT : MPI_UNEQUAL);
    test_dup();
    test_split();
    test_idup();
    test_split_type();
    test_create();
    test_names();
    test_hints();
    test_attributes();
    test_errhandler();
    test_pending();
    test_many(1000);
    /* Any argument: an implementation that may wait forever in the last test. */
    if (argc < 2) test_wrong_member();
    MPI_Finalize();
    return 0;
}
