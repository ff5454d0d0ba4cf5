/* Random point-to-point traffic against an oracle. A seed, which all tasks know, determines a plan of
 * rounds; a round is a list of messages, each with sender, receiver, communicator, tag, length, send
 * mode, kind of receive and datatypes. Some receives are cancelled. Every task walks through the list
 * in the same order and does its part, so blocking calls cannot deadlock. Contents and statuses of
 * all messages are checked.
 *
 * The receives of one task from one other task are posted in the order of the messages, so the
 * standard's ordering determines which message each receive gets, also with MPI_ANY_TAG. In some
 * rounds a task receives from MPI_ANY_SOURCE. Then it posts all its receives before it sends, with
 * equal tag patterns, and a receive may get any message whose tag fits; the tester finds the message
 * by the source and the order.
 *
 *   random_point [first seed] [number of seeds] [messages of a round] */
#include <stdint.h>

#include "mpi_test.h"

enum {
    kRounds = 4,
    kMostComms = 4,
    kMostMessages = 400,
    kTags = 5,
    kMostBytes = 1 << 20,
    kMostFromAny = 4096
};

enum SendKind {
    kSend,
    kSsend,
    kBsend,
    kIsend,
    kIssend,
    kIbsend,
    kSendInit,
    kSsendInit,
    kBsendInit,
    kSendKinds
};
enum ReceiveKind { kRecv, kIrecv, kRecvInit, kProbe, kIprobe, kMprobe, kImprobe, kReceiveKinds };
enum TypeKind { kBytes, kInts, kColumns, kBlocks, kTypeKinds };

struct Message {
    int source, dest, comm, tag, bytes;
    enum SendKind send_kind;
    enum ReceiveKind receive_kind;
    enum TypeKind send_type, receive_type;
    int any_tag;
    int room;  /* bytes that the receive has room for in addition */
    int freed; /* the send's request is freed while it is active */
    uint64_t content;
    /* At run time, at the receiver. */
    int taken;
};

static int rank, size, comms;
static MPI_Comm comm_of[kMostComms];
static uint64_t state;

static uint32_t next_random(void) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (uint32_t)(state >> 16);
}
static int below(int limit) {
    return (int)(next_random() % (uint32_t)limit);
}

static unsigned char content_at(uint64_t content, int i) {
    const uint64_t word = (content + (uint64_t)(i / 8)) * 0x9e3779b97f4a7c15u;
    return (unsigned char)(word >> (8 * (i % 8)));
}

/* A datatype, how many of them a message has, and the memory that they span. */
struct Layout {
    MPI_Datatype type;
    int count;
    size_t span;
    enum TypeKind kind;
};

/* Lengths are multiples of 8 bytes unless the type is bytes. */
static struct Layout make_layout(enum TypeKind kind, int bytes) {
    struct Layout layout = {MPI_PACKED, bytes, (size_t)bytes, kind};
    if (bytes % 8 != 0) layout.kind = kBytes;
    switch (layout.kind) {
        case kBytes:
            break;
        case kInts:
            layout.type = MPI_INT, layout.count = bytes / 4;
            break;
        case kColumns:
            MPI_Type_vector(bytes / 8, 2, 3, MPI_INT, &layout.type);
            layout.count = 1;
            layout.span = (size_t)(bytes / 8) * 12;
            break;
        case kBlocks: {
            int lengths[2] = {3, 5}, places[2] = {9, 1};
            MPI_Datatype inner;
            MPI_Type_indexed(2, lengths, places, MPI_PACKED, &inner);
            MPI_Type_create_resized(inner, 0, 16, &layout.type);
            MPI_Type_free(&inner);
            layout.count = bytes / 8;
            layout.span = (size_t)(bytes / 8) * 16;
            break;
        }
        case kTypeKinds:
            break;
    }
    if (layout.kind == kColumns || layout.kind == kBlocks) MPI_Type_commit(&layout.type);
    return layout;
}

static void free_layout(struct Layout* layout) {
    if (layout->kind == kColumns || layout->kind == kBlocks) MPI_Type_free(&layout->type);
}

