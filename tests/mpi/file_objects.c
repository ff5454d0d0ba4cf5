/* Files: how they are opened, modes, sizes, hints, groups, file pointers, data representations,
 * error handlers, and what is refused. Any number of tasks. */
#include <limits.h>
#include <stdint.h>
#include <unistd.h>

#include "mpi_test.h"

static int rank, size;
static char name[300], missing[330];

static MPI_File open_new(int amode) {
    MPI_File file = MPI_FILE_NULL;
    CHECK_OK(MPI_File_open(MPI_COMM_WORLD, name, amode | MPI_MODE_CREATE | MPI_MODE_DELETE_ON_CLOSE,
                           MPI_INFO_NULL, &file));
    CHECK(file != MPI_FILE_NULL);
    return file;
}

static int opens(int amode) {
    MPI_File file = MPI_FILE_NULL;
    int class = MPI_SUCCESS;
    const int code = MPI_File_open(MPI_COMM_WORLD, name, amode, MPI_INFO_NULL, &file);
    if (code == MPI_SUCCESS) {
        CHECK_OK(MPI_File_close(&file));
        CHECK(file == MPI_FILE_NULL);
    } else {
        CHECK(file == MPI_FILE_NULL);
        MPI_Error_class(code, &class);
    }
    return class;
}

static void test_modes(void) {
    MPI_File file;
    int amode = 0;
    CHECK_INT(opens(MPI_MODE_RDONLY), MPI_ERR_NO_SUCH_FILE);
    CHECK_INT(opens(MPI_MODE_RDWR | MPI_MODE_WRONLY), MPI_ERR_AMODE);
    CHECK_INT(opens(MPI_MODE_CREATE), MPI_ERR_AMODE);
    CHECK_INT(opens(MPI_MODE_RDONLY | MPI_MODE_CREATE), MPI_ERR_AMODE);
    CHECK_INT(opens(MPI_MODE_RDWR | MPI_MODE_SEQUENTIAL), MPI_ERR_AMODE);
    CHECK_INT(opens(MPI_MODE_RDWR | MPI_MODE_CREATE | MPI_MODE_EXCL), MPI_SUCCESS);
    CHECK_INT(opens(MPI_MODE_RDWR | MPI_MODE_CREATE | MPI_MODE_EXCL), MPI_ERR_FILE_EXISTS);
    CHECK_INT(opens(MPI_MODE_RDONLY), MPI_SUCCESS);
    if (size > 1) CHECK_INT(opens(rank == 0 ? MPI_MODE_RDONLY : MPI_MODE_RDWR), MPI_ERR_NOT_SAME);
    CHECK_OK(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_WRONLY | MPI_MODE_DELETE_ON_CLOSE,
                           MPI_INFO_NULL, &file));
    CHECK_OK(MPI_File_get_amode(file, &amode));
    CHECK_INT(amode, MPI_MODE_WRONLY | MPI_MODE_DELETE_ON_CLOSE);
    CHECK_OK(MPI_File_close(&file));
    CHECK_INT(opens(MPI_MODE_RDONLY), MPI_ERR_NO_SUCH_FILE);
    CHECK_CLASS(MPI_File_delete(name, MPI_INFO_NULL), MPI_ERR_NO_SUCH_FILE);
    CHECK_CLASS(MPI_File_open(MPI_COMM_WORLD, "/", MPI_MODE_RDONLY, MPI_INFO_NULL, &file),
                MPI_ERR_BAD_FILE);
    CHECK_CLASS(MPI_File_open(MPI_COMM_WORLD, missing, MPI_MODE_RDWR | MPI_MODE_CREATE,
                              MPI_INFO_NULL, &file),
                MPI_ERR_NO_SUCH_FILE);
    CHECK_CLASS(MPI_File_open(MPI_COMM_NULL, name, MPI_MODE_RDONLY, MPI_INFO_NULL, &file),
                MPI_ERR_COMM);
    CHECK_CLASS(MPI_File_close(&file), MPI_ERR_FILE);
}

static int handled;
static void count_error(MPI_File* file, int* code, ...) {
    (void)file;
    /* The call returns the code as the handler has left it. */
    *code = MPI_SUCCESS;
    ++handled;
}

