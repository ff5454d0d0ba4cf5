/* Objects of the program: datatypes, operations, attributes, error handlers, communicators, groups,
   generalized requests, and the functions that MPI 3.0 has removed. */
#include "check.h"

/* MPICH's header declares the removed functions only in old versions. */
int MPI_Address(void*, MPI_Aint*);
int MPI_Errhandler_create(MPI_Comm_errhandler_function*, MPI_Errhandler*);
int MPI_Errhandler_get(MPI_Comm, MPI_Errhandler*);
int MPI_Errhandler_set(MPI_Comm, MPI_Errhandler);
int MPI_Type_extent(MPI_Datatype, MPI_Aint*);
int MPI_Type_lb(MPI_Datatype, MPI_Aint*);
int MPI_Type_ub(MPI_Datatype, MPI_Aint*);
int MPI_Type_hvector(int, int, MPI_Aint, MPI_Datatype, MPI_Datatype*);
int MPI_Type_hindexed(int, int[], MPI_Aint[], MPI_Datatype, MPI_Datatype*);
int MPI_Type_struct(int, int[], MPI_Aint[], MPI_Datatype[], MPI_Datatype*);

struct pair {
    double value;
    int place;
};

static MPI_Datatype pair_type, seen_type;
static int calls;

static void largest_pair(void* in, void* inout, int* count, MPI_Datatype* datatype) {
    struct pair *from = in, *to = inout;
    int i;
    seen_type = *datatype;
    ++calls;
    for (i = 0; i < *count; ++i)
        if (from[i].value > to[i].value) to[i] = from[i];
}
static void sum_ints(void* in, void* inout, int* count, MPI_Datatype* datatype) {
    int i;
    seen_type = *datatype;
    for (i = 0; i < *count; ++i) ((int*)inout)[i] += ((int*)in)[i];
}

static void operations(void) {
    struct pair mine = {my_rank == all / 2 ? 100.0 : my_rank, my_rank}, best = {-1, -1};
    int lengths[2] = {1, 1}, commutes = -1, one = 1, sum = 0;
    MPI_Aint places[2] = {0, sizeof(double)};
    MPI_Datatype types[2] = {MPI_DOUBLE, MPI_INT}, plain;
    MPI_Op op = MPI_OP_NULL;
    MPI_Type_create_struct(2, lengths, places, types, &plain);
    MPI_Type_create_resized(plain, 0, sizeof(struct pair), &pair_type);
    MPI_Type_commit(&pair_type);
    MPI_Type_free(&plain);
    CHECK_EQUAL(plain, MPI_DATATYPE_NULL);
    MPI_Op_create(largest_pair, 1, &op);
    MPI_Op_commutative(op, &commutes);
    CHECK_EQUAL(commutes, 1);
    MPI_Allreduce(&mine, &best, 1, pair_type, op, MPI_COMM_WORLD);
    CHECK_EQUAL(best.place, all / 2);
    if (calls > 0) CHECK_EQUAL(seen_type, pair_type);
    MPI_Reduce_local(&mine, &best, 1, pair_type, op);
    CHECK_EQUAL(seen_type, pair_type);
    MPI_Op_free(&op);
    CHECK_EQUAL(op, MPI_OP_NULL);
    MPI_Op_create(sum_ints, 0, &op);
    MPI_Allreduce(&one, &sum, 1, MPI_INT, op, MPI_COMM_WORLD);
    CHECK_EQUAL(sum, all);
    MPI_Reduce_local(&one, &sum, 1, MPI_INT, op);
    CHECK_EQUAL(seen_type, MPI_INT);
    MPI_Op_free(&op);
    /* In place, and the pairs of a value and a place. */
    sum = my_rank;
    MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK_EQUAL(sum, all * (all - 1) / 2);
    MPI_Allreduce(&mine, &best, 1, MPI_DOUBLE_INT, MPI_MAXLOC, MPI_COMM_WORLD);
    CHECK_EQUAL(best.place, all / 2);
}

