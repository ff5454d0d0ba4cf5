! A program with module mpi_f08: sections of arrays, statuses, an operation, unweighted graphs, MPI_IN_PLACE.
module operations
    use mpi_f08
    implicit none
contains
    subroutine add(invec, inoutvec, n, datatype)
        use, intrinsic :: iso_c_binding, only: c_ptr, c_f_pointer
        type(c_ptr), value :: invec, inoutvec
        integer :: n
        type(MPI_Datatype) :: datatype
        integer, pointer :: from(:), to(:)
        call c_f_pointer(invec, from, [n])
        call c_f_pointer(inoutvec, to, [n])
        if (datatype /= MPI_INTEGER) to = -1000
        to = to + from
    end subroutine
end module

program main
    use mpi_f08
    use operations
    implicit none
    integer :: rank, all, failed = 0, n, before, next, total, in(1), out(1), weights(1), indegree, outdegree
    integer :: matrix(6, 4), part(3, 2)
    type(MPI_Status) :: status, statuses(2)
    type(MPI_Request) :: requests(2)
    type(MPI_Comm) :: graph
    type(MPI_Op) :: op
    logical :: weighted
    call MPI_Init()
    call MPI_Comm_rank(MPI_COMM_WORLD, rank)
    call MPI_Comm_size(MPI_COMM_WORLD, all)
    next = mod(rank + 1, all)
    before = mod(rank + all - 1, all)
    matrix = rank
    part = -1
    ! Every second row, two columns: not contiguous.
    call MPI_Irecv(part, 6, MPI_INTEGER, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, requests(1))
    call MPI_Isend(matrix(1:6:2, 2:3), 6, MPI_INTEGER, next, 9, MPI_COMM_WORLD, requests(2))
    call MPI_Waitall(2, requests, statuses)
    call MPI_Get_count(statuses(1), MPI_INTEGER, n)
    if (statuses(1)%MPI_SOURCE /= before .or. statuses(1)%MPI_TAG /= 9 .or. n /= 6) failed = failed + 1
    if (any(part /= before)) failed = failed + 1
    if (requests(1) /= MPI_REQUEST_NULL) failed = failed + 1
    call MPI_Sendrecv(rank, 1, MPI_INTEGER, next, 1, n, 1, MPI_INTEGER, before, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
    if (n /= before) failed = failed + 1
    call MPI_Recv(n, 1, MPI_INTEGER, MPI_PROC_NULL, 0, MPI_COMM_WORLD, status)
    if (status%MPI_SOURCE /= MPI_PROC_NULL) failed = failed + 1
    total = rank
    call MPI_Allreduce(MPI_IN_PLACE, total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
    if (total /= all * (all - 1) / 2) failed = failed + 1
    call MPI_Op_create(add, .true., op)
    call MPI_Allreduce(rank, total, 1, MPI_INTEGER, op, MPI_COMM_WORLD)
    if (total /= all * (all - 1) / 2) failed = failed + 1
    call MPI_Op_free(op)
    call MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, [before], MPI_UNWEIGHTED, 1, [next], MPI_UNWEIGHTED, &
                                        MPI_INFO_NULL, .false., graph)
    call MPI_Dist_graph_neighbors_count(graph, indegree, outdegree, weighted)
    if (indegree /= 1 .or. outdegree /= 1 .or. weighted) failed = failed + 1
    call MPI_Dist_graph_neighbors(graph, 1, in, weights, 1, out, weights)
    if (in(1) /= before .or. out(1) /= next) failed = failed + 1
    call MPI_Comm_free(graph)
    call MPI_Finalize()
    print '("task ", I0, " of ", I0, ": ", I0, " checks failed")', rank, all, failed
    if (failed /= 0) stop 1
end program
