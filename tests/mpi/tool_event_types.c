/* The types of events of the tools interface, their elements and categories, and their source; before and after MPI is
 * initialized. Any number of tasks. */
#include <stddef.h>

#include "mpi_test.h"
#include "tool_event_data.h"

static void check_before_init(void) {
    int num = 0, provided;
    MPI_T_event_registration registration;
    CHECK_INT(MPI_T_event_get_num(&num), MPI_T_ERR_NOT_INITIALIZED);
    CHECK_INT(MPI_T_event_get_index("error", &num), MPI_T_ERR_NOT_INITIALIZED);
    CHECK_INT(MPI_T_event_handle_alloc(0, NULL, MPI_INFO_NULL, &registration),
              MPI_T_ERR_NOT_INITIALIZED);
    CHECK_INT(MPI_T_event_handle_free(NULL, NULL, NULL), MPI_T_ERR_NOT_INITIALIZED);
    CHECK_INT(MPI_T_event_read(NULL, 0, &num), MPI_T_ERR_NOT_INITIALIZED);
    CHECK_OK(MPI_T_init_thread(MPI_THREAD_MULTIPLE, &provided));
}

static void check_types(void) {
    int num = 0, categories = 0, in_categories = 0, index = -1;
    const int places[] = {
        offsetof(struct Message, source),      offsetof(struct Message, tag),
        offsetof(struct Message, context),     offsetof(struct Message, internal),
        offsetof(struct Message, number),      offsetof(struct Message, bytes),
        offsetof(struct Message, single_copy), offsetof(struct Message, buffered)};
    CHECK_OK(MPI_T_event_get_num(&num));
    CHECK_INT(num, 6);
    for (int i = 0; i < num; ++i) {
        char name[100], text[300], item[100];
        int name_len = sizeof name, text_len = sizeof text, item_len = sizeof item, verbosity = 0,
            bind = 0, elements = 20, items = 0, value = -1, fewer = 1;
        MPI_Datatype types[20], first = MPI_DATATYPE_NULL;
        MPI_Aint displacements[20];
        MPI_T_enum names = MPI_T_ENUM_NULL;
        MPI_Info info = MPI_INFO_NULL;
        CHECK_OK(MPI_T_event_get_info(i, name, &name_len, &verbosity, types, displacements,
                                      &elements, &names, &info, text, &text_len, &bind));
        CHECK(name_len == (int)strlen(name) + 1 && text_len == (int)strlen(text) + 1 &&
              text_len > 1);
        CHECK_OK(MPI_T_event_get_index(name, &index));
        CHECK_INT(index, i);
        CHECK_INT(bind, MPI_T_BIND_NO_OBJECT);
        CHECK(verbosity >= MPI_T_VERBOSITY_USER_BASIC && verbosity <= MPI_T_VERBOSITY_MPIDEV_ALL);
        check_empty(&info);
        CHECK(elements > 0 && elements <= 20 && displacements[0] == 0);
        for (int e = 1; e < elements; ++e) CHECK(displacements[e] > displacements[e - 1]);
        for (int e = 0; e < elements; ++e)
            CHECK(types[e] == MPI_INT || types[e] == MPI_UNSIGNED ||
                  types[e] == MPI_UNSIGNED_LONG_LONG || types[e] == MPI_UINT64_T ||
                  types[e] == MPI_DOUBLE);
        /* The enumeration has a name for each element. */
        CHECK_OK(MPI_T_enum_get_info(names, &items, item, &item_len));
        CHECK_INT(items, elements);
        for (int e = 0; e < elements; ++e) {
            item_len = sizeof item;
            CHECK_OK(MPI_T_enum_get_item(names, e, &value, item, &item_len));
            CHECK(value == e && strlen(item) > 0);
        }
        CHECK_OK(MPI_T_event_get_info(i, NULL, NULL, NULL, &first, NULL, &fewer, NULL, NULL, NULL,
                                      NULL, NULL));
        CHECK(first == types[0] && fewer == elements);
        if (strncmp(name, "message_", 8) == 0)
            for (int e = 0; e < elements; ++e) CHECK_INT(displacements[e], places[e]);
    }
    CHECK_INT(
        MPI_T_event_get_info(num, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
        MPI_T_ERR_INVALID_INDEX);
    CHECK_INT(
        MPI_T_event_get_info(-1, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
        MPI_T_ERR_INVALID_INDEX);
    CHECK_INT(MPI_T_event_get_index("no such event", &index), MPI_T_ERR_INVALID_NAME);
    CHECK_OK(MPI_T_category_get_num(&categories));
    for (int c = 0; c < categories; ++c) {
        int events = -1, indices[20];
        CHECK_OK(MPI_T_category_get_num_events(c, &events));
        CHECK_OK(MPI_T_category_get_events(c, 20, indices));
        for (int e = 0; e < events; ++e) CHECK(indices[e] >= 0 && indices[e] < num);
        in_categories += events;
    }
    CHECK_INT(in_categories, num);
    CHECK_INT(MPI_T_category_get_num_events(categories, &index), MPI_T_ERR_INVALID_INDEX);
    CHECK_INT(MPI_T_category_get_events(-1, 0, NULL), MPI_T_ERR_INVALID_INDEX);
}

static void check_source(void) {
    int num = 0, length = 0;
    MPI_T_source_order ordering = MPI_T_SOURCE_UNORDERED;
    MPI_Count ticks = 0, most = 0, before = 0, after = 0;
    MPI_Info info = MPI_INFO_NULL;
    CHECK_OK(MPI_T_source_get_num(&num));
    CHECK_INT(num, 1);
    CHECK_OK(MPI_T_source_get_info(0, NULL, &length, NULL, NULL, &ordering, &ticks, &most, &info));
    CHECK(length > 1 && ordering == MPI_T_SOURCE_ORDERED && ticks == 1000000000 && most > ticks);
    check_empty(&info);
    CHECK_OK(MPI_T_source_get_timestamp(0, &before));
    CHECK_OK(MPI_T_source_get_timestamp(0, &after));
    CHECK(after >= before);
    CHECK_INT(MPI_T_source_get_info(1, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
              MPI_T_ERR_INVALID_INDEX);
}

int main(int argc, char** argv) {
    check_before_init();
    check_types();
    check_source();
    MPI_Init(&argc, &argv);
    check_types();
    MPI_Finalize();
    CHECK_OK(MPI_T_finalize());
    return 0;
}