static void structures(void) {
    int lengths[3] = {1, 1, 1}, ints[16], counts[4] = {0};
    MPI_Aint places[3] = {-8, 0, 40}, extent = 0, bound = 0, addresses[16], here, there;
    MPI_Datatype types[3] = {MPI_LB, MPI_INT, MPI_UB}, made, inner[3] = {MPI_DATATYPE_NULL};
    int sizes[2] = {6, 4}, parts[2] = {3, 2}, starts[2] = {1, 1},
        kinds[2] = {MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_NONE};
    int arguments[2] = {MPI_DISTRIBUTE_DFLT_DARG, MPI_DISTRIBUTE_DFLT_DARG}, grid[2] = {2, 1},
        size = 0;
    MPI_Type_struct(3, lengths, places, types, &made);
    MPI_Type_extent(made, &extent);
    CHECK_EQUAL(extent, 48);
    MPI_Type_lb(made, &bound);
    CHECK_EQUAL(bound, -8);
    MPI_Type_ub(made, &bound);
    CHECK_EQUAL(bound, 40);
    MPI_Type_size(made, &size);
    CHECK_EQUAL(size, 4);
    MPI_Type_free(&made);
    MPI_Type_hvector(3, 2, 32, MPI_SHORT, &made);
    MPI_Type_extent(made, &extent);
    CHECK_EQUAL(extent, 68);
    MPI_Type_get_envelope(made, &counts[0], &counts[1], &counts[2], &counts[3]);
    CHECK_EQUAL(counts[3], MPI_COMBINER_HVECTOR);
    MPI_Type_get_contents(made, counts[0], counts[1], counts[2], ints, addresses, inner);
    CHECK_EQUAL(ints[0], 3);
    CHECK_EQUAL(addresses[0], 32);
    CHECK_EQUAL(inner[0], MPI_SHORT);
    MPI_Type_free(&made);
    MPI_Type_hindexed(2, lengths, places + 1, MPI_DOUBLE, &made);
    MPI_Type_extent(made, &extent);
    CHECK_EQUAL(extent, 48);
    MPI_Type_free(&made);
    MPI_Address(&ints[0], &here);
    MPI_Address(&ints[2], &there);
    CHECK_EQUAL(there - here, 2 * sizeof(int));

    MPI_Type_create_subarray(2, sizes, parts, starts, MPI_ORDER_FORTRAN, MPI_INT, &made);
    MPI_Type_get_envelope(made, &counts[0], &counts[1], &counts[2], &counts[3]);
    CHECK_EQUAL(counts[3], MPI_COMBINER_SUBARRAY);
    MPI_Type_get_contents(made, counts[0], counts[1], counts[2], ints, addresses, inner);
    CHECK_EQUAL(ints[counts[0] - 1], MPI_ORDER_FORTRAN);
    MPI_Type_free(&made);
    MPI_Type_create_darray(2, 1, 2, sizes, kinds, arguments, grid, MPI_ORDER_C, MPI_INT, &made);
    MPI_Type_size(made, &size);
    CHECK_EQUAL(size, 12 * (int)sizeof(int));
    MPI_Type_get_envelope(made, &counts[0], &counts[1], &counts[2], &counts[3]);
    CHECK_EQUAL(counts[3], MPI_COMBINER_DARRAY);
    MPI_Type_get_contents(made, counts[0], counts[1], counts[2], ints, addresses, inner);
    CHECK_EQUAL(ints[5], MPI_DISTRIBUTE_BLOCK);
    CHECK_EQUAL(ints[6], MPI_DISTRIBUTE_NONE);
    CHECK_EQUAL(ints[7], MPI_DISTRIBUTE_DFLT_DARG);
    CHECK_EQUAL(ints[counts[0] - 1], MPI_ORDER_C);
    MPI_Type_free(&made);
}

