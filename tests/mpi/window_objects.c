/* Windows of all kinds: how they are made, their attributes, names, hints, groups, error handlers and integers,
 * and what is refused. Any number of tasks. */
#include "mpi_test.h"

static int rank, size;

static void* pointer_attribute(MPI_Win win, int key) {
    void* value = NULL;
    int flag = 0;
    CHECK_OK(MPI_Win_get_attr(win, key, &value, &flag));
    CHECK(flag);
    return value;
}

static void check_attributes(MPI_Win win, void* base, MPI_Aint bytes, int unit, int flavor) {
    CHECK(pointer_attribute(win, MPI_WIN_BASE) == base);
    CHECK_INT(*(MPI_Aint*)pointer_attribute(win, MPI_WIN_SIZE), bytes);
    CHECK_INT(*(int*)pointer_attribute(win, MPI_WIN_DISP_UNIT), unit);
    CHECK_INT(*(int*)pointer_attribute(win, MPI_WIN_CREATE_FLAVOR), flavor);
    CHECK_INT(*(int*)pointer_attribute(win, MPI_WIN_MODEL), MPI_WIN_UNIFIED);
}

static int copies, deletes;
static int copy_attribute(MPI_Win win, int key, void* extra, void* in, void* out, int* flag) {
    (void)win, (void)key, (void)extra, (void)in, (void)out;
    ++copies;
    *flag = 0;
    return MPI_SUCCESS;
}
static int delete_attribute(MPI_Win win, int key, void* value, void* extra) {
    (void)win, (void)key, (void)extra;
    ++deletes;
    return *(int*)value == 5 ? MPI_SUCCESS : MPI_ERR_OTHER;
}

static void test_attributes(MPI_Win win) {
    static int five = 5; /* until the window is freed */
    int key, flag = 1;
    void* value = NULL;
    CHECK_OK(MPI_Win_create_keyval(copy_attribute, delete_attribute, &key, NULL));
    CHECK_OK(MPI_Win_get_attr(win, key, &value, &flag));
    CHECK_INT(flag, 0);
    CHECK_OK(MPI_Win_set_attr(win, key, &five));
    CHECK(pointer_attribute(win, key) == &five);
    CHECK_OK(MPI_Win_delete_attr(win, key));
    CHECK_INT(deletes, 1);
    CHECK_OK(MPI_Win_set_attr(win, key, &five));
    CHECK_OK(MPI_Win_free_keyval(&key));
    CHECK_INT(key, MPI_KEYVAL_INVALID);
    CHECK_CLASS(MPI_Win_set_attr(win, MPI_WIN_BASE, &five), MPI_ERR_KEYVAL);
}

static int handled;
static void count_error(MPI_Win* win, int* code, ...) {
    (void)win, (void)code;
    ++handled;
}

