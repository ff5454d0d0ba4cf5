/* Random views and data accesses of a file against an oracle. All tasks draw the same rounds,
 * so each knows what all others write, and keeps the picture of the whole file in memory.
 *
 * In a round the file consists of cells of one etype. A pattern of cells, which repeats, says
 * which task owns each cell; the filetype of a task is the cells that it owns. All tasks write
 * some of their cells by one kind of call, and the file is compared with the picture. Then each
 * task reads by a pattern of its own, up to and beyond the end of the file. Each seed has a
 * file of its own with a few rounds. Arguments: first seed, number of seeds. Any number of
 * tasks. */
#include <fcntl.h>
#include <stdint.h>
#include <unistd.h>

#include "mpi_test.h"

enum { kMostPeriod = 40, kMostCells = 3000, kMostBytes = 1 << 20, kMostTasks = 64, kRounds = 6 };
enum Way {
    kAt,
    kOwn,
    kAtAll,
    kOwnAll,
    kIAt,
    kIOwn,
    kIAtAll,
    kIOwnAll,
    kSplitAt,
    kSplitOwn,
    kOrdered,
    kWays
};

static int rank, size;
static uint64_t state;
static unsigned char picture[kMostBytes];
static MPI_Offset length; /* of the file */
static MPI_File file;
static int posix; /* rank 0: another descriptor of the file */

static uint32_t draw(uint32_t below) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(state >> 33) % below;
}

/* The cells of a view, in ascending order, of a period of cells. */
struct Pattern {
    int bytes; /* of an etype */
    MPI_Datatype etype;
    int period, count;
    int at[kMostPeriod];
    MPI_Offset displacement;
    int swapped; /* external32 */
};

static MPI_Offset place_of(const struct Pattern* pattern, MPI_Offset etype) {
    return pattern->displacement +
           (etype / pattern->count * pattern->period + pattern->at[etype % pattern->count]) *
               pattern->bytes;
}

static void draw_etype(struct Pattern* pattern) {
    static const int sizes[] = {1, 4, 8, 4};
    const MPI_Datatype types[] = {MPI_BYTE, MPI_INT, MPI_DOUBLE, MPI_FLOAT};
    const uint32_t which = draw(4);
    pattern->bytes = sizes[which];
    pattern->etype = types[which];
    pattern->displacement = draw(3) == 0 ? 0 : draw(200);
    pattern->period = 1 + (int)draw(kMostPeriod);
    pattern->swapped = draw(4) == 0;
}

static void set_view(const struct Pattern* pattern, uint32_t kind) {
    MPI_Datatype type, part;
    int lengths[kMostPeriod];
    MPI_Aint places[kMostPeriod];
    for (int i = 0; i < pattern->count; ++i) {
        lengths[i] = 1;
        places[i] = (MPI_Aint)pattern->at[i] * pattern->bytes;
    }
    if (kind == 0) {
        MPI_Type_indexed(pattern->count, lengths, pattern->at, pattern->etype, &part);
    } else if (kind == 1) {
        MPI_Type_create_hindexed(pattern->count, lengths, places, pattern->etype, &part);
    } else {
        MPI_Type_create_indexed_block(pattern->count, 1, pattern->at, pattern->etype, &part);
    }
    MPI_Type_create_resized(part, 0, (MPI_Aint)pattern->period * pattern->bytes, &type);
    MPI_Type_commit(&type);
    CHECK_OK(MPI_File_set_view(file, pattern->displacement, pattern->etype, type,
                               pattern->swapped ? "external32" : "native", MPI_INFO_NULL));
    MPI_Type_free(&part);
    MPI_Type_free(&type);
}

/* The memory of `count` etypes: one after the other, with gaps by a vector, or with gaps by an
 * extent. */
struct Memory {
    unsigned char bytes[kMostCells * 8 * 3];
    int step; /* in etypes */
    int count;
    MPI_Datatype type;
};
static struct Memory memory;

static void draw_memory(const struct Pattern* pattern, int etypes, uint32_t kind) {
    memory.step = (int)kind + 1;
    memory.count = etypes;
    if (kind == 0) {
        MPI_Type_dup(pattern->etype, &memory.type);
    } else if (kind == 1) {
        MPI_Type_vector(etypes, 1, 2, pattern->etype, &memory.type);
        memory.count = 1;
    } else {
        MPI_Type_create_resized(pattern->etype, 0, 3 * pattern->bytes, &memory.type);
    }
    MPI_Type_commit(&memory.type);
}