static int copied, deleted;
static int copy(MPI_Comm comm, int keyval, void* state, void* in, void* out, int* flag) {
    CHECK(comm == MPI_COMM_WORLD);
    CHECK(keyval != MPI_KEYVAL_INVALID);
    CHECK(state == &copied);
    ++copied;
    *(void**)out = (char*)in + 1;
    *flag = 1;
    return MPI_SUCCESS;
}
static int delete (MPI_Comm comm, int keyval, void* value, void* state) {
    CHECK(comm != MPI_COMM_NULL && keyval != MPI_KEYVAL_INVALID && value != NULL);
    CHECK(state == &copied);
    ++deleted;
    return MPI_SUCCESS;
}
static int refuse_copy(MPI_Comm comm, int keyval, void* state, void* in, void* out, int* flag) {
    (void)comm, (void)keyval, (void)state, (void)in, (void)out;
    *flag = 0;
    return MPI_ERR_ACCESS;
}

static void attributes(void) {
    int keyval = MPI_KEYVAL_INVALID, same, none, flag = 0, *number = NULL;
    static char word[] = "word";
    char* found = NULL;
    MPI_Comm dup, again;
    MPI_Comm_create_keyval(copy, delete, &keyval, &copied);
    MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, &same, NULL);
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &none, NULL);
    MPI_Comm_set_attr(MPI_COMM_WORLD, keyval, word);
    MPI_Comm_set_attr(MPI_COMM_WORLD, same, word);
    MPI_Comm_set_attr(MPI_COMM_WORLD, none, word);
    MPI_Comm_dup(MPI_COMM_WORLD, &dup);
    CHECK_EQUAL(copied, 1);
    MPI_Comm_get_attr(dup, keyval, &found, &flag);
    CHECK(flag && found == word + 1);
    MPI_Comm_get_attr(dup, same, &found, &flag);
    CHECK(flag && found == word);
    MPI_Comm_get_attr(dup, none, &found, &flag);
    CHECK_EQUAL(flag, 0);
    MPI_Comm_free(&dup);
    CHECK_EQUAL(dup, MPI_COMM_NULL);
    CHECK_EQUAL(deleted, 1);
    MPI_Comm_delete_attr(MPI_COMM_WORLD, keyval);
    CHECK_EQUAL(deleted, 2);
    MPI_Comm_free_keyval(&keyval);
    CHECK_EQUAL(keyval, MPI_KEYVAL_INVALID);
    MPI_Comm_delete_attr(MPI_COMM_WORLD, same);
    MPI_Comm_delete_attr(MPI_COMM_WORLD, none);

    MPI_Comm_create_keyval(refuse_copy, MPI_COMM_NULL_DELETE_FN, &keyval, NULL);
    MPI_Comm_dup(MPI_COMM_SELF, &again);
    MPI_Comm_set_errhandler(again, MPI_ERRORS_RETURN);
    MPI_Comm_set_attr(again, keyval, word);
    CHECK_EQUAL(CLASS_OF(MPI_Comm_dup(again, &dup)), MPI_ERR_ACCESS);
    MPI_Comm_free(&again);

    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &number, &flag);
    CHECK(flag && *number >= 32767);
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_HOST, &number, &flag);
    CHECK(flag && (*number == MPI_PROC_NULL || (*number >= 0 && *number < all)));
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_IO, &number, &flag);
    CHECK(flag && (*number == MPI_ANY_SOURCE || *number == MPI_PROC_NULL ||
                   (*number >= 0 && *number < all)));
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_WTIME_IS_GLOBAL, &number, &flag);
    CHECK(flag && (*number == 0 || *number == 1));
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_LASTUSEDCODE, &number, &flag);
    CHECK(flag && *number >= MPI_ERR_LASTCODE);
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_UNIVERSE_SIZE, &number, &flag);
    CHECK(!flag || *number >= all);
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_APPNUM, &number, &flag);
    CHECK(!flag || *number == 0);
}

static int handled;
static void handler(MPI_Comm* comm, int* code, ...) {
    CHECK(*comm == MPI_COMM_WORLD);
    CHECK_EQUAL(class_of(*code), MPI_ERR_RANK);
    ++handled;
}

