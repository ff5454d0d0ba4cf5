#!/usr/bin/env python3
"""Files of MPI as users meet them: programs under poe, a full file system, a task that dies in a collective write."""

import errno
import os
import pathlib
import subprocess
import tempfile

from launching import BUILD, LaunchTest, POE, clean_environment, main, poe

MPICC = str(BUILD / "bin" / "mpicc.poe")

# Every task writes its block with one kind of call; a task whose call fails prints the class. What a task
# reports as written must be in the file.
FILL = r"""
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(int argc, char** argv) {
    enum { kBytes = 300000 };
    int rank, size, class = 0, length, count = -1;
    static char block[kBytes], found[kBytes];
    char text[MPI_MAX_ERROR_STRING];
    MPI_File file;
    MPI_Status status;
    MPI_Datatype type;
    (void)argc;
    MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (MPI_File_open(MPI_COMM_WORLD, argv[1], MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file)) return 3;
    memset(block, 'a' + rank, kBytes);
    int code = MPI_SUCCESS;
    if (strcmp(argv[2], "preallocate") == 0) {
        code = MPI_File_preallocate(file, (MPI_Offset)size * kBytes);
        count = 0;
    } else if (strcmp(argv[2], "alone") == 0) {
        code = MPI_File_write_at(file, (MPI_Offset)rank * kBytes, block, kBytes, MPI_CHAR, &status);
        MPI_Get_count(&status, MPI_CHAR, &count);
    } else {
        MPI_Type_vector(kBytes / 100, 100, 100 * size, MPI_CHAR, &type);
        MPI_Type_commit(&type);
        MPI_File_set_view(file, 100 * rank, MPI_CHAR, type, "native", MPI_INFO_NULL);
        code = MPI_File_write_all(file, block, kBytes, MPI_CHAR, &status);
        MPI_Get_count(&status, MPI_CHAR, &count);
        MPI_File_set_view(file, 0, MPI_CHAR, MPI_CHAR, "native", MPI_INFO_NULL);
    }
    if (code != MPI_SUCCESS) MPI_Error_class(code, &class);
    MPI_Error_string(code, text, &length);
    if (strcmp(argv[2], "alone") == 0) {
        MPI_File_read_at(file, (MPI_Offset)rank * kBytes, found, count, MPI_CHAR, MPI_STATUS_IGNORE);
        if (memcmp(found, block, (size_t)count) != 0) puts("LOST");
    }
    printf("%s %d\n", getenv("POE_TEST_ERROR") == NULL && class == MPI_ERR_NO_SPACE ? "full" : class == 0 ? "written" : text, count == kBytes);
    MPI_File_close(&file);
    MPI_Finalize();
    return 0;
}
"""

DIES = r"""
#include <mpi.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>
int main(int argc, char** argv) {
    int rank, size;
    MPI_File file;
    MPI_Datatype type;
    static char block[100000];
    (void)argc;
    MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_File_open(MPI_COMM_WORLD, argv[1], MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
    MPI_Type_vector(1000, 100, 100 * size, MPI_CHAR, &type);
    MPI_Type_commit(&type);
    MPI_File_set_view(file, 100 * rank, MPI_CHAR, type, "native", MPI_INFO_NULL);
    for (int i = 0;; ++i) {
        if (rank == 2 && i == 7) raise(SIGKILL);
        MPI_File_write_all(file, block, sizeof block, MPI_CHAR, MPI_STATUS_IGNORE);
    }
}
"""


