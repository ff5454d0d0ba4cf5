/* A plain PMIx client: exchanges a value with all peers and checks them, publishes and looks up a
 * name. With "late" each task starts a moment after the one before it (some after the server is
 * there, some before); with "fetch" values are fetched without a fence; with "lose" the last task
 * exits with status 3 and the others are told by an event; with "wait" the last task waits for a
 * name that task 0 publishes for one look-up only; with "apps" each task says which of
 * several programs it is; with "abort" task 0 aborts with status 5 while the others wait in a
 * fence.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <pmix.h>

static int failed(const char* what, pmix_status_t status) {
    if (status == PMIX_SUCCESS) return 0;
    printf("%s: %s\n", what, PMIx_Error_string(status));
    return 1;
}

static int fence(void) {
    pmix_info_t info;
    bool yes = true;
    PMIX_INFO_CONSTRUCT(&info);
    PMIX_INFO_LOAD(&info, PMIX_COLLECT_DATA, &yes, PMIX_BOOL);
    return failed("fence", PMIx_Fence(NULL, 0, &info, 1));
}

static int exchange(const pmix_proc_t* me, uint32_t size) {
    pmix_value_t value, *got;
    pmix_proc_t peer = *me;
    char text[64];
    snprintf(text, sizeof text, "hello from %u", me->rank);
    value.type = PMIX_STRING;
    value.data.string = text;
    if (failed("put", PMIx_Put(PMIX_GLOBAL, "greeting", &value)) ||
        failed("commit", PMIx_Commit()) || fence())
        return 1;
    for (peer.rank = 0; peer.rank < size; ++peer.rank) {
        if (failed("get", PMIx_Get(&peer, "greeting", NULL, 0, &got))) return 1;
        snprintf(text, sizeof text, "hello from %u", peer.rank);
        if (strcmp(text, got->data.string) != 0) return 1;
        PMIX_VALUE_RELEASE(got);
    }
    return 0;
}

static int names(const pmix_proc_t* me, uint32_t size) {
    pmix_info_t info;
    pmix_pdata_t found;
    uint32_t number = 4711;
    PMIX_INFO_CONSTRUCT(&info);
    PMIX_INFO_LOAD(&info, "number", &number, PMIX_UINT32);
    if (me->rank == 0 && failed("publish", PMIx_Publish(&info, 1))) return 1;
    if (fence()) return 1;
    PMIX_PDATA_CONSTRUCT(&found);
    PMIX_LOAD_KEY(found.key, "number");
    if (failed("lookup", PMIx_Lookup(&found, 1, NULL, 0))) return 1;
    if (found.value.data.uint32 != number || found.proc.rank != 0) return 1;
    PMIX_LOAD_KEY(found.key, "nothing");
    if (me->rank == size - 1 && PMIx_Lookup(&found, 1, NULL, 0) != PMIX_ERR_NOT_FOUND) return 1;
    return fence();
}

/* A value of 8 MB is refused, and the task goes on. */
static int publish_too_much(void) {
    const size_t size = 8 << 20;
    pmix_byte_object_t blob = {malloc(size), size};
    pmix_info_t info;
    pmix_status_t status;
    memset(blob.bytes, 'x', size);
    PMIX_INFO_CONSTRUCT(&info);
    PMIX_INFO_LOAD(&info, "large", &blob, PMIX_BYTE_OBJECT);
    status = PMIx_Publish(&info, 1);
    free(blob.bytes);
    PMIX_INFO_DESTRUCT(&info);
    if (status == PMIX_SUCCESS) printf("a large value was published\n");
    return status == PMIX_SUCCESS;
}

/* The look-up is made before, or after; who comes next finds nothing. */
static int wait_for_name(const pmix_proc_t* me, uint32_t size) {
    pmix_info_t infos[2], all;
    pmix_persistence_t once = PMIX_PERSIST_FIRST_READ;
    pmix_pdata_t found;
    int everything = 0;
    PMIX_PDATA_CONSTRUCT(&found);
    PMIX_LOAD_KEY(found.key, "greeting");
    PMIX_INFO_CONSTRUCT(&infos[0]);
    PMIX_INFO_CONSTRUCT(&infos[1]);
    PMIX_INFO_CONSTRUCT(&all);
    PMIX_INFO_LOAD(&infos[0], "greeting", "hello", PMIX_STRING);
    PMIX_INFO_LOAD(&infos[1], PMIX_PERSISTENCE, &once, PMIX_PERSIST);
    PMIX_INFO_LOAD(&all, PMIX_WAIT, &everything, PMIX_INT);
    if (me->rank == 0 && failed("publish", PMIx_Publish(infos, 2))) return 1;
    if (me->rank == size - 1) {
        if (failed("lookup", PMIx_Lookup(&found, 1, &all, 1))) return 1;
        if (found.value.type != PMIX_STRING || strcmp(found.value.data.string, "hello") != 0 ||
            found.proc.rank != 0 || strcmp(found.proc.nspace, me->nspace) != 0)
            return 1;
    }
    if (fence()) return 1;
    if (PMIx_Lookup(&found, 1, NULL, 0) != PMIX_ERR_NOT_FOUND) return 1;
    if (me->rank == 0 && publish_too_much()) return 1;
    return fence();
}