static void errors(void) {
    MPI_Errhandler mine, before, found;
    char text[MPI_MAX_ERROR_STRING];
    int new_class = 0, new_code = 0, length = 0, x = 0, flag, *last;
    MPI_Comm_get_errhandler(MPI_COMM_WORLD, &before);
    CHECK_EQUAL(before, MPI_ERRORS_ARE_FATAL);
    MPI_Comm_create_errhandler(handler, &mine);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, mine);
    MPI_Comm_get_errhandler(MPI_COMM_WORLD, &found);
    CHECK_EQUAL(found, mine);
    CHECK_EQUAL(CLASS_OF(MPI_Send(&x, 1, MPI_INT, all, 0, MPI_COMM_WORLD)), MPI_ERR_RANK);
    CHECK_EQUAL(handled, 1);
    MPI_Errhandler_free(&mine);
    CHECK_EQUAL(mine, MPI_ERRHANDLER_NULL);
    MPI_Errhandler_create(handler, &mine);
    MPI_Errhandler_set(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Errhandler_get(MPI_COMM_WORLD, &found);
    CHECK_EQUAL(found, MPI_ERRORS_RETURN);
    MPI_Errhandler_free(&mine);
    CHECK_EQUAL(CLASS_OF(MPI_Send(&x, -1, MPI_INT, 0, 0, MPI_COMM_WORLD)), MPI_ERR_COUNT);
    CHECK_EQUAL(CLASS_OF(MPI_Send(&x, 1, MPI_DATATYPE_NULL, 0, 0, MPI_COMM_WORLD)), MPI_ERR_TYPE);
#ifndef OPEN_MPI /* whose handles are addresses */
    CHECK_EQUAL(CLASS_OF(MPI_Send(&x, 1, 12345, 0, 0, MPI_COMM_WORLD)), MPI_ERR_TYPE);
#endif
    CHECK_EQUAL(CLASS_OF(MPI_Send(&x, 1, MPI_INT, 0, MPI_ANY_TAG, MPI_COMM_WORLD)), MPI_ERR_TAG);
    CHECK_EQUAL(CLASS_OF(MPI_Send(&x, 1, MPI_INT, 0, -2, MPI_COMM_WORLD)), MPI_ERR_TAG);
    CHECK_EQUAL(CLASS_OF(MPI_Send(&x, 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD)),
                MPI_ERR_RANK);
    CHECK_EQUAL(CLASS_OF(MPI_Send(&x, 1, MPI_INT, -4, 0, MPI_COMM_WORLD)), MPI_ERR_RANK);
    CHECK_EQUAL(CLASS_OF(MPI_Send(&x, 1, MPI_INT, 0, 0, MPI_COMM_NULL)), MPI_ERR_COMM);
    CHECK_EQUAL(CLASS_OF(MPI_Bcast(&x, 1, MPI_INT, all, MPI_COMM_WORLD)), MPI_ERR_ROOT);
    CHECK_EQUAL(CLASS_OF(MPI_Reduce_local(&x, &x, 1, MPI_INT, MPI_OP_NULL)), MPI_ERR_OP);
    x = 503; /* a key in other interfaces */
    CHECK_EQUAL(CLASS_OF(MPI_Comm_free_keyval(&x)), MPI_ERR_KEYVAL);
    CHECK_EQUAL(x, 503);
    {
        MPI_Status statuses[2];
        MPI_Request requests[2];
        int small = 0, large[4] = {0};
        MPI_Irecv(&small, 1, MPI_INT, my_rank, 1, MPI_COMM_WORLD, &requests[0]);
        MPI_Irecv(&x, 1, MPI_INT, my_rank, 2, MPI_COMM_WORLD, &requests[1]);
        MPI_Send(large, 4, MPI_INT, my_rank, 1, MPI_COMM_WORLD);
        MPI_Send(large, 1, MPI_INT, my_rank, 2, MPI_COMM_WORLD);
        CHECK_EQUAL(CLASS_OF(MPI_Waitall(2, requests, statuses)), MPI_ERR_IN_STATUS);
        CHECK_EQUAL(class_of(statuses[0].MPI_ERROR), MPI_ERR_TRUNCATE);
        CHECK(statuses[1].MPI_ERROR == MPI_SUCCESS ||
              class_of(statuses[1].MPI_ERROR) == MPI_ERR_PENDING);
        if (requests[1] != MPI_REQUEST_NULL) MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
    }
    MPI_Add_error_class(&new_class);
    CHECK(new_class > MPI_ERR_LASTCODE);
    MPI_Add_error_code(new_class, &new_code);
    MPI_Add_error_string(new_code, "an error of this program");
    MPI_Error_string(new_code, text, &length);
    CHECK(strcmp(text, "an error of this program") == 0);
    CHECK_EQUAL(class_of(new_code), new_class);
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_LASTUSEDCODE, &last, &flag);
    CHECK(flag && *last >= new_class);
    MPI_Error_string(MPI_ERR_TRUNCATE, text, &length);
    CHECK(length > 0 && (int)strlen(text) == length);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, before);
}