# Thread 1 of task 0 writes to a pipe, or reads from one. It cannot end before the main thread, which first gets a message of
# task 1, has read from the pipe or written to it. With "exchange", both tasks move one half each, through one of them.
BLOCKED = r"""
#define _GNU_SOURCE
#include <fcntl.h>
#include <mpi.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
enum { kBytes = 1 << 20, kPatience = 60000 };
static const char *path, *way;
static int rank, reads, exchanges, moved;
static MPI_File file;
static char *block, *found;
static volatile int begun;
static int is(const char* name) { return strcmp(way, name) == 0; }
static void* move(void* nothing) {
    MPI_Status status;
    MPI_Request request = MPI_REQUEST_NULL;
    const int half = kBytes / 2;
    const MPI_Offset at = rank * half;
    begun = 1;
    if (is("write")) MPI_File_write_shared(file, block, kBytes, MPI_CHAR, &status);
    if (is("read")) MPI_File_read_shared(file, found, kBytes, MPI_CHAR, &status);
    if (is("iwrite")) MPI_File_iwrite_at(file, 0, block, kBytes, MPI_CHAR, &request);
    if (is("iread")) MPI_File_iread_at(file, 0, found, kBytes, MPI_CHAR, &request);
    if (is("write_all")) MPI_File_write_all(file, block, kBytes, MPI_CHAR, &status);
    if (is("read_all")) MPI_File_read_all(file, found, kBytes, MPI_CHAR, &status);
    if (is("iwrite_all")) MPI_File_iwrite_all(file, block, kBytes, MPI_CHAR, &request);
    if (is("iread_all")) MPI_File_iread_all(file, found, kBytes, MPI_CHAR, &request);
    if (is("exchange_write")) MPI_File_write_at_all(file, at, block + at, half, MPI_CHAR, &status);
    if (is("exchange_read")) MPI_File_read_at_all(file, at, found + at, half, MPI_CHAR, &status);
    if (request != MPI_REQUEST_NULL) MPI_Wait(&request, &status);
    MPI_Get_count(&status, MPI_CHAR, &moved);
    return nothing;
}
/* Returns when the thread is inside of the system call, as far as the pipe shows it. */
static void wait_for_block(int pipe) {
    int queued = 0, size = fcntl(pipe, F_GETPIPE_SZ);
    for (int i = 0; i < kPatience && !(reads ? begun : queued == size); ++i) {
        poll(NULL, 0, 1);
        ioctl(pipe, FIONREAD, &queued);
    }
    if (!reads && queued != size) MPI_Abort(MPI_COMM_WORLD, 3);
}
int main(int argc, char** argv) {
    int provided, number = 0, pipe;
    pthread_t thread;
    MPI_Info hints;
    path = argv[1];
    way = argv[2];
    reads = strstr(way, "read") != NULL;
    exchanges = strncmp(way, "exchange", 8) == 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    pipe = open(path, O_RDWR | O_CLOEXEC);
    block = malloc(kBytes);
    found = malloc(kBytes);
    for (int i = 0; i < kBytes; ++i) block[i] = (char)(i % 251);
    MPI_Info_create(&hints);
    MPI_Info_set(hints, reads ? "romio_cb_read" : "romio_cb_write", "enable");
    if (rank == 0 || exchanges) {
        if (MPI_File_open(exchanges ? MPI_COMM_WORLD : MPI_COMM_SELF, path, MPI_MODE_RDWR, hints, &file)) return 4;
        pthread_create(&thread, NULL, move, NULL);
    }
    if (rank == 1) {
        MPI_Recv(&number, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Ssend(&number, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
    } else {
        wait_for_block(pipe);
        for (int i = 0; i < 1000; ++i) {
            MPI_Sendrecv(&i, 1, MPI_INT, 0, 1, &number, 1, MPI_INT, 0, 1, MPI_COMM_SELF, MPI_STATUS_IGNORE);
        }
        MPI_Send(&number, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
        MPI_Recv(&number, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int done = 0; done < kBytes;) {
            const int n = (int)(reads ? write(pipe, block + done, kBytes - done) : read(pipe, found + done, kBytes - done));
            if (n <= 0) return 5;
            done += n;
        }
    }
    if (rank == 0 || exchanges) {
        const int bytes = exchanges ? kBytes / 2 : kBytes, from = rank * bytes;
        pthread_join(thread, NULL);
        printf("%d %d\n", moved == bytes, rank == 1 && !reads ? 1 : memcmp(block + from, found + from, bytes) == 0);
        MPI_File_close(&file);
    }
    MPI_Info_free(&hints);
    MPI_Finalize();
    return 0;
}
"""

