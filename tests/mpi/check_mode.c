/* Check mode (MP_MPICHECK): each error is reported at every member with the class that fits it, and a
 * call that is nearly the same but correct is not. The program sets the mode itself, and goes on after
 * each error, so it also shows that members still agree on the number of later calls.
 *
 * Member 0 also prints a report for each error; tests/multiproc/poe_mpi_check.py compares texts. */
#include <unistd.h>

#include "mpi_test.h"

static int n, me;
/* The member that makes the mistakes: the last one, which is not the root. */
static int wrong(void) {
    return me == n - 1;
}

/* The members can still work together. */
static void still_in_step(void) {
    int one = 1, sum = 0;
    CHECK_OK(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    CHECK_INT(sum, n);
}

/* An error at every member if there are several; a job of one task has nobody to disagree with. */
#define CHECK_ALL(call, expected)                            \
    do {                                                     \
        CHECK_CLASS(call, n > 1 ? (expected) : MPI_SUCCESS); \
        still_in_step();                                     \
    } while (0)

static int wait_of(int code, MPI_Request* request) {
    return code != MPI_SUCCESS ? code : MPI_Wait(request, MPI_STATUS_IGNORE);
}

static void roots_and_operations(void) {
    int data[4] = {0}, result[4];
    MPI_Request request;
    CHECK_ALL(MPI_Bcast(data, 4, MPI_INT, wrong() ? n - 1 : 0, MPI_COMM_WORLD), MPI_ERR_ROOT);
    /* An argument that only one member gives, and that only this member can refuse. */
    const int bad = wrong() ? n : 0;
    CHECK_CLASS(MPI_Bcast(data, 4, MPI_INT, bad, MPI_COMM_WORLD), MPI_ERR_ROOT);
    still_in_step();
    CHECK_CLASS(MPI_Reduce(data, result, -wrong(), MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD),
                MPI_ERR_COUNT);
    still_in_step();
    CHECK_CLASS(wait_of(MPI_Ibcast(data, 4, MPI_INT, bad, MPI_COMM_WORLD, &request), &request),
                MPI_ERR_ROOT);
    still_in_step();
    CHECK_CLASS(MPI_Bcast_init(data, 4, MPI_INT, bad, MPI_COMM_WORLD, MPI_INFO_NULL, &request),
                MPI_ERR_ROOT);
    still_in_step();
    const MPI_Op op = wrong() ? MPI_MAX : MPI_SUM;
    CHECK_ALL(MPI_Allreduce(data, result, 4, MPI_INT, op, MPI_COMM_WORLD), MPI_ERR_OP);
    CHECK_ALL(
        wait_of(MPI_Ireduce(data, result, 4, MPI_INT, op, 0, MPI_COMM_WORLD, &request), &request),
        MPI_ERR_OP);
    CHECK_ALL(MPI_Scan_init(data, result, 4, MPI_INT, wrong() ? MPI_MIN : MPI_SUM, MPI_COMM_WORLD,
                            MPI_INFO_NULL, &request),
              MPI_ERR_OP);
    if (n == 1) CHECK_OK(MPI_Request_free(&request));
}

static void operations(void) {
    int data[4] = {0};
    MPI_Request request = MPI_REQUEST_NULL;
    CHECK_ALL(wrong() && n > 1 ? MPI_Barrier(MPI_COMM_WORLD)
                               : MPI_Bcast(data, 4, MPI_INT, 0, MPI_COMM_WORLD),
              MPI_ERR_OTHER);
    /* A blocking and a non-blocking call do not match. */
    CHECK_ALL(wrong() && n > 1 ? MPI_Barrier(MPI_COMM_WORLD)
                               : wait_of(MPI_Ibarrier(MPI_COMM_WORLD, &request), &request),
              MPI_ERR_OTHER);
    MPI_Comm copy = MPI_COMM_NULL;
    CHECK_ALL(wrong() && n > 1 ? MPI_Comm_split(MPI_COMM_WORLD, 0, 0, &copy)
                               : MPI_Comm_dup(MPI_COMM_WORLD, &copy),
              MPI_ERR_OTHER);
    if (n == 1) CHECK_OK(MPI_Comm_free(&copy));
    /* A communicator that not all members free stays. */
    CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &copy));
    CHECK_OK(MPI_Comm_set_errhandler(copy, MPI_ERRORS_RETURN));
    if (n > 1) {
        CHECK_CLASS(wrong() ? MPI_Barrier(copy) : MPI_Comm_free(&copy), MPI_ERR_OTHER);
        CHECK_OK(MPI_Barrier(copy));
    }
    CHECK_OK(MPI_Comm_free(&copy));
}