static void communicators(void) {
    MPI_Comm half, twin, grid, graph;
    MPI_Group world, reversed, empty;
    int result = -1, rank = -1, i, dims[1] = {0}, periods[1] = {0}, left = 99, right = 99,
        kind = -2, weighted = -1;
    int in = -1, out = -1, next = (my_rank + 1) % all, before = (my_rank + all - 1) % all, from[1],
        to[1], unused[1];
    int *order = malloc(sizeof(int) * (size_t)all),
        *translated = malloc(sizeof(int) * (size_t)(all + 1));
    MPI_Comm_compare(MPI_COMM_WORLD, MPI_COMM_WORLD, &result);
    CHECK_EQUAL(result, MPI_IDENT);
    MPI_Comm_dup(MPI_COMM_WORLD, &twin);
    MPI_Comm_compare(MPI_COMM_WORLD, twin, &result);
    CHECK_EQUAL(result, MPI_CONGRUENT);
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    for (i = 0; i < all; ++i) order[i] = all - 1 - i;
    MPI_Group_incl(world, all, order, &reversed);
    MPI_Group_compare(world, reversed, &result);
    CHECK_EQUAL(result, all == 1 ? MPI_IDENT : MPI_SIMILAR);
    MPI_Group_compare(world, MPI_GROUP_EMPTY, &result);
    CHECK_EQUAL(result, MPI_UNEQUAL);
    MPI_Group_rank(MPI_GROUP_EMPTY, &rank);
    CHECK_EQUAL(rank, MPI_UNDEFINED);
    MPI_Group_incl(world, 0, order, &empty);
    CHECK_EQUAL(empty, MPI_GROUP_EMPTY);
    order[0] = MPI_PROC_NULL;
    MPI_Group_translate_ranks(world, 1, order, reversed, translated);
    CHECK_EQUAL(translated[0], MPI_PROC_NULL);
    order[0] = 0;
    MPI_Group_translate_ranks(world, 1, order, MPI_GROUP_EMPTY, translated);
    CHECK_EQUAL(translated[0], MPI_UNDEFINED);
    MPI_Group_free(&reversed);
    CHECK_EQUAL(reversed, MPI_GROUP_NULL);
    MPI_Comm_split(MPI_COMM_WORLD, my_rank == 0 ? MPI_UNDEFINED : 1, -my_rank, &half);
    if (my_rank == 0) {
        CHECK_EQUAL(half, MPI_COMM_NULL);
    } else {
        MPI_Comm_rank(half, &rank);
        CHECK_EQUAL(rank, all - 1 - my_rank);
        MPI_Comm_free(&half);
    }
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &half);
    CHECK(half != MPI_COMM_NULL);
    MPI_Comm_free(&half);
    MPI_Dims_create(all, 1, dims);
    MPI_Cart_create(MPI_COMM_WORLD, 1, dims, periods, 0, &grid);
    MPI_Cart_shift(grid, 0, 1, &left, &right);
    CHECK_EQUAL(left, my_rank == 0 ? MPI_PROC_NULL : my_rank - 1);
    CHECK_EQUAL(right, my_rank == all - 1 ? MPI_PROC_NULL : my_rank + 1);
    MPI_Topo_test(grid, &kind);
    CHECK_EQUAL(kind, MPI_CART);
    MPI_Topo_test(MPI_COMM_WORLD, &kind);
    CHECK_EQUAL(kind, MPI_UNDEFINED);
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &before, MPI_UNWEIGHTED, 1, &next,
                                   MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &graph);
    MPI_Topo_test(graph, &kind);
    CHECK_EQUAL(kind, MPI_DIST_GRAPH);
    MPI_Dist_graph_neighbors_count(graph, &in, &out, &weighted);
    CHECK(in == 1 && out == 1 && weighted == 0);
    MPI_Dist_graph_neighbors(graph, 1, from, unused, 1, to, unused);
    CHECK(from[0] == before && to[0] == next);
    {
        int sent = my_rank, got = -1, count = 1;
        MPI_Aint place = 0;
        MPI_Datatype type = MPI_INT;
        MPI_Neighbor_alltoallw(&sent, &count, &place, &type, &got, &count, &place, &type, graph);
        CHECK_EQUAL(got, before);
    }
    {
        int *sent = calloc((size_t)all, sizeof(int)), *got = calloc((size_t)all, sizeof(int));
        int *counts = calloc((size_t)all, sizeof(int)), *places = calloc((size_t)all, sizeof(int));
        MPI_Datatype* types = calloc((size_t)all, sizeof(MPI_Datatype));
        for (i = 0; i < all; ++i) {
            sent[i] = 100 * my_rank + i;
            counts[i] = 1;
            places[i] = i * (int)sizeof(int);
            types[i] = i % 2 ? MPI_INT : MPI_INTEGER;
        }
        MPI_Alltoallw(sent, counts, places, types, got, counts, places, types, MPI_COMM_WORLD);
        for (i = 0; i < all; ++i) CHECK_EQUAL(got[i], 100 * i + my_rank);
        MPI_Alltoallw(MPI_IN_PLACE, NULL, NULL, NULL, sent, counts, places, types, MPI_COMM_WORLD);
        for (i = 0; i < all; ++i) CHECK_EQUAL(sent[i], 100 * i + my_rank);
        free(sent), free(got), free(counts), free(places), free(types);
    }
    MPI_Comm_free(&graph);
    MPI_Comm_free(&grid);
    MPI_Comm_free(&twin);
    MPI_Group_free(&world);
    free(order), free(translated);
}