# A thread opens a pipe, which blocks until the main thread opens the other end, after messages with task 1.
OPENING = r"""
#include <fcntl.h>
#include <mpi.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>
static const char* path;
static volatile int begun;
static char found;
static void* open_and_read(void* nothing) {
    MPI_File file;
    begun = 1;
    if (MPI_File_open(MPI_COMM_SELF, path, MPI_MODE_RDONLY, MPI_INFO_NULL, &file)) return nothing;
    MPI_File_read_shared(file, &found, 1, MPI_CHAR, MPI_STATUS_IGNORE);
    MPI_File_close(&file);
    return nothing;
}
int main(int argc, char** argv) {
    int rank, provided, number = 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    path = argv[1];
    if (rank == 1) {
        MPI_Recv(&number, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Ssend(&number, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
    } else {
        pthread_t thread;
        pthread_create(&thread, NULL, open_and_read, NULL);
        while (!begun) poll(NULL, 0, 1);
        for (int i = 0; i < 1000; ++i)
            MPI_Sendrecv(&i, 1, MPI_INT, 0, 1, &number, 1, MPI_INT, 0, 1, MPI_COMM_SELF, MPI_STATUS_IGNORE);
        MPI_Send(&number, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
        MPI_Recv(&number, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        const int pipe = open(path, O_WRONLY | O_CLOEXEC);
        if (write(pipe, "x", 1) != 1) return 5;
        pthread_join(thread, NULL);
        printf("%c\n", found);
    }
    MPI_Finalize();
    return 0;
}
"""

# Thread 1 of task 0 is in a system call that cannot end before the main thread has exchanged messages with task 1. Calls
# that wait for a lock wait for task 1, which holds it; the program makes the others wait itself.
WAITING = r"""
#define _GNU_SOURCE
#include <fcntl.h>
#include <mpi.h>
#include <poll.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
enum { kBytes = 400000, kBlock = 1000 };
static const char *path, *way;
static MPI_File file;
static char *block, *found;
static atomic_int watching, inside, released;
static int is(const char* name) { return strcmp(way, name) == 0; }
static void stall(const char* in) {
    if (!watching || !is(in)) return;
    inside = 1;
    while (!released) poll(NULL, 0, 1);
}
int ftruncate(int fd, off_t size) {
    stall("set_size");
    return (int)syscall(SYS_ftruncate, fd, size);
}
int unlink(const char* name) {
    stall("delete");
    stall("close");
    return (int)syscall(SYS_unlink, name);
}
int fstat(int fd, struct stat* facts) {
    stall("get_size");
    stall("seek");
    return (int)syscall(SYS_fstat, fd, facts);
}
int fcntl(int fd, int command, ...) {
    va_list list;
    va_start(list, command);
    void* const argument = va_arg(list, void*);
    va_end(list);
    if (watching && command == F_OFD_SETLKW) inside = 1;
    return (int)syscall(SYS_fcntl, fd, command, argument);
}
static void* work(void* nothing) {
    MPI_Offset size = 0;
    MPI_Request request = MPI_REQUEST_NULL;
    if (is("set_size")) MPI_File_set_size(file, 10);
    if (is("get_size") && (MPI_File_get_size(file, &size) || size != 2 * kBytes)) abort();
    if (is("seek") && (MPI_File_seek(file, 0, MPI_SEEK_END) || MPI_File_get_position(file, &size) || size != kBytes)) abort();
    if (is("delete") && MPI_File_delete(path, MPI_INFO_NULL)) abort();
    if (is("close")) MPI_File_close(&file);
    if (is("atomic_read") || is("atomic_read_all")) memcpy(block, "xx", 2);
    if (is("atomic_read")) MPI_File_read_at(file, 0, block, kBytes, MPI_CHAR, MPI_STATUS_IGNORE);
    if (is("atomic_read_all")) MPI_File_read_at_all(file, 0, block, kBytes, MPI_CHAR, MPI_STATUS_IGNORE);
    if (is("atomic_write") || is("sieve_write")) MPI_File_write_at(file, 0, block, kBytes, MPI_CHAR, MPI_STATUS_IGNORE);
    if (is("atomic_iwrite") || is("sieve_iwrite")) MPI_File_iwrite_at(file, 0, block, kBytes, MPI_CHAR, &request);
    if (is("atomic_write_all") || is("sieve_write_all")) MPI_File_write_at_all(file, 0, block, kBytes, MPI_CHAR, MPI_STATUS_IGNORE);
    if (is("atomic_iwrite_all") || is("sieve_iwrite_all")) MPI_File_iwrite_at_all(file, 0, block, kBytes, MPI_CHAR, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    return nothing;
}
/* Blocks of the file belong to the view and to a gap in turn. */
static int is_right(void) {
    const int now = open(path, O_RDONLY);
    if (is("delete") || is("close")) return now < 0;
    const ssize_t size = pread(now, found, 2 * kBytes, 0);
    close(now);
    if (is("set_size")) return size == 10;
    for (int at = 0; at < kBytes; ++at) {
        const int place = at / kBlock * 2 * kBlock + at % kBlock;
        if (found[place] != block[at] || found[place + kBlock] != 0) return 0;
    }
    return 1;
}
int main(int argc, char** argv) {
    int rank, provided, number = 0;
    path = argv[1];
    way = argv[2];
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 1) {
        struct flock what = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
        MPI_Recv(&number, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        const int held = open(path, O_RDWR);
        if (fcntl(held, F_OFD_SETLKW, &what) != 0) MPI_Abort(MPI_COMM_WORLD, 4);
        MPI_Send(&number, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
        MPI_Recv(&number, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Ssend(&number, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
        close(held);
    } else {
        pthread_t thread;
        MPI_Datatype blocks;
        MPI_Info hints;
        block = malloc(kBytes);
        found = malloc(2 * kBytes);
        for (int i = 0; i < kBytes; ++i) block[i] = (char)(i % 251);
        MPI_Info_create(&hints);
        if (strncmp(way, "sieve", 5) == 0) MPI_Info_set(hints, "romio_ds_write", "enable");
        MPI_Type_vector(1, kBlock, 2 * kBlock, MPI_CHAR, &blocks);
        MPI_Type_create_resized(blocks, 0, 2 * kBlock, &blocks);
        MPI_Type_commit(&blocks);
        const int mode = MPI_MODE_CREATE | MPI_MODE_RDWR | (is("close") ? MPI_MODE_DELETE_ON_CLOSE : 0);
        if (MPI_File_open(MPI_COMM_SELF, path, mode, hints, &file)) return 5;
        MPI_File_set_view(file, 0, MPI_CHAR, blocks, "native", MPI_INFO_NULL);
        MPI_File_write_at(file, 0, block, kBytes, MPI_CHAR, MPI_STATUS_IGNORE);
        MPI_File_set_size(file, 2 * kBytes);
        if (strncmp(way, "atomic", 6) == 0) MPI_File_set_atomicity(file, 1);
        if (strstr(way, "write") != NULL) for (int i = 0; i < kBytes; ++i) block[i] = (char)(i % 241);
        MPI_Send(&number, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
        MPI_Recv(&number, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        watching = 1;
        pthread_create(&thread, NULL, work, NULL);
        while (!inside) poll(NULL, 0, 1);
        for (int i = 0; i < 1000; ++i)
            MPI_Sendrecv(&i, 1, MPI_INT, 0, 1, &number, 1, MPI_INT, 0, 1, MPI_COMM_SELF, MPI_STATUS_IGNORE);
        MPI_Send(&number, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
        MPI_Recv(&number, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        released = 1;
        pthread_join(thread, NULL);
        watching = 0;
        printf("%d\n", is_right());
        if (!is("close")) MPI_File_close(&file);
        MPI_Info_free(&hints);
    }
    MPI_Finalize();
    return 0;
}
"""