/* The place in memory of byte i of the message. */
static size_t place_of(enum TypeKind kind, int i) {
    switch (kind) {
        case kColumns:
            return (size_t)(i / 8) * 12 + (size_t)(i % 8);
        case kBlocks:
            return (size_t)(i / 8) * 16 + (size_t)(i % 8 < 3 ? 9 + i % 8 : i % 8 - 2);
        default:
            return (size_t)i;
    }
}

static int random_bytes(void) {
    switch (below(10)) {
        case 0:
            return 0;
        case 1:
            return below(64);
        case 2:
            return 8 * below(2000);
        case 3:
            return 8 * below(16000);
        case 4:
            return below(40) == 0 ? 8 * below(kMostBytes / 8) : below(3000);
        default:
            return 8 * below(64);
    }
}

static struct Message plan[kMostMessages];
static int from_any[64]; /* by receiver: 0, 1: MPI_ANY_SOURCE with tags, 2: and MPI_ANY_TAG */

static void make_plan(int messages) {
    for (int i = 0; i < size; ++i) from_any[i] = below(3) == 0 ? 1 + below(2) : 0;
    for (int i = 0; i < messages; ++i) {
        struct Message* m = &plan[i];
        memset(m, 0, sizeof *m);
        m->source = below(size);
        m->dest = below(size);
        m->comm = below(comms);
        m->tag = below(kTags) * below(kTags);
        m->bytes = random_bytes();
        m->send_kind = (enum SendKind)below(kSendKinds);
        m->receive_kind = (enum ReceiveKind)below(kReceiveKinds);
        m->send_type = (enum TypeKind)below(kTypeKinds);
        m->receive_type = (enum TypeKind)below(kTypeKinds);
        m->any_tag = below(3) == 0;
        m->room = below(3) == 0 ? 8 * below(10) : 0;
        m->freed = below(8) == 0;
        m->content = next_random();
        /* A blocking send to the own rank would need a receive of another thread. */
        if (m->source == m->dest && m->send_kind <= kBsend) m->send_kind = kIsend;
        if (from_any[m->dest]) {
            m->receive_kind = below(2) ? kIrecv : kRecvInit;
            m->any_tag = from_any[m->dest] == 2;
            m->bytes %= kMostFromAny + 1;
            m->room = kMostFromAny;
        }
    }
}

/* --- sending */
struct Sent {
    MPI_Request request;
    struct Layout layout;
    unsigned char* memory;
    int freed;
};
static struct Sent sent[kMostMessages];

static unsigned char* make_memory(const struct Message* m, const struct Layout* layout) {
    unsigned char* memory = malloc(layout->span + 1);
    memset(memory, 0xa5, layout->span + 1);
    for (int i = 0; i < m->bytes; ++i)
        memory[place_of(layout->kind, i)] = content_at(m->content, i);
    return memory;
}

static void send_message(int index) {
    const struct Message* m = &plan[index];
    struct Sent* s = &sent[index];
    s->layout = make_layout(m->send_type, m->bytes);
    s->memory = make_memory(m, &s->layout);
    s->request = MPI_REQUEST_NULL;
    s->freed = 0;
    const void* memory = s->memory;
    const MPI_Datatype type = s->layout.type;
    const int count = s->layout.count;
    const MPI_Comm comm = comm_of[m->comm];
    switch (m->send_kind) {
        case kSend:
            CHECK_OK(MPI_Send(memory, count, type, m->dest, m->tag, comm));
            break;
        case kSsend:
            CHECK_OK(MPI_Ssend(memory, count, type, m->dest, m->tag, comm));
            break;
        case kBsend:
            CHECK_OK(MPI_Bsend(memory, count, type, m->dest, m->tag, comm));
            break;
        case kIsend:
            CHECK_OK(MPI_Isend(memory, count, type, m->dest, m->tag, comm, &s->request));
            break;
        case kIssend:
            CHECK_OK(MPI_Issend(memory, count, type, m->dest, m->tag, comm, &s->request));
            break;
        case kIbsend:
            CHECK_OK(MPI_Ibsend(memory, count, type, m->dest, m->tag, comm, &s->request));
            break;
        case kSendInit:
            CHECK_OK(MPI_Send_init(memory, count, type, m->dest, m->tag, comm, &s->request));
            break;
        case kSsendInit:
            CHECK_OK(MPI_Ssend_init(memory, count, type, m->dest, m->tag, comm, &s->request));
            break;
        case kBsendInit:
            CHECK_OK(MPI_Bsend_init(memory, count, type, m->dest, m->tag, comm, &s->request));
            break;
        case kSendKinds:
            break;
    }
    /* The request keeps the datatype. */
    free_layout(&s->layout);
    if (m->send_kind >= kSendInit) CHECK_OK(MPI_Start(&s->request));
    if (m->freed && s->request != MPI_REQUEST_NULL) {
        CHECK_OK(MPI_Request_free(&s->request));
        s->freed = 1; /* its memory is released after the round */
    }
}