static unsigned char value_at(MPI_Offset place, int round) {
    const uint64_t mixed =
        ((uint64_t)place + 1) * 0x9e3779b97f4a7c15u ^ (uint64_t)round * 0xbf58476d1ce4e5b9u;
    return (unsigned char)(mixed >> 29);
}

/* Byte `b` of an etype in memory is this byte of it in the file. */
static int in_file(const struct Pattern* pattern, int b) {
    return pattern->swapped ? pattern->bytes - 1 - b : b;
}

static int count_of(const MPI_Status* status, int bytes) {
    int count = -1;
    (void)bytes;
    CHECK_OK(MPI_Get_elements(status, MPI_BYTE, &count));
    return count;
}

/* Returns the bytes that the status names. */
static int write_by(enum Way way, MPI_Offset offset) {
    MPI_Status status;
    MPI_Request request = MPI_REQUEST_NULL;
    void* const buf = memory.bytes;
    const int n = memory.count;
    const MPI_Datatype t = memory.type;
    memset(&status, 0, sizeof status);
    if (way == kOwn || way == kOwnAll || way == kIOwn || way == kIOwnAll || way == kSplitOwn)
        CHECK_OK(MPI_File_seek(file, offset, MPI_SEEK_SET));
    switch (way) {
        case kAt:
            CHECK_OK(MPI_File_write_at(file, offset, buf, n, t, &status));
            break;
        case kOwn:
            CHECK_OK(MPI_File_write(file, buf, n, t, &status));
            break;
        case kAtAll:
            CHECK_OK(MPI_File_write_at_all(file, offset, buf, n, t, &status));
            break;
        case kOwnAll:
            CHECK_OK(MPI_File_write_all(file, buf, n, t, &status));
            break;
        case kIAt:
            CHECK_OK(MPI_File_iwrite_at(file, offset, buf, n, t, &request));
            break;
        case kIOwn:
            CHECK_OK(MPI_File_iwrite(file, buf, n, t, &request));
            break;
        case kIAtAll:
            CHECK_OK(MPI_File_iwrite_at_all(file, offset, buf, n, t, &request));
            break;
        case kIOwnAll:
            CHECK_OK(MPI_File_iwrite_all(file, buf, n, t, &request));
            break;
        case kSplitAt:
            CHECK_OK(MPI_File_write_at_all_begin(file, offset, buf, n, t));
            CHECK_OK(MPI_File_write_at_all_end(file, buf, &status));
            break;
        case kSplitOwn:
            CHECK_OK(MPI_File_write_all_begin(file, buf, n, t));
            CHECK_OK(MPI_File_write_all_end(file, buf, &status));
            break;
        default:
            CHECK_OK(MPI_File_write_ordered(file, buf, n, t, &status));
    }
    if (request != MPI_REQUEST_NULL) CHECK_OK(MPI_Wait(&request, &status));
    return count_of(&status, 1);
}

static int read_by(enum Way way, MPI_Offset offset) {
    MPI_Status status;
    MPI_Request request = MPI_REQUEST_NULL;
    void* const buf = memory.bytes;
    const int n = memory.count;
    const MPI_Datatype t = memory.type;
    memset(&status, 0, sizeof status);
    if (way == kOwn || way == kOwnAll || way == kIOwn || way == kIOwnAll || way == kSplitOwn)
        CHECK_OK(MPI_File_seek(file, offset, MPI_SEEK_SET));
    switch (way) {
        case kAt:
            CHECK_OK(MPI_File_read_at(file, offset, buf, n, t, &status));
            break;
        case kOwn:
            CHECK_OK(MPI_File_read(file, buf, n, t, &status));
            break;
        case kAtAll:
            CHECK_OK(MPI_File_read_at_all(file, offset, buf, n, t, &status));
            break;
        case kOwnAll:
            CHECK_OK(MPI_File_read_all(file, buf, n, t, &status));
            break;
        case kIAt:
            CHECK_OK(MPI_File_iread_at(file, offset, buf, n, t, &request));
            break;
        case kIOwn:
            CHECK_OK(MPI_File_iread(file, buf, n, t, &request));
            break;
        case kIAtAll:
            CHECK_OK(MPI_File_iread_at_all(file, offset, buf, n, t, &request));
            break;
        case kIOwnAll:
            CHECK_OK(MPI_File_iread_all(file, buf, n, t, &request));
            break;
        case kSplitAt:
            CHECK_OK(MPI_File_read_at_all_begin(file, offset, buf, n, t));
            CHECK_OK(MPI_File_read_at_all_end(file, buf, &status));
            break;
        case kSplitOwn:
            CHECK_OK(MPI_File_read_all_begin(file, buf, n, t));
            CHECK_OK(MPI_File_read_all_end(file, buf, &status));
            break;
        default:
            CHECK_OK(MPI_File_read_ordered(file, buf, n, t, &status));
    }
    if (request != MPI_REQUEST_NULL) CHECK_OK(MPI_Wait(&request, &status));
    return count_of(&status, 1);
}