# Four threads write records at the individual file pointer that they have in common.
POINTER = r"""
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
enum { kThreads = 4, kRecords = 500, kAll = kThreads * kRecords };
static MPI_File file;
static void* append(void* which) {
    const int thread = (int)(long)which;
    for (int i = 0; i < kRecords; ++i) {
        const int record = thread * kRecords + i;
        MPI_File_write(file, &record, 1, MPI_INT, MPI_STATUS_IGNORE);
    }
    return NULL;
}
int main(int argc, char** argv) {
    int provided, found[kAll], seen[kAll] = {0}, twice = 0;
    MPI_Offset end;
    pthread_t threads[kThreads];
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_File_open(MPI_COMM_SELF, argv[1], MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
    MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL);
    for (long i = 0; i < kThreads; ++i) pthread_create(&threads[i], NULL, append, (void*)i);
    for (int i = 0; i < kThreads; ++i) pthread_join(threads[i], NULL);
    MPI_File_get_position(file, &end);
    MPI_File_read_at(file, 0, found, kAll, MPI_INT, MPI_STATUS_IGNORE);
    for (int i = 0; i < kAll; ++i) twice += found[i] < 0 || found[i] >= kAll || seen[found[i]]++ != 0;
    printf("%d %d\n", end == kAll, twice);
    MPI_File_close(&file);
    MPI_Finalize();
    return 0;
}
"""

