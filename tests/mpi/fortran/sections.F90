! Module mpi_f08: sections of arrays that are not contiguous as buffers of every kind of calls, counts of kind
! MPI_COUNT_KIND, the optional error code, keywords, and comparisons of handles.
module section_buffers
    use mpi_f08
    use, intrinsic :: iso_c_binding
    implicit none
    type point
        integer :: x
        double precision :: y
    end type
    integer :: errors_seen = 0
contains

    subroutine count_error(comm, code)
        type(MPI_Comm) :: comm
        integer :: code
        errors_seen = errors_seen + 1
    end subroutine

    ! The buffer of the caller, through a dummy argument of assumed shape.
    subroutine send_to_itself(from, to)
        integer, intent(in) :: from(:)
        integer, intent(inout), asynchronous :: to(:)
        type(MPI_Request) :: request
        call MPI_Irecv(to, size(to), MPI_INTEGER, 0, 0, MPI_COMM_SELF, request)
        call MPI_Send(from, size(from), MPI_INTEGER, 0, 0, MPI_COMM_SELF)
        call MPI_Wait(request, MPI_STATUS_IGNORE)
    end subroutine

    ! An array of assumed size has no last extent.
    subroutine send_assumed_size(from, to, n)
        integer, intent(in) :: n, from(2, *)
        integer, intent(inout) :: to(*)
        call MPI_Sendrecv(from, n, MPI_INTEGER, 0, 0, to, n, MPI_INTEGER, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE)
    end subroutine

    subroutine add_large(invec, inoutvec, len, datatype)
        type(c_ptr), value :: invec, inoutvec
        integer(kind=MPI_COUNT_KIND) :: len
        type(MPI_Datatype) :: datatype
        integer, pointer :: in(:), inout(:)
        call c_f_pointer(invec, in, [len])
        call c_f_pointer(inoutvec, inout, [len])
        inout = inout + in
        if (datatype /= MPI_INTEGER) inout = -1
    end subroutine
end module section_buffers

