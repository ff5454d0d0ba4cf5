! Collective calls in Fortran: MPI_IN_PLACE, MPI_BOTTOM, operations of the program, arrays of counts and
! of datatypes, topologies with their logical arguments.
#include "fortran_test.inc"

! An operation of the program. In a module of its own, because a procedure that can see the variables of the main
! program would need code on the stack.
module operations
    implicit none
    external :: check
contains

#if defined(WITH_MPI_F08)
    subroutine add_twice(invec, inoutvec, len, datatype)
        use, intrinsic :: iso_c_binding
        use mpi_f08, only: MPI_Datatype, MPI_INTEGER, operator(==)
        type(c_ptr), value :: invec, inoutvec
        integer :: len
        type(MPI_Datatype) :: datatype
        integer, pointer :: in(:), inout(:)
        logical :: is_integer
        is_integer = datatype == MPI_INTEGER
        call c_f_pointer(invec, in, [len])
        call c_f_pointer(inoutvec, inout, [len])
#else
    subroutine add_twice(in, inout, len, datatype)
        integer :: len, datatype
        integer :: in(len), inout(len)
        logical :: is_integer
        is_integer = datatype == 537  ! MPI_INTEGER
#endif
        CHECK(is_integer)
        inout = inout + in
    end subroutine
end module operations