# Tasks 0 and 1 write three blocks each through their views; the filetypes of the others have no data.
NO_DATA = r"""
#include <mpi.h>
#include <stdio.h>
#include <string.h>
int main(int argc, char** argv) {
    int rank, errors = 0;
    MPI_File file;
    MPI_Datatype type;
    MPI_Offset end = -1, place = -1;
    char block[6], found[40] = {0};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    const int bytes = rank < 2 ? 2 : 0, lengths[] = {bytes, bytes, bytes};
    const MPI_Aint places[] = {10 + 2 * rank, 20 + 2 * rank, 30 + 2 * rank};
    memset(block, 'a' + rank, sizeof block);
    MPI_File_open(MPI_COMM_WORLD, argv[1], MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
    if (rank == 0) MPI_File_write_at(file, 0, "head------", 10, MPI_CHAR, MPI_STATUS_IGNORE);
    MPI_Type_create_hindexed(3, lengths, places, MPI_BYTE, &type);
    MPI_Type_commit(&type);
    errors += MPI_File_set_view(file, 0, MPI_BYTE, type, "native", MPI_INFO_NULL) != MPI_SUCCESS;
    errors += MPI_File_write_at_all(file, 0, block, 3 * bytes, MPI_BYTE, MPI_STATUS_IGNORE) != MPI_SUCCESS;
    errors += MPI_File_read_at_all(file, 0, block, 3 * bytes, MPI_BYTE, MPI_STATUS_IGNORE) != MPI_SUCCESS;
    errors += MPI_File_write_all(file, block, 0, MPI_BYTE, MPI_STATUS_IGNORE) != MPI_SUCCESS;
    MPI_File_seek(file, 0, MPI_SEEK_SET);
    MPI_File_get_position(file, &end);
    MPI_File_get_byte_offset(file, 0, &place);
    errors += end != 0 || place != (rank < 2 ? 10 + 2 * rank : 0);
    if (rank >= 2) errors += MPI_File_write_at(file, 0, block, 1, MPI_BYTE, MPI_STATUS_IGNORE) == MPI_SUCCESS;
    MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL);
    MPI_File_sync(file);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File_read_at(file, 0, found, 34, MPI_CHAR, MPI_STATUS_IGNORE);
    errors += memcmp(found, "head------aabb", 14) != 0 || memcmp(found + 20, "aabb", 4) != 0 || memcmp(found + 30, "aabb", 4) != 0;
    printf("%d\n", errors);
    MPI_Type_free(&type);
    MPI_File_close(&file);
    MPI_Finalize();
    return 0;
}
"""

# Four tasks make one kind of call; a task whose call fails prints the class. What the call has reported as written or read must be in the file.
CALLS = r"""
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
enum { kBytes = 300000 };
static const char* way;
static int is(const char* what) { return strcmp(way, what) == 0; }
int main(int argc, char** argv) {
    int rank, class = 0, length, count = kBytes, code = MPI_SUCCESS;
    static char block[kBytes], found[kBytes];
    char text[MPI_MAX_ERROR_STRING];
    MPI_File file;
    MPI_Status status;
    MPI_Request request;
    MPI_Init(&argc, &argv);
    way = argv[2];
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < kBytes; ++i) block[i] = (char)(rank + i % 97);
    memset(found, -1, kBytes);
    const MPI_Offset own = (MPI_Offset)rank * kBytes;
    if (MPI_File_open(MPI_COMM_WORLD, argv[1], MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file)) return 3;
    if (argc > 3) MPI_File_set_errhandler(file, MPI_ERRORS_ARE_FATAL);
    const int reads = strstr(way, "read") != NULL, writes = strstr(way, "write") != NULL;
    if (reads && MPI_File_write_at(file, own, block, kBytes, MPI_CHAR, &status)) return 4;
    if (is("external32")) MPI_File_set_view(file, 0, MPI_CHAR, MPI_CHAR, "external32", MPI_INFO_NULL);
    MPI_Barrier(MPI_COMM_WORLD);
    if (is("write") || is("external32")) code = MPI_File_write_at(file, own, block, kBytes, MPI_CHAR, &status);
    if (is("iwrite")) MPI_File_iwrite_at(file, own, block, kBytes, MPI_CHAR, &request);
    if (is("write_all")) code = MPI_File_write_at_all(file, own, block, kBytes, MPI_CHAR, &status);
    if (is("write_split")) MPI_File_write_at_all_begin(file, own, block, kBytes, MPI_CHAR);
    if (is("write_split")) code = MPI_File_write_at_all_end(file, block, &status);
    if (is("write_ordered")) code = MPI_File_write_ordered(file, block, kBytes, MPI_CHAR, &status);
    if (is("read")) code = MPI_File_read_at(file, own, found, kBytes, MPI_CHAR, &status);
    if (is("iread")) MPI_File_iread_at(file, own, found, kBytes, MPI_CHAR, &request);
    if (is("read_all")) code = MPI_File_read_at_all(file, own, found, kBytes, MPI_CHAR, &status);
    if (is("iwrite") || is("iread")) code = MPI_Wait(&request, &status);
    if (is("sync")) code = MPI_File_sync(file);
    if (is("set_size")) code = MPI_File_set_size(file, 10);
    if (is("preallocate")) code = MPI_File_preallocate(file, 10);
    if (writes || reads || is("external32")) MPI_Get_count(&status, MPI_CHAR, &count);
    if (is("close")) code = MPI_File_close(&file);
    if (code != MPI_SUCCESS) MPI_Error_class(code, &class);
    MPI_Error_string(class, text, &length);
    if (writes) MPI_File_read_at(file, own, found, count, MPI_CHAR, MPI_STATUS_IGNORE);
    if ((writes || reads) && memcmp(found, block, (size_t)count) != 0) puts("LOST");
    printf("%s%s\n", class == 0 ? "done" : text, count == kBytes ? "" : ", in part");
    if (!is("close")) MPI_File_close(&file);
    MPI_Finalize();
    return 0;
}
"""

