/* Rows of mpi_death_tasks.c: exchanges that the victim leaves, and what the others do afterwards.
 *
 * Blocks of 64 KB are announced within a node only, where they are fetched at once; those of 256 KB are announced
 * everywhere, and it takes a while until they are fetched or sent. So a member may take a block out of the buffer of
 * another one whose call has failed, and a message may be half done when its receiver notices the end of the victim.
 * Each row therefore checks the data of every call that succeeds, changes its buffer as soon as a call has failed, and
 * then makes the same exchange with the survivors. */
#include "mpi_death_tasks.h"

enum { kShortBlock = 64 << 10, kLongBlock = 256 << 10, kMostMembers = 4 };

struct Exchange {
    int to_all; /* MPI_Allgather, otherwise MPI_Alltoall */
    int blocking;
    int bytes; /* of a block */
};

/* What a word of a block contains: the sender, the receiver (-1: all), and the number of the call. */
static unsigned word_of(int sender, int receiver, unsigned call) {
    return call << 16 | (unsigned)sender << 8 | (unsigned)(receiver + 1);
}

static void fill_blocks(struct Exchange how, unsigned* blocks, int count, int sender,
                        unsigned call) {
    const int words = how.bytes / (int)sizeof *blocks;
    for (int i = 0; i < count * words; ++i)
        blocks[i] = word_of(sender, how.to_all ? -1 : i / words, call);
}

static int are_right(struct Exchange how, const unsigned* blocks, int count, int receiver,
                     unsigned call) {
    const int words = how.bytes / (int)sizeof *blocks;
    for (int i = 0; i < count * words; ++i)
        if (blocks[i] != word_of(i / words, how.to_all ? -1 : receiver, call)) return 0;
    return 1;
}

static int exchange(struct Exchange how, const void* sent, void* received, MPI_Comm comm) {
    const int n = how.bytes;
    MPI_Request request;
    if (how.blocking && how.to_all)
        return MPI_Allgather(sent, n, MPI_BYTE, received, n, MPI_BYTE, comm);
    if (how.blocking) return MPI_Alltoall(sent, n, MPI_BYTE, received, n, MPI_BYTE, comm);
    if (how.to_all)
        TRY(MPI_Iallgather(sent, n, MPI_BYTE, received, n, MPI_BYTE, comm, &request));
    else
        TRY(MPI_Ialltoall(sent, n, MPI_BYTE, received, n, MPI_BYTE, comm, &request));
    return MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/* One call, with its result. MPI_ERR_OTHER: the call has succeeded with wrong data. */
static int checked_exchange(struct Exchange how, MPI_Comm comm, unsigned call) {
    static unsigned sent[kMostMembers * kLongBlock / sizeof(unsigned)];
    static unsigned received[kMostMembers * kLongBlock / sizeof(unsigned)];
    int own, members;
    MPI_Comm_rank(comm, &own);
    MPI_Comm_size(comm, &members);
    if (members > kMostMembers) return MPI_ERR_OTHER;
    fill_blocks(how, sent, how.to_all ? 1 : members, own, call);
    const int code = exchange(how, sent, received, comm);
    if (code != MPI_SUCCESS) {
        memset(sent, 0xee, sizeof sent);
        return code;
    }
    return are_right(how, received, members, own, call) ? code : MPI_ERR_OTHER;
}

/* All survivors have made their calls: a collective call of a group fails if a member ends before all have left it. By
 * messages, each of which needs its sender only. */
static int wait_for_survivors(void) {
    for (int task = 0; task < size && rank == 0; ++task)
        if (task != 0 && task != kVictim)
            TRY(MPI_Recv(NULL, 0, MPI_INT, task, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    for (int task = 0; task < size && rank == 0; ++task)
        if (task != 0 && task != kVictim) TRY(MPI_Send(NULL, 0, MPI_INT, task, 6, MPI_COMM_WORLD));
    if (rank == 0) return MPI_SUCCESS;
    TRY(MPI_Send(NULL, 0, MPI_INT, 0, 5, MPI_COMM_WORLD));
    return MPI_Recv(NULL, 0, MPI_INT, 0, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static int exchange_until_the_end(struct Exchange how) {
    static unsigned calls;
    const int code = checked_exchange(how, MPI_COMM_WORLD, ++calls & 0x7fff);
    if (code == MPI_SUCCESS || code == MPI_ERR_OTHER) return code;
    for (unsigned call = 0; call < 10; ++call)
        if (checked_exchange(how, side, 0x8000 | call) != MPI_SUCCESS) return MPI_ERR_OTHER;
    return wait_for_survivors() == MPI_SUCCESS ? code : MPI_ERR_OTHER;
}

ROW(kAll, survivors_of_alltoall) {
    return exchange_until_the_end((struct Exchange){0, 1, kShortBlock});
}
ROW(kAll, survivors_of_long_alltoall) {
    return exchange_until_the_end((struct Exchange){0, 1, kLongBlock});
}
ROW(kAll, survivors_of_allgather) {
    return exchange_until_the_end((struct Exchange){1, 1, kShortBlock});
}
ROW(kAll, survivors_of_ialltoall) {
    return exchange_until_the_end((struct Exchange){0, 0, kShortBlock});
}
ROW(kAll, survivors_of_long_ialltoall) {
    return exchange_until_the_end((struct Exchange){0, 0, kLongBlock});
}
ROW(kAll, survivors_of_iallgather) {
    return exchange_until_the_end((struct Exchange){1, 0, kShortBlock});
}
ROW(kAll, survivors_of_long_iallgather) {
    return exchange_until_the_end((struct Exchange){1, 0, kLongBlock});
}