/* Without a fence before it: each value is fetched from the node that has it, once it is there. */
static int fetch(const pmix_proc_t* me, uint32_t size) {
    pmix_value_t value, *got;
    pmix_proc_t peer = *me;
    value.type = PMIX_UINT32;
    value.data.uint32 = 100 + me->rank;
    if (failed("put", PMIx_Put(PMIX_GLOBAL, "number", &value)) || failed("commit", PMIx_Commit()))
        return 1;
    for (peer.rank = 0; peer.rank < size; ++peer.rank) {
        if (failed("get", PMIx_Get(&peer, "number", NULL, 0, &got))) return 1;
        if (got->type != PMIX_UINT32 || got->data.uint32 != 100 + peer.rank) return 1;
        PMIX_VALUE_RELEASE(got);
    }
    peer.rank = (me->rank + 1) % size;
    if (PMIx_Get(&peer, "nobody has put this", NULL, 0, &got) == PMIX_SUCCESS) return 1;
    return failed("fence", PMIx_Fence(NULL, 0, NULL, 0));
}

static volatile int lost = -1;

static void on_lost(size_t id, pmix_status_t status, const pmix_proc_t* source, pmix_info_t* info,
                    size_t infos, pmix_info_t* results, size_t count,
                    pmix_event_notification_cbfunc_fn_t next, void* data) {
    (void)id, (void)status, (void)info, (void)infos, (void)results, (void)count;
    /* Those who have heard of it go without a word, too. */
    if (lost < 0) lost = (int)source->rank;
    if (next != NULL) next(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, data);
}

/* The last task goes without a word; the others, which do not end at once when asked to, hear of
 * it. */
static int lose(const pmix_proc_t* me, uint32_t size) {
    pmix_status_t code = PMIX_ERR_PROC_TERM_WO_SYNC;
    const struct timespec moment = {0, 1000000};
    signal(SIGTERM, SIG_IGN);
    if (PMIx_Register_event_handler(&code, 1, NULL, 0, on_lost, NULL, NULL) < 0) return 1;
    if (fence()) return 1;
    if (me->rank == size - 1) _exit(3);
    while (lost < 0) nanosleep(&moment, NULL);
    printf("task %u has lost task %d\n", me->rank, lost);
    fflush(stdout);
    _exit(0);
}

/* A number of the job or, with infos, of one of its programs. */
static uint32_t fact(const pmix_proc_t* of, const char* key, pmix_info_t* infos, size_t count) {
    pmix_value_t* value;
    uint32_t number;
    if (failed(key, PMIx_Get(of, key, infos, count, &value))) return UINT32_MAX;
    number = value->type == PMIX_PROC_RANK ? value->data.rank : value->data.uint32;
    PMIX_VALUE_RELEASE(value);
    return number;
}

static int apps(const pmix_proc_t* me, const pmix_proc_t* job) {
    const uint32_t mine = fact(me, PMIX_APPNUM, NULL, 0);
    bool yes = true;
    pmix_info_t infos[2];
    PMIX_INFO_CONSTRUCT(&infos[0]);
    PMIX_INFO_CONSTRUCT(&infos[1]);
    PMIX_INFO_LOAD(&infos[0], PMIX_APP_INFO, &yes, PMIX_BOOL);
    PMIX_INFO_LOAD(&infos[1], PMIX_APPNUM, &mine, PMIX_UINT32);
    printf("task %u: program %u of %u, rank %u of %u in it, first is %u\n", me->rank, mine,
           fact(job, PMIX_JOB_NUM_APPS, NULL, 0), fact(me, PMIX_APP_RANK, NULL, 0),
           fact(job, PMIX_APP_SIZE, infos, 2), fact(job, PMIX_APPLDR, infos, 2));
    return failed("finalize", PMIx_Finalize(NULL, 0));
}

int main(int argc, char** argv) {
    const char* mode = argc > 1 ? argv[1] : "";
    pmix_proc_t me, job;
    pmix_value_t* value;
    uint32_t size;
    int result;
    if (strcmp(mode, "late") == 0) {
        unsigned rank = 0;
        const char* text = getenv("PMI_RANK");
        struct timespec pause = {0, 0};
        if (text != NULL) sscanf(text, "%u", &rank);
        pause.tv_nsec = 7000000L * rank;
        nanosleep(&pause, NULL);
    }
    if (failed("init", PMIx_Init(&me, NULL, 0))) return 1;
    PMIX_PROC_LOAD(&job, me.nspace, PMIX_RANK_WILDCARD);
    if (failed("size", PMIx_Get(&job, PMIX_JOB_SIZE, NULL, 0, &value))) return 1;
    size = value->data.uint32;
    if (strcmp(mode, "abort") == 0) {
        if (fence()) return 1;
        if (me.rank == 0) PMIx_Abort(5, "as asked", NULL, 0);
        fence();
        return 1;
    }
    if (strcmp(mode, "lose") == 0) return lose(&me, size);
    if (strcmp(mode, "apps") == 0) return apps(&me, &job);
    result = strcmp(mode, "fetch") == 0  ? fetch(&me, size)
             : strcmp(mode, "wait") == 0 ? wait_for_name(&me, size)
                                         : exchange(&me, size) || names(&me, size);
    if (failed("finalize", PMIx_Finalize(NULL, 0))) result = 1;
    if (result == 0) printf("task %u of %u exchanged\n", me.rank, size);
    return result;
}