/* --- receiving */
struct Received {
    MPI_Request request;
    struct Layout layout;
    unsigned char* memory;
    int done;
};
static struct Received received[kMostMessages];
static int order[kMostMessages], posted; /* the messages for this task, in the order of posting */

static int wanted_source(const struct Message* m) {
    return from_any[rank] ? MPI_ANY_SOURCE : m->source;
}
static int wanted_tag(const struct Message* m) {
    return m->any_tag ? MPI_ANY_TAG : m->tag;
}

static void post_receive(int index) {
    struct Message* m = &plan[index];
    struct Received* r = &received[index];
    MPI_Status status;
    MPI_Message message;
    int flag = 0, bytes = m->bytes + m->room;
    const MPI_Comm comm = comm_of[m->comm];
    const int source = wanted_source(m), tag = wanted_tag(m);
    order[posted++] = index;
    memset(r, 0, sizeof *r);
    r->request = MPI_REQUEST_NULL;
    /* A message of another length may come, so the type must fit each length. */
    r->layout = make_layout(from_any[rank] ? kBytes : m->receive_type, bytes);
    r->memory = malloc(r->layout.span + 1);
    memset(r->memory, 0x5a, r->layout.span + 1);
    const MPI_Datatype type = r->layout.type;
    const int count = r->layout.count;
    switch (m->receive_kind) {
        case kIrecv:
            CHECK_OK(MPI_Irecv(r->memory, count, type, source, tag, comm, &r->request));
            break;
        case kRecvInit:
            CHECK_OK(MPI_Recv_init(r->memory, count, type, source, tag, comm, &r->request));
            CHECK_OK(MPI_Start(&r->request));
            break;
        case kProbe:
            CHECK_OK(MPI_Probe(source, tag, comm, &status));
            CHECK_OK(MPI_Get_count(&status, MPI_BYTE, &bytes));
            CHECK_INT(bytes, m->bytes);
            CHECK_INT(status.MPI_TAG, m->tag);
            CHECK_OK(MPI_Irecv(r->memory, count, type, status.MPI_SOURCE, status.MPI_TAG, comm,
                               &r->request));
            break;
        case kIprobe:
            while (!flag) CHECK_OK(MPI_Iprobe(source, tag, comm, &flag, &status));
            CHECK_INT(status.MPI_TAG, m->tag);
            CHECK_INT(status.MPI_SOURCE, m->source);
            CHECK_OK(MPI_Irecv(r->memory, count, type, source, tag, comm, &r->request));
            break;
        case kMprobe:
            CHECK_OK(MPI_Mprobe(source, tag, comm, &message, &status));
            CHECK_OK(MPI_Imrecv(r->memory, count, type, &message, &r->request));
            break;
        case kImprobe:
            while (!flag) CHECK_OK(MPI_Improbe(source, tag, comm, &flag, &message, &status));
            CHECK_OK(MPI_Imrecv(r->memory, count, type, &message, &r->request));
            break;
        case kRecv:
        case kReceiveKinds:
            break;
    }
}

/* Which message the receive got: the oldest one from this source in this communicator that fits and
 * that no earlier receive has taken. */
