/* The hardware resources to which tasks are restricted, and splits of communicators by them. Each task restricts itself
 * to a processor, or to none. */
#define _GNU_SOURCE
#include <sched.h>

#include "mpi_test.h"

static int rank, size;
static cpu_set_t usable; /* at the start */

static int processors(void) {
    return CPU_COUNT(&usable);
}

/* The n-th processor of those that can be used. */
static int processor(int n) {
    int cpu = 0;
    for (;; ++cpu)
        if (CPU_ISSET(cpu, &usable) && n-- == 0) return cpu;
}

static void restrict_to(int cpu) {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    CHECK_INT(sched_setaffinity(0, sizeof one, &one), 0);
}

static void restrict_to_none(void) {
    CHECK_INT(sched_setaffinity(0, sizeof usable, &usable), 0);
}

/* The value for a type: 1 or 0, or -1 if there is none. */
static int is_restricted(const char* type) {
    MPI_Info info;
    char value[6] = "";
    int length = sizeof value, flag = 0;
    CHECK_OK(MPI_Get_hw_resource_info(&info));
    CHECK_OK(MPI_Info_get_string(info, type, &length, value, &flag));
    CHECK_OK(MPI_Info_free(&info));
    if (!flag) return -1;
    CHECK(strcmp(value, "true") == 0 || strcmp(value, "false") == 0);
    return value[0] == 't';
}

static MPI_Comm split_by(MPI_Comm comm, int type, const char* resource) {
    MPI_Comm made;
    MPI_Info info;
    CHECK_OK(MPI_Info_create(&info));
    CHECK_OK(MPI_Info_set(info, "mpi_hw_resource_type", resource));
    CHECK_OK(MPI_Comm_split_type(comm, type, 0, info, &made));
    CHECK_OK(MPI_Info_free(&info));
    return made;
}

/* `resource` is set if there is a communicator. */
static MPI_Comm split_unguided(MPI_Comm comm, int type, char resource[MPI_MAX_INFO_VAL]) {
    MPI_Comm made;
    MPI_Info info;
    int length = MPI_MAX_INFO_VAL, flag = 0;
    CHECK_OK(MPI_Info_create(&info));
    CHECK_OK(MPI_Comm_split_type(comm, type, 0, info, &made));
    CHECK_OK(MPI_Info_get_string(info, "mpi_hw_resource_type", &length, resource, &flag));
    CHECK_INT(flag, made != MPI_COMM_NULL);
    CHECK_OK(MPI_Info_free(&info));
    return made;
}

static int size_of(MPI_Comm comm) {
    int number = 0;
    if (comm != MPI_COMM_NULL) CHECK_OK(MPI_Comm_size(comm, &number));
    return number;
}

/* The members of a communicator with the value of this task. */
static int members_with(MPI_Comm comm, int value) {
    const int members = size_of(comm);
    int* const all = malloc((size_t)members * sizeof(int));
    int equal = 0;
    CHECK_OK(MPI_Allgather(&value, 1, MPI_INT, all, 1, MPI_INT, comm));
    for (int m = 0; m < members; ++m) equal += all[m] == value;
    free(all);
    return equal;
}

static void test_info(void) {
    restrict_to(processor(0));
    CHECK_INT(is_restricted("hwloc://Machine"), 1);
    CHECK_INT(is_restricted("hwloc://PU"), 1);
    CHECK(is_restricted("hwloc://Core") != 0);
    restrict_to_none();
    CHECK_INT(is_restricted("hwloc://Machine"), 1);
    CHECK_INT(is_restricted("hwloc://PU"), processors() == 1);
    CHECK_INT(is_restricted("hwloc://nothing"), -1);
}