static void intercommunicators(void) {
    MPI_Comm half, inter;
    int color = my_rank % 2, value = my_rank == color ? 500 + color : -1, inter_flag = 0, size = 0;
    if (all < 2) return;
    MPI_Comm_split(MPI_COMM_WORLD, color, my_rank, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - color, 12, &inter);
    MPI_Comm_test_inter(inter, &inter_flag);
    CHECK_EQUAL(inter_flag, 1);
    MPI_Comm_remote_size(inter, &size);
    CHECK_EQUAL(size, color == 0 ? all / 2 : all - all / 2);
    /* From the first task of the even group to the odd group. */
    MPI_Bcast(&value, 1, MPI_INT, color == 1 ? 0 : my_rank == 0 ? MPI_ROOT : MPI_PROC_NULL, inter);
    if (color == 1) CHECK_EQUAL(value, 500);
    MPI_Comm_free(&inter);
    MPI_Comm_free(&half);
}

static int queried, freed;
static int query(void* state, MPI_Status* status) {
    CHECK(state == &queried);
    ++queried;
    status->MPI_SOURCE = MPI_ANY_SOURCE;
    status->MPI_TAG = 66;
    MPI_Status_set_elements(status, MPI_INT, 5);
    MPI_Status_set_cancelled(status, 0);
    return MPI_SUCCESS;
}
static int free_state(void* state) {
    CHECK(state == &queried);
    ++freed;
    return MPI_SUCCESS;
}
static int cancel(void* state, int complete) {
    (void)state, (void)complete;
    return MPI_SUCCESS;
}