static struct Message* find_taken(const struct Message* wanted, const MPI_Status* status,
                                  int messages) {
    for (int i = 0; i < messages; ++i) {
        struct Message* m = &plan[i];
        if (m->dest != rank || m->taken || m->comm != wanted->comm) continue;
        if (m->source != status->MPI_SOURCE) continue;
        if (!wanted->any_tag && m->tag != wanted->tag) continue;
        m->taken = 1;
        return m;
    }
    return NULL;
}

static void check_received(int index, const MPI_Status* status, int messages) {
    const struct Message* wanted = &plan[index];
    struct Received* r = &received[index];
    const struct Message* m = find_taken(wanted, status, messages);
    CHECK(m != NULL);
    if (!from_any[rank]) CHECK(m == wanted);
    CHECK_INT(status->MPI_TAG, m->tag);
    int bytes = -1, cancelled = 1;
    CHECK_OK(MPI_Get_count(status, MPI_BYTE, &bytes));
    CHECK_INT(bytes, m->bytes);
    CHECK_OK(MPI_Test_cancelled(status, &cancelled));
    CHECK(!cancelled);
    for (int i = 0; i < m->bytes; ++i) {
        const size_t place = place_of(r->layout.kind, i);
        if (r->memory[place] != content_at(m->content, i)) {
            fprintf(stderr, "message %d from %d, %d bytes, byte %d\n", (int)(m - plan), m->source,
                    m->bytes, i);
            CHECK_INT(r->memory[place], content_at(m->content, i));
        }
        r->memory[place] = 0x5a;
    }
    for (size_t i = 0; i <= r->layout.span; ++i) CHECK_INT(r->memory[i], 0x5a);
}

/* --- completing */
static MPI_Request requests[2 * kMostMessages];
static MPI_Status statuses[2 * kMostMessages], results[2 * kMostMessages];
static int indices[2 * kMostMessages];

static void complete_all(int count, unsigned way) {
    int left = 0;
    for (int i = 0; i < count; ++i)
        if (requests[i] != MPI_REQUEST_NULL) ++left;
    while (left > 0) {
        int done = 0, flag = 0;
        switch (way % 7) {
            case 0:
                CHECK_OK(MPI_Waitall(count, requests, results));
                return;
            case 1:
                CHECK_OK(MPI_Waitany(count, requests, &indices[0], &statuses[0]));
                done = 1;
                break;
            case 2:
                CHECK_OK(MPI_Waitsome(count, requests, &done, indices, statuses));
                break;
            case 3:
                CHECK_OK(MPI_Testsome(count, requests, &done, indices, statuses));
                break;
            case 4:
                CHECK_OK(MPI_Testall(count, requests, &flag, statuses));
                if (!flag) continue;
                memcpy(results, statuses, (size_t)count * sizeof *results);
                return;
            case 5:
                CHECK_OK(MPI_Testany(count, requests, &indices[0], &flag, &statuses[0]));
                done = flag;
                break;
            case 6:
                for (int i = 0; i < count; ++i) CHECK_OK(MPI_Wait(&requests[i], &results[i]));
                return;
        }
        for (int i = 0; i < done; ++i) results[indices[i]] = statuses[i];
        left -= done;
    }
}

/* Receives that no message matches, so that they can be cancelled. */
enum { kCancelled = 3, kNeverSent = kTags * kTags };
static MPI_Request unmatched[kCancelled];
static int unmatched_data[kCancelled];

static void post_unmatched(unsigned way) {
    for (int i = 0; i < kCancelled; ++i) {
        const int source = (way >> i) % 2 ? MPI_ANY_SOURCE : (rank + i) % size;
        const MPI_Comm comm = comm_of[i % comms];
        if ((way >> (i + 3)) % 2) {
            CHECK_OK(
                MPI_Irecv(&unmatched_data[i], 1, MPI_INT, source, kNeverSent, comm, &unmatched[i]));
        } else {
            CHECK_OK(MPI_Recv_init(&unmatched_data[i], 1, MPI_INT, source, kNeverSent, comm,
                                   &unmatched[i]));
            CHECK_OK(MPI_Start(&unmatched[i]));
        }
    }
}