/* The members of a group make a communicator; other tasks do not. */
static void groups_of_some(void) {
    MPI_Group all, given, other;
    MPI_Comm made = MPI_COMM_NULL;
    const int last = n - 1, first = 0;
    CHECK_OK(MPI_Comm_group(MPI_COMM_WORLD, &all));
    CHECK_OK(MPI_Group_excl(all, n > 2 ? 1 : 0, &first, &given));
    CHECK_OK(MPI_Group_excl(given, 0, &last, &other));
    if (me != 0 || n <= 2) {
        CHECK_OK(MPI_Comm_create_group(MPI_COMM_WORLD, given, 5, &made));
        CHECK_OK(MPI_Comm_free(&made));
    }
    still_in_step();
    if (n > 2) {
        /* One member leaves out the member before it, which learns of it from the others. */
        MPI_Group_free(&other);
        const int before = n - 3;
        CHECK_OK(MPI_Group_excl(given, wrong() && n > 3 ? 1 : 0, &before, &other));
        if (me != 0)
            CHECK_CLASS(MPI_Comm_create_group(MPI_COMM_WORLD, other, 5, &made),
                        n > 3 ? MPI_ERR_GROUP : MPI_SUCCESS);
        still_in_step();
        if (me != 0 && n == 3) CHECK_OK(MPI_Comm_free(&made));
        /* The same members in another order. */
        const int ranks[] = {n - 2, n - 3};
        MPI_Group_free(&other);
        CHECK_OK(MPI_Group_incl(given, 2, n > 3 ? ranks : (int[]){1, 0}, &other));
        if (n == 3 && me != 0)
            CHECK_CLASS(MPI_Comm_create_group(MPI_COMM_WORLD, wrong() ? other : given, 5, &made),
                        MPI_ERR_GROUP);
        still_in_step();
        if (me != 0) {
            CHECK_OK(MPI_Comm_create_group(MPI_COMM_WORLD, given, 5, &made));
            CHECK_OK(MPI_Comm_free(&made));
        }
    }
    MPI_Group_free(&other);
    MPI_Group_free(&given);
    MPI_Group_free(&all);
    still_in_step();
}

/* Counts may differ if the type signatures are equal. */
static void signatures(void) {
    int data[12] = {0}, all[256], place = 0;
    char text[64];
    MPI_Request request;
    MPI_Datatype four, two;
    MPI_Type_contiguous(4, MPI_INT, &four);
    MPI_Type_vector(2, 1, 3, MPI_INT, &two);
    MPI_Type_commit(&four);
    MPI_Type_commit(&two);
    CHECK_OK(MPI_Bcast(data, wrong() ? 1 : 4, wrong() ? four : MPI_INT, 0, MPI_COMM_WORLD));
    CHECK_OK(MPI_Bcast(data, wrong() ? 2 : 1, wrong() ? two : four, 0, MPI_COMM_WORLD));
    CHECK_OK(MPI_Gather(data, wrong() ? 1 : 4, wrong() ? four : MPI_INT, all, 4, MPI_INT, 0,
                        MPI_COMM_WORLD));
    /* The datatype of no elements does not matter. */
    CHECK_OK(MPI_Bcast(data, 0, wrong() ? MPI_CHAR : MPI_INT, 0, MPI_COMM_WORLD));
    /* What is packed matches everything. */
    if (me == 0) CHECK_OK(MPI_Pack(data, 4, MPI_INT, text, 64, &place, MPI_COMM_WORLD));
    CHECK_OK(MPI_Bcast(me == 0 ? (void*)text : data, me == 0 ? place : 4,
                       me == 0 ? MPI_PACKED : MPI_INT, 0, MPI_COMM_WORLD));

    CHECK_ALL(MPI_Bcast(data, wrong() && n > 1 ? 5 : 4, MPI_INT, 0, MPI_COMM_WORLD), MPI_ERR_COUNT);
    CHECK_ALL(MPI_Bcast(data, wrong() && n > 1 ? 3 : 4, MPI_INT, 0, MPI_COMM_WORLD),
              MPI_ERR_TRUNCATE);
    CHECK_ALL(MPI_Bcast(data, 4, wrong() && n > 1 ? MPI_FLOAT : MPI_INT, 0, MPI_COMM_WORLD),
              MPI_ERR_TYPE);
    CHECK_ALL(MPI_Allgather(data, wrong() && n > 1 ? 2 : 1, MPI_INT, all, wrong() && n > 1 ? 2 : 1,
                            MPI_INT, MPI_COMM_WORLD),
              MPI_ERR_COUNT);
    CHECK_ALL(MPI_Allreduce(data, all, wrong() ? 2 : 4, MPI_INT, MPI_SUM, MPI_COMM_WORLD),
              MPI_ERR_TYPE);
    CHECK_ALL(wait_of(MPI_Iscatter(all, 1, MPI_INT, data, wrong() && n > 1 ? 2 : 1, MPI_INT, 0,
                                   MPI_COMM_WORLD, &request),
                      &request),
              MPI_ERR_COUNT);
    MPI_Type_free(&four);
    MPI_Type_free(&two);
}