program sections
    use section_buffers
    implicit none
    integer, asynchronous :: a(10), b(10), matrix(4, 6), other(4, 6), cube(3, 4, 5), cubes(3, 4, 5)
    integer :: rank, tasks, i, expected(4, 6), flat(24), counts(0:7), displs(0:7), place
    integer(kind=MPI_COUNT_KIND) :: count, large
    integer(kind=MPI_ADDRESS_KIND) :: address
    integer, allocatable :: heap(:), table(:, :)
    integer, pointer :: every_third(:)
    integer, target :: strided(12)
    integer, asynchronous :: window(8), got(12)
    integer :: right, left
    integer(kind=MPI_OFFSET_KIND) :: offset
    character(len=200) :: name
    type(MPI_Win) :: win
    type(MPI_File) :: file
    type(MPI_Errhandler) :: errors
    type(point) :: points(4), copies(4)
    character(len=6) :: words(4), short(4)
    logical :: flag
    type(MPI_Request) :: request, requests(2)
    type(MPI_Status) :: status
    type(MPI_Op) :: op
    type(MPI_Datatype) :: datatype
    type(MPI_Comm) :: comm
    external :: check
    interface
        integer(c_int) function process_id() bind(c, name='getpid')
            use, intrinsic :: iso_c_binding
        end function
    end interface

    call MPI_Init()
    call MPI_Comm_rank(comm=MPI_COMM_WORLD, rank=rank)
    call MPI_Comm_size(MPI_COMM_WORLD, size=tasks)
    call check(MPI_SUBARRAYS_SUPPORTED .and. MPI_ASYNC_PROTECTS_NONBLOCKING, __LINE__)
    call check(MPI_COMM_WORLD == MPI_COMM_WORLD .and. MPI_COMM_WORLD /= MPI_COMM_SELF, __LINE__)
    a = [(i, i = 1, 10)]
    matrix = reshape([(i, i = 1, 24)], [4, 6])
    cube = reshape([(i, i = 1, 60)], [3, 4, 5])

    ! Strides of both signs, a row, a block, a plane, and what is empty.
    b = 0
    call send_to_itself(a(1:9:2), b(10:2:-2))
    call check(all(b == [0, 9, 0, 7, 0, 5, 0, 3, 0, 1]), __LINE__)
    other = 0
    call send_to_itself(matrix(3, :), other(2, :))
    call check(all(other(2, :) == matrix(3, :)) .and. sum(other) == sum(matrix(3, :)), __LINE__)
    other = 0
    expected = 0
    expected(1:4:3, 2:4) = matrix(2:3, 1:5:2)
    call MPI_Irecv(other(1:4:3, 2:4), 6, MPI_INTEGER, 0, 1, MPI_COMM_SELF, request)
    call MPI_Ssend(matrix(2:3, 1:5:2), 6, MPI_INTEGER, 0, 1, MPI_COMM_SELF)
    call check(all(other == 0), __LINE__)
    call MPI_Wait(request, status)
    call check(all(other == expected), __LINE__)
    call MPI_Get_count(status, MPI_INTEGER, i)
    call check(i == 6, __LINE__)
    cubes = 0
    call MPI_Sendrecv(cube(2:3, 1:4, 3), 8, MPI_INTEGER, 0, 0, cubes(1, :, 1:2), 8, MPI_INTEGER, 0, 0, &
                      MPI_COMM_SELF, status)
    call check(all(cubes(1, :, 1:2) == reshape(cube(2:3, 1:4, 3), [4, 2])), __LINE__)
    call check(sum(cubes) == sum(cube(2:3, 1:4, 3)), __LINE__)
    call send_to_itself(a(2:1), b(5:4:2))

    ! A part of each element, characters, pointers, allocatable arrays, vector subscripts, scalars, expressions.
    points = [(point(i, 0.5d0 * i), i = 1, 4)]
    copies = [(point(0, -1d0), i = 1, 4)]
    call send_to_itself(points%x, copies(4:1:-1)%x)
    call check(all(copies%x == [4, 3, 2, 1]) .and. all(copies%y == -1), __LINE__)
    call MPI_Sendrecv(points(1:3:2)%y, 2, MPI_DOUBLE_PRECISION, 0, 0, copies(2:3)%y, 2, MPI_DOUBLE_PRECISION, 0, 0, &
                      MPI_COMM_SELF, status)
    call check(all(copies%y == [-1d0, 0.5d0, 1.5d0, -1d0]) .and. copies(2)%x == 3, __LINE__)
    words = ['anchor', 'beacon', 'candle', 'donkey']
    short = '------'
    call MPI_Sendrecv(words(2:4:2), 12, MPI_CHARACTER, 0, 0, short(1:3:2), 12, MPI_CHARACTER, 0, 0, MPI_COMM_SELF, status)
    call check(short(1) == 'beacon' .and. short(2) == '------' .and. short(3) == 'donkey', __LINE__)
    call MPI_Sendrecv(words(:)(3:4), 8, MPI_CHARACTER, 0, 0, short(:)(5:6), 8, MPI_CHARACTER, 0, 0, MPI_COMM_SELF, status)
    call check(short(2) == '----ac' .and. short(3) == 'donknd', __LINE__)
    strided = 0
    every_third => strided(2:11:3)
    call send_to_itself(a(1:4), every_third)
    call check(all(strided == [0, 1, 0, 0, 2, 0, 0, 3, 0, 0, 4, 0]), __LINE__)
    allocate(heap(4), table(0:3, 5))
    table = -1
    heap = [5, 6, 7, 8]
    call MPI_Sendrecv(heap, 4, MPI_INTEGER, 0, 0, table(1, 2:5), 4, MPI_INTEGER, 0, 0, MPI_COMM_SELF, status)
    call check(all(table(1, 2:5) == heap) .and. count_of(table, -1) == 16, __LINE__)
    call MPI_Sendrecv(a([7, 3, 9]), 3, MPI_INTEGER, 0, 0, b, 3, MPI_INTEGER, 0, 0, MPI_COMM_SELF, status)
    call check(all(b(1:3) == [7, 3, 9]), __LINE__)
    call MPI_Sendrecv(2 * a(3) + 1, 1, MPI_INTEGER, 0, 0, b(4), 1, MPI_INTEGER, 0, 0, MPI_COMM_SELF, status)
    call check(b(4) == 7, __LINE__)
    call send_assumed_size(matrix, flat, 24)
    call check(all(flat == [(i, i = 1, 24)]), __LINE__)

    ! Fewer elements than the section has, and a derived datatype over a section.
    other = 0
    call MPI_Sendrecv(a, 2, MPI_INTEGER, 0, 0, other(1, 1:5:2), 3, MPI_INTEGER, 0, 0, MPI_COMM_SELF, status)
    call check(all(other(1, :) == [1, 0, 2, 0, 0, 0]), __LINE__)
    call MPI_Type_vector(2, 1, 2, MPI_INTEGER, datatype)
    call MPI_Type_commit(datatype)
    b = 0
    call MPI_Sendrecv(matrix(2, :), 1, datatype, 0, 0, b, 2, MPI_INTEGER, 0, 0, MPI_COMM_SELF, status)
    call check(b(1) == 2 .and. b(2) == 10, __LINE__)
    call MPI_Type_free(datatype)

    ! Persistent requests: the copy is made at each start.
    call MPI_Send_init(a(1:9:4), 3, MPI_INTEGER, 0, 2, MPI_COMM_SELF, requests(1))
    call MPI_Recv_init(b(2:8:3), 3, MPI_INTEGER, 0, 2, MPI_COMM_SELF, requests(2))
    do i = 1, 3
        a(5) = 50 * i
        b = 0
        call MPI_Startall(2, requests)
        call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE)
        call check(all(b == [0, 1, 0, 0, 50 * i, 0, 0, 9, 0, 0]), __LINE__)
        b(2) = -7
        call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE)
        call check(b(2) == -7, __LINE__)
    end do
    call MPI_Request_free(requests(1))
    call MPI_Request_free(requests(2))
    a(5) = 5

    ! Each function that completes a request brings the data.
    do i = 1, 6
        b = 0
        call MPI_Irecv(b(1:10:9), 2, MPI_INTEGER, 0, 3, MPI_COMM_SELF, requests(2))
        requests(1) = MPI_REQUEST_NULL
        call MPI_Send(a(3:5:2), 2, MPI_INTEGER, 0, 3, MPI_COMM_SELF)
        flag = .false.
        do while (.not. flag)
            select case (i)
            case (1)
                call MPI_Test(requests(2), flag, status)
            case (2)
                call MPI_Testany(2, requests, place, flag, status)
            case (3)
                call MPI_Testsome(2, requests, place, displs, MPI_STATUSES_IGNORE)
                flag = place == 1
            case (4)
                call MPI_Waitany(2, requests, place, status)
                flag = place == 2
            case (5)
                call MPI_Testall(2, requests, flag, MPI_STATUSES_IGNORE)
            case (6)
                call MPI_Request_get_status(requests(2), flag, status)
            end select
        end do
        call check(b(1) == 3 .and. b(10) == 5, __LINE__)
        call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE)
    end do

    ! Collective calls, blocking and not, with arrays of counts too.
    other = 0
    call MPI_Allreduce(matrix(1, :), other(4, :), 6, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
    call check(all(other(4, :) == tasks * matrix(1, :)), __LINE__)
    other(4, :) = matrix(1, :)
    call MPI_Iallreduce(MPI_IN_PLACE, other(4, :), 6, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, request)
    call MPI_Wait(request, status)
    call check(all(other(4, :) == tasks * matrix(1, :)) .and. sum(other) == sum(other(4, :)), __LINE__)
    b = merge(a, 0, rank == 0)
    call MPI_Ibcast(b(10:1:-3), 4, MPI_INTEGER, 0, MPI_COMM_WORLD, request)
    call MPI_Wait(request, status)
    call check(all(b(10:1:-3) == [10, 7, 4, 1]), __LINE__)
    call MPI_Op_create_c(add_large, .true., op)
    call MPI_Reduce_init(a(2:8:2), b(1:4), 4, MPI_INTEGER, op, 0, MPI_COMM_WORLD, MPI_INFO_NULL, request)
    call MPI_Op_free(op)
    do i = 1, 2
        call MPI_Start(request)
        call MPI_Wait(request, status)
        if (rank == 0) call check(all(b(1:4) == tasks * [2, 4, 6, 8]), __LINE__)
    end do
    call MPI_Request_free(request)
    counts = 1
    displs = [(7 - i, i = 0, 7)]
    strided = -1
    call MPI_Allgatherv(rank, 1, MPI_INTEGER, strided(1:8), counts, displs, MPI_INTEGER, MPI_COMM_WORLD)
    deallocate(table)
    allocate(table(2, 8))
    table = -1
    call MPI_Iallgatherv(rank, 1, MPI_INTEGER, table(2, :), counts, displs, MPI_INTEGER, MPI_COMM_WORLD, request)
    call MPI_Wait(request, status)
    call check(all(table(2, :) == strided(1:8)) .and. all(table(1, :) == -1), __LINE__)

    ! Large counts choose the other procedure of the same name.
    large = 4
    call MPI_Sendrecv(a(1:8:2), large, MPI_INTEGER, 0, 0, b, large, MPI_INTEGER, 0, 0, MPI_COMM_SELF, status)
    call check(all(b(1:4) == [1, 3, 5, 7]), __LINE__)
    call MPI_Get_count(status, MPI_INTEGER, count)
    call check(count == 4, __LINE__)
    large = 3000000000_MPI_COUNT_KIND
    call MPI_Type_contiguous(large, MPI_INTEGER, datatype)
    call MPI_Type_size(datatype, count)
    call check(count == 4 * large, __LINE__)
    call MPI_Type_size(datatype, i)
    call check(i == MPI_UNDEFINED, __LINE__)
    call MPI_Type_free(datatype)
    call MPI_Get_address(a(3:7:2), address)
    call MPI_Type_create_hindexed(1, [1], [address], MPI_INTEGER, datatype)
    call MPI_Type_commit(datatype)
    call MPI_Sendrecv(MPI_BOTTOM, 1, datatype, 0, 0, i, 1, MPI_INTEGER, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE)
    call check(i == 3, __LINE__)
    call MPI_Type_free(datatype)

    ! Two receives into one section: the second one does not bring back what the first one has brought.
    b = 0
    call MPI_Irecv(b(1:9:2), 1, MPI_INTEGER, 0, 4, MPI_COMM_SELF, requests(1))
    call MPI_Irecv(b(3:9:2), 4, MPI_INTEGER, 0, 5, MPI_COMM_SELF, requests(2))
    b(2) = -7
    call MPI_Send(a(2:8:2), 4, MPI_INTEGER, 0, 5, MPI_COMM_SELF)
    call MPI_Wait(requests(2), status)
    call MPI_Send(a(1:1), 1, MPI_INTEGER, 0, 4, MPI_COMM_SELF)
    call MPI_Wait(requests(1), status)
    call check(all(b == [1, -7, 2, 0, 4, 0, 6, 0, 8, 0]), __LINE__)

    ! One-sided: each kind of synchronisation brings the data.
    right = mod(rank + 1, tasks)
    left = mod(rank + tasks - 1, tasks)
    window = 0
    call MPI_Win_create(window, 32_MPI_ADDRESS_KIND, 4, MPI_INFO_NULL, MPI_COMM_WORLD, win)
    call MPI_Win_fence(0, win)
    got(1:8) = rank + a(1:8)
    call MPI_Put(got(1:7:2), 4, MPI_INTEGER, right, 0_MPI_ADDRESS_KIND, 4, MPI_INTEGER, win)
    strided(1:4) = rank
    call MPI_Put(strided(4:1:-3), 2, MPI_INTEGER, right, 4_MPI_ADDRESS_KIND, 2, MPI_INTEGER, win)
    call MPI_Accumulate(a(2:4:2), 2, MPI_INTEGER, right, 6_MPI_ADDRESS_KIND, 2, MPI_INTEGER, MPI_SUM, win)
    call MPI_Win_fence(0, win)
    call check(all(window == [left + 1, left + 3, left + 5, left + 7, left, left, 2, 4]), __LINE__)
    got = 0
    call MPI_Get(got(1:7:2), 4, MPI_INTEGER, right, 0_MPI_ADDRESS_KIND, 4, MPI_INTEGER, win)
    call MPI_Win_fence(0, win)
    call check(all(got(1:7:2) == rank + a(1:7:2)) .and. sum(got) == sum(got(1:7:2)), __LINE__)
    do i = 1, 4
        got = 0
        call MPI_Win_lock_all(0, win)
        call MPI_Get(got(2:11:3), 4, MPI_INTEGER, right, 0_MPI_ADDRESS_KIND, 4, MPI_INTEGER, win)
        call MPI_Get(got(3:12:9), 2, MPI_INTEGER, rank, 6_MPI_ADDRESS_KIND, 2, MPI_INTEGER, win)
        select case (i)
        case (1)
            call MPI_Win_flush(right, win)
        case (2)
            call MPI_Win_flush_local(right, win)
        case (3)
            call MPI_Win_flush_all(win)
        case (4)
            call MPI_Win_flush_local_all(win)
        end select
        call check(all(got(2:11:3) == rank + a(1:7:2)), __LINE__)
        if (i < 3 .and. tasks > 1) call check(all(got(3:12:9) == 0), __LINE__)
        call MPI_Win_unlock_all(win)
        call check(all(got(3:12:9) == [2, 4]), __LINE__)
        call check(sum(got) == sum(got(2:11:3)) + 6, __LINE__)
    end do
    call MPI_Barrier(MPI_COMM_WORLD)
    got = 0
    call MPI_Win_lock(MPI_LOCK_SHARED, right, 0, win)
    call MPI_Get_accumulate(a(9:10), 2, MPI_INTEGER, got(1:9:8), 2, MPI_INTEGER, right, 4_MPI_ADDRESS_KIND, 2, &
                            MPI_INTEGER, MPI_SUM, win)
    call MPI_Win_unlock(right, win)
    call check(got(1) == rank .and. got(9) == rank, __LINE__)
    call MPI_Barrier(MPI_COMM_WORLD)
    call check(window(5) == left + 9 .and. window(6) == left + 10, __LINE__)
    got = 0
    call MPI_Win_lock(MPI_LOCK_SHARED, right, 0, win)
    call MPI_Rget(got(12:1:-11), 2, MPI_INTEGER, right, 6_MPI_ADDRESS_KIND, 2, MPI_INTEGER, win, request)
    call MPI_Wait(request, status)
    call check(got(12) == 2 .and. got(1) == 4, __LINE__)
    call MPI_Win_unlock(right, win)
    call MPI_Win_free(win)

    ! Split access to files.
    write (name, '(a, i0)') '/tmp/poe-fortran-sections-', process_id()
    call MPI_Bcast(name, len(name), MPI_CHARACTER, 0, MPI_COMM_WORLD)
    call MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE + MPI_MODE_RDWR + MPI_MODE_DELETE_ON_CLOSE, &
                       MPI_INFO_NULL, file)
    offset = 16 * rank
    call MPI_File_write_at_all_begin(file, offset, matrix(2, 1:4), 4, MPI_INTEGER)
    call MPI_File_write_at_all_end(file, matrix(2, 1:4), status)
    b = 0
    offset = 16 * (tasks - 1 - rank)
    call MPI_File_read_at_all_begin(file, offset, b(10:4:-2), 4, MPI_INTEGER)
    call MPI_File_read_at_all_end(file, b(10:4:-2), status)
    call check(all(b == [0, 0, 0, 14, 0, 10, 0, 6, 0, 2]), __LINE__)
    call MPI_File_close(file)

    ! A buffer that MPI keeps must be contiguous; the communicator's error handler is invoked.
    call MPI_Comm_dup(MPI_COMM_SELF, comm)
    call MPI_Comm_create_errhandler(count_error, errors)
    call MPI_Comm_set_errhandler(comm, errors)
    call MPI_Errhandler_free(errors)
    call MPI_Comm_attach_buffer(comm, a(1:9:2), 20, i)
    call check(i == MPI_ERR_BUFFER, __LINE__)
    call MPI_Psend_init(a(1:9:2), 5, 1_MPI_COUNT_KIND, MPI_INTEGER, 0, 0, comm, MPI_INFO_NULL, request, i)
    call check(i == MPI_ERR_BUFFER .and. errors_seen == 2, __LINE__)
    call MPI_Comm_free(comm)
    deallocate (heap, table)
    call MPI_Finalize()

contains

    integer function count_of(array, value)
        integer, intent(in) :: array(:, :), value
        count_of = sum(merge(1, 0, array == value))
    end function
end program sections