static void cancel_unmatched(void) {
    for (int i = 0; i < kCancelled; ++i) {
        int flag = 1;
        MPI_Status status;
        CHECK_OK(MPI_Request_get_status(unmatched[i], &flag, &status));
        CHECK(!flag);
        CHECK_OK(MPI_Cancel(&unmatched[i]));
        CHECK_OK(MPI_Wait(&unmatched[i], &status));
        CHECK_OK(MPI_Test_cancelled(&status, &flag));
        CHECK(flag);
        if (unmatched[i] != MPI_REQUEST_NULL) CHECK_OK(MPI_Request_free(&unmatched[i]));
    }
}

static void run_round(int messages, unsigned way) {
    posted = 0;
    post_unmatched(way >> 4);
    if (from_any[rank]) {
        for (int i = 0; i < messages; ++i)
            if (plan[i].dest == rank) post_receive(i);
    }
    for (int i = 0; i < messages; ++i) {
        struct Message* m = &plan[i];
        /* The own rank first receives, because the receive may probe: then it first sends. */
        const int probes = m->receive_kind >= kProbe || m->receive_kind == kRecv;
        if (m->source == rank && m->dest == rank && !probes && !from_any[rank]) {
            post_receive(i);
            send_message(i);
            continue;
        }
        if (m->source == rank) send_message(i);
        if (m->dest == rank && !from_any[rank]) post_receive(i);
        if (m->dest == rank && m->receive_kind == kRecv) {
            struct Received* r = &received[i];
            CHECK_OK(MPI_Recv(r->memory, r->layout.count, r->layout.type, m->source, wanted_tag(m),
                              comm_of[m->comm], &results[kMostMessages + i]));
            r->done = 1;
        }
    }
    int count = 0;
    for (int i = 0; i < messages; ++i) {
        if (plan[i].dest == rank && !received[i].done) {
            received[i].done = -1 - count;
            requests[count++] = received[i].request;
        }
        if (plan[i].source == rank && sent[i].request != MPI_REQUEST_NULL) {
            requests[count++] = sent[i].request;
        }
    }
    if ((way >> 10) % 2) cancel_unmatched();
    complete_all(count, way);
    if ((way >> 10) % 2 == 0) cancel_unmatched();
    for (int i = 0; i < posted; ++i) {
        const int index = order[i];
        const int done = received[index].done;
        check_received(index, done == 1 ? &results[kMostMessages + index] : &results[-1 - done],
                       messages);
        free_layout(&received[index].layout);
        free(received[index].memory);
    }
    /* Persistent requests stay after their completion. */
    for (int i = 0; i < count; ++i)
        if (requests[i] != MPI_REQUEST_NULL) CHECK_OK(MPI_Request_free(&requests[i]));
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    for (int i = 0; i < messages; ++i)
        if (plan[i].source == rank) free(sent[i].memory);
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    const int first = argc > 1 ? atoi(argv[1]) : 1;
    const int seeds = argc > 2 ? atoi(argv[2]) : 5;
    const int messages = argc > 3 ? atoi(argv[3]) : 100;
    CHECK_OK(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    CHECK_OK(MPI_Comm_size(MPI_COMM_WORLD, &size));
    CHECK(messages <= kMostMessages && size <= 64);
    comm_of[0] = MPI_COMM_WORLD;
    for (comms = 1; comms < kMostComms; ++comms)
        CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm_of[comms]));
    const size_t room = (size_t)messages * (kMostBytes / 8 + MPI_BSEND_OVERHEAD);
    char* buffer = malloc(room);
    CHECK_OK(MPI_Buffer_attach(buffer, (int)room));
    for (int seed = first; seed < first + seeds; ++seed) {
        state = (uint64_t)seed * 0x2545f4914f6cdd1du + 1;
        for (int i = 0; i < 10; ++i) next_random();
        for (int round = 0; round < kRounds; ++round) {
            make_plan(messages);
            run_round(messages, next_random() + (unsigned)rank);
        }
    }
    void* detached;
    int bytes;
    CHECK_OK(MPI_Buffer_detach(&detached, &bytes));
    free(buffer);
    for (int i = 1; i < comms; ++i) CHECK_OK(MPI_Comm_free(&comm_of[i]));
    if (rank == 0) printf("%d seeds from %d on\n", seeds, first);
    MPI_Finalize();
    return 0;
}