/* In the calls with a count for each member, counts must match in pairs. */
static void pairs(void) {
    int out[64] = {0}, in[64], counts[64], expected[64], places[64];
    MPI_Datatype types[64];
    for (int i = 0; i < n; ++i) {
        counts[i] = i % 2, expected[i] = me % 2, places[i] = i;
        types[i] = MPI_INT;
    }
    CHECK_OK(
        MPI_Alltoallv(out, counts, places, MPI_INT, in, expected, places, MPI_INT, MPI_COMM_WORLD));
    int lengths[64];
    for (int i = 0; i < n; ++i) lengths[i] = i % 2;
    CHECK_OK(MPI_Gatherv(out, me % 2, MPI_INT, in, lengths, places, MPI_INT, 0, MPI_COMM_WORLD));
    CHECK_ALL(MPI_Gatherv(out, wrong() && n > 1 ? 2 : me % 2, MPI_INT, in, lengths, places, MPI_INT,
                          0, MPI_COMM_WORLD),
              MPI_ERR_TRUNCATE);
    /* One member expects one element more from the first one. */
    if (wrong() && n > 1) ++expected[0];
    CHECK_ALL(
        MPI_Alltoallv(out, counts, places, MPI_INT, in, expected, places, MPI_INT, MPI_COMM_WORLD),
        MPI_ERR_COUNT);
    if (wrong() && n > 1) --expected[0];
    /* MPI_Alltoallw: the type of an empty block does not count. */
    for (int i = 0; i < n; ++i) {
        places[i] *= 4;
        if (counts[i] == 0) types[i] = MPI_DATATYPE_NULL;
    }
    MPI_Datatype received[64];
    for (int i = 0; i < n; ++i) received[i] = MPI_INT;
    CHECK_OK(
        MPI_Alltoallw(out, counts, places, types, in, expected, places, received, MPI_COMM_WORLD));
    int recvcounts[64];
    for (int i = 0; i < n; ++i) recvcounts[i] = 1;
    CHECK_OK(MPI_Reduce_scatter(out, in, recvcounts, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    if (wrong() && n > 1) recvcounts[0] = 0, recvcounts[1] = 2;
    CHECK_ALL(MPI_Reduce_scatter(out, in, recvcounts, MPI_INT, MPI_SUM, MPI_COMM_WORLD),
              MPI_ERR_COUNT);
}

/* MPI_IN_PLACE where it is allowed, at some members or at all. */
static void in_place(void) {
    int data[64] = {0}, all[64] = {0};
    const int root = me == 0;
    CHECK_OK(
        MPI_Gather(root ? MPI_IN_PLACE : data, 1, MPI_INT, all, 1, MPI_INT, 0, MPI_COMM_WORLD));
    CHECK_OK(
        MPI_Scatter(all, 1, MPI_INT, root ? MPI_IN_PLACE : data, 1, MPI_INT, 0, MPI_COMM_WORLD));
    CHECK_OK(MPI_Reduce(root ? MPI_IN_PLACE : data, all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD));
    CHECK_OK(
        MPI_Allgather(wrong() ? MPI_IN_PLACE : data, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD));
    CHECK_OK(
        MPI_Allreduce(wrong() ? MPI_IN_PLACE : data, all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    CHECK_OK(MPI_Alltoall(MPI_IN_PLACE, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD));
}

static void communicators(void) {
    MPI_Group world, part;
    MPI_Comm made = MPI_COMM_NULL;
    int ranks[64], dims[1] = {n}, periods[1] = {0};
    for (int i = 0; i < n; ++i) ranks[i] = i;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    /* Each member may give a group of its own, if these have no common members. */
    CHECK_OK(MPI_Group_incl(world, 1, &ranks[me], &part));
    CHECK_OK(MPI_Comm_create(MPI_COMM_WORLD, part, &made));
    CHECK_OK(MPI_Comm_free(&made));
    CHECK_OK(MPI_Group_free(&part));
    /* The last member has the same members in another order. */
    if (wrong() && n > 1) ranks[0] = 1, ranks[1] = 0;
    CHECK_OK(MPI_Group_incl(world, n, ranks, &part));
    CHECK_ALL(MPI_Comm_create(MPI_COMM_WORLD, part, &made), MPI_ERR_GROUP);
    if (n == 1) CHECK_OK(MPI_Comm_free(&made));
    CHECK_OK(MPI_Group_free(&part));
    CHECK_OK(MPI_Group_free(&world));
    /* Colors and keys are free. */
    CHECK_OK(MPI_Comm_split(MPI_COMM_WORLD, me % 2, -me, &made));
    CHECK_OK(MPI_Comm_free(&made));
    CHECK_OK(MPI_Cart_create(MPI_COMM_WORLD, 1, dims, periods, 0, &made));
    /* Neighbours: the lower neighbour of the last member expects another number of elements. */
    int out[8] = {0}, in[8];
    CHECK_OK(MPI_Neighbor_alltoall(out, 1, MPI_INT, in, 1, MPI_INT, made));
    CHECK_CLASS(MPI_Neighbor_alltoall(out, wrong() ? 2 : 1, MPI_INT, in, 1, MPI_INT, made),
                n > 1 ? MPI_ERR_TRUNCATE : MPI_SUCCESS);
    still_in_step();
    CHECK_OK(MPI_Neighbor_allgather(out, 1, MPI_INT, in, 1, MPI_INT, made));
    CHECK_OK(MPI_Comm_free(&made));
    if (wrong()) periods[0] = 1;
    CHECK_ALL(MPI_Cart_create(MPI_COMM_WORLD, 1, dims, periods, 0, &made), MPI_ERR_ARG);
    if (n == 1) CHECK_OK(MPI_Comm_free(&made));
    if (wrong()) dims[0] = -1;
    CHECK_CLASS(MPI_Cart_create(MPI_COMM_WORLD, 1, dims, periods, 0, &made), MPI_ERR_DIMS);
    still_in_step();
}

/* Non-blocking calls may be completed in any order, and a member may receive a message first that
 * another one sends after it has started the call. */
static void non_blocking(void) {
    MPI_Request requests[3];
    int data[3] = {0}, token = me;
    const int last = n - 1;
    if (me == 0 && n > 1)
        CHECK_OK(MPI_Recv(&token, 1, MPI_INT, last, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    for (int i = 0; i < 3; ++i)
        CHECK_OK(MPI_Ibcast(&data[i], 1, MPI_INT, i % n, MPI_COMM_WORLD, &requests[i]));
    if (me == last && n > 1) CHECK_OK(MPI_Send(&token, 1, MPI_INT, 0, 1, MPI_COMM_WORLD));
    for (int i = 2; i >= 0; --i) CHECK_OK(MPI_Wait(&requests[(i + me) % 3], MPI_STATUS_IGNORE));
    MPI_Comm copy;
    CHECK_OK(MPI_Comm_idup(MPI_COMM_WORLD, &copy, &requests[0]));
    CHECK_OK(MPI_Wait(&requests[0], MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Barrier(copy));
    CHECK_OK(MPI_Comm_free(&copy));
    CHECK_OK(MPI_Allreduce_init(MPI_IN_PLACE, data, 3, MPI_INT, MPI_SUM, MPI_COMM_WORLD,
                                MPI_INFO_NULL, &requests[0]));
    for (int i = 0; i < 3; ++i) {
        CHECK_OK(MPI_Start(&requests[0]));
        CHECK_OK(MPI_Wait(&requests[0], MPI_STATUS_IGNORE));
    }
    CHECK_OK(MPI_Request_free(&requests[0]));
}

/* A message to the own rank; the class of the error of the receive. */
static int pass(const void* out, int count, MPI_Datatype type, void* in, int room,
                MPI_Datatype received) {
    MPI_Request request;
    CHECK_OK(MPI_Isend(out, count, type, (me + 1) % n, 1, MPI_COMM_WORLD, &request));
    const int code =
        MPI_Recv(in, room, received, (me + n - 1) % n, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    return code;
}

static void messages(void) {
    static double out[40000], in[40000];
    MPI_Datatype mixed;
    const int lengths[2] = {1, 1};
    const MPI_Aint places[2] = {0, 8};
    const MPI_Datatype types[2] = {MPI_DOUBLE, MPI_INT};
    MPI_Type_create_struct(2, lengths, places, types, &mixed);
    MPI_Type_commit(&mixed);
    CHECK_OK(pass(out, 10, MPI_INT, in, 10, MPI_INT));
    CHECK_OK(pass(out, 10, MPI_INT, in, 20, MPI_INT));
    CHECK_OK(pass(out, 40000, MPI_DOUBLE, in, 40000, MPI_DOUBLE));
    CHECK_OK(pass(out, 40, MPI_PACKED, in, 10, MPI_INT));
    CHECK_OK(pass(out, 10, MPI_INT, in, 80, MPI_PACKED));
    CHECK_OK(pass(out, 0, MPI_INT, in, 10, MPI_FLOAT));
    /* A message may end before the second type. */
    CHECK_OK(pass(out, 1, MPI_DOUBLE, in, 1, mixed));
    CHECK_OK(pass(out, 3, mixed, in, 5, mixed));
    CHECK_CLASS(pass(out, 10, MPI_INT, in, 10, MPI_FLOAT), MPI_ERR_TYPE);
    CHECK_CLASS(pass(out, 40, MPI_BYTE, in, 10, MPI_INT), MPI_ERR_TYPE);
    CHECK_CLASS(pass(out, 2, MPI_DOUBLE, in, 2, mixed), MPI_ERR_TYPE);
    CHECK_CLASS(pass(out, 40000, MPI_DOUBLE, in, 80000, MPI_FLOAT), MPI_ERR_TYPE);
    CHECK_CLASS(pass(out, 10, MPI_INT, in, 9, MPI_INT), MPI_ERR_TRUNCATE);
    MPI_Type_free(&mixed);
}

static void lengths(void) {
    int out[6] = {1, 2, 3, 4, 5, 6}, in[6], count = 0;
    const int next = (me + 1) % n, before = (me + n - 1) % n;
    MPI_Status status;
    MPI_Message message;
    MPI_Request request;
    CHECK_OK(MPI_Isend(out, 6, MPI_INT, next, 2, MPI_COMM_WORLD, &request));
    CHECK_OK(MPI_Probe(before, 2, MPI_COMM_WORLD, &status));
    CHECK_OK(MPI_Get_count(&status, MPI_INT, &count));
    CHECK_INT(count, 6);
    CHECK_OK(MPI_Mprobe(before, 2, MPI_COMM_WORLD, &message, &status));
    CHECK_OK(MPI_Get_count(&status, MPI_INT, &count));
    CHECK_INT(count, 6);
    CHECK_OK(MPI_Mrecv(in, 6, MPI_INT, &message, &status));
    CHECK_OK(MPI_Get_count(&status, MPI_INT, &count));
    CHECK_INT(count, 6);
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK_INT(in[5], 6);
    CHECK_OK(MPI_Sendrecv_replace(out, 6, MPI_INT, next, 3, before, 3, MPI_COMM_WORLD, &status));
    CHECK_OK(MPI_Get_count(&status, MPI_INT, &count));
    CHECK_INT(count, 6);
}

static void buffers(void) {
    static int big[200000];
    int data[10] = {0}, matrix[8][8] = {{0}};
    MPI_Request requests[2];
    const int next = (me + 1) % n, before = (me + n - 1) % n;
    /* The buffer of a send changes, or is only read. */
    for (int changes = 0; changes < 2; ++changes) {
        CHECK_OK(MPI_Irecv(big, 100000, MPI_INT, before, 4, MPI_COMM_WORLD, &requests[0]));
        CHECK_OK(MPI_Isend(big + 100000, 100000, MPI_INT, next, 4, MPI_COMM_WORLD, &requests[1]));
        const int read = big[199999];
        if (changes) big[199999] = read + 1;
        CHECK_CLASS(MPI_Wait(&requests[1], MPI_STATUS_IGNORE),
                    changes ? MPI_ERR_BUFFER : MPI_SUCCESS);
        CHECK_OK(MPI_Wait(&requests[0], MPI_STATUS_IGNORE));
    }
    /* Two receives share an element, or touch each other. */
    CHECK_OK(MPI_Irecv(data, 5, MPI_INT, before, 5, MPI_COMM_WORLD, &requests[0]));
    CHECK_CLASS(MPI_Irecv(data + 4, 5, MPI_INT, before, 6, MPI_COMM_WORLD, &requests[1]),
                MPI_ERR_BUFFER);
    CHECK_OK(MPI_Irecv(data + 5, 5, MPI_INT, before, 6, MPI_COMM_WORLD, &requests[1]));
    CHECK_CLASS(MPI_Send(data + 2, 1, MPI_INT, next, 7, MPI_COMM_WORLD), MPI_ERR_BUFFER);
    CHECK_OK(MPI_Send(big, 5, MPI_INT, next, 5, MPI_COMM_WORLD));
    CHECK_OK(MPI_Send(big, 5, MPI_INT, next, 6, MPI_COMM_WORLD));
    CHECK_OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
    /* Sends may share memory, also with a receive that has been completed. */
    CHECK_OK(MPI_Isend(data, 10, MPI_INT, next, 8, MPI_COMM_WORLD, &requests[0]));
    CHECK_OK(MPI_Isend(data + 1, 8, MPI_INT, next, 9, MPI_COMM_WORLD, &requests[1]));
    CHECK_OK(MPI_Recv(big, 10, MPI_INT, before, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Recv(big, 8, MPI_INT, before, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
    /* Columns of a matrix lie between each other, and share memory only if they are the same. */
    MPI_Datatype column;
    MPI_Type_vector(8, 1, 8, MPI_INT, &column);
    MPI_Type_commit(&column);
    CHECK_OK(MPI_Irecv(&matrix[0][1], 1, column, before, 10, MPI_COMM_WORLD, &requests[0]));
    CHECK_CLASS(MPI_Isend(&matrix[0][1], 1, column, next, 10, MPI_COMM_WORLD, &requests[1]),
                MPI_ERR_BUFFER);
    CHECK_OK(MPI_Isend(&matrix[0][2], 1, column, next, 10, MPI_COMM_WORLD, &requests[1]));
    CHECK_OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
    MPI_Type_free(&column);
    CHECK_CLASS(MPI_Sendrecv(data, 4, MPI_INT, next, 11, data + 3, 4, MPI_INT, before, 11,
                             MPI_COMM_WORLD, MPI_STATUS_IGNORE),
                MPI_ERR_BUFFER);
}

static void files(void) {
    MPI_File file;
    char name[300], data[8] = "";
    const char* const folder = getenv("TMPDIR");
    snprintf(name, sizeof name, "%s/poe-check-mode-%ld", folder != NULL ? folder : "/tmp",
             (long)getpid());
    CHECK_OK(MPI_Bcast(name, sizeof name, MPI_CHAR, 0, MPI_COMM_WORLD));
    CHECK_OK(MPI_File_open(MPI_COMM_WORLD, name,
                           MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE,
                           MPI_INFO_NULL, &file));
    CHECK_ALL(wrong() && n > 1 ? MPI_File_read_all(file, data, 8, MPI_CHAR, MPI_STATUS_IGNORE)
                               : MPI_File_write_all(file, data, 8, MPI_CHAR, MPI_STATUS_IGNORE),
              MPI_ERR_OTHER);
    CHECK_ALL(wrong() && n > 1 ? MPI_File_sync(file) : MPI_File_set_size(file, 100), MPI_ERR_OTHER);
    CHECK_OK(MPI_File_write_all(file, data, 8, MPI_CHAR, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_File_close(&file));
}

int main(int argc, char** argv) {
    setenv("MP_MPICHECK", "yes", 1);
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &n);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    CHECK(n <= 64);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    roots_and_operations();
    operations();
    groups_of_some();
    signatures();
    pairs();
    in_place();
    communicators();
    non_blocking();
    messages();
    lengths();
    buffers();
    files();
    MPI_Finalize();
    return 0;
}
