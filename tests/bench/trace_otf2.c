/* What a writer of the Open Trace Format costs: COUNT pairs of enter and leave into a trace in DIR,
 * as instrumentation of an MPI program writes them. Prints nanoseconds per event, the clock
 * included. */
#include <otf2/otf2.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static OTF2_TimeStamp now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (OTF2_TimeStamp)time.tv_sec * 1000000000u + (OTF2_TimeStamp)time.tv_nsec;
}

static OTF2_FlushType before_flush(void* data, OTF2_FileType type, OTF2_LocationRef location,
                                   void* caller, bool final) {
    (void)data, (void)type, (void)location, (void)caller, (void) final;
    return OTF2_FLUSH;
}

static OTF2_TimeStamp after_flush(void* data, OTF2_FileType type, OTF2_LocationRef location) {
    (void)data, (void)type, (void)location;
    return now();
}

int main(int argc, char** argv) {
    if (argc != 3) {
        fprintf(stderr, "usage: trace_otf2 DIR COUNT\n");
        return 2;
    }
    const long count = strtol(argv[2], NULL, 10);
    OTF2_FlushCallbacks flush = {before_flush, after_flush};
    OTF2_Archive* archive =
        OTF2_Archive_Open(argv[1], "trace", OTF2_FILEMODE_WRITE, 1024 * 1024, 4 * 1024 * 1024,
                          OTF2_SUBSTRATE_POSIX, OTF2_COMPRESSION_NONE);
    if (archive == NULL) return 1;
    OTF2_Archive_SetFlushCallbacks(archive, &flush, NULL);
    OTF2_Archive_SetSerialCollectiveCallbacks(archive);
    OTF2_Archive_OpenEvtFiles(archive);
    OTF2_EvtWriter* writer = OTF2_Archive_GetEvtWriter(archive, 0);
    const OTF2_TimeStamp begin = now();
    for (long i = 0; i < count; ++i) {
        OTF2_EvtWriter_Enter(writer, NULL, now(), 1);
        OTF2_EvtWriter_Leave(writer, NULL, now(), 1);
    }
    const OTF2_TimeStamp end = now();
    printf("%.2f\n", (double)(end - begin) / (2.0 * (double)count));
    OTF2_Archive_CloseEvtWriter(archive, writer);
    OTF2_Archive_CloseEvtFiles(archive);
    OTF2_Archive_Close(archive);
    return 0;
}