static void generalized(void) {
    MPI_Request request;
    MPI_Status status;
    int count = 0;
    MPI_Grequest_start(query, free_state, cancel, &queried, &request);
    MPI_Grequest_complete(request);
    MPI_Wait(&request, &status);
    CHECK(queried >= 1);
    CHECK_EQUAL(freed, 1);
    CHECK_EQUAL(status.MPI_SOURCE, MPI_ANY_SOURCE);
    CHECK_EQUAL(status.MPI_TAG, 66);
    MPI_Get_count(&status, MPI_INT, &count);
    CHECK_EQUAL(count, 5);
}

static void other(void) {
    MPI_Info info, copy_of;
    char value[MPI_MAX_INFO_VAL + 1], name[MPI_MAX_PROCESSOR_NAME], type_name[MPI_MAX_OBJECT_NAME];
    int flag = 0, length = 0, version = 0, subversion = -1, i;
    MPI_Info_create(&info);
    MPI_Info_set(info, "key", "value");
    MPI_Info_dup(info, &copy_of);
    MPI_Info_get(copy_of, "key", MPI_MAX_INFO_VAL, value, &flag);
    CHECK(flag && strcmp(value, "value") == 0);
    MPI_Info_free(&info);
    MPI_Info_free(&copy_of);
    CHECK_EQUAL(info, MPI_INFO_NULL);
    MPI_Get_processor_name(name, &length);
    CHECK(length > 0 && length < MPI_MAX_PROCESSOR_NAME && (int)strlen(name) == length);
    MPI_Get_version(&version, &subversion);
    CHECK(version == MPI_VERSION && subversion == MPI_SUBVERSION);
    MPI_Type_get_name(MPI_DOUBLE, type_name, &length);
    CHECK(strcmp(type_name, "MPI_DOUBLE") == 0);
    /* More objects than a chunk of the table of handles holds. */
    for (i = 0; i < 5000; ++i) {
        static MPI_Datatype types[5000];
        int size = 0;
        MPI_Type_contiguous(i % 7 + 1, MPI_INT, &types[i]);
        MPI_Type_size(types[i], &size);
        CHECK_EQUAL(size, 4 * (i % 7 + 1));
        if (i == 4999) {
            int j;
            for (j = 0; j < 5000; ++j) {
                MPI_Type_size(types[j], &size);
                CHECK_EQUAL(size, 4 * (j % 7 + 1));
                MPI_Type_free(&types[j]);
            }
        }
    }
}

/* Constants that the interfaces have in common, and numbers that are constants of one of them only. */
static void shared_numbers(void) {
    MPI_Comm shared;
    MPI_Datatype made;
    int integers[12], datatypes = 0;
    int size = 400, kind = MPI_DISTRIBUTE_CYCLIC, argument, grid = 2;
    MPI_Comm_split_type(MPI_COMM_WORLD, my_rank == 0 ? MPI_UNDEFINED : MPI_COMM_TYPE_SHARED, 0,
                        MPI_INFO_NULL, &shared);
    CHECK_EQUAL(shared == MPI_COMM_NULL, my_rank == 0);
    if (shared != MPI_COMM_NULL) MPI_Comm_free(&shared);
    for (argument = 16; argument <= 18; ++argument) {
        MPI_Type_create_darray(2, 0, 1, &size, &kind, &argument, &grid, MPI_ORDER_C, MPI_INT,
                               &made);
        MPI_Type_get_contents(made, 8, 0, 1, integers, NULL, &datatypes);
        CHECK_EQUAL(integers[4], MPI_DISTRIBUTE_CYCLIC);
        CHECK_EQUAL(integers[5], argument);
        MPI_Type_free(&made);
    }
}

int main(int argc, char** argv) {
    begin(&argc, &argv);
    operations();
    structures();
    attributes();
    errors();
    communicators();
    intercommunicators();
    generalized();
    shared_numbers();
    other();
    return end();
}