# The function POE_TEST_CALL of the system fails for files whose path ends with POE_TEST_FILE, with the error number
# POE_TEST_ERROR: reads and writes from the byte POE_TEST_LIMIT on; if POE_TEST_TIMES is set, at most so many times.
FAILING_CALLS = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>
static int fails(const char* call, int fd) {
    static int times;
    char link[64], path[4096];
    const char* const most = getenv("POE_TEST_TIMES");
    const char* const file = getenv("POE_TEST_FILE");
    if (getenv("POE_TEST_CALL") == NULL || strcmp(getenv("POE_TEST_CALL"), call) != 0) return 0;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    const ssize_t length = readlink(link, path, sizeof path - 1);
    if (length < (ssize_t)strlen(file) || strncmp(path + length - strlen(file), file, strlen(file)) != 0) return 0;
    if (most != NULL && times++ >= atoi(most)) return 0;
    errno = atoi(getenv("POE_TEST_ERROR"));
    return 1;
}
static long limit(void) { return atol(getenv("POE_TEST_LIMIT")); }
#define REAL(name, type) ((type)dlsym(RTLD_NEXT, #name))
ssize_t pwrite(int fd, const void* from, size_t bytes, off_t at) {
    if (at + (off_t)bytes > limit() && fails("pwrite", fd)) {
        if (at >= limit()) return -1;
        bytes = (size_t)(limit() - at);
    }
    return REAL(pwrite, ssize_t (*)(int, const void*, size_t, off_t))(fd, from, bytes, at);
}
ssize_t pread(int fd, void* to, size_t bytes, off_t at) {
    if (at + (off_t)bytes > limit() && fails("pread", fd)) {
        if (at >= limit()) return -1;
        bytes = (size_t)(limit() - at);
    }
    return REAL(pread, ssize_t (*)(int, void*, size_t, off_t))(fd, to, bytes, at);
}
int fsync(int fd) { return fails("fsync", fd) ? -1 : REAL(fsync, int (*)(int))(fd); }
int ftruncate(int fd, off_t size) { return fails("ftruncate", fd) ? -1 : REAL(ftruncate, int (*)(int, off_t))(fd, size); }
int posix_fallocate(int fd, off_t at, off_t size) {
    return fails("posix_fallocate", fd) ? errno : REAL(posix_fallocate, int (*)(int, off_t, off_t))(fd, at, size);
}
int close(int fd) {
    const int failed = fails("close", fd), error = errno, result = REAL(close, int (*)(int))(fd);
    if (failed) errno = error;
    return failed ? -1 : result;
}
"""
# The ways of CALLS, and the function of the system that fails in it.
FAILING_WAYS = {"write": "pwrite", "iwrite": "pwrite", "external32": "pwrite", "write_all": "pwrite", "write_split": "pwrite",
                "write_ordered": "pwrite", "read": "pread", "iread": "pread", "read_all": "pread", "sync": "fsync",
                "set_size": "ftruncate", "preallocate": "posix_fallocate", "close": "close"}


class Files(LaunchTest):
    def build(self, source, *options):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        path = pathlib.Path(folder.name)
        (path / "program.c").write_text(source)
        subprocess.run([MPICC, *options, "-o", "program", "program.c"], cwd=path, check=True, capture_output=True)
        return path

    def fill(self, way, *options):
        """The sorted output of four tasks that write 1.2 MB to a file system of 700 KB."""
        if os.getuid() != 0:
            self.skipTest("needs root, for a file system of its own")
        path = self.build(FILL)
        (path / "small").mkdir()
        script = 'mount -t tmpfs -o size=700k tmpfs "$1" && shift && exec "$@"'
        done = subprocess.run(["unshare", "--mount", "sh", "-c", script, "sh", path / "small", POE, path / "program",
                               path / "small" / "file", way, "-procs", "4", *options], capture_output=True, text=True,
                              stdin=subprocess.DEVNULL, timeout=60, env=clean_environment())
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotIn("LOST", done.stdout)
        return sorted(done.stdout.split("\n"))[1:]

    def test_full_file_system_alone(self):
        lines = self.fill("alone")
        self.assertIn("full 0", lines)
        self.assertLessEqual(set(lines), {"full 0", "written 1"})

    def test_full_file_system_collective(self):
        for options in ((), ("-euilib", "ip")):
            self.assertEqual(self.fill("all", *options), ["full 0"] * 4)

    def test_full_file_system_preallocate(self):
        self.assertEqual(self.fill("preallocate"), ["full 0"] * 4)

    def build_failing(self, source):
        path = self.build(source)
        (path / "failing.c").write_text(FAILING_CALLS)
        subprocess.run(["gcc", "-shared", "-fPIC", "-o", "failing.so", "failing.c", "-ldl"], cwd=path, check=True)
        return path

    def start_failing(self, path, target, way, call, number, *arguments, **variables):
        """A run of four tasks, in which the function `call` of the system fails."""
        # A build with asan wants its runtime to be the first library.
        asan = ":".join(filter(None, (os.environ.get("ASAN_OPTIONS"), "verify_asan_link_order=0")))
        return poe("env", f"LD_PRELOAD={path}/failing.so", f"ASAN_OPTIONS={asan}", path / "program", target, way, *arguments, "-procs", "4",
                   env=clean_environment(POE_TEST_CALL=call, POE_TEST_ERROR=number, POE_TEST_FILE=target.name,
                                         POE_TEST_LIMIT=700000, **variables))

    def run_failing(self, path, target, way, call, number, **variables):
        """The sorted lines of such a run, which goes on after the error."""
        done = self.start_failing(path, target, way, call, number, **variables)
        self.assertEqual(done.returncode, 0, (way, done.stderr))
        output = done.stdout.decode()
        self.assertNotIn("LOST", output, way)
        return sorted(output.splitlines())

    def test_system_errors_have_their_classes(self):
        path = self.build_failing(FILL)
        for number, name in ((errno.EDQUOT, "MPI_ERR_QUOTA"), (errno.EIO, "MPI_ERR_IO"), (errno.ENOSPC, "MPI_ERR_NO_SPACE")):
            for way in ("alone", "all"):
                target = path / f"{number}-{way}"
                lines = self.run_failing(path, target, way, "pwrite", number)
                failed = [line for line in lines if name in line]
                self.assertEqual(len(failed), 4 if way == "all" else 2, lines)
                self.assertEqual(len(lines), 4)
                # What a task has reported as written is there, and what was not written is not.
                self.assertEqual(target.stat().st_size, 700000)

    def test_each_kind_of_call_reports_a_system_error(self):
        path = self.build_failing(CALLS)
        for number, name in ((errno.EIO, "MPI_ERR_IO"), (errno.EDQUOT, "MPI_ERR_QUOTA")):
            for way, call in FAILING_WAYS.items():
                lines = self.run_failing(path, path / f"{number}-{way}", way, call, number)
                moves = call in ("pwrite", "pread")
                # The limit is within the block of task 2. The other calls report the fault of any member to all.
                self.assertEqual(sum(line.startswith(name) for line in lines), 2 if moves else 4, (way, lines))
                self.assertEqual(sum(line == "done" for line in lines), 2 if moves else 0, (way, lines))
                self.assertEqual(sum(line.endswith(", in part") for line in lines), 2 if moves else 0, (way, lines))

    def test_a_fatal_system_error_names_the_file(self):
        path = self.build_failing(CALLS)
        for way, call in FAILING_WAYS.items():
            target = path / f"fatal-{way}"
            done = self.start_failing(path, target, way, call, errno.EIO, "fatal")
            self.assertNotEqual(done.returncode, 0, way)
            for text in ("MPI_ERR_IO", str(target), os.strerror(errno.EIO)):
                self.assertIn(text, done.stderr.decode(), way)

    def test_an_interrupted_system_call_is_made_again(self):
        path = self.build_failing(CALLS)
        for way, call in FAILING_WAYS.items():
            lines = self.run_failing(path, path / f"again-{way}", way, call, errno.EINTR, POE_TEST_TIMES=3)
            self.assertEqual(lines, ["done"] * 4, way)

    def call_mpi_during(self, *ways):
        path = self.build(BLOCKED)
        for way in ways:
            for device in ("us", "ip"):
                pipe = path / f"pipe-{way}-{device}"
                os.mkfifo(pipe)
                done = poe(path / "program", pipe, way, "-procs", "2", "-euilib", device)
                expected = b"1 1\n" * (2 if way.startswith("exchange") else 1)
                self.assertEqual((done.returncode, done.stdout), (0, expected), (way, device, done.stderr))

    def test_other_threads_call_mpi_during_a_system_call(self):
        self.call_mpi_during("write", "read")

    def test_other_threads_call_mpi_during_a_non_blocking_access(self):
        self.call_mpi_during("iwrite", "iread")

    def test_other_threads_call_mpi_during_a_collective_access(self):
        self.call_mpi_during("write_all", "read_all", "iwrite_all", "iread_all")

    def test_other_threads_call_mpi_during_an_open(self):
        path = self.build(OPENING)
        pipe = path / "pipe"
        os.mkfifo(pipe)
        done = poe(path / "program", pipe, "-procs", "2")
        self.assertEqual((done.returncode, done.stdout), (0, b"x\n"), done.stderr)

    def call_mpi_while_waiting(self, *ways):
        # The library finds the functions of the program that replace those of the system.
        path = self.build(WAITING, "-rdynamic")
        for way in ways:
            for device in ("us", "ip"):
                done = poe(path / "program", path / f"{way}-{device}", way, "-procs", "2", "-euilib", device)
                self.assertEqual((done.returncode, done.stdout), (0, b"1\n"), (way, device, done.stderr))

    def test_other_threads_call_mpi_in_atomic_mode(self):
        self.call_mpi_while_waiting("atomic_write", "atomic_read", "atomic_iwrite", "atomic_write_all", "atomic_read_all",
                                    "atomic_iwrite_all")

    def test_other_threads_call_mpi_while_gaps_are_locked(self):
        self.call_mpi_while_waiting("sieve_write", "sieve_iwrite", "sieve_write_all", "sieve_iwrite_all")

    def test_other_threads_call_mpi_during_a_call_on_a_whole_file(self):
        self.call_mpi_while_waiting("set_size", "get_size", "seek", "delete", "close")

    def test_other_threads_call_mpi_during_an_exchange(self):
        self.call_mpi_during("exchange_write", "exchange_read")

    def test_views_without_data(self):
        path = self.build(NO_DATA)
        for device in ("us", "ip"):
            done = poe(path / "program", path / device, "-procs", "4", "-euilib", device)
            self.assertEqual((done.returncode, done.stdout), (0, b"0\n" * 4), done.stderr)

    def test_threads_have_the_individual_pointer_in_common(self):
        path = self.build(POINTER)
        for procs in ("1", "2"):
            done = poe("sh", "-c", f"{path}/program {path}/{procs}-$MP_CHILD", "-procs", procs)
            self.assertEqual((done.returncode, done.stdout), (0, b"1 0\n" * int(procs)), done.stderr)

    def test_task_dies_in_a_collective_write(self):
        path = self.build(DIES)
        for device in ("us", "ip"):
            done = poe(path / "program", path / "file", "-procs", "4", "-euilib", device)
            self.assertEqual(done.returncode, 128 + 9, done.stderr)


if __name__ == "__main__":
    main()