static void test_names_and_handlers(MPI_Win win) {
    char name[MPI_MAX_OBJECT_NAME] = "x";
    int length = 5, members;
    MPI_Errhandler handler, got;
    MPI_Info info;
    MPI_Group group, all;
    CHECK_OK(MPI_Win_get_name(win, name, &length));
    CHECK_INT(length, 0);
    CHECK_OK(MPI_Win_set_name(win, "table"));
    CHECK_OK(MPI_Win_get_name(win, name, &length));
    CHECK(strcmp(name, "table") == 0 && length == 5);
    CHECK_OK(MPI_Win_create_errhandler(count_error, &handler));
    CHECK_OK(MPI_Win_set_errhandler(win, handler));
    CHECK_CLASS(MPI_Win_lock(-77, 0, 0, win), MPI_ERR_LOCKTYPE);
    CHECK_INT(handled, 1);
    CHECK_OK(MPI_Win_get_errhandler(win, &got));
    CHECK(got == handler);
    MPI_Errhandler_free(&got);
    MPI_Errhandler_free(&handler);
    CHECK_OK(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
    CHECK_OK(MPI_Info_create(&info));
    CHECK_OK(MPI_Info_set(info, "no_locks", "false"));
    CHECK_OK(MPI_Win_set_info(win, info));
    MPI_Info_free(&info);
    CHECK_OK(MPI_Win_get_info(win, &info));
    CHECK_OK(MPI_Info_get(info, "no_locks", 10, name, &length));
    CHECK(length && strcmp(name, "false") == 0);
    MPI_Info_free(&info);
    CHECK_OK(MPI_Win_get_group(win, &group));
    CHECK_OK(MPI_Comm_group(MPI_COMM_WORLD, &all));
    CHECK_OK(MPI_Group_compare(group, all, &members));
    CHECK_INT(members, MPI_IDENT);
    MPI_Group_free(&group);
    MPI_Group_free(&all);
    CHECK(MPI_Win_f2c(MPI_Win_c2f(win)) == win);
    CHECK(MPI_Win_fromint(MPI_Win_toint(win)) == win);
}

static void test_kinds(void) {
    int data[10];
    double* table = NULL;
    MPI_Win win, other;
    CHECK_OK(MPI_Win_create(data, sizeof data, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    CHECK_OK(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
    check_attributes(win, data, sizeof data, sizeof(int), MPI_WIN_FLAVOR_CREATE);
    test_names_and_handlers(win);
    test_attributes(win);
    CHECK_OK(MPI_Win_create(NULL, 0, 1, MPI_INFO_NULL, MPI_COMM_SELF, &other));
    check_attributes(other, NULL, 0, 1, MPI_WIN_FLAVOR_CREATE);
    CHECK_OK(MPI_Win_free(&other));
    CHECK(other == MPI_WIN_NULL);
    CHECK_OK(MPI_Win_free(&win));
    CHECK_INT(deletes, 2);
    CHECK_INT(copies, 0);

    CHECK_OK(MPI_Win_allocate(rank * 8, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &table, &win));
    check_attributes(win, table, rank * 8, 8, MPI_WIN_FLAVOR_ALLOCATE);
    if (rank > 0) table[rank - 1] = rank;
    CHECK_OK(MPI_Win_free(&win));

    CHECK_OK(MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    CHECK_OK(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
    check_attributes(win, MPI_BOTTOM, 0, 1, MPI_WIN_FLAVOR_DYNAMIC);
    CHECK_OK(MPI_Win_attach(win, data, sizeof data));
    CHECK_CLASS(MPI_Win_attach(win, data + 5, sizeof data), MPI_ERR_RMA_ATTACH);
    CHECK_CLASS(MPI_Win_detach(win, data + 5), MPI_ERR_BASE);
    CHECK_OK(MPI_Win_detach(win, data));
    CHECK_OK(MPI_Win_free(&win));
}

/* Every member of a node writes to its part, and reads those of the others. */
static void test_shared(int noncontiguous) {
    MPI_Comm node;
    MPI_Win win;
    MPI_Info info;
    int *own, *part, own_rank, members, unit;
    MPI_Aint bytes;
    CHECK_OK(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node));
    MPI_Comm_rank(node, &own_rank);
    MPI_Comm_size(node, &members);
    CHECK_OK(MPI_Info_create(&info));
    CHECK_OK(MPI_Info_set(info, "alloc_shared_noncontig", noncontiguous ? "true" : "false"));
    const int count = own_rank + 1;
    CHECK_OK(MPI_Win_allocate_shared(count * (MPI_Aint)sizeof(int), sizeof(int), info, node, &own,
                                     &win));
    check_attributes(win, own, count * (MPI_Aint)sizeof(int), sizeof(int), MPI_WIN_FLAVOR_SHARED);
    CHECK_OK(MPI_Win_lock_all(MPI_MODE_NOCHECK, win));
    for (int i = 0; i < count; ++i) own[i] = own_rank * 100 + i;
    CHECK_OK(MPI_Win_sync(win));
    CHECK_OK(MPI_Barrier(node));
    CHECK_OK(MPI_Win_sync(win));
    int* expected = NULL;
    for (int r = 0; r < members; ++r) {
        CHECK_OK(MPI_Win_shared_query(win, r, &bytes, &unit, &part));
        CHECK_INT(bytes, (r + 1) * (MPI_Aint)sizeof(int));
        CHECK_INT(unit, sizeof(int));
        for (int i = 0; i <= r; ++i) CHECK_INT(part[i], r * 100 + i);
        if (!noncontiguous && r > 0) CHECK(part == expected);
        expected = part + r + 1;
        if (r == own_rank) CHECK(part == own);
        if (r == 0) {
            int* first;
            CHECK_OK(MPI_Win_shared_query(win, MPI_PROC_NULL, &bytes, &unit, &first));
            CHECK(first == part);
        }
    }
    CHECK_OK(MPI_Win_unlock_all(win));
    CHECK_OK(MPI_Win_free(&win));
    MPI_Info_free(&info);
    MPI_Comm_free(&node);
}

/* The hints that a window was not given have their defaults; a member without memory has no address. */
static void test_defaults(void) {
    const char* expected[][2] = {{"no_locks", "false"},
                                 {"accumulate_ordering", "rar,raw,war,waw"},
                                 {"accumulate_ops", "same_op_no_op"},
                                 {"same_size", "true"},
                                 {"same_disp_unit", "false"}};
    MPI_Comm node;
    CHECK_OK(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node));
    int own_rank;
    int members;
    MPI_Comm_rank(node, &own_rank);
    MPI_Comm_size(node, &members);
    MPI_Info given;
    MPI_Info_create(&given);
    MPI_Info_set(given, "same_size", "true");
    int* own;
    MPI_Win win;
    const MPI_Aint size = own_rank % 2 == 0 ? (MPI_Aint)sizeof(int) : 0;
    CHECK_OK(MPI_Win_allocate_shared(size, sizeof(int), given, node, &own, &win));
    MPI_Info used;
    CHECK_OK(MPI_Win_get_info(win, &used));
    for (size_t i = 0; i < sizeof expected / sizeof *expected; ++i) {
        char value[64] = "";
        int length = sizeof value;
        int found = 0;
        MPI_Info_get_string(used, expected[i][0], &length, value, &found);
        CHECK(found && strcmp(value, expected[i][1]) == 0);
    }
    for (int r = 0; r < members; ++r) {
        MPI_Aint bytes;
        int unit;
        int* part;
        CHECK_OK(MPI_Win_shared_query(win, r, &bytes, &unit, &part));
        CHECK_INT(bytes, r % 2 == 0 ? sizeof(int) : 0);
        CHECK((part == NULL) == (r % 2 != 0));
    }
    MPI_Info_free(&used);
    MPI_Info_free(&given);
    CHECK_OK(MPI_Win_free(&win));
    MPI_Comm_free(&node);
}

static void test_refusals(void) {
    MPI_Win win = MPI_WIN_NULL;
    int data[4] = {0};
    CHECK_CLASS(MPI_Win_free(&win), MPI_ERR_WIN);
    CHECK_CLASS(MPI_Win_fence(0, win), MPI_ERR_WIN);
    CHECK_CLASS(MPI_Win_create(data, -1, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win), MPI_ERR_SIZE);
    CHECK_CLASS(MPI_Win_create(data, 4, 0, MPI_INFO_NULL, MPI_COMM_WORLD, &win), MPI_ERR_DISP);
    /* An error of one member is one of all. */
    CHECK_CLASS(
        MPI_Win_create(data, rank == size - 1 ? -1 : 4, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win),
        MPI_ERR_SIZE);
    CHECK(win == MPI_WIN_NULL);
    CHECK_OK(MPI_Win_create(data, sizeof data, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    CHECK_OK(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
    int one = 1;
    /* Outside of an epoch. */
    CHECK_CLASS(MPI_Put(&one, 1, MPI_INT, 0, 0, 1, MPI_INT, win), MPI_ERR_RMA_SYNC);
    CHECK_CLASS(MPI_Win_unlock(0, win), MPI_ERR_RMA_SYNC);
    CHECK_CLASS(MPI_Win_unlock_all(win), MPI_ERR_RMA_SYNC);
    CHECK_CLASS(MPI_Win_complete(win), MPI_ERR_RMA_SYNC);
    CHECK_CLASS(MPI_Win_wait(win), MPI_ERR_RMA_SYNC);
    CHECK_CLASS(MPI_Win_flush(0, win), MPI_ERR_RMA_SYNC);
    CHECK_CLASS(MPI_Win_fence(1, win), MPI_ERR_ASSERT);
    CHECK_OK(MPI_Win_fence(0, win));
    CHECK_CLASS(MPI_Put(&one, 1, MPI_INT, size, 0, 1, MPI_INT, win), MPI_ERR_RANK);
    CHECK_CLASS(MPI_Put(&one, 1, MPI_INT, 0, 4, 1, MPI_INT, win), MPI_ERR_RMA_RANGE);
    CHECK_CLASS(MPI_Put(&one, 1, MPI_INT, 0, -1, 1, MPI_INT, win), MPI_ERR_DISP);
    CHECK_CLASS(MPI_Put(&one, 1, MPI_INT, 0, 0, -1, MPI_INT, win), MPI_ERR_COUNT);
    CHECK_CLASS(MPI_Put(&one, 1, MPI_INT, 0, 0, 1, MPI_DATATYPE_NULL, win), MPI_ERR_TYPE);
    CHECK_CLASS(MPI_Accumulate(&one, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_OP_NULL, win), MPI_ERR_OP);
    CHECK_CLASS(MPI_Accumulate(&one, 1, MPI_FLOAT, 0, 0, 1, MPI_FLOAT, MPI_BAND, win), MPI_ERR_OP);
    CHECK_OK(MPI_Put(&one, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, win));
    CHECK_OK(MPI_Put(NULL, 0, MPI_INT, 0, 0, 0, MPI_INT, win));
    CHECK_OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, win));
    CHECK_CLASS(MPI_Put(&one, 1, MPI_INT, 0, 0, 1, MPI_INT, win), MPI_ERR_RMA_SYNC);
    CHECK_OK(MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win));
    CHECK_CLASS(MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win), MPI_ERR_RMA_SYNC);
    CHECK_CLASS(MPI_Win_lock_all(0, win), MPI_ERR_RMA_SYNC);
    CHECK_CLASS(MPI_Win_free(&win), MPI_ERR_RMA_SYNC);
    CHECK_OK(MPI_Win_unlock(rank, win));
    CHECK_OK(MPI_Win_free(&win));
}

int main(int argc, char** argv) {
    CHECK_OK(MPI_Init(&argc, &argv));
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    test_kinds();
    test_shared(0);
    test_shared(1);
    test_defaults();
    test_refusals();
    MPI_Finalize();
    return 0;
}