static void test_errors(void) {
    MPI_File file = open_new(MPI_MODE_WRONLY);
    MPI_Errhandler handler, got;
    char buffer[8] = "";
    MPI_Offset value;
    MPI_Datatype type;
    CHECK_OK(MPI_File_get_errhandler(file, &got));
    CHECK(got == MPI_ERRORS_RETURN);
    MPI_Errhandler_free(&got);
    CHECK_CLASS(MPI_File_read(file, buffer, 1, MPI_CHAR, MPI_STATUS_IGNORE), MPI_ERR_ACCESS);
    CHECK_CLASS(MPI_File_write(file, buffer, -1, MPI_CHAR, MPI_STATUS_IGNORE), MPI_ERR_COUNT);
    CHECK_CLASS(MPI_File_write(file, NULL, 1, MPI_CHAR, MPI_STATUS_IGNORE), MPI_ERR_BUFFER);
    CHECK_CLASS(MPI_File_write_at(file, -1, buffer, 1, MPI_CHAR, MPI_STATUS_IGNORE), MPI_ERR_ARG);
    CHECK_CLASS(MPI_File_write_at(file, LLONG_MAX, buffer, 1, MPI_CHAR, MPI_STATUS_IGNORE),
                MPI_ERR_ARG);
    CHECK_CLASS(MPI_File_write(file, buffer, 1, MPI_DATATYPE_NULL, MPI_STATUS_IGNORE),
                MPI_ERR_TYPE);
    CHECK_CLASS(MPI_File_seek(file, -1, MPI_SEEK_SET), MPI_ERR_ARG);
    CHECK_CLASS(MPI_File_seek(file, 0, 12345), MPI_ERR_ARG);
    CHECK_CLASS(MPI_File_set_size(file, -5), MPI_ERR_ARG);
    CHECK_CLASS(MPI_File_get_size(MPI_FILE_NULL, &value), MPI_ERR_FILE);
    CHECK_CLASS(MPI_File_set_view(file, 0, MPI_INT, MPI_CHAR, "native", MPI_INFO_NULL),
                MPI_ERR_ARG);
    CHECK_CLASS(MPI_File_set_view(file, -3, MPI_INT, MPI_INT, "native", MPI_INFO_NULL),
                MPI_ERR_ARG);
    CHECK_CLASS(MPI_File_set_view(file, MPI_DISPLACEMENT_CURRENT, MPI_INT, MPI_INT, "native",
                                  MPI_INFO_NULL),
                MPI_ERR_ARG);
    CHECK_CLASS(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "roman", MPI_INFO_NULL),
                MPI_ERR_UNSUPPORTED_DATAREP);
    MPI_Type_contiguous(2, MPI_INT, &type);
    CHECK_CLASS(MPI_File_set_view(file, 0, MPI_INT, type, "native", MPI_INFO_NULL), MPI_ERR_TYPE);
    MPI_Type_free(&type);
    CHECK_OK(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
    CHECK_CLASS(MPI_File_write(file, buffer, 3, MPI_CHAR, MPI_STATUS_IGNORE), MPI_ERR_IO);
    CHECK_CLASS(MPI_File_write_all_end(file, buffer, MPI_STATUS_IGNORE), MPI_ERR_OTHER);
    CHECK_OK(MPI_File_write_all_begin(file, buffer, 0, MPI_CHAR));
    CHECK_CLASS(MPI_File_write_all(file, buffer, 0, MPI_CHAR, MPI_STATUS_IGNORE), MPI_ERR_OTHER);
    CHECK_CLASS(MPI_File_write_ordered_end(file, buffer, MPI_STATUS_IGNORE), MPI_ERR_OTHER);
    CHECK_OK(MPI_File_write_all_end(file, buffer, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_File_create_errhandler(count_error, &handler));
    CHECK_OK(MPI_File_set_errhandler(file, handler));
    MPI_Errhandler_free(&handler);
    CHECK_OK(MPI_File_read(file, buffer, 1, MPI_CHAR, MPI_STATUS_IGNORE));
    CHECK_INT(handled, 1);
    CHECK_OK(MPI_File_close(&file));
    file = open_new(MPI_MODE_RDWR);
    CHECK_INT(handled, 1);
    CHECK_OK(MPI_File_close(&file));
}

/* Long non-blocking accesses of one task move in steps: whole, interleaved with others, and at the end of the file. */
static void test_long_requests(void) {
    enum { BLOCKS = 40, BLOCK = 100 * 1024 };
    const int bytes = BLOCKS * BLOCK;
    const MPI_Offset first = (MPI_Offset)rank * bytes;
    char* given = malloc((size_t)bytes);
    char* got = malloc((size_t)bytes);
    CHECK(given != NULL && got != NULL);
    for (int i = 0; i < bytes; ++i) given[i] = (char)(i * 31 + i / 1000 + rank);
    MPI_File file = open_new(MPI_MODE_RDWR);
    MPI_Request requests[2];
    MPI_Status status;
    int count = 0, flag = 0;
    CHECK_OK(MPI_File_iwrite_at(file, first, given, bytes, MPI_BYTE, &requests[0]));
    while (!flag) CHECK_OK(MPI_Test(&requests[0], &flag, &status));
    MPI_Get_count(&status, MPI_BYTE, &count);
    CHECK_INT(count, bytes);
    memset(got, 0, (size_t)bytes);
    /* Two at a time. */
    CHECK_OK(MPI_File_iread_at(file, first, got, bytes / 2, MPI_BYTE, &requests[0]));
    CHECK_OK(MPI_File_iread_at(file, first + bytes / 2, got + bytes / 2, bytes / 2, MPI_BYTE,
                               &requests[1]));
    CHECK_OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
    CHECK(memcmp(got, given, (size_t)bytes) == 0);
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    /* Blocks of all tasks interleave; the individual pointer moves at once. */
    MPI_Datatype type;
    MPI_Offset at = 0;
    CHECK_OK(MPI_Type_vector(BLOCKS, BLOCK, BLOCK * size, MPI_BYTE, &type));
    CHECK_OK(MPI_Type_commit(&type));
    CHECK_OK(
        MPI_File_set_view(file, (MPI_Offset)BLOCK * rank, MPI_BYTE, type, "native", MPI_INFO_NULL));
    CHECK_OK(MPI_Type_free(&type));
    CHECK_OK(MPI_File_iwrite(file, given, bytes, MPI_BYTE, &requests[0]));
    CHECK_OK(MPI_File_get_position(file, &at));
    CHECK_INT(at, bytes);
    CHECK_OK(MPI_Wait(&requests[0], &status));
    MPI_Get_count(&status, MPI_BYTE, &count);
    CHECK_INT(count, bytes);
    memset(got, 0, (size_t)bytes);
    CHECK_OK(MPI_File_iread_at(file, 0, got, bytes, MPI_BYTE, &requests[0]));
    CHECK_OK(MPI_Wait(&requests[0], MPI_STATUS_IGNORE));
    CHECK(memcmp(got, given, (size_t)bytes) == 0);
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    /* The file ends within the second half. */
    CHECK_OK(MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
    MPI_Offset length = 0;
    CHECK_OK(MPI_File_get_size(file, &length));
    CHECK_OK(MPI_File_iread_at(file, length - bytes / 2, got, bytes, MPI_BYTE, &requests[0]));
    CHECK_OK(MPI_Wait(&requests[0], &status));
    MPI_Get_count(&status, MPI_BYTE, &count);
    CHECK_INT(count, bytes / 2);
    CHECK_OK(MPI_File_close(&file));
    free(given);
    free(got);
}

/* In atomic mode the result of two accesses at the same time is that of one after the other. */
static void test_atomic_order(void) {
    enum { N = 200000, ROUNDS = 10 };
    int* data = malloc(N * sizeof(int));
    CHECK(data != NULL);
    MPI_File file = open_new(MPI_MODE_RDWR);
    MPI_Datatype type;
    /* With gaps, so one access is many calls of the system. */
    CHECK_OK(MPI_Type_vector(N / 500, 500, 1000, MPI_INT, &type));
    CHECK_OK(MPI_Type_commit(&type));
    CHECK_OK(MPI_File_set_view(file, 0, MPI_INT, type, "native", MPI_INFO_NULL));
    CHECK_OK(MPI_Type_free(&type));
    CHECK_OK(MPI_File_set_atomicity(file, 1));
    for (int round = 0; round < ROUNDS; ++round) {
        for (int i = 0; i < N; ++i) data[i] = 1000 * round + rank;
        CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
        CHECK_OK(MPI_File_write_at(file, 0, data, N, MPI_INT, MPI_STATUS_IGNORE));
        /* Others may still be writing: what is read is what one of them has written. */
        CHECK_OK(MPI_File_read_at(file, 0, data, N, MPI_INT, MPI_STATUS_IGNORE));
        CHECK(data[0] >= 1000 * round && data[0] < 1000 * round + size);
        for (int i = 1; i < N; ++i) CHECK_INT(data[i], data[0]);
        CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    }
    CHECK_OK(MPI_File_close(&file));
    free(data);
}

static void test_sizes(void) {
    MPI_File file = open_new(MPI_MODE_RDWR);
    MPI_Offset bytes = -1, position = -1;
    MPI_Group group, all;
    MPI_Info info;
    char value[40];
    int found = 0, same = 0, flag = 1, count = -1;
    MPI_Status status;
    CHECK_OK(MPI_File_get_size(file, &bytes));
    CHECK_INT(bytes, 0);
    CHECK_OK(MPI_File_preallocate(file, 5000));
    CHECK_OK(MPI_File_get_size(file, &bytes));
    CHECK_INT(bytes, 5000);
    CHECK_OK(MPI_File_preallocate(file, 100));
    CHECK_OK(MPI_File_get_size(file, &bytes));
    CHECK_INT(bytes, 5000);
    CHECK_OK(MPI_File_set_size(file, 10));
    CHECK_OK(MPI_File_get_size(file, &bytes));
    CHECK_INT(bytes, 10);
    if (size > 1) CHECK_CLASS(MPI_File_set_size(file, rank), MPI_ERR_NOT_SAME);
    /* The end of the file. */
    int numbers[6] = {0};
    CHECK_OK(MPI_File_set_view(file, 2, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
    CHECK_OK(MPI_File_read(file, numbers, 6, MPI_INT, &status));
    CHECK_OK(MPI_Get_count(&status, MPI_INT, &count));
    CHECK_INT(count, 2);
    CHECK_OK(MPI_File_get_position(file, &position));
    CHECK_INT(position, 2);
    CHECK_OK(MPI_File_read(file, numbers, 6, MPI_INT, &status));
    CHECK_OK(MPI_Get_count(&status, MPI_INT, &count));
    CHECK_INT(count, 0);
    CHECK_OK(MPI_File_seek(file, -1, MPI_SEEK_END));
    CHECK_OK(MPI_File_seek(file, -1, MPI_SEEK_CUR));
    CHECK_OK(MPI_File_get_position(file, &position));
    CHECK_INT(position, 0);
    CHECK_OK(MPI_File_get_byte_offset(file, 3, &position));
    CHECK_INT(position, 14);

    CHECK_OK(MPI_File_get_group(file, &group));
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Group_compare(group, all, &same);
    CHECK_INT(same, MPI_IDENT);
    MPI_Group_free(&group);
    MPI_Group_free(&all);
    CHECK_OK(MPI_File_get_atomicity(file, &flag));
    CHECK_INT(flag, 0);
    CHECK_OK(MPI_File_set_atomicity(file, 7));
    CHECK_OK(MPI_File_get_atomicity(file, &flag));
    CHECK_INT(flag, 1);
    CHECK_OK(MPI_Info_create(&info));
    MPI_Info_set(info, "access_style", "read_once");
    MPI_Info_set(info, "no such hint", "1");
    MPI_Info_set(info, "ind_rd_buffer_size", "8192");
    CHECK_OK(MPI_File_set_info(file, info));
    MPI_Info_free(&info);
    CHECK_OK(MPI_File_get_info(file, &info));
    MPI_Info_get(info, "access_style", 39, value, &found);
    CHECK(found && strcmp(value, "read_once") == 0);
    MPI_Info_get(info, "no such hint", 39, value, &found);
    CHECK(!found);
    MPI_Info_get(info, "ind_rd_buffer_size", 39, value, &found);
    CHECK(found && strcmp(value, "8192") == 0);
    MPI_Info_get(info, "cb_nodes", 39, value, &found);
    CHECK(found && atoi(value) >= 1);
    MPI_Info_free(&info);
    /* Hints of tasks may differ; a collective call takes place all the same. */
    CHECK_OK(MPI_Info_create(&info));
    MPI_Info_set(info, "romio_cb_write", rank % 2 == 0 ? "enable" : "disable");
    MPI_Info_set(info, "cb_nodes", rank % 2 == 0 ? "1" : "2");
    CHECK_OK(MPI_File_set_info(file, info));
    CHECK_OK(MPI_File_write_at_all(file, rank, &rank, 1, MPI_INT, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_File_close(&file));
    CHECK_OK(MPI_File_open(MPI_COMM_WORLD, name,
                           MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, info,
                           &file));
    CHECK_OK(MPI_File_write_at_all(file, rank, &rank, 1, MPI_INT, MPI_STATUS_IGNORE));
    MPI_Info_free(&info);
    CHECK(MPI_File_f2c(MPI_File_c2f(file)) == file);
    CHECK(MPI_File_f2c(MPI_File_c2f(MPI_FILE_NULL)) == MPI_FILE_NULL);
    CHECK_OK(MPI_File_close(&file));
}

static void test_views(void) {
    MPI_File file = open_new(MPI_MODE_RDWR);
    MPI_Datatype type, etype, filetype;
    MPI_Offset displacement = -1, position = -1;
    MPI_Aint lower, extent;
    char datarep[MPI_MAX_DATAREP_STRING] = "";
    int bytes = 0, integers, addresses, types, combiner;
    CHECK_OK(MPI_File_get_view(file, &displacement, &etype, &filetype, datarep));
    CHECK(displacement == 0 && etype == MPI_BYTE && filetype == MPI_BYTE &&
          strcmp(datarep, "native") == 0);
    MPI_Type_vector(3, 2, 5, MPI_SHORT, &type);
    MPI_Type_commit(&type);
    CHECK_OK(MPI_File_set_view(file, 8, MPI_SHORT, type, "internal", MPI_INFO_NULL));
    MPI_Type_free(&type);
    CHECK_OK(MPI_File_get_view(file, &displacement, &etype, &filetype, datarep));
    CHECK(displacement == 8 && etype == MPI_SHORT && strcmp(datarep, "internal") == 0);
    MPI_Type_get_envelope(filetype, &integers, &addresses, &types, &combiner);
    CHECK_INT(combiner, MPI_COMBINER_VECTOR);
    MPI_Type_size(filetype, &bytes);
    CHECK_INT(bytes, 12);
    MPI_Type_get_extent(filetype, &lower, &extent);
    MPI_Type_free(&filetype);
    CHECK_OK(MPI_File_get_byte_offset(file, 6 + 3, &position));
    CHECK_INT(position, 8 + extent + 6 * 2);
    /* The end of the file in a gap. */
    CHECK_OK(MPI_File_set_size(file, 8 + 2 * 2 + 3));
    CHECK_OK(MPI_File_seek(file, 0, MPI_SEEK_END));
    CHECK_OK(MPI_File_get_position(file, &position));
    CHECK_INT(position, 2);
    /* Sizes of external32: a long has 4 bytes. */
    CHECK_OK(MPI_File_set_view(file, 0, MPI_LONG, MPI_LONG, "external32", MPI_INFO_NULL));
    CHECK_OK(MPI_File_get_type_extent(file, MPI_LONG, &extent));
    CHECK_INT(extent, 4);
    CHECK_OK(MPI_File_get_byte_offset(file, 5, &position));
    CHECK_INT(position, 20);
    MPI_Type_vector(2, 1, 3, MPI_LONG, &type);
    MPI_Type_commit(&type);
    CHECK_OK(MPI_File_get_type_extent(file, type, &extent));
    CHECK_INT(extent, 16);
    CHECK_OK(MPI_File_set_view(file, 0, MPI_LONG, type, "external32", MPI_INFO_NULL));
    long given[2] = {rank == 0 ? 0x01020304 : 0, -2}, got[2] = {7, 7};
    if (rank == 0) CHECK_OK(MPI_File_write_at(file, 0, given, 2, MPI_LONG, MPI_STATUS_IGNORE));
    MPI_File_sync(file);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File_sync(file);
    CHECK_OK(MPI_File_read_at(file, 0, got, 2, MPI_LONG, MPI_STATUS_IGNORE));
    CHECK(got[0] == 0x01020304 && got[1] == -2);
    unsigned char raw[16] = {0};
    CHECK_OK(MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
    CHECK_OK(MPI_File_read_at(file, 0, raw, 16, MPI_BYTE, MPI_STATUS_IGNORE));
    CHECK(raw[0] == 1 && raw[1] == 2 && raw[2] == 3 && raw[3] == 4);
    CHECK(raw[12] == 0xff && raw[15] == 0xfe);
    MPI_Type_free(&type);
    CHECK_OK(MPI_File_close(&file));
}

/* Datatypes that a view for writing must not have, and one for reading may. */
static void test_refused_views(void) {
    MPI_File file;
    MPI_Datatype types[3];
    const int lengths[] = {2, 1};
    const int places[3][2] = {{-1, 3}, {3, 0}, {0, 1}}; /* negative, descending, overlapping */
    int numbers[3] = {rank, rank + 1, rank + 2}, got[3] = {0};
    for (int i = 0; i < 3; ++i) {
        MPI_Type_indexed(2, lengths, places[i], MPI_INT, &types[i]);
        MPI_Type_commit(&types[i]);
    }
    CHECK_OK(
        MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_INFO_NULL, &file));
    for (int i = 0; i < 3; ++i) {
        CHECK_CLASS(MPI_File_set_view(file, 0, MPI_INT, types[i], "native", MPI_INFO_NULL),
                    MPI_ERR_IO);
        CHECK_CLASS(MPI_File_set_view(file, 0, types[i], types[i], "native", MPI_INFO_NULL),
                    MPI_ERR_IO);
    }
    CHECK_OK(MPI_File_write_at_all(file, 0, numbers, 3, MPI_INT, MPI_STATUS_IGNORE));
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < 3; ++i) numbers[i] = 10 + i;
    CHECK_OK(MPI_File_write_at_all(file, 0, numbers, 3, MPI_INT, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_File_close(&file));
    CHECK_OK(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDONLY | MPI_MODE_DELETE_ON_CLOSE,
                           MPI_INFO_NULL, &file));
    for (int i = 0; i < 2; ++i)
        CHECK_CLASS(MPI_File_set_view(file, 0, MPI_INT, types[i], "native", MPI_INFO_NULL),
                    MPI_ERR_IO);
    CHECK_OK(MPI_File_set_view(file, 0, MPI_INT, types[2], "native", MPI_INFO_NULL));
    CHECK_OK(MPI_File_read_all(file, got, 3, MPI_INT, MPI_STATUS_IGNORE));
    CHECK(got[0] == 10 && got[1] == 11 && got[2] == 11);
    CHECK_OK(MPI_File_close(&file));
    for (int i = 0; i < 3; ++i) MPI_Type_free(&types[i]);
}

/* A request in progress keeps the view with which it was started. */
static void test_view_of_request(void) {
    enum { kCells = 3000, kCalls = 4 };
    MPI_File file = open_new(MPI_MODE_RDWR);
    MPI_Request requests[kCalls];
    MPI_Datatype type;
    int *given = malloc(kCalls * kCells * sizeof *given), *got = malloc(kCells * sizeof *got);
    MPI_Type_vector(kCells, 1, size, MPI_INT, &type);
    MPI_Type_commit(&type);
    for (int call = 0; call < kCalls; ++call) {
        const MPI_Offset displacement = 4 * ((MPI_Offset)call * kCells * size + rank);
        for (int i = 0; i < kCells; ++i) given[call * kCells + i] = call * 100000 + i * 10 + rank;
        CHECK_OK(MPI_File_set_view(file, displacement, MPI_INT, type, "native", MPI_INFO_NULL));
        CHECK_OK(
            MPI_File_iwrite_all(file, given + call * kCells, kCells, MPI_INT, &requests[call]));
        /* One task goes on with the call before the next one, the others within the next one. */
        for (int i = 0, done = 0; rank == call % size && i < 1000 && !done; ++i)
            CHECK_OK(MPI_Test(&requests[call], &done, MPI_STATUS_IGNORE));
    }
    CHECK_OK(MPI_Waitall(kCalls, requests, MPI_STATUSES_IGNORE));
    MPI_Barrier(MPI_COMM_WORLD);
    for (int call = 0; call < kCalls; ++call) {
        const MPI_Offset displacement = 4 * ((MPI_Offset)call * kCells * size + rank);
        CHECK_OK(MPI_File_set_view(file, displacement, MPI_INT, type, "native", MPI_INFO_NULL));
        CHECK_OK(MPI_File_read(file, got, kCells, MPI_INT, MPI_STATUS_IGNORE));
        CHECK(memcmp(got, given + call * kCells, kCells * sizeof *got) == 0);
    }
    MPI_Type_free(&type);
    CHECK_OK(MPI_File_close(&file));
    free(given);
    free(got);
}

/* A data representation in which every int has 6 bytes: "i", the four bytes from the lowest on,
 * ";". */
static int extent_of_int(MPI_Datatype type, MPI_Aint* extent, void* state) {
    CHECK(type == MPI_INT && *(int*)state == 42);
    *extent = 6;
    return MPI_SUCCESS;
}
static int write_ints(void* user, MPI_Datatype type, int count, void* file, MPI_Offset position,
                      void* state) {
    CHECK(type == MPI_INT && *(int*)state == 42);
    for (int i = 0; i < count; ++i) {
        char* to = (char*)file + 6 * i;
        to[0] = 'i';
        memcpy(to + 1, (int*)user + position + i, 4);
        to[5] = ';';
    }
    return MPI_SUCCESS;
}
static int read_ints(void* user, MPI_Datatype type, int count, void* file, MPI_Offset position,
                     void* state) {
    CHECK(type == MPI_INT && *(int*)state == 42);
    for (int i = 0; i < count; ++i) memcpy((int*)user + position + i, (char*)file + 6 * i + 1, 4);
    return MPI_SUCCESS;
}

static void test_datarep(void) {
    static int state = 42;
    MPI_File file;
    MPI_Status status;
    MPI_Offset bytes;
    char raw[12] = "";
    int count = -1, given[2] = {1000 * rank, 1000 * rank + 1}, got[2] = {0, 0};
    CHECK_OK(MPI_Register_datarep("letters", read_ints, write_ints, extent_of_int, &state));
    CHECK_CLASS(MPI_Register_datarep("letters", read_ints, write_ints, extent_of_int, &state),
                MPI_ERR_DUP_DATAREP);
    CHECK_CLASS(MPI_Register_datarep("native", read_ints, write_ints, extent_of_int, &state),
                MPI_ERR_DUP_DATAREP);
    file = open_new(MPI_MODE_RDWR);
    CHECK_OK(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "letters", MPI_INFO_NULL));
    CHECK_OK(MPI_File_write_at_all(file, 2 * rank, given, 2, MPI_INT, &status));
    CHECK_OK(MPI_Get_count(&status, MPI_INT, &count));
    CHECK_INT(count, 2);
    CHECK_OK(MPI_File_get_size(file, &bytes));
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_OK(MPI_File_get_size(file, &bytes));
    CHECK_INT(bytes, 12 * size);
    CHECK_OK(MPI_File_read_at(file, 2 * (size - 1 - rank), got, 2, MPI_INT, MPI_STATUS_IGNORE));
    CHECK_INT(got[1], 1000 * (size - 1 - rank) + 1);
    CHECK_OK(MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
    CHECK_OK(MPI_File_read_at(file, 0, raw, 12, MPI_BYTE, MPI_STATUS_IGNORE));
    CHECK(raw[0] == 'i' && raw[5] == ';' && raw[6] == 'i' && raw[11] == ';');
    CHECK_OK(MPI_File_close(&file));
}

/* The shared file pointer: every record is written once, in any order; then in the order of
 * ranks. */
static void test_shared(void) {
    enum { kRecords = 25 };
    MPI_File file = open_new(MPI_MODE_RDWR);
    MPI_Offset position = -1;
    MPI_Request requests[2];
    int record[2], *all = malloc((size_t)size * kRecords * sizeof record);
    char* seen = calloc((size_t)size, kRecords);
    CHECK_OK(MPI_File_set_view(file, 4, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
    for (int i = 0; i < kRecords; ++i) {
        record[0] = rank;
        record[1] = i;
        if (i % 3 == 0) {
            CHECK_OK(MPI_File_iwrite_shared(file, record, 2, MPI_INT, &requests[0]));
            CHECK_OK(MPI_Wait(&requests[0], MPI_STATUS_IGNORE));
        } else {
            CHECK_OK(MPI_File_write_shared(file, record, 2, MPI_INT, MPI_STATUS_IGNORE));
        }
    }
    MPI_File_sync(file);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File_sync(file);
    CHECK_OK(MPI_File_get_position_shared(file, &position));
    CHECK_INT(position, 2 * kRecords * size);
    CHECK_OK(MPI_File_read_at(file, 0, all, 2 * kRecords * size, MPI_INT, MPI_STATUS_IGNORE));
    for (int i = 0; i < kRecords * size; ++i) {
        CHECK(all[2 * i] >= 0 && all[2 * i] < size && all[2 * i + 1] >= 0 &&
              all[2 * i + 1] < kRecords);
        CHECK_INT(seen[all[2 * i] * kRecords + all[2 * i + 1]]++, 0);
    }
    /* Back to the beginning; the members write numbers of records that differ. */
    CHECK_OK(MPI_File_seek_shared(file, -2 * kRecords * size + 1, MPI_SEEK_CUR));
    CHECK_OK(MPI_File_get_position_shared(file, &position));
    CHECK_INT(position, 1);
    CHECK_CLASS(MPI_File_seek_shared(file, -1, MPI_SEEK_SET), MPI_ERR_ARG);
    if (size > 1) CHECK_CLASS(MPI_File_seek_shared(file, rank, MPI_SEEK_SET), MPI_ERR_NOT_SAME);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < rank; ++i) all[i] = 100 * rank + i;
    CHECK_OK(MPI_File_write_ordered(file, all, rank, MPI_INT, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_File_write_ordered_begin(file, &rank, 1, MPI_INT));
    CHECK_OK(MPI_File_write_ordered_end(file, &rank, MPI_STATUS_IGNORE));
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_OK(MPI_File_seek_shared(file, 1, MPI_SEEK_SET));
    for (int i = 0; i < rank; ++i) all[i] = -1;
    CHECK_OK(MPI_File_read_ordered(file, all, rank, MPI_INT, MPI_STATUS_IGNORE));
    for (int i = 0; i < rank; ++i) CHECK_INT(all[i], 100 * rank + i);
    int value = -1;
    CHECK_OK(MPI_File_read_ordered_begin(file, &value, 1, MPI_INT));
    CHECK_OK(MPI_File_read_ordered_end(file, &value, MPI_STATUS_IGNORE));
    CHECK_INT(value, rank);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_OK(MPI_File_seek_shared(file, 1 + size * (size - 1) / 2, MPI_SEEK_SET));
    CHECK_OK(MPI_File_iread_shared(file, &value, 1, MPI_INT, &requests[0]));
    CHECK_OK(MPI_Wait(&requests[0], MPI_STATUS_IGNORE));
    MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK_INT(value, size * (size - 1) / 2);
    CHECK_OK(MPI_File_close(&file));
    free(all);
    free(seen);
}

static void test_append_and_sequential(void) {
    MPI_File file;
    MPI_Offset position = -1;
    char letter = 'a', got = 0;
    CHECK_OK(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL,
                           &file));
    CHECK_OK(MPI_File_set_size(file, 100));
    CHECK_OK(MPI_File_close(&file));
    CHECK_OK(
        MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDWR | MPI_MODE_APPEND, MPI_INFO_NULL, &file));
    CHECK_OK(MPI_File_get_position(file, &position));
    CHECK_INT(position, 100);
    CHECK_OK(MPI_File_get_position_shared(file, &position));
    CHECK_INT(position, 100);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_OK(MPI_File_write_ordered(file, &letter, 1, MPI_CHAR, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_File_close(&file));
    CHECK_OK(MPI_File_open(MPI_COMM_WORLD, name,
                           MPI_MODE_RDONLY | MPI_MODE_SEQUENTIAL | MPI_MODE_DELETE_ON_CLOSE,
                           MPI_INFO_NULL, &file));
    CHECK_CLASS(MPI_File_read_at(file, 0, &got, 1, MPI_CHAR, MPI_STATUS_IGNORE),
                MPI_ERR_UNSUPPORTED_OPERATION);
    CHECK_CLASS(MPI_File_read(file, &got, 1, MPI_CHAR, MPI_STATUS_IGNORE),
                MPI_ERR_UNSUPPORTED_OPERATION);
    CHECK_CLASS(MPI_File_seek(file, 0, MPI_SEEK_SET), MPI_ERR_UNSUPPORTED_OPERATION);
    CHECK_CLASS(MPI_File_write_shared(file, &got, 1, MPI_CHAR, MPI_STATUS_IGNORE),
                MPI_ERR_READ_ONLY);
    CHECK_OK(MPI_File_read_shared(file, &got, 1, MPI_CHAR, MPI_STATUS_IGNORE));
    CHECK_INT(got, 0);
    CHECK_OK(MPI_File_close(&file));
}

int main(int argc, char** argv) {
    const char* const folder = getenv("TMPDIR");
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    snprintf(name, sizeof name, "%s/poe-file-objects-%d", folder != NULL ? folder : "/tmp",
             (int)getpid());
    MPI_Bcast(name, sizeof name, MPI_CHAR, 0, MPI_COMM_WORLD);
    snprintf(missing, sizeof missing, "%s-folder/file", name);
    test_modes();
    test_errors();
    test_sizes();
    test_long_requests();
    test_atomic_order();
    test_views();
    test_refused_views();
    test_view_of_request();
    test_datarep();
    test_shared();
    test_append_and_sequential();
    MPI_Finalize();
    return 0;
}