static void all_see_it(void) {
    CHECK_OK(MPI_File_sync(file));
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    CHECK_OK(MPI_File_sync(file));
}

static void compare_file(int round) {
    static unsigned char found[kMostBytes];
    MPI_Offset bytes = -1;
    all_see_it();
    CHECK_OK(MPI_File_get_size(file, &bytes));
    CHECK_INT(bytes, length);
    if (rank == 0) {
        CHECK_INT(pread(posix, found, (size_t)length, 0), length);
        for (MPI_Offset i = 0; i < length; ++i) {
            if (found[i] == picture[i]) continue;
            fprintf(stderr, "round %d: byte %lld of %lld\n", round, (long long)i,
                    (long long)length);
            CHECK_INT(found[i], picture[i]);
        }
    }
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
}

static void write_round(int round) {
    struct Pattern all, own = {0};
    int owner[kMostPeriod], etypes[kMostTasks], kinds[kMostTasks];
    MPI_Offset offsets[kMostTasks], before = 0;
    const enum Way way = (enum Way)draw(kWays);
    draw_etype(&all);
    if (way == kOrdered) all.period = 1;
    for (int i = 0; i < all.period; ++i)
        owner[i] = (int)draw((uint32_t)size + 1) - 1; /* -1: nobody */
    const uint32_t view_kind = draw(3);
    for (int r = 0; r < size; ++r) {
        etypes[r] = draw(6) == 0 ? 0 : (int)draw(draw(2) == 0 ? 20 : 800);
        offsets[r] = draw(2) == 0 ? 0 : draw(300);
        kinds[r] = (int)draw(3);
    }
    for (int r = 0; r < size; ++r) {
        struct Pattern each = all;
        each.count = 0;
        for (int i = 0; i < all.period; ++i)
            if (owner[i] == r) each.at[each.count++] = i;
        if (way == kOrdered) {
            each.count = 1;
            each.at[0] = 0;
            offsets[r] = before;
            before += etypes[r];
        } else if (each.count == 0) { /* such a task writes nothing */
            each.count = 1;
            each.at[0] = 0;
            etypes[r] = 0;
        }
        if (r == rank) {
            own = each;
            memset(&memory, 0, sizeof memory);
            draw_memory(&own, etypes[r], (uint32_t)kinds[r]);
        }
        for (int i = 0; i < etypes[r]; ++i) {
            const MPI_Offset place = place_of(&each, offsets[r] + i);
            for (int b = 0; b < each.bytes; ++b) {
                const unsigned char value = value_at(place + in_file(&each, b), round);
                picture[place + in_file(&each, b)] = value;
                if (r == rank) memory.bytes[i * memory.step * each.bytes + b] = value;
            }
            if (place + each.bytes > length) length = place + each.bytes;
        }
    }
    set_view(&own, view_kind);
    CHECK_INT(write_by(way, offsets[rank]), etypes[rank] * own.bytes);
    MPI_Type_free(&memory.type);
    compare_file(round);
}