program collective
    USE_MPI
    use operations, only: add_twice
    implicit none
    INCLUDE_MPI
    integer :: rank, tasks, ierror, i, newrank, neighbors(2), source, dest
    integer, asynchronous :: value, total
    integer :: dims(1), coords(1), counts(0:7), displs(0:7), values(0:7), other(0:7)
    integer :: pair(2), best(2)
    integer(kind=MPI_ADDRESS_KIND) :: address(1)
    double precision :: before, real_values(2), real_sums(2)
    complex :: z, z_sum
    logical :: mine, every, flag, periods(1), remain(1)
    HANDLE(MPI_Comm) :: comm, ring, part
    HANDLE(MPI_Op) :: op
    HANDLE(MPI_Datatype) :: datatype, datatypes(0:7)
    HANDLE(MPI_Request) :: request
    external :: check

    call MPI_Init(ierror)
    comm = MPI_COMM_WORLD
    call MPI_Comm_rank(comm, rank, ierror)
    call MPI_Comm_size(comm, tasks, ierror)
    before = MPI_Wtime()
    CHECK(MPI_Wtick() > 0)

    value = rank + 1
    call MPI_Allreduce(MPI_IN_PLACE, value, 1, MPI_INTEGER, MPI_SUM, comm, ierror)
    CHECK(value == tasks * (tasks + 1) / 2)
    value = -1
    if (rank == tasks - 1) value = 42
    call MPI_Bcast(value, 1, MPI_INTEGER, tasks - 1, comm, ierror)
    CHECK(value == 42)

    ! In place at the root only.
    values = rank
    if (rank == 0) then
        call MPI_Gather(MPI_IN_PLACE, 1, MPI_INTEGER, values, 1, MPI_INTEGER, 0, comm, ierror)
        CHECK(all(values(0:tasks - 1) == [(i, i = 0, tasks - 1)]))
    else
        call MPI_Gather(values, 1, MPI_INTEGER, values, 1, MPI_INTEGER, 0, comm, ierror)
    end if

    ! Absolute addresses.
    call MPI_Get_address(value, address(1), ierror)
    call MPI_Type_create_hindexed(1, [1], address, MPI_INTEGER, datatype, ierror)
    call MPI_Type_commit(datatype, ierror)
    value = merge(7, 0, rank == 0)
    call MPI_Bcast(MPI_BOTTOM, 1, datatype, 0, comm, ierror)
    CHECK(value == 7)
    call MPI_Type_free(datatype, ierror)
    CHECK(datatype == MPI_DATATYPE_NULL)

    ! Operations of the program, and predefined ones on types of Fortran.
    call MPI_Op_create(add_twice, .true., op, ierror)
    value = rank
    call MPI_Allreduce(value, total, 1, MPI_INTEGER, op, comm, ierror)
    CHECK(total == tasks * (tasks - 1) / 2)
    call MPI_Iallreduce(value, total, 1, MPI_INTEGER, op, comm, request, ierror)
    call MPI_Op_commutative(op, flag, ierror)
    CHECK(flag)
    call MPI_Op_free(op, ierror)
    CHECK(op == MPI_OP_NULL)
    call MPI_Wait(request, MPI_STATUS_IGNORE, ierror)
    CHECK(total == tasks * (tasks - 1) / 2)
    mine = rank /= 0
    call MPI_Allreduce(mine, every, 1, MPI_LOGICAL, MPI_LAND, comm, ierror)
    CHECK(.not. every)
    call MPI_Allreduce(mine, every, 1, MPI_LOGICAL, MPI_LOR, comm, ierror)
    CHECK(every .eqv. tasks > 1)
    real_values = [1d0, 0.5d0 * rank]
    call MPI_Reduce(real_values, real_sums, 2, MPI_DOUBLE_PRECISION, MPI_SUM, 0, comm, ierror)
    if (rank == 0) then
        CHECK(all(real_sums == [1d0 * tasks, 0.25d0 * tasks * (tasks - 1)]))
    end if
    z = cmplx(1, rank)
    call MPI_Allreduce(z, z_sum, 1, MPI_COMPLEX, MPI_SUM, comm, ierror)
    CHECK(z_sum == cmplx(tasks, tasks * (tasks - 1) / 2))
    pair = [-rank, rank]
    call MPI_Allreduce(pair, best, 1, MPI_2INTEGER, MPI_MINLOC, comm, ierror)
    CHECK(all(best == [1 - tasks, tasks - 1]))

    ! Arrays of counts, displacements and datatypes.
    counts = 0
    displs = 0
    do i = 0, tasks - 1
        counts(i) = merge(1, 0, mod(i, 2) == 0)
        displs(i) = tasks - 1 - i
    end do
    values = -1
    value = 10 * rank
    call MPI_Allgatherv(value, counts(rank), MPI_INTEGER, values, counts, displs, MPI_INTEGER, comm, ierror)
    CHECK(all([(values(tasks - 1 - i) == merge(10 * i, -1, mod(i, 2) == 0), i = 0, tasks - 1)]))
    datatypes = MPI_INTEGER
    counts = 1
    displs = [(4 * i, i = 0, 7)]
    values = [(100 * rank + i, i = 0, 7)]
    call MPI_Alltoallw(values, counts, displs, datatypes, other, counts, displs, datatypes, comm, ierror)
    CHECK(all(other(0:tasks - 1) == [(100 * i + rank, i = 0, tasks - 1)]))
    call MPI_Ialltoallw(MPI_IN_PLACE, counts, displs, datatypes, values, counts, displs, datatypes, comm, request, ierror)
    call MPI_Wait(request, MPI_STATUS_IGNORE, ierror)
    CHECK(all(values(0:tasks - 1) == [(100 * i + rank, i = 0, tasks - 1)]))

    ! A ring as a topology.
    dims = tasks
    periods = .true.
    call MPI_Cart_create(comm, 1, dims, periods, .false., ring, ierror)
    periods = .false.
    call MPI_Cart_get(ring, 1, dims, periods, coords, ierror)
    CHECK(periods(1) .and. dims(1) == tasks .and. coords(1) == rank)
    call MPI_Cart_shift(ring, 0, 1, source, dest, ierror)
    CHECK(source == modulo(rank - 1, tasks) .and. dest == modulo(rank + 1, tasks))
    call MPI_Neighbor_allgather(rank, 1, MPI_INTEGER, neighbors, 1, MPI_INTEGER, ring, ierror)
    CHECK(all(neighbors == [source, dest]))
    datatypes(0:1) = MPI_INTEGER
    call exchange(ring)
    remain = .false.
    call MPI_Cart_sub(ring, remain, part, ierror)
    call MPI_Comm_size(part, i, ierror)
    CHECK(i == 1)
    call MPI_Comm_free(part, ierror)
    CHECK(part == MPI_COMM_NULL)
    call MPI_Comm_free(ring, ierror)
    call MPI_Dist_graph_create_adjacent(comm, 1, [source], MPI_UNWEIGHTED, 1, [dest], MPI_UNWEIGHTED, &
                                        MPI_INFO_NULL, .false., ring, ierror)
    call MPI_Dist_graph_neighbors_count(ring, i, value, flag, ierror)
    CHECK(i == 1 .and. value == 1 .and. .not. flag)
    call MPI_Comm_free(ring, ierror)
    call MPI_Comm_split(comm, mod(rank, 2), -rank, part, ierror)
    call MPI_Comm_rank(part, newrank, ierror)
    CHECK(newrank == (tasks - 1 - rank) / 2)
    call MPI_Comm_free(part, ierror)

    call MPI_Barrier(comm, ierror)
    CHECK(MPI_Wtime() >= before)
    call MPI_Finalize(ierror)

contains

    ! The neighbourhood form has displacements that are addresses.
    subroutine exchange(neighbors_comm)
        HANDLE(MPI_Comm) :: neighbors_comm
        integer(kind=MPI_ADDRESS_KIND) :: places(2)
        integer :: got(2)
        places = [0, 4]
        call MPI_Neighbor_alltoallw([rank, rank], [1, 1], places, datatypes, got, [1, 1], places, datatypes, &
                                    neighbors_comm, ierror)
        CHECK(all(got == [source, dest]))
    end subroutine
end program collective
