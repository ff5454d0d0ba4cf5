#ifndef TOOL_EVENT_DATA_H
#define TOOL_EVENT_DATA_H

/* The data of events about messages, as MPI_T_event_copy stores them. */
struct Message {
    int source, tag;
    unsigned context;
    int internal;
    unsigned number;
    unsigned long long bytes;
    int single_copy, buffered; /* message_accepted only */
};

/* An info object that the library has made without keys; frees it. */
static void check_empty(MPI_Info* info) {
    int keys = -1;
    CHECK(*info != MPI_INFO_NULL);
    CHECK_OK(MPI_Info_get_nkeys(*info, &keys));
    CHECK_INT(keys, 0);
    CHECK_OK(MPI_Info_free(info));
}

#endif