static void test_guided(MPI_Comm node) {
    static const int types[] = {MPI_COMM_TYPE_HW_GUIDED, MPI_COMM_TYPE_RESOURCE_GUIDED};
    for (int t = 0; t < 2; ++t) {
        const int cpu = processor(rank % processors());
        restrict_to(cpu);
        MPI_Comm same = split_by(MPI_COMM_WORLD, types[t], "hwloc://PU");
        CHECK_INT(size_of(same), members_with(node, cpu));
        CHECK_INT(members_with(same, cpu), size_of(same));
        CHECK_OK(MPI_Comm_free(&same));
        MPI_Comm machine = split_by(MPI_COMM_WORLD, types[t], "hwloc://Machine");
        CHECK_INT(size_of(machine), size_of(node));
        CHECK_OK(MPI_Comm_free(&machine));
        /* The tasks of odd rank are restricted to no processor, unless there is only one. */
        if (rank % 2 == 1) restrict_to_none();
        same = split_by(MPI_COMM_WORLD, types[t], "hwloc://PU");
        CHECK_INT(same == MPI_COMM_NULL, rank % 2 == 1 && processors() > 1);
        if (same != MPI_COMM_NULL) CHECK_OK(MPI_Comm_free(&same));
        CHECK(split_by(MPI_COMM_WORLD, types[t], "hwloc://nothing") == MPI_COMM_NULL);
    }
    restrict_to_none();
}

/* Splits again and again, until the members have one processor in common. */
static void test_unguided(MPI_Comm node) {
    const int cpu = processor(rank / 2 % processors());
    char resource[MPI_MAX_INFO_VAL];
    restrict_to(cpu);
    MPI_Comm whole;
    CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &whole));
    for (;;) {
        const MPI_Comm part = split_unguided(whole, MPI_COMM_TYPE_HW_UNGUIDED, resource);
        if (part == MPI_COMM_NULL) break;
        CHECK(size_of(part) < size_of(whole));
        MPI_Comm guided = split_by(whole, MPI_COMM_TYPE_HW_GUIDED, resource);
        int compared;
        CHECK_OK(MPI_Comm_compare(part, guided, &compared));
        CHECK_INT(compared, MPI_CONGRUENT);
        CHECK_OK(MPI_Comm_free(&guided));
        CHECK_OK(MPI_Comm_free(&whole));
        whole = part;
    }
    CHECK_INT(size_of(whole), members_with(node, cpu));
    CHECK_INT(members_with(whole, cpu), size_of(whole));
    CHECK_OK(MPI_Comm_free(&whole));
    /* Of the tasks that take part, all have the same processor. */
    int its = cpu;
    CHECK_OK(MPI_Bcast(&its, 1, MPI_INT, 0, node));
    const int type = cpu == its ? MPI_COMM_TYPE_HW_UNGUIDED : MPI_UNDEFINED;
    CHECK(split_unguided(node, type, resource) == MPI_COMM_NULL);
    /* Only tasks of even rank take part, but the others have the same processors. */
    MPI_Comm part = split_unguided(MPI_COMM_WORLD,
                                   rank % 2 ? MPI_UNDEFINED : MPI_COMM_TYPE_HW_UNGUIDED, resource);
    CHECK(rank % 2 == 0 || part == MPI_COMM_NULL);
    if (part != MPI_COMM_NULL) {
        CHECK_INT(members_with(part, rank % 2), size_of(part));
        CHECK_OK(MPI_Comm_free(&part));
    }
    /* On the node of task 0, one task may use all processors, so no resource divides the tasks. */
    int first = rank;
    CHECK_OK(MPI_Bcast(&first, 1, MPI_INT, 0, node));
    if (rank == 0) restrict_to_none();
    part = split_unguided(node, MPI_COMM_TYPE_HW_UNGUIDED, resource);
    CHECK(first != 0 || processors() == 1 || part == MPI_COMM_NULL);
    if (part != MPI_COMM_NULL) CHECK_OK(MPI_Comm_free(&part));
    restrict_to_none();
}

int main(int argc, char** argv) {
    CHECK_INT(sched_getaffinity(0, sizeof usable, &usable), 0);
    CHECK_OK(MPI_Init(&argc, &argv));
    CHECK_OK(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    CHECK_OK(MPI_Comm_size(MPI_COMM_WORLD, &size));
    CHECK_OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    MPI_Comm node;
    CHECK_OK(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node));
    test_info();
    test_guided(node);
    test_unguided(node);
    CHECK_OK(MPI_Comm_free(&node));
    CHECK_OK(MPI_Finalize());
    return 0;
}