static void read_round(void) {
    struct Pattern own;
    MPI_Offset offset, position = -1;
    const enum Way way = (enum Way)draw(kWays - 1);
    const uint32_t view_kind = draw(3);
    /* The numbers of this task only. */
    const uint64_t common = state;
    state += (uint64_t)rank * 0x9e3779b97f4a7c15u;
    draw_etype(&own);
    own.count = 0;
    for (int i = 0; i < own.period; ++i)
        if (draw(3) == 0) own.at[own.count++] = i;
    if (own.count == 0) own.at[own.count++] = 0;
    const int etypes = (int)draw(draw(2) == 0 ? 20 : 1500);
    offset = draw(2) == 0 ? 0 : draw(300);
    memset(&memory, 0xaa, sizeof memory);
    draw_memory(&own, etypes, draw(3));
    state = common + 1;
    set_view(&own, view_kind);
    const int got = read_by(way, offset);
    int expected = 0;
    for (int i = 0; i < etypes; ++i) {
        const MPI_Offset place = place_of(&own, offset + i);
        /* The etype that the end of the file cuts counts by bytes, and in external32 not at all. */
        for (int b = 0; b < own.bytes; ++b) expected += own.swapped ? 0 : place + b < length;
        if (own.swapped && place + own.bytes <= length) expected += own.bytes;
        if (place + own.bytes > length) continue;
        for (int b = 0; b < own.bytes; ++b)
            CHECK_INT(memory.bytes[i * memory.step * own.bytes + b],
                      picture[place + in_file(&own, b)]);
        for (int b = own.bytes; b < memory.step * own.bytes && i + 1 < etypes; ++b)
            CHECK_INT(memory.bytes[i * memory.step * own.bytes + b], 0xaa);
    }
    CHECK_INT(got, expected);
    if (way == kOwn || way == kOwnAll || way == kSplitOwn) {
        CHECK_OK(MPI_File_get_position(file, &position));
        CHECK_INT(position, offset + got / own.bytes);
    }
    MPI_Type_free(&memory.type);
}

static MPI_Info draw_hints(void) {
    static const char* const choices[] = {"automatic", "enable", "disable"};
    MPI_Info info;
    char number[20];
    CHECK_OK(MPI_Info_create(&info));
    snprintf(number, sizeof number, "%d", 1 + (int)draw((uint32_t)size));
    if (draw(2)) CHECK_OK(MPI_Info_set(info, "cb_nodes", number));
    if (draw(3)) CHECK_OK(MPI_Info_set(info, "cb_buffer_size", draw(2) ? "4096" : "5000"));
    if (draw(2)) CHECK_OK(MPI_Info_set(info, "ind_rd_buffer_size", "4096"));
    if (draw(2)) CHECK_OK(MPI_Info_set(info, "ind_wr_buffer_size", "4096"));
    CHECK_OK(MPI_Info_set(info, "romio_cb_write", choices[draw(3)]));
    CHECK_OK(MPI_Info_set(info, "romio_cb_read", choices[draw(3)]));
    CHECK_OK(MPI_Info_set(info, "romio_ds_read", choices[draw(3)]));
    return info;
}

int main(int argc, char** argv) {
    const int first = argc > 1 ? atoi(argv[1]) : 1, seeds = argc > 2 ? atoi(argv[2]) : 5;
    char name[300];
    const char* const folder = getenv("TMPDIR");
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    CHECK(size <= kMostTasks);
    snprintf(name, sizeof name, "%s/poe-random-file-%d", folder != NULL ? folder : "/tmp",
             (int)getpid());
    CHECK_OK(MPI_Bcast(name, sizeof name, MPI_CHAR, 0, MPI_COMM_WORLD));
    for (int seed = first; seed < first + seeds; ++seed) {
        state = (uint64_t)seed * 7919;
        MPI_Info info = draw_hints();
        CHECK_OK(MPI_File_open(MPI_COMM_WORLD, name,
                               MPI_MODE_CREATE | MPI_MODE_EXCL | MPI_MODE_RDWR, info, &file));
        MPI_Info_free(&info);
        /* Little remains if a task is killed; mpl_run removes what does. */
        if (rank == 0) {
            posix = open(name, O_RDONLY);
            CHECK(posix >= 0);
            CHECK_OK(MPI_File_delete(name, MPI_INFO_NULL));
        }
        CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
        CHECK_OK(MPI_File_set_atomicity(file, draw(4) == 0));
        length = 0;
        memset(picture, 0, sizeof picture);
        for (int round = 0; round < kRounds; ++round) {
            write_round(round);
            read_round();
            read_round();
        }
        CHECK_OK(MPI_File_close(&file));
        if (rank == 0) close(posix);
    }
    MPI_Finalize();
    return 0;
}
